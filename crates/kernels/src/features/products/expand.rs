//! All products of up to `max_degree` entries of a row.
//!
//! Problem: for a row with columns c_1 < ... < c_m, the monomials x_{i_1} ... x_{i_k} with
//! i_1 <= ... <= i_k (or < without powers), min_degree <= k <= max_degree, without touching the zeros.
//! Invariant: the products of degree k that begin with c_p are c_p times the products of degree k - 1 that
//! begin with c_p or later (after c_p without powers), which are a contiguous end of that level; so a level
//! is made from the one below with one multiplication each, in lexicographic order.
//! Source: the order and the place of a product are those of scikit-learn's `PolynomialFeatures`; its
//! sparse expansion is Nystrom & Hughes (2018), "Leveraging sparsity to speed up polynomial feature
//! expansions of CSR matrices using K-simplex numbers".
//! Returned: sparse rows, or dense ones for dense input.

use super::{Column, Made, Naming, Products, assemble, mix};
use crate::data::csr::Csr;
use crate::data::dense::Dense;
use crate::data::rows::Rows;
use crate::error::{KernelError, check_length, zeros};
use crate::interrupt::Interrupt;
use crate::real::Real;
use crate::simd::Gather;
use crate::threads::{WORTH_THREADS, try_each};

/// Most degrees; higher ones are of no use and overflow soon.
pub const MAX_DEGREE: usize = 16;

/// Which products to make.
#[derive(Debug, Clone, Copy)]
pub struct Expansion {
    /// Smallest degree, 0 for a constant column.
    pub min_degree: usize,
    /// Largest degree.
    pub max_degree: usize,
    /// Products of distinct columns only.
    pub interaction_only: bool,
    /// How products are named.
    pub naming: Naming,
}

/// n over k, or `None` beyond 2^62.
fn binomial(n: u64, k: u64) -> Option<u64> {
    if k > n {
        return Some(0);
    }
    let mut result: u128 = 1;
    for i in 0..u128::from(k.min(n - k)) {
        result = result * (u128::from(n) - i) / (i + 1);
        if result > 1 << 62 {
            return None;
        }
    }
    u64::try_from(result).ok()
}

impl Expansion {
    /// Number of products of degree `k` of `n` columns.
    fn count(&self, n: u64, k: usize) -> Option<u64> {
        match (k, self.interaction_only) {
            (0, _) => Some(1),
            (_, true) => binomial(n, k as u64),
            (_, false) if n == 0 => Some(0),
            (_, false) => binomial(n.checked_add(k as u64 - 1)?, k as u64),
        }
    }

    /// Number of products of `n` columns, all degrees; `None` beyond 2^62 or the highest degree.
    pub fn total(&self, n: usize) -> Option<u64> {
        if self.max_degree > MAX_DEGREE {
            return None;
        }
        (self.min_degree..=self.max_degree)
            .try_fold(0u64, |sum, k| sum.checked_add(self.count(n as u64, k)?).filter(|&sum| sum <= 1 << 62))
    }

    /// Fail unless the degrees make sense and every product has a name.
    fn check(&self, n_cols: usize) -> Result<(), KernelError> {
        if self.min_degree > self.max_degree || self.max_degree > MAX_DEGREE {
            return Err(KernelError::Argument(format!(
                "degrees must satisfy min <= max <= {MAX_DEGREE}, got {} and {}",
                self.min_degree, self.max_degree
            )));
        }
        // The levels below the smallest degree have places too.
        let all = Self { min_degree: 0, ..*self };
        if self.naming == Naming::Place && all.total(n_cols).is_none() {
            return Err(KernelError::Argument(format!(
                "degree {} of {n_cols} columns has more products than a column number can name; hash them",
                self.max_degree
            )));
        }
        Ok(())
    }

    /// First column of degree `k`.
    fn base(&self, n_cols: usize, k: usize) -> u64 {
        (self.min_degree..k).map(|below| self.count(n_cols as u64, below).unwrap_or(0)).sum()
    }

    /// Products of degree `k` of `n_cols` columns whose first column is before `column`.
    fn before(&self, n_cols: u64, column: u64, k: usize) -> u64 {
        let left = n_cols.saturating_sub(column);
        self.count(n_cols, k).unwrap_or(0).wrapping_sub(self.count(left, k).unwrap_or(0))
    }
}

/// One level: the products of one degree of one row, in order.
#[derive(Default)]
struct Level<T> {
    /// Place within the degree, or hash.
    keys: Vec<u64>,
    values: Vec<T>,
    /// Where the products that begin with entry p start.
    starts: Vec<usize>,
}

impl<T: Real> Level<T> {
    fn clear(&mut self) {
        self.keys.clear();
        self.values.clear();
        self.starts.clear();
    }

