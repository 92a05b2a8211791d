//! Weighted Gram matrices sum_i c_i x_i x_i' over some columns of sparse rows.
//!
//! Problem: the matrix X_A' D X_A of the columns A, which is small and dense while X is wide and sparse.
//! Invariant: each row adds the outer product of its entries within A, rows in order, on one thread.
//! Returned: the matrix, row-major and symmetric.

use crate::data::csr::Csr;
use crate::data::rows::Rows;
use crate::error::{KernelError, check_length, filled, zeros};
use crate::interrupt::Interrupt;
use crate::simd::Gather;

/// Rows between two looks at the interrupt flag.
const BLOCK: usize = 256;

/// sum_i c_i x_i x_i' over the numbered columns; number `n_cols` stands for a column of ones.
pub fn column_gram<T: Gather>(
    x: &Csr<'_, T>,
    numbers: &[usize],
    weights: &[f64],
    stop: &Interrupt,
) -> Result<Vec<f64>, KernelError> {
    check_length("weights", weights.len(), x.n_rows())?;
    let size = numbers.len();
    let mut position = filled(usize::MAX, x.n_cols().saturating_add(1))?;
    for (at, &number) in numbers.iter().enumerate() {
        match position.get_mut(number) {
            Some(place) if *place == usize::MAX => *place = at,
            Some(_) => return Err(KernelError::Argument(format!("column {number} is named twice"))),
            None => {
                return Err(KernelError::Argument(format!("column {number} is outside 0..={}", x.n_cols())));
            }
        }
    }
    let ones = position[x.n_cols()];
    let mut out = zeros(size.saturating_mul(size))?;
    let mut entries: Vec<(usize, f64)> = Vec::new();
    for (i, &c) in weights.iter().enumerate() {
        if i % BLOCK == 0 {
            stop.check()?;
        }
        let (columns, values) = x.row(i);
        entries.clear();
        for (&column, value) in columns.iter().zip(values) {
            let at = position.get(column as isize as usize).copied().unwrap_or(usize::MAX);
            if at != usize::MAX {
                entries.push((at, value.to_f64()));
            }
        }
        if ones != usize::MAX {
            entries.push((ones, 1.0));
        }
        // Sorted, so that the upper triangle alone is written, row after row.
        entries.sort_unstable_by_key(|entry| entry.0);
        for (first, &(at, value)) in entries.iter().enumerate() {
            let row = &mut out[at * size..(at + 1) * size];
            let scaled = c * value;
            for &(other, value) in &entries[first..] {
                row[other] += scaled * value;
            }
        }
    }
    for i in 0..size {
        for j in 0..i {
            out[i * size + j] = out[j * size + i];
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::column_gram;
    use crate::data::csr::OwnedCsr;
    use crate::error::KernelError;
    use crate::interrupt::Interrupt;

    #[test]
    fn agrees_with_the_definition_in_any_order_of_columns() {
        // [[1, 0, 2], [0, 0, 0], [4, 3, 0]], the last row not sorted.
        let owned = OwnedCsr::new(&[0, 2, 2, 4], &[0, 2, 1, 0], &[1.0f32, 2.0, 3.0, 4.0], 3).expect("valid");
        let x = owned.rows();
        let rows = [[1.0, 0.0, 2.0, 1.0], [0.0, 0.0, 0.0, 1.0], [4.0, 3.0, 0.0, 1.0]];
        let weights = [1.0, 0.5, 2.0];
        for numbers in [vec![0, 1, 2, 3], vec![3, 0], vec![2, 1], vec![]] {
            let found = column_gram(&x, &numbers, &weights, &Interrupt::new()).expect("valid");
            for (a, &i) in numbers.iter().enumerate() {
                for (b, &j) in numbers.iter().enumerate() {
                    let expected: f64 = rows.iter().zip(weights).map(|(row, c)| c * row[i] * row[j]).sum();
                    assert_eq!(found[a * numbers.len() + b], expected);
                }
            }
        }
    }

    #[test]
    fn bad_columns_and_interrupts_are_named() {
        let owned = OwnedCsr::new(&[0, 1], &[0], &[1.0f64], 2).expect("valid");
        let x = owned.rows();
        let stop = Interrupt::new();
        assert!(column_gram(&x, &[3], &[1.0], &stop).is_err());
        assert!(column_gram(&x, &[1, 1], &[1.0], &stop).is_err());
        assert!(column_gram(&x, &[1], &[], &stop).is_err());
        stop.set();
        assert_eq!(column_gram(&x, &[1], &[1.0], &stop), Err(KernelError::Interrupted));
    }
}
