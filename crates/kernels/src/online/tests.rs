use super::{Examples, Keep, Online, Rule, n_scores};
use crate::data::csr::Csr;
use crate::data::dense::Dense;
use crate::interrupt::Interrupt;

const ROWS: [f64; 12] = [1.0, 0.0, 0.0, 1.0, 1.0, 1.0, -1.0, 0.5, 2.0, -1.0, -0.5, -1.0];
const TARGETS: [u32; 6] = [0, 1, 2, 0, 2, 1];

fn examples() -> Examples<'static> {
    Examples { targets: &TARGETS, row_weights: &[] }
}

fn run(rule: Rule, keep: Keep, n_classes: usize, targets: &[u32], epochs: usize) -> Online<f64> {
    let x = Dense::new(&ROWS, 6, 2).expect("shape");
    let start = vec![0.0; 3 * n_scores(n_classes)];
    let mut learner = Online::new(rule, keep, n_classes, true, start, Vec::new(), 0, Some(3)).expect("valid");
    for _ in 0..epochs {
        let examples = Examples { targets, row_weights: &[] };
        learner.run_epoch(&x, examples, &Interrupt::new()).expect("runs");
    }
    learner
}

#[test]
fn the_lazy_average_is_the_average_of_the_logged_vectors() {
    let rule = Rule::Mira { cap: 0.7 };
    let lazy = run(rule, Keep::Average, 3, &TARGETS, 4);
    let voted = run(rule, Keep::Vote, 3, &TARGETS, 4);
    assert_eq!(lazy.weights(), voted.weights());
    let mut w = [0.0; 9];
    let mut sum = [0.0; 9];
    let (updates, _) = voted.log();
    for u in updates {
        let row = [ROWS[2 * u.row as usize], ROWS[2 * u.row as usize + 1], 1.0];
        for (j, x) in row.iter().enumerate() {
            w[3 * j + u.raised as usize] += u.size * x;
            w[3 * j + u.lowered as usize] -= u.size * x;
        }
        for (s, w) in sum.iter_mut().zip(w) {
            *s += w * u.survived as f64;
        }
    }
    for (average, s) in lazy.average().iter().zip(sum) {
        assert!((average - s / lazy.seen() as f64).abs() < 1e-12);
    }
}

#[test]
fn sparse_rows_give_the_weights_of_dense_rows() {
    let dense = run(Rule::Perceptron { rate: 0.5 }, Keep::Last, 3, &TARGETS, 3);
    let columns: Vec<i32> = (0..12).map(|c| c % 2).collect();
    let x = Csr::new(&[0, 2, 4, 6, 8, 10, 12], &columns, &ROWS, 2).expect("valid");
    let rule = Rule::Perceptron { rate: 0.5 };
    let mut sparse =
        Online::new(rule, Keep::Last, 3, true, vec![0.0; 9], Vec::new(), 0, Some(3)).expect("valid");
    for _ in 0..3 {
        sparse.run_epoch(&x, examples(), &Interrupt::new()).expect("runs");
    }
    assert_eq!(dense.weights(), sparse.weights());
}

#[test]
fn an_uncapped_step_of_mira_mends_the_mistake_by_one() {
    let x = Dense::new(&[2.0, 1.0], 1, 2).expect("shape");
    for n_classes in [2, 3] {
        let start = vec![0.0; 2 * n_scores(n_classes)];
        let rule = Rule::Mira { cap: f64::INFINITY };
        let mut learner =
            Online::new(rule, Keep::Last, n_classes, false, start, Vec::new(), 0, None).expect("valid");
        let one = Examples { targets: &[1], row_weights: &[] };
        assert_eq!(learner.run_epoch(&x, one, &Interrupt::new()), Ok(1));
        // x·x = 5: tau = 1/10 on each vector, twice that on w = w_1 - w_0.
        let expected: &[f64] = if n_classes == 2 { &[0.4, 0.2] } else { &[-0.2, 0.2, 0.0, -0.1, 0.1, 0.0] };
        for (w, e) in learner.weights().iter().zip(expected) {
            assert!((w - e).abs() < 1e-12);
        }
    }
}