    /// Level 1: the entries themselves.
    fn first(&mut self, columns: &[i32], values: &[T], naming: Naming) {
        self.clear();
        self.values.extend_from_slice(values);
        self.keys.extend(columns.iter().map(|&c| match naming {
            Naming::Place => c as u64,
            Naming::Hash(_) => mix(c as u64, 0),
        }));
        self.starts.extend(0..values.len());
    }

    /// Level k from level k - 1 (`below`).
    fn next(
        &mut self,
        below: &Self,
        columns: &[i32],
        values: &[T],
        n_cols: usize,
        k: usize,
        expansion: &Expansion,
    ) {
        self.clear();
        let skip = usize::from(expansion.interaction_only);
        for (p, (&c, &x)) in columns.iter().zip(values).enumerate() {
            self.starts.push(self.values.len());
            let from = below.starts.get(p + skip).copied().unwrap_or(below.values.len());
            self.values.extend(below.values[from..].iter().map(|&v| x * v));
            let keys = below.keys[from..].iter();
            match expansion.naming {
                Naming::Place => {
                    let (n, c) = (n_cols as u64, c as u64);
                    let shift =
                        expansion.before(n, c, k).wrapping_sub(expansion.before(n, c + skip as u64, k - 1));
                    self.keys.extend(keys.map(|key| key.wrapping_add(shift)));
                }
                Naming::Hash(_) => self.keys.extend(keys.map(|&key| mix(c as u64, key))),
            }
        }
    }
}

/// The products of sparse rows; columns of a row must rise.
pub fn expand<I: Column, T: Gather>(
    x: &Csr<'_, T>,
    expansion: &Expansion,
    n_threads: usize,
    stop: &Interrupt,
) -> Result<Made<I, T>, KernelError> {
    let n_cols = x.n_cols();
    expansion.check(n_cols)?;
    if expansion.naming == Naming::Place && std::mem::size_of::<I>() == 4 {
        let total = expansion.total(n_cols).unwrap_or(u64::MAX);
        if total > i32::MAX as u64 {
            return Err(KernelError::Argument(format!("{total} products do not fit 32-bit columns")));
        }
    }
    let too_many = || KernelError::Argument("a row has more products than memory; hash fewer columns".into());
    let lengths = (0..x.n_rows())
        .map(|i| expansion.total(x.row(i).0.len()).and_then(|n| usize::try_from(n).ok()).ok_or_else(too_many))
        .collect::<Result<Vec<_>, _>>()?;
    assemble(&lengths, expansion.naming, n_threads, stop, |i, products: &mut Products<T>| {
        let (columns, values) = x.row(i);
        if columns.iter().any(|&c| usize::try_from(c).map_or(true, |c| c >= n_cols)) {
            return Err(x.fault(i).unwrap_or_else(|| KernelError::Argument("the rows changed".into())));
        }
        if !columns.is_sorted() {
            return Err(KernelError::Argument(format!("the columns of row {i} must rise")));
        }
        let (mut level, mut above) = (Level::default(), Level::default());
        for k in expansion.min_degree.min(1)..=expansion.max_degree {
            if k == 0 {
                products.keys.push(if expansion.naming == Naming::Place { 0 } else { mix(u64::MAX, 0) >> 1 });
                products.values.push(T::ONE);
                continue;
            }
            if k == 1 {
                level.first(columns, values, expansion.naming);
            } else {
                above.next(&level, columns, values, n_cols, k, expansion);
                std::mem::swap(&mut level, &mut above);
            }
            if k >= expansion.min_degree {
                let base = if expansion.naming == Naming::Place { expansion.base(n_cols, k) } else { 0 };
                products.keys.extend(level.keys.iter().map(|&key| key.wrapping_add(base)));
                products.values.extend_from_slice(&level.values);
            }
        }
        Ok(())
    })
}

