use super::curve::Curve;
use super::{Goal, Outcome, Problem, Source, Start, minimize, softmax};
use crate::data::csr::Csr;
use crate::data::dense::Dense;
use crate::dual::intercept::Intercept;
use crate::interrupt::Interrupt;

const CURVES: [Curve; 5] =
    [Curve::Logistic, Curve::SquaredHinge, Curve::Squared, Curve::Exponential, Curve::Hinge];
const GOAL: Goal = Goal { tol: 1e-7, least: 0.0, max_passes: 300, keep: false };

/// Overlapping classes: values, signs, and weights some of which are zero.
fn data(n: usize, d: usize) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
    let mut state = 88172645463325252u64;
    let mut random = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1u64 << 53) as f64 - 0.5
    };
    let signs: Vec<f64> = (0..n).map(|i| if i % 3 == 0 { 1.0 } else { -1.0 }).collect();
    let values = (0..n * d).map(|i| random() + 0.2 * signs[i / d]).collect();
    let weights = (0..n).map(|i| (i % 5) as f64 * 0.5).collect();
    (values, signs, weights)
}

fn run<X: Source>(x: &X, problem: Problem<'_>, n_threads: usize) -> Outcome {
    minimize(x, problem, None, GOAL, n_threads, &Interrupt::new()).expect("valid")
}

/// P(w) and, for a share of each row, D: the gap of the dual variables that the shares are.
fn gap(values: &[f64], problem: Problem<'_>, found: &Outcome) -> (f64, f64) {
    let n = problem.signs.len();
    let d = values.len() / n;
    let intercept = found.w.get(d).copied().unwrap_or(0.0);
    let (mut losses, mut dual, mut sum) = (0.0, 0.0, vec![0.0; d + 1]);
    for i in 0..n {
        let (row, y, u) = (&values[i * d..(i + 1) * d], problem.signs[i], problem.weights[i]);
        let m = y * (row.iter().zip(&found.w).map(|(x, w)| x * w).sum::<f64>() + intercept);
        let z = (1.0 - m).max(0.0);
        let (loss, slope) = match problem.curve {
            Curve::Hinge => (z, f64::NAN),
            Curve::SquaredHinge => (z * z, 2.0 * z),
            Curve::Squared => ((1.0 - m).powi(2), 2.0 * (1.0 - m)),
            Curve::Logistic => ((-m).exp().ln_1p(), 1.0 / (1.0 + m.exp())),
            Curve::Exponential => ((-m).exp(), (-m).exp()),
        };
        let a = found.shares.get(i).copied().unwrap_or(slope);
        let value = match problem.curve {
            Curve::Hinge => a,
            Curve::SquaredHinge | Curve::Squared => a - a * a / 4.0,
            Curve::Logistic => -(a * a.ln() + (1.0 - a) * (1.0 - a).ln()),
            Curve::Exponential => a - a * a.ln(),
        };
        losses += u * loss;
        dual += u * value;
        for (s, x) in sum.iter_mut().zip(row.iter().chain(&[1.0])) {
            *s += u * a * y * x;
        }
    }
    let used = if problem.intercept == Intercept::Penalized { d + 1 } else { d };
    let half = |v: &[f64]| 0.5 * v.iter().take(used).map(|v| v * v).sum::<f64>();
    (half(&found.w) + losses, half(&found.w) + losses - (dual - half(&sum)))
}

#[test]
fn the_gap_is_as_small_as_asked_for() {
    for (n, d) in [(3, 2), (200, 5), (700, 17), (40, 60)] {
        let (values, signs, weights) = data(n, d);
        let x = Dense::new(&values, n, d).expect("shape");
        for curve in CURVES {
            for intercept in [Intercept::None, Intercept::Penalized] {
                let problem = Problem { signs: &signs, weights: &weights, curve, intercept };
                let found = run(&x, problem, 1);
                let (value, gap) = gap(&values, problem, &found);
                assert!(gap <= 2e-7 * value, "{curve:?} {n} x {d}: {gap} of {value}");
                assert!(gap >= -1e-9 * value, "{gap}");
            }
        }
    }
}

#[test]
fn free_intercepts_balance_the_duals() {
    let (values, signs, weights) = data(300, 4);
    let x = Dense::new(&values, 300, 4).expect("shape");
    for curve in CURVES {
        let problem = Problem { signs: &signs, weights: &weights, curve, intercept: Intercept::Free };
        let found = run(&x, problem, 1);
        let (value, gap) = gap(&values, problem, &found);
        assert!(gap.abs() <= 1e-5 * value, "{curve:?}: {gap} of {value}");
    }
}

#[test]
fn sparse_rows_in_any_order_of_columns_and_single_precision_agree_with_dense_ones() {
    let (n, d) = (500, 7);
    let (values, signs, weights) = data(n, d);
    let single: Vec<f32> = values.iter().map(|&v| v as f32).collect();
    let values: Vec<f64> = single.iter().map(|&v| f64::from(v)).collect();
    let starts: Vec<usize> = (0..=n).map(|i| i * d).collect();
    let columns: Vec<i32> = (0..n * d).map(|i| (d - 1 - i % d) as i32).collect();
    let turned: Vec<f64> = values.chunks(d).flat_map(|row| row.iter().rev().copied()).collect();
    let sparse = Csr::new(&starts, &columns, &turned, d).expect("shape");
    for curve in CURVES {
        let problem = Problem { signs: &signs, weights: &weights, curve, intercept: Intercept::Penalized };
        let dense = run(&Dense::new(&values, n, d).expect("shape"), problem, 1);
        let others = [run(&sparse, problem, 1), run(&Dense::new(&single, n, d).expect("shape"), problem, 1)];
        let value = gap(&values, problem, &dense).0;
        for other in others {
            assert!((gap(&values, problem, &other).0 / value - 1.0).abs() < 2e-7, "{curve:?}");
        }
    }
}

