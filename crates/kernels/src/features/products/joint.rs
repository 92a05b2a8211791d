//! Psi(x, y) = x (outer) phi(y), row by row.
//!
//! Problem: for rows x_i (d columns) and z_i (p columns), the products x_ij z_iq in column q d + j: block q
//! of the row holds z_iq x_i. With z_i the indicator of the label this is the multivector construction.
//! Invariant: every row is made by itself, blocks in the order of z's columns.
//! Source: the row-wise Khatri-Rao ("face-splitting") product; hashed as in Weinberger et al. (2009).
//! Returned: sparse rows.

use super::{Column, Made, Naming, Products, assemble, mix};
use crate::data::csr::Csr;
use crate::data::rows::Rows;
use crate::error::{KernelError, check_length};
use crate::interrupt::Interrupt;
use crate::simd::Gather;

/// The products of two sparse rows each; columns of `x` and `z` must rise.
pub fn joint<I: Column, T: Gather>(
    x: &Csr<'_, T>,
    z: &Csr<'_, T>,
    naming: Naming,
    n_threads: usize,
    stop: &Interrupt,
) -> Result<Made<I, T>, KernelError> {
    check_length("the rows of the second factor", z.n_rows(), x.n_rows())?;
    let most = if std::mem::size_of::<I>() == 4 { i32::MAX as u64 } else { i64::MAX as u64 };
    let total = (x.n_cols() as u64).checked_mul(z.n_cols() as u64);
    if naming == Naming::Place && total.is_none_or(|n| n > most) {
        return Err(KernelError::Argument(format!(
            "{} x {} columns are more than a column number can name; hash them",
            x.n_cols(),
            z.n_cols()
        )));
    }
    let too_many = || KernelError::Argument("a row has more products than memory".into());
    let lengths = (0..x.n_rows())
        .map(|i| x.row(i).0.len().checked_mul(z.row(i).0.len()).ok_or_else(too_many))
        .collect::<Result<Vec<_>, _>>()?;
    let d = x.n_cols() as u64;
    assemble(&lengths, naming, n_threads, stop, |i, products: &mut Products<T>| {
        let ((columns, values), (blocks, factors)) = (x.row(i), z.row(i));
        for (rows, part) in [(x, columns), (z, blocks)] {
            let outside = |&c: &i32| usize::try_from(c).map_or(true, |c| c >= rows.n_cols());
            if part.iter().any(outside) {
                return Err(rows
                    .fault(i)
                    .unwrap_or_else(|| KernelError::Argument("the rows changed".into())));
            }
            if !part.is_sorted() {
                return Err(KernelError::Argument(format!("the columns of row {i} must rise")));
            }
        }
        for (&q, &factor) in blocks.iter().zip(factors) {
            products.values.extend(values.iter().map(|&v| v * factor));
            products.keys.extend(columns.iter().map(|&c| match naming {
                Naming::Place => q as u64 * d + c as u64,
                Naming::Hash(_) => mix(c as u64, mix(q as u64, 1)),
            }));
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_multivector_construction_of_the_notes() {
        // Psi(x, 2) = (0, 0, x1, x2, 0, 0)
        let x = Csr::new(&[0, 2], &[0, 1], &[0.5, -2.0], 2).unwrap();
        let y = Csr::new(&[0, 1], &[1], &[1.0], 3).unwrap();
        let made: Made<i32, f64> = joint(&x, &y, Naming::Place, 1, &Interrupt::new()).unwrap();
        assert_eq!(made, Made { starts: vec![0, 2], columns: vec![2, 3], values: vec![0.5, -2.0] });
    }

    #[test]
    fn bad_rows_are_refused() {
        let x = Csr::new(&[0, 2], &[0, 5], &[0.5, -2.0], 2).unwrap();
        let y = Csr::new(&[0, 1], &[1], &[1.0], 3).unwrap();
        let bad = KernelError::IndexOutOfRange { row: 0, index: 5, n_cols: 2 };
        assert_eq!(joint::<i32, f64>(&x, &y, Naming::Place, 1, &Interrupt::new()), Err(bad));
        let short = Csr::new(&[0], &[], &[], 3).unwrap();
        assert!(joint::<i32, f64>(&x, &short, Naming::Place, 1, &Interrupt::new()).is_err());
        assert!(joint::<i32, f64>(&x, &y, Naming::Hash(0), 1, &Interrupt::new()).is_err());
    }
}
