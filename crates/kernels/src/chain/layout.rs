//! Where the weights of attributes stand: in a row with one per label, or one by one.

use crate::chain::encoded::LANES;
use crate::chain::observed::Pattern;
use crate::error::KernelError;

/// Where the weights of an attribute stand.
#[derive(Debug, Clone, Copy)]
pub(super) enum Place {
    /// In a row of its own.
    Row(u32),
    /// One by one, from this weight on.
    Weights(u32),
}

/// Where the weights of all attributes stand.
pub(super) struct Layout {
    pub places: Vec<Place>,
    pub n_rows: usize,
    pub multiplicity: Vec<f32>,
    pub positions: Vec<u32>,
}

impl Layout {
    /// Lay out the weights of a pattern, attributes in the given order; `first` names the attribute that each shares its
    /// weights with, `shares` how many share those of each.
    pub fn new(
        pattern: &Pattern,
        first: &[u32],
        shares: &[u16],
        order: &[u32],
        width: usize,
    ) -> Result<Self, KernelError> {
        let owners = || order.iter().map(|&a| a as usize).filter(|&a| first[a] as usize == a);
        // A row costs as much as so many weights one by one.
        let wide = |a: usize| pattern.of(a).len() > (width / LANES).max(2);
        let mut places = vec![Place::Weights(0); first.len()];
        let (mut n_rows, mut n_single) = (0usize, 0usize);
        for a in owners() {
            if wide(a) {
                places[a] = Place::Row(n_rows as u32);
                n_rows += 1;
            } else {
                places[a] = Place::Weights(n_single as u32);
                n_single += pattern.of(a).len();
            }
        }
        let size = n_rows * width + n_single;
        if u32::try_from(size).is_err() {
            return Err(KernelError::Argument(format!("{size} weights are too many: at most 2^32 - 1")));
        }
        let mut multiplicity = vec![0f32; size];
        let mut positions = Vec::with_capacity(pattern.labels.len());
        for (a, &owner) in first.iter().enumerate() {
            let share = f32::from(shares[owner as usize]);
            for (i, &label) in pattern.of(a).iter().enumerate() {
                let at = match places[owner as usize] {
                    Place::Row(row) => row as usize * width + label as usize,
                    Place::Weights(weight) => n_rows * width + weight as usize + i,
                };
                multiplicity[at] = share;
                positions.push(at as u32);
            }
        }
        Ok(Self { places, n_rows, multiplicity, positions })
    }
}
