//! Counting against the definitions, on any number of threads.

use super::{Kind, Part, Plan, count};
use crate::data::csr::{Csr, OwnedCsr};
use crate::data::dense::Dense;
use crate::error::KernelError;
use crate::interrupt::Interrupt;
use crate::random::Random;
use crate::stats::survey::survey;

const K: usize = 3;

/// Rows of counts below 4, two of five zeros; some of them missing.
fn data(n: usize, d: usize, gaps: bool) -> (Vec<f64>, Vec<i64>, Vec<f64>) {
    let mut random = Random::new(7);
    let mut x: Vec<f64> = (0..n * d).map(|_| (random.below(6) as f64 - 2.0).max(0.0)).collect();
    if gaps {
        for at in (3..n * d).step_by(11) {
            x[at] = f64::NAN;
        }
    }
    let y = (0..n).map(|_| random.below(K) as i64).collect();
    let w = (0..n).map(|_| random.below(4) as f64 * 0.5).collect();
    (x, y, w)
}

fn sparse(x: &[f64], d: usize) -> (Vec<usize>, Vec<i32>, Vec<f64>) {
    let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    for row in x.chunks(d) {
        for (j, &v) in row.iter().enumerate().filter(|(_, v)| **v != 0.0) {
            columns.push(j as i32);
            values.push(v);
        }
        starts.push(values.len());
    }
    (starts, columns, values)
}

fn mixed(d: usize) -> Plan {
    let kinds: Vec<u8> = (0..d).map(|j| (j * 4 / d) as u8).collect();
    let sizes: Vec<i64> = kinds.iter().map(|&kind| if kind == 3 { 4 } else { 0 }).collect();
    Plan::new(&kinds, Some(&sizes), 0.5).expect("plan")
}

fn check(part: &Part, plan: &Plan, x: &[f64], y: &[i64], w: &[f64], d: usize) {
    for k in 0..K {
        let total: f64 = y.iter().zip(w).filter(|(y, _)| **y == k as i64).map(|(_, w)| w).sum();
        assert!((part.totals[k] - total).abs() < 1e-9);
        for j in 0..d {
            let cells: Vec<(f64, f64)> = (0..y.len())
                .filter(|&i| y[i] == k as i64 && !x[i * d + j].is_nan())
                .map(|i| (x[i * d + j], w[i]))
                .collect();
            let weight: f64 = cells.iter().map(|c| c.1).sum();
            let sum: f64 = cells.iter().map(|c| c.0 * c.1).sum();
            let at = k * d + j;
            let missing = part.missing.get(at).copied().unwrap_or(0.0);
            assert!((total - missing - weight).abs() < 1e-9);
            let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-8, "{a} is not {b}");
            match plan.kind(j) {
                Kind::Multinomial => close(part.value[at], sum),
                Kind::Bernoulli => {
                    close(part.value[at], cells.iter().filter(|c| c.0 > 0.5).map(|c| c.1).sum())
                }
                Kind::Gaussian => {
                    let mean = sum / weight;
                    close(part.value[at], mean);
                    close(part.scatter[at], cells.iter().map(|c| c.1 * (c.0 - mean).powi(2)).sum());
                }
                Kind::Categorical => {
                    for (v, entry) in plan.categories(j).enumerate() {
                        let seen = cells.iter().filter(|c| c.0 == v as f64).map(|c| c.1).sum();
                        close(part.table[k * plan.n_categories() + entry], seen);
                    }
                }
            }
        }
    }
}

#[test]
fn every_kind_agrees_with_its_definition_dense_and_sparse() {
    for (n, d) in [(40, 4), (900, 8), (5_000, 64), (600, 900)] {
        for gaps in [false, true] {
            let (x, y, w) = data(n, d, gaps);
            let plan = mixed(d);
            let dense = Dense::new(&x, n, d).expect("shape");
            let stop = Interrupt::new();
            let one = count(&dense, &plan, &y, Some(&w), K, 1, &stop).expect("valid").expect("ordered");
            check(&one, &plan, &x, &y, &w, d);
            let (starts, columns, values) = sparse(&x, d);
            let rows = Csr::new(&starts, &columns, &values, d).expect("lengths");
            let lean = count(&rows, &plan, &y, Some(&w), K, 1, &stop).expect("valid").expect("ordered");
            check(&lean, &plan, &x, &y, &w, d);
            for n_threads in [2, 3] {
                let many = count(&dense, &plan, &y, Some(&w), K, n_threads, &stop).expect("valid");
                assert_eq!(many.expect("ordered"), one);
                let many = count(&rows, &plan, &y, Some(&w), K, n_threads, &stop).expect("valid");
                assert_eq!(many.expect("ordered"), lean);
            }
        }
    }
}

