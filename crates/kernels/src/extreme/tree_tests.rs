//! Laws of label trees: balance, exactness of a wide beam, the same on any number of threads.

use std::sync::atomic::AtomicU64;

use super::tree_beam::{Question, search, spread};
use super::tree_cluster::group;
use super::tree_fit::{NodeKind, NodeSettings, TreeWeights, fit};
use super::tree_model::{Link, Model};
use super::tree_plan::{Labels, Plan};
use crate::data::csr::Csr;
use crate::dual::columns::Settings;
use crate::dual::intercept::Intercept;
use crate::interrupt::Interrupt;
use crate::loss::dual::MarginLoss;
use crate::random::Random;

struct Data {
    starts: Vec<usize>,
    columns: Vec<i32>,
    values: Vec<f64>,
    labels: Vec<i32>,
}

const LABELS: usize = 12;
const FEATURES: usize = 30;

fn data(n: usize) -> Data {
    let mut random = Random::new(7);
    let mut data = Data { starts: vec![0], columns: vec![], values: vec![], labels: vec![] };
    for i in 0..n {
        let label = i % LABELS;
        let mut columns: Vec<i32> = (0..4).map(|_| random.below(FEATURES) as i32).collect();
        columns.extend([2 * label as i32, 2 * label as i32 + 1]);
        columns.sort_unstable();
        columns.dedup();
        data.values.extend(columns.iter().map(|_| 0.5 + random.below(100) as f64 / 100.0));
        data.columns.extend(columns);
        data.starts.push(data.columns.len());
        data.labels.push(label as i32);
    }
    data
}

impl Data {
    fn rows(&self) -> Csr<'_, f64> {
        Csr::new(&self.starts, &self.columns, &self.values, FEATURES).unwrap()
    }
}

/// Two levels: four groups of three labels.
fn tree() -> (Vec<i64>, Vec<i64>) {
    let mut targets: Vec<i64> = (1..5).collect();
    targets.extend((0..LABELS as i64).map(|label| 5 + label));
    (vec![0, 4, 7, 10, 13, 16], targets)
}

fn settings(kind: NodeKind, n_threads: usize) -> NodeSettings {
    let solve = Settings {
        loss: MarginLoss::Logistic,
        intercept: Intercept::Free,
        seed: 1,
        tol: 1e-4,
        max_passes: 500.0,
        patience: f64::INFINITY,
        keep_weights: true,
    };
    NodeSettings { kind, solve, prune: 0.0, n_threads }
}

fn fitted(data: &Data, kind: NodeKind, n_threads: usize) -> TreeWeights<f64> {
    let (starts, targets) = tree();
    let plan = Plan::new(&starts, &targets, LABELS).unwrap();
    let label_starts: Vec<usize> = (0..=data.labels.len()).collect();
    let labels = Labels::new(&label_starts, &data.labels, LABELS).unwrap();
    let upper = vec![1.0; data.labels.len()];
    let (done, stop) = (AtomicU64::new(0), Interrupt::new());
    let x = data.rows();
    fit(&x, &plan, &labels, true, &upper, &settings(kind, n_threads), &done, &stop).unwrap().0
}

fn model<'a>(weights: &'a TreeWeights<f64>, starts: &'a [i64], targets: &'a [i64]) -> Model<'a, f64> {
    Model {
        edge_starts: starts,
        targets,
        feature_starts: &weights.feature_starts,
        features: &weights.features,
        weight_starts: &weights.weight_starts,
        children: &weights.children,
        values: &weights.values,
        intercepts: &weights.intercepts,
        link: Link::Softmax { scale: 1.0 },
    }
}

#[test]
fn groups_are_balanced_and_do_not_depend_on_threads() {
    let data = data(103);
    let (done, stop) = (AtomicU64::new(0), Interrupt::new());
    let one = group(&data.rows(), &[3, 4], 10, 5, 1, &done, &stop).unwrap();
    let two = group(&data.rows(), &[3, 4], 10, 5, 2, &done, &stop).unwrap();
    assert_eq!(one, two);
    let sizes: Vec<usize> = one.starts.windows(2).map(|w| w[1] - w[0]).collect();
    assert_eq!(sizes.len(), 12);
    assert!(sizes.iter().all(|&size| size == 8 || size == 9));
    let mut all = one.order.clone();
    all.sort_unstable();
    assert_eq!(all, (0..103).collect::<Vec<u32>>());
    assert!(group(&data.rows(), &[200], 10, 5, 1, &done, &stop).is_err());
}

#[test]
fn probabilities_sum_to_one_and_threads_change_nothing() {
    let data = data(240);
    let (starts, targets) = tree();
    for kind in [NodeKind::Logistic, NodeKind::Svm, NodeKind::Perceptron] {
        let (one, two) = (fitted(&data, kind, 1), fitted(&data, kind, 2));
        assert_eq!((&one.values, &one.intercepts), (&two.values, &two.intercepts));
        let model = model(&one, &starts, &targets);
        let (x, stop) = (data.rows(), Interrupt::new());
        for beam in [1, 2, 4] {
            let question = Question { beam, n_best: LABELS, least: f64::NEG_INFINITY, keep_left: true };
            let found = search(&x, &model, &question, 2, &stop).unwrap();
            let shares = spread(&model, &found, LABELS, 1).unwrap();
            for row in shares.chunks_exact(LABELS) {
                assert!((row.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            }
            let right = found.iter().zip(&data.labels).filter(|(f, y)| f.labels[0].1 == **y as u32);
            assert!(right.count() > 200);
        }
    }
}

#[test]
fn malformed_trees_are_refused() {
    let (starts, targets) = tree();
    assert!(Plan::new(&starts, &targets, LABELS + 1).is_err());
    for (edge, target) in [(0, 0), (0, 2), (5, 16), (5, 17), (5, -1)] {
        let mut wrong = targets.clone();
        wrong[edge] = target;
        assert!(Plan::new(&starts, &wrong, LABELS).is_err(), "{edge} {target}");
    }
    assert!(Plan::new(&[0, 2, 1], &targets, LABELS).is_err());
    assert!(Labels::new(&[0, 1], &[LABELS as i32], LABELS).is_err());
}