#[test]
fn an_empty_row_without_bias_is_a_mistake_that_nothing_mends() {
    let x = Csr::new(&[0, 0], &[], &[] as &[f64], 1).expect("valid");
    let rule = Rule::Mira { cap: 1.0 };
    let mut learner = Online::new(rule, Keep::Last, 2, false, vec![0.0], Vec::new(), 0, None).expect("valid");
    let one = Examples { targets: &[1], row_weights: &[] };
    assert_eq!(learner.run_epoch(&x, one, &Interrupt::new()), Ok(1));
    assert_eq!(learner.weights(), [0.0]);
}

#[test]
fn bad_input_is_an_error() {
    let rule = Rule::Perceptron { rate: 1.0 };
    assert!(Online::<f64>::new(rule, Keep::Last, 1, true, vec![], vec![], 0, None).is_err());
    let zero = Rule::Perceptron { rate: 0.0 };
    assert!(Online::<f64>::new(zero, Keep::Last, 2, true, vec![], vec![], 0, None).is_err());
    let x = Dense::new(&ROWS, 6, 2).expect("shape");
    let mut learner = Online::new(rule, Keep::Last, 2, true, vec![0.0; 3], vec![], 0, None).expect("valid");
    assert!(learner.run_epoch(&x, examples(), &Interrupt::new()).is_err());
    let stop = Interrupt::new();
    stop.set();
    let two = Examples { targets: &[0, 1, 0, 1, 0, 1], row_weights: &[] };
    assert!(learner.run_epoch(&x, two, &stop).is_err());
    assert_eq!(learner.seen(), 0);
}

/// The mean over the rows of two learners of the weights after each row, and the mean of their last weights.
fn mixed_by_hand(x: &Dense<'_, f64>, targets: &[u32], rule: Rule, passes: &[Vec<u32>]) -> [Vec<f64>; 2] {
    let mut start = vec![0.0; 3];
    let (mut total, mut seen) = (vec![0.0; 3], 0.0);
    for order in passes {
        let (front, back) = order.split_at(order.len().div_ceil(2));
        let mut mixed = vec![0.0; 3];
        for half in [front, back] {
            let mut w = start.clone();
            for &i in half {
                let (x0, x1) = (x.row(i as usize)[0], x.row(i as usize)[1]);
                let sign = if targets[i as usize] == 1 { 1.0 } else { -1.0 };
                let margin = sign * (w[0] * x0 + w[1] * x1 + w[2]);
                if margin <= 0.0 {
                    let step = match rule {
                        Rule::Perceptron { rate } => rate,
                        Rule::Mira { cap } => ((1.0 - margin) / (x0 * x0 + x1 * x1 + 1.0)).min(2.0 * cap),
                    };
                    for (w, x) in w.iter_mut().zip([x0, x1, 1.0]) {
                        *w += sign * step * x;
                    }
                }
                total.iter_mut().zip(&w).for_each(|(t, w)| *t += w);
                seen += 1.0;
            }
            mixed.iter_mut().zip(&w).for_each(|(m, w)| *m += 0.5 * w);
        }
        start = mixed;
    }
    [total.iter().map(|t| t / seen).collect(), start]
}

#[test]
fn a_shared_pass_is_the_mean_of_two_learners() {
    let x = Dense::new(&ROWS, 6, 2).expect("shape");
    let targets = [0, 1, 0, 1, 1, 0];
    let examples = Examples { targets: &targets, row_weights: &[] };
    let passes = [vec![3, 1, 0, 5, 4], vec![2, 4, 0, 1, 5, 3], vec![5, 0, 1, 2, 3, 4]];
    for rule in [Rule::Perceptron { rate: 1.0 }, Rule::Mira { cap: 0.3 }] {
        let start = vec![0.0; 3];
        let mut learner =
            Online::new(rule, Keep::Average, 2, true, start, Vec::new(), 0, Some(1)).expect("valid");
        assert_eq!(learner.learners(), 1);
        for order in &passes {
            learner.visit_shared(&x, examples, order, &Interrupt::new()).expect("runs");
        }
        assert_eq!((learner.seen(), learner.learners()), (17, 2));
        let expected = mixed_by_hand(&x, &targets, rule, &passes);
        for (found, expected) in learner.finish().iter().zip(&expected) {
            assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{found:?} {expected:?}");
        }
    }
}
