//! Tests of the sparse rows.

use super::{Csr, OwnedCsr, checked_starts};
use crate::data::column_set::ColumnSet;
use crate::data::rows::{Rows, check_row};
use crate::error::KernelError;

fn example() -> OwnedCsr<f64> {
    // [[1, 0, 2], [0, 0, 0], [0, 3, 0]]
    OwnedCsr::new(&[0, 2, 2, 3], &[0, 2, 1], &[1.0, 2.0, 3.0], 3).expect("valid")
}

#[test]
fn products_with_one_and_many_scores() {
    let owned = example();
    let x = owned.rows();
    assert_eq!(x.dot::<false>(0, &[1.0, 10.0, 100.0]), 201.0);
    for k in [1, 3, 7, 8, 9, 24, 33, 45] {
        let w: Vec<f64> = (0..3 * k).map(|v| v as f64).collect();
        let mut out = vec![0.0; k];
        x.dot_many::<_, false>(0, &w, &mut out);
        let expected: Vec<f64> = (0..k).map(|c| w[c] + 2.0 * w[2 * k + c]).collect();
        assert_eq!(out, expected);
        let mut added = w.clone();
        let a: Vec<f64> = (0..k).map(|c| 1.0 + c as f64).collect();
        x.add_to_many::<_, false>(0, &a, &mut added);
        for (at, &v) in added.iter().enumerate() {
            assert_eq!(v, w[at] + [1.0, 0.0, 2.0][at / k] * a[at % k]);
        }
        let mut one = w.clone();
        x.add_to_column::<false>(0, 0.5, &mut one, k, k - 1);
        assert_eq!(one[3 * k - 1], w[3 * k - 1] + 1.0);
    }
}

#[test]
fn transposing_twice_gives_the_matrix_back() {
    let x = example();
    let once = OwnedCsr::transpose_of(&x.rows()).expect("small");
    assert_eq!(once.rows().squared_norm(2), 4.0);
    assert_eq!(OwnedCsr::transpose_of(&once.rows()).expect("small"), x);
    assert_eq!(once.arrays().0, [0, 1, 2, 3]);
}

#[test]
fn a_look_finds_norms_repeats_and_faults_on_any_number_of_threads() {
    for (columns, repeats) in [([1, 0, 2], false), ([1, 1, 2], true), ([2, 0, 2], true)] {
        let x = Csr::new(&[0, 3], &columns, &[1.0, 2.0, 3.0], 3).expect("valid");
        for n_threads in [1, 2, 5] {
            let measured = x.measure(n_threads).expect("valid");
            assert_eq!((measured.norms, measured.repeats), (vec![14.0], repeats));
        }
    }
    let n = 70_000;
    let starts: Vec<usize> = (0..=n).map(|i| 4 * i).collect();
    let columns: Vec<i32> = (0..4 * n as i32).map(|e| e % 4).collect();
    let mut values = vec![1.0f32; 4 * n];
    let norms = Csr::new(&starts, &columns, &values, 4).expect("valid").measure(3).expect("finite").norms;
    assert_eq!(norms, vec![4.0; n]);
    values[4 * 50_000 + 1] = f32::NAN;
    values[4 * 60_000] = f32::INFINITY;
    let fault = Csr::new(&starts, &columns, &values, 4).expect("valid").measure(3).err();
    assert_eq!(fault, Some(KernelError::NotFinite { row: 50_000, column: 1, value: "NaN" }));
}

#[test]
fn malformed_row_pointers_are_named() {
    let malformed = Some(KernelError::RowPointer { row: 1, nnz: 1 });
    assert_eq!(checked_starts(&[0i64, 2, 1], 1).err(), malformed);
    for bad in [&[][..], &[1], &[0, -1], &[0, 0]] {
        assert!(checked_starts::<i32>(bad, 1).is_err());
    }
    assert!(Csr::new(&[0, 1], &[0, 1], &[1.0], 3).is_err());
}

#[test]
fn arrays_that_changed_are_harmless() {
    let changed = Csr::new(&[0, 9, 11], &[-1, 7], &[1.0f64, 1.0], 2).expect("equal lengths");
    let mut w = [1.0, 1.0];
    for i in 0..2 {
        let _ = changed.dot::<false>(i, &w);
        changed.add_to::<false>(i, 1.0, &mut w);
    }
    assert_eq!(w, [1.0, 1.0]);
}

#[test]
fn bad_rows_give_no_number_and_are_named() {
    for (column, value, expected) in [
        (5, 1.0f32, KernelError::IndexOutOfRange { row: 1, index: 5, n_cols: 3 }),
        (-1, 1.0, KernelError::IndexOutOfRange { row: 1, index: -1, n_cols: 3 }),
        (2, f32::NAN, KernelError::NotFinite { row: 1, column: 2, value: "NaN" }),
        (2, f32::INFINITY, KernelError::NotFinite { row: 1, column: 2, value: "infinity" }),
    ] {
        let (starts, columns, values) = ([0, 1, 2, 3], [0, column, column], [1.0, value, value]);
        let x = Csr::new(&starts, &columns, &values, 3).expect("equal lengths");
        assert_eq!(x.dot::<false>(0, &[1.0, 1.0, 0.0]), 1.0);
        assert!(check_row(&x, 0).is_ok());
        assert!(!x.dot::<false>(2, &[1.0, 1.0, 0.0]).is_finite());
        for k in [2, 8, 40] {
            let mut scores = vec![0.0f64; k];
            x.dot_many::<_, false>(2, &vec![0.0; 3 * k], &mut scores);
            assert!(scores.iter().all(|s| !s.is_finite()));
            let mut w = vec![0.0; 3 * k];
            x.add_to_many::<_, false>(0, &vec![1.0; k], &mut w);
            assert_eq!(w.iter().sum::<f32>(), k as f32);
        }
        assert_eq!(check_row(&x, 2), Err(expected));
        assert!(x.measure(2).is_err());
    }
}

#[test]
fn norms_add_repeated_columns_up() {
    let x = Csr::new(&[0, 3, 5], &[2, 1, 2, 1, 2], &[1.0, 2.0, 3.0, 2.0, 4.0], 3).expect("equal lengths");
    let mut set = ColumnSet::default();
    assert_eq!((x.squared_norm(0), x.summed_squared_norm(0, &mut set)), (14.0, 20.0));
    assert_eq!((x.squared_norm(1), x.summed_squared_norm(1, &mut set)), (20.0, 20.0));
}

#[test]
#[should_panic(expected = "is_some_and")]
fn sizes_that_wrap_around_are_not_taken_for_small_ones() {
    let x = Csr::new(&[0, 1], &[5], &[1.0f64], usize::MAX / 2 + 1).expect("equal lengths");
    x.dot_many::<f64, false>(0, &[0.0; 4], &mut [0.0; 2]);
}