#[test]
fn threads_do_not_change_the_result_and_many_rows_begin_with_a_sample() {
    let (n, d) = (60_000, 3);
    let (values, signs, weights) = data(n, d);
    let x = Dense::new(&values, n, d).expect("shape");
    for curve in CURVES {
        let problem = Problem { signs: &signs, weights: &weights, curve, intercept: Intercept::Free };
        let one = run(&x, problem, 1);
        let two = run(&x, problem, 2);
        assert_eq!((&one.w, &one.shares), (&two.w, &two.shares));
        assert!(one.trace[0].passes > 1.0);
    }
}

#[test]
fn a_run_goes_on_where_another_ended() {
    let (values, signs, weights) = data(400, 6);
    let x = Dense::new(&values, 400, 6).expect("shape");
    let problem =
        Problem { signs: &signs, weights: &weights, curve: Curve::Hinge, intercept: Intercept::Penalized };
    let stop = Interrupt::new();
    let short = Goal { max_passes: 5, ..GOAL };
    let first = minimize(&x, problem, None, short, 1, &stop).expect("valid");
    let start = Start { w: &first.w, sigma: first.sigma, centers: &first.shares };
    let found = minimize(&x, problem, Some(start), GOAL, 1, &stop).expect("valid");
    let (value, gap) = gap(&values, problem, &found);
    assert!(gap <= 2e-7 * value, "{gap} of {value}");
}

#[test]
fn arguments_are_checked_and_an_interrupt_is_heard() {
    let (values, signs, weights) = data(20, 2);
    let x = Dense::new(&values, 20, 2).expect("shape");
    let problem =
        Problem { signs: &signs, weights: &weights, curve: Curve::Logistic, intercept: Intercept::None };
    let stop = Interrupt::new();
    for bad in [
        Problem { signs: &signs[1..], ..problem },
        Problem { weights: &weights[1..], ..problem },
        Problem { weights: &signs, ..problem },
    ] {
        assert!(minimize(&x, bad, None, GOAL, 1, &stop).is_err());
    }
    for (w, sigma) in [(&[0.0][..], 1.0), (&[0.0, f64::NAN][..], 1.0), (&[0.0, 0.0][..], 0.0)] {
        let start = Start { w, sigma, centers: &[] };
        assert!(minimize(&x, problem, Some(start), GOAL, 1, &stop).is_err());
    }
    assert!(Curve::named("perceptron").is_err());
    stop.set();
    assert!(minimize(&x, problem, None, GOAL, 1, &stop).is_err());
}

#[test]
fn softmax_comes_to_where_the_gradient_vanishes() {
    let (n, d, k) = (200, 4, 3);
    let (values, _, weights) = data(n, d);
    let classes: Vec<i64> = (0..n).map(|i| ((values[i * d] > 0.1) as i64) + i64::from(i % 7 == 0)).collect();
    let single: Vec<f32> = values.iter().map(|&v| v as f32).collect();
    let (x, stop) = (Dense::new(&values, n, d).expect("shape"), Interrupt::new());
    for intercept in [Intercept::None, Intercept::Penalized, Intercept::Free] {
        let problem = softmax::Problem { classes: &classes, weights: &weights, k, intercept };
        let found = softmax::minimize(x, problem, None, GOAL, 1, &stop).expect("valid");
        let mut pull: Vec<f64> = found.w.iter().map(|w| -w).collect();
        if intercept == Intercept::Free {
            pull[d * k..].fill(0.0);
        }
        let mut value = 0.5 * pull.iter().map(|p| p * p).sum::<f64>();
        let mut dual = 0.0;
        for i in 0..n {
            let row = || values[i * d..(i + 1) * d].iter().chain(&[1.0]);
            let mut p: Vec<f64> = (0..k)
                .map(|c| found.w.iter().skip(c).step_by(k).zip(row()).map(|(w, x)| w * x).sum())
                .collect();
            let right = p[classes[i] as usize];
            let total: f64 = p.iter().map(|s| s.exp()).sum();
            value += weights[i] * (total.ln() - right);
            for (c, p) in p.iter_mut().enumerate() {
                *p = found.shares.get(i * k + c).copied().unwrap_or(p.exp() / total);
                dual -= weights[i] * if *p > 0.0 { *p * p.ln() } else { 0.0 };
                *p -= f64::from(u8::from(c == classes[i] as usize));
            }
            for (j, x) in row().enumerate().take(found.w.len() / k) {
                for (c, p) in p.iter().enumerate() {
                    pull[j * k + c] -= weights[i] * p * x;
                }
            }
        }
        // Free intercepts: what they pull is to vanish.
        let used = if intercept == Intercept::Free { d * k } else { pull.len() };
        let whole: Vec<f64> = pull.iter().zip(&found.w).map(|(p, w)| p + w).collect();
        let gap = value - dual + 0.5 * whole[..used].iter().map(|p| p * p).sum::<f64>();
        assert!((-1e-9 * value..=1e-7 * value).contains(&gap), "{intercept:?}: {gap} of {value}");
        assert!(pull[used..].iter().all(|p| p.abs() <= 1e-4 * value));
        let other = Dense::new(&single, n, d).expect("shape");
        let other = softmax::minimize(other, problem, Some(&found.w), GOAL, 2, &stop).expect("valid");
        // Both are as near the optimum as a gap of 1e-7 allows.
        let near = 2.0 * (2e-7 * value).sqrt();
        assert!(found.w.iter().zip(&other.w).all(|(a, b)| (a - b).abs() < near));
        assert!(softmax::minimize(x, problem, Some(&found.w[1..]), GOAL, 1, &stop).is_err());
    }
}
