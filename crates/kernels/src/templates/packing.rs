//! The values of several parts as one number of 64 bits.
//!
//! Values are digits of a number in mixed radix, the sizes of their spaces. Where the product of the sizes
//! does not fit, the leading parts are numbered first, and that number is the leading digit of the next stage.
//! So keys are exact: different values never share one.

/// What a number of leading parts may be, at most.
const PREFIX: u128 = 1 << 32;
const LIMIT: u128 = 1 << 63;

/// Radices of the parts of one stage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stage {
    pub radices: Vec<u64>,
    /// Keys lie below.
    pub range: u64,
}

/// The stages for parts whose spaces have these sizes (below 2^31); there is at least one.
pub(super) fn stages(sizes: &[usize]) -> Vec<Stage> {
    let mut stages = Vec::new();
    let (mut radices, mut range) = (Vec::new(), 1_u128);
    for &size in sizes {
        let radix = size.max(1) as u64;
        if range * u128::from(radix) > LIMIT {
            stages.push(Stage { radices: std::mem::take(&mut radices), range: range as u64 });
            range = PREFIX;
        }
        radices.push(radix);
        range *= u128::from(radix);
    }
    stages.push(Stage { radices, range: range as u64 });
    stages
}

impl Stage {
    /// The leading digit (zero in the first stage) and the values of a key.
    pub fn unpack(&self, mut key: u64, values: &mut Vec<u32>) -> u64 {
        let first = values.len();
        for &radix in self.radices.iter().rev() {
            values.push((key % radix) as u32);
            key /= radix;
        }
        values[first..].reverse();
        key
    }
}
