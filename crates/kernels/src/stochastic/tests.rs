use super::{Batchwise, Schedule, Settings, Stochastic, average_share, free_rate};
use crate::data::csr::Csr;
use crate::data::dense::Dense;
use crate::interrupt::Interrupt;
use crate::loss::row::RowLoss;
use crate::stochastic::step_rule::{Kind, Shares, StepRule};

const X: [f64; 12] = [1.0, 0.0, 0.0, 1.0, 1.0, 1.0, -1.0, 0.5, 2.0, -1.0, -0.5, -1.0];
const Y: [i32; 6] = [1, -1, 1, -1, 1, -1];
const C: [f64; 6] = [1.0, 2.0, 0.5, 1.0, 0.0, 1.0];

fn settings(batch_size: usize, penalized: usize) -> Settings {
    Settings {
        k: 1,
        intercept: true,
        shares: Shares { l1: 0.0, l2: 0.3, penalized },
        schedule: Schedule::Bottou,
        rate: 0.4,
        intercept_share: 1.0,
        batch_size,
        average: true,
    }
}

fn data(loss: &RowLoss) -> Batchwise<'_> {
    Batchwise { loss, targets: &Y, row_weights: &C }
}

/// The same method, written plainly; columns are centered when the intercept is free.
fn plain(batch_size: usize, penalized: usize, passes: usize, loss: &RowLoss) -> ([f64; 3], [f64; 3]) {
    let (mut w, mut mean, mut t) = ([0.0; 3], [0.0; 3], 0.0);
    let center =
        |j: usize| if penalized == 2 { (0..6).map(|i| X[2 * i + j]).sum::<f64>() / 6.0 } else { 0.0 };
    let (m0, m1) = (center(0), center(1));
    for _ in 0..passes {
        for batch in [0usize, 1, 2, 3, 4, 5].chunks(batch_size) {
            let mut grad = [0.0; 3];
            for &i in batch {
                let row = [X[2 * i] - m0, X[2 * i + 1] - m1, 1.0];
                let score: f64 = row.iter().zip(w).map(|(a, b)| a * b).sum();
                let mut slope = [0.0];
                loss.value_and_grad(&[score], Y[i], &mut slope);
                for (g, x) in grad.iter_mut().zip(row) {
                    *g += slope[0] * C[i] * x / batch.len() as f64;
                }
            }
            let rate = Schedule::Bottou.rate(0.4, t, 6.0, 0.3);
            let pass = 6usize.div_ceil(batch_size) as f64;
            let free = if penalized == 2 { free_rate(0.4, t, pass) } else { rate };
            t += 1.0;
            for j in 0..3 {
                w[j] -= if j == 2 { free.max(rate) } else { rate } * grad[j];
                if j < penalized {
                    w[j] /= 1.0 + rate * 0.3;
                }
                mean[j] += average_share(t) * (w[j] - mean[j]);
            }
        }
    }
    for v in [&mut w, &mut mean] {
        v[2] -= m0 * v[0] + m1 * v[1];
    }
    (w, mean)
}

#[test]
fn the_lazy_pass_is_the_plain_method() {
    let x = Dense::new(&X, 6, 2).expect("shape");
    for name in ["logistic", "hinge"] {
        let loss = RowLoss::new(name, 1, &[]).expect("known");
        for (batch_size, penalized) in [(1, 2), (4, 2), (2, 3), (100, 3)] {
            let rule = StepRule::new(Kind::Plain, 0.0, 3).expect("valid");
            let mut run =
                Stochastic::new(settings(batch_size, penalized), rule, vec![0.0; 3], None).expect("valid");
            for _ in 0..40 {
                run.run(&x, data(&loss), 6, &Interrupt::new()).expect("runs");
            }
            let (w, mean) = plain(batch_size, penalized, 40, &loss);
            for j in 0..3 {
                assert!((run.weights()[j] - w[j]).abs() < 1e-9, "{name} {batch_size}");
                assert!((run.mean()[j] - mean[j]).abs() < 1e-9, "{name} {batch_size}");
            }
        }
    }
}

#[test]
fn sparse_equals_dense_for_many_scores() {
    let loss = RowLoss::new("multiclass_logistic", 3, &[]).expect("known");
    let data = Batchwise { loss: &loss, targets: &[0, 1, 2, 0, 2, 1], row_weights: &[] };
    let columns: Vec<i32> = (0..12).map(|c| c % 2).collect();
    let sparse = Csr::new(&[0, 2, 4, 6, 8, 10, 12], &columns, &X, 2).expect("valid");
    let dense = Dense::new(&X, 6, 2).expect("shape");
    for kind in [Kind::Plain, Kind::AdaGrad] {
        let start = |_| {
            let rule = StepRule::new(kind, 1e-8, 9).expect("valid");
            let settings = Settings { k: 3, ..settings(2, 6) };
            Stochastic::new(settings, rule, vec![0.0; 9], Some(5)).expect("valid")
        };
        let (mut a, mut b) = (start(0), start(1));
        for _ in 0..5 {
            a.run(&sparse, data, 6, &Interrupt::new()).expect("runs");
            b.run(&dense, data, 6, &Interrupt::new()).expect("runs");
        }
        for (a, b) in a.mean().iter().zip(b.mean()) {
            assert!((a - b).abs() < 1e-12);
        }
    }
}

#[test]
fn an_interrupted_run_is_consistent_and_bad_input_an_error() {
    let loss = RowLoss::new("hinge", 1, &[]).expect("known");
    let x = Dense::new(&X, 6, 2).expect("shape");
    let rule = || StepRule::new(Kind::Plain, 0.0, 3).expect("valid");
    let mut run = Stochastic::new(settings(1, 2), rule(), vec![0.0; 3], None).expect("valid");
    let stop = Interrupt::new();
    stop.set();
    assert!(run.run(&x, data(&loss), 6, &stop).is_err());
    assert_eq!(run.weights(), [0.0; 3]);
    let wrong = Batchwise { loss: &loss, targets: &[0, 1, 1, 1, 1, 1], row_weights: &[] };
    assert!(run.run(&x, wrong, 6, &Interrupt::new()).is_err());
    let none = Settings { batch_size: 0, ..settings(1, 2) };
    assert!(Stochastic::new(none, rule(), vec![0.0; 3], None).is_err());
}

#[test]
fn a_shared_pass_is_the_mean_of_two_runs() {
    let x = Dense::new(&X, 6, 2).expect("shape");
    let loss = RowLoss::new("logistic", 1, &[]).expect("known");
    let start = || {
        let rule = StepRule::new(Kind::Plain, 0.0, 3).expect("valid");
        Stochastic::new(settings(2, 2), rule, vec![0.5, -1.0, 0.25], Some(1)).expect("valid")
    };
    let mut shared = start();
    shared.prepare(&x, data(&loss)).expect("fits");
    let [mut first, mut second] = [shared.clone(), shared.clone()];
    let order = [4, 2, 0, 1, 5, 3];
    let stop = Interrupt::new();
    let total = shared.run_shared(&x, data(&loss), &order, None, &stop).expect("runs");
    let parts = first.run_lazy(&x, data(&loss), &order[..4], None, &stop).expect("runs")
        + second.run_lazy(&x, data(&loss), &order[4..], None, &stop).expect("runs");
    assert_eq!((total, shared.steps()), (parts, 2));
    for j in 0..3 {
        assert!((shared.weights()[j] - 0.5 * (first.weights()[j] + second.weights()[j])).abs() < 1e-15);
        assert!((shared.mean()[j] - 0.5 * (first.mean()[j] + second.mean()[j])).abs() < 1e-15);
    }
}