/// The products of dense rows, one after the other: n x [`Expansion::total`].
pub fn expand_dense<T: Real>(
    x: &Dense<'_, T>,
    expansion: &Expansion,
    n_threads: usize,
    stop: &Interrupt,
) -> Result<Vec<T>, KernelError> {
    const ROWS: usize = 64;
    let d = x.n_cols();
    if expansion.naming != Naming::Place {
        return Err(KernelError::Argument("hashed products are sparse".into()));
    }
    expansion.check(d)?;
    let width = expansion.total(d).and_then(|n| usize::try_from(n).ok());
    let size = width.and_then(|n| n.checked_mul(x.n_rows()));
    let (Some(width), Some(size)) = (width, size) else {
        return Err(KernelError::Argument("there are more products than memory; hash them".into()));
    };
    let mut out: Vec<T> = zeros(size)?;
    if width == 0 {
        return Ok(out);
    }
    let skip = usize::from(expansion.interaction_only);
    let block = |(b, out): (usize, &mut [T])| {
        stop.check()?;
        let (mut level, mut above) = (Vec::new(), Vec::new());
        let (mut starts, mut next) = (Vec::new(), Vec::new());
        for (r, mut out) in out.chunks_exact_mut(width).enumerate() {
            let row = x.row(b * ROWS + r);
            for k in expansion.min_degree.min(1)..=expansion.max_degree {
                if k <= 1 {
                    level.clear();
                    let one = [T::ONE];
                    level.extend_from_slice(if k == 0 { &one } else { row });
                    starts.clear();
                    starts.extend(0..row.len());
                } else {
                    above.clear();
                    next.clear();
                    for (p, &v) in row.iter().enumerate() {
                        next.push(above.len());
                        let from = starts.get(p + skip).copied().unwrap_or(level.len());
                        above.extend(level[from..].iter().map(|&rest| v * rest));
                    }
                    std::mem::swap(&mut level, &mut above);
                    std::mem::swap(&mut starts, &mut next);
                }
                if k >= expansion.min_degree {
                    check_length("products", level.len().min(out.len()), level.len())?;
                    let (here, after) = out.split_at_mut(level.len());
                    here.copy_from_slice(&level);
                    out = after;
                }
            }
        }
        Ok(())
    };
    let n_threads = if size < WORTH_THREADS { 1 } else { n_threads };
    try_each(n_threads, out.chunks_mut(ROWS * width).enumerate(), block)?;
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    const STARTS: [usize; 4] = [0, 3, 3, 5];
    const COLUMNS: [i32; 5] = [0, 2, 3, 1, 3];
    const VALUES: [f64; 5] = [2.0, 3.0, 5.0, 7.0, 11.0];

    fn dense() -> Vec<f64> {
        vec![2.0, 0.0, 3.0, 5.0, 0.0, 0.0, 0.0, 0.0, 0.0, 7.0, 0.0, 11.0]
    }

    #[test]
    fn sparse_equals_dense_for_every_degree() {
        let x = Csr::new(&STARTS, &COLUMNS, &VALUES, 4).unwrap();
        let values = dense();
        let rows = Dense::new(&values, 3, 4).unwrap();
        for max_degree in 0..5 {
            for min_degree in 0..=max_degree {
                for interaction_only in [false, true] {
                    let naming = Naming::Place;
                    let e = Expansion { min_degree, max_degree, interaction_only, naming };
                    let wide = expand_dense(&rows, &e, 1, &Interrupt::new()).unwrap();
                    let made: Made<i64, f64> = expand(&x, &e, 2, &Interrupt::new()).unwrap();
                    let width = e.total(4).unwrap() as usize;
                    let mut filled = vec![0.0; 3 * width];
                    for i in 0..3 {
                        let row = made.starts[i] as usize..made.starts[i + 1] as usize;
                        assert!(made.columns[row.clone()].is_sorted_by(|a, b| a < b));
                        for at in row {
                            filled[i * width + made.columns[at] as usize] = made.values[at];
                        }
                    }
                    assert_eq!(filled, wide);
                }
            }
        }
    }

    #[test]
    fn hashed_products_keep_their_sum_of_squares_in_a_wide_table() {
        let x = Csr::new(&STARTS, &COLUMNS, &VALUES, 4).unwrap();
        let naming = Naming::Hash(1 << 30);
        let e = Expansion { min_degree: 1, max_degree: 2, interaction_only: false, naming };
        let made: Made<i32, f64> = expand(&x, &e, 1, &Interrupt::new()).unwrap();
        assert_eq!(made.starts, [0, 9, 9, 14]);
        let squares: f64 = made.values.iter().map(|v| v * v).sum();
        let exact = Expansion { naming: Naming::Place, ..e };
        let plain: Made<i32, f64> = expand(&x, &exact, 1, &Interrupt::new()).unwrap();
        assert_eq!(squares, plain.values.iter().map(|v| v * v).sum::<f64>());
        let narrow: Made<i32, f64> =
            expand(&x, &Expansion { naming: Naming::Hash(2), ..e }, 1, &Interrupt::new()).unwrap();
        assert!(narrow.columns.iter().all(|&c| (0..2).contains(&c)) && narrow.values.len() <= 4);
    }

    #[test]
    fn too_many_products_are_refused() {
        let x = Csr::new(&STARTS, &COLUMNS, &VALUES, 1 << 30).unwrap();
        let naming = Naming::Place;
        let e = Expansion { min_degree: 1, max_degree: 4, interaction_only: true, naming };
        assert!(expand::<i64, f64>(&x, &e, 1, &Interrupt::new()).is_err());
        let two = Expansion { max_degree: 2, ..e };
        assert!(expand::<i32, f64>(&x, &two, 1, &Interrupt::new()).is_err());
        assert!(expand::<i64, f64>(&x, &two, 1, &Interrupt::new()).is_ok());
        let stopped = Interrupt::new();
        stopped.set();
        assert_eq!(expand::<i64, f64>(&x, &two, 1, &stopped), Err(KernelError::Interrupted));
    }
}