#[test]
fn classes_shared_out_among_threads_give_the_same_sums() {
    // Many columns and few rows: threads take classes, not rows.
    let (n, d) = (100, 12_000);
    let (x, y, w) = data(n, d, false);
    let (starts, columns, values) = sparse(&x, d);
    let rows = Csr::new(&starts, &columns, &values, d).expect("lengths");
    let plan = Plan::new(&vec![0; d], None, 0.0).expect("plan");
    let one = count(&rows, &plan, &y, Some(&w), K, 1, &Interrupt::new()).expect("valid").expect("ordered");
    check(&one, &plan, &x, &y, &w, d);
    let (mut turned, mut back) = (columns.clone(), values.clone());
    for row in starts.windows(2) {
        turned[row[0]..row[1]].reverse();
        back[row[0]..row[1]].reverse();
    }
    let turned = Csr::new(&starts, &turned, &back, d).expect("lengths");
    for n_threads in [2, 5] {
        for rows in [&rows, &turned] {
            let many = count(rows, &plan, &y, Some(&w), K, n_threads, &Interrupt::new()).expect("valid");
            assert_eq!(many.expect("counts"), one);
        }
    }
}

#[test]
fn rows_out_of_order_are_told_and_bad_values_named() {
    let stop = Interrupt::new();
    let (sums, plan) =
        (Plan::new(&[0; 3], None, 0.0).expect("plan"), Plan::new(&[1; 3], None, 0.0).expect("plan"));
    for columns in [[2, 1], [1, 1]] {
        let rows = Csr::new(&[0, 2], &columns, &[1.0, 1.0], 3).expect("lengths");
        assert_eq!(count(&rows, &plan, &[0], None, 1, 1, &stop), Ok(None));
        let part = count(&rows, &sums, &[0], None, 1, 1, &stop).expect("valid").expect("sums need no order");
        assert_eq!(part.value.iter().sum::<f64>(), 2.0);
    }
    for columns in [[0, 3], [3, 0], [-1, 0]] {
        let rows = Csr::new(&[0, 2], &columns, &[1.0, 1.0], 3).expect("lengths");
        assert!(matches!(
            count(&rows, &plan, &[0], None, 1, 1, &stop),
            Err(KernelError::IndexOutOfRange { row: 0, .. })
        ));
    }
    let message = |x: &[f64], plan: &Plan| {
        let dense = Dense::new(x, 1, 3).expect("shape");
        count(&dense, plan, &[0], None, 1, 1, &Interrupt::new()).expect_err("bad").to_string()
    };
    assert!(message(&[1.0, -2.0, 0.0], &sums).contains("row 0, column 1"));
    assert!(message(&[1.0, f64::INFINITY, 0.0], &plan).contains("infinity at row 0, column 1"));
    let plan = Plan::new(&[3, 3, 3], Some(&[2, 2, 2]), 0.0).expect("plan");
    for bad in [2.0, 0.5, -1.0, 1e300] {
        assert!(message(&[1.0, 0.0, bad], &plan).contains("row 0, column 2"));
    }
    let dense = Dense::new(&[0.0; 3], 1, 3).expect("shape");
    assert!(count(&dense, &plan, &[1], None, 1, 1, &stop).is_err());
    assert!(count(&dense, &plan, &[0], Some(&[-1.0]), 1, 1, &stop).is_err());
    assert!(Plan::new(&[4], None, 0.0).is_err());
    assert!(Plan::new(&[3], None, 0.0).is_err());
}

#[test]
fn a_mean_far_from_zero_keeps_its_scatter() {
    let x: Vec<f64> = (0..1000).map(|i| 1e9 + f64::from(i % 2)).collect();
    let dense = Dense::new(&x, 1000, 1).expect("shape");
    let plan = Plan::new(&[2], None, 0.0).expect("plan");
    let part =
        count(&dense, &plan, &[0; 1000], None, 1, 1, &Interrupt::new()).expect("valid").expect("ordered");
    assert!((part.scatter[0] - 250.0).abs() < 1e-6);
}

#[test]
fn a_survey_tells_what_the_columns_hold() {
    let x = [0.0, 0.5, f64::NAN, -3.0, 1.0, 2.0, f64::NAN, 7.0];
    let dense = Dense::new(&x, 2, 4).expect("shape");
    let seen = survey(&dense, 2, &Interrupt::new()).expect("finite");
    assert_eq!(seen.binary, [1, 0, 1, 0]);
    assert_eq!(seen.whole, [1, 0, 1, 1]);
    assert_eq!((seen.lowest[3], seen.highest[3]), (-3.0, 7.0));
    let owned = OwnedCsr::new(&[0, 2, 2], &[0, 1], &[1.0, 0.5], 2).expect("valid");
    let seen = survey(&owned.rows(), 1, &Interrupt::new()).expect("finite");
    assert_eq!((seen.binary, seen.whole), (vec![1, 0], vec![1, 0]));
    assert_eq!((seen.lowest, seen.highest), (vec![0.0, 0.0], vec![1.0, 0.5]));
}
