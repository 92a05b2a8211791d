//! Tests of the sparse rows.

use super::Csr;
use crate::error::KernelError;
use crate::rows::Rows;

fn example() -> Csr<f64> {
    // [[1, 0, 2], [0, 0, 0], [0, 3, 0]]
    Csr::new(&[0i32, 2, 2, 3], &[0, 2, 1], &[1.0, 2.0, 3.0], 3, 1).expect("valid")
}

#[test]
fn products_with_one_and_many_scores() {
    let x = example();
    assert_eq!(x.dot::<false>(0, &[1.0, 10.0, 100.0]), 201.0);
    for k in [1, 3, 7, 8, 9, 24, 33, 45] {
        let w: Vec<f64> = (0..3 * k).map(|v| v as f64).collect();
        let mut out = vec![0.0; k];
        x.dot_many::<false>(0, &w, &mut out);
        let expected: Vec<f64> = (0..k).map(|c| w[c] + 2.0 * w[2 * k + c]).collect();
        assert_eq!(out, expected);
        let mut added = w.clone();
        let a: Vec<f64> = (0..k).map(|c| 1.0 + c as f64).collect();
        x.add_to_many::<false>(0, &a, &mut added);
        for (at, &v) in added.iter().enumerate() {
            assert_eq!(v, w[at] + [1.0, 0.0, 2.0][at / k] * a[at % k]);
        }
    }
}

#[test]
fn transposing_twice_gives_the_matrix_back() {
    let x = example();
    let back = x.transpose().and_then(|t| t.transpose()).expect("small");
    assert_eq!((back.starts, back.columns, back.values), (x.starts, x.columns, x.values));
}

#[test]
fn repeated_columns_are_seen_in_any_order() {
    assert!(!example().repeats_columns());
    for (columns, repeats) in [([1, 0, 2], false), ([1, 1, 2], true), ([2, 0, 2], true)] {
        for n_cols in [3, 1000] {
            let x = Csr::new(&[0i32, 3], &columns, &[1.0, 2.0, 3.0], n_cols, 1).expect("valid");
            assert_eq!(x.repeats_columns(), repeats);
        }
    }
}

#[test]
fn malformed_input_is_named() {
    let bad = Csr::new(&[0i32, 1], &[5], &[1.0f32], 3, 1).err();
    assert_eq!(bad, Some(KernelError::IndexOutOfRange { row: 0, index: 5, n_cols: 3 }));
    assert!(Csr::new(&[0i64, 2, 1], &[0], &[1.0f32], 3, 1).is_err());
    assert!(Csr::new::<i64>(&[], &[], &[] as &[f32], 3, 2).is_err());
    let nan = Csr::new(&[0i32, 0, 1], &[2], &[f64::NAN], 3, 1).expect("valid");
    assert_eq!(nan.check_finite(), Err(KernelError::NotFinite { row: 1, column: 2, value: "NaN" }));
}
