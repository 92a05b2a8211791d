//! The likelihood: both domains against each other, gradients against differences, merging against none.

use super::batch::Scores;
use super::encoded::Encoded;
use super::graph::{Edges, Graph};
use super::likelihood::{Gradient, Model, Targets, value_and_grad};
use super::observed::{Pattern, observed, same_columns};
use super::scorer::{Bonds, Scorer};
use crate::data::csr::Csr;
use crate::interrupt::Interrupt;
use crate::random::Random;

pub(super) struct Data {
    starts: Vec<usize>,
    columns: Vec<i32>,
    values: Vec<f64>,
    n_cols: usize,
    pub offsets: Vec<usize>,
    pub labels: Vec<u32>,
    k: usize,
}

impl Data {
    pub fn new(n: usize, n_cols: usize, k: usize, ones: bool, seed: u64) -> Self {
        let mut random = Random::new(seed);
        let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        let mut labels = Vec::new();
        for t in 0..n {
            let label = random.below(k);
            labels.push(label as u32);
            // Columns 0 and 1 are always there together; the others depend on the label a little.
            let mut row =
                vec![0, 1, 2 + (label + random.below(3)) % (n_cols - 2), 2 + random.below(n_cols - 2)];
            if t % 7 == 0 {
                row.push(2 + random.below(n_cols - 2));
            }
            row.sort_unstable();
            row.dedup();
            for column in row {
                columns.push(column as i32);
                values.push(if ones {
                    1.0
                } else {
                    0.5 + random.below(4) as f64 * if column < 2 { 0.0 } else { 1.0 }
                });
            }
            starts.push(columns.len());
        }
        let mut offsets = vec![0, 0];
        while offsets[offsets.len() - 1] < n {
            offsets.push((offsets[offsets.len() - 1] + 1 + random.below(9)).min(n));
        }
        Self { starts, columns, values, n_cols, offsets, labels, k }
    }

    pub fn csr(&self) -> Csr<'_, f64> {
        Csr::new(&self.starts, &self.columns, &self.values, self.n_cols).expect("valid")
    }

    pub fn pattern(&self) -> Pattern {
        observed(&self.csr(), self.k, |t, mark| mark(self.labels[t] as usize)).expect("valid")
    }
}

struct Weights {
    state: Vec<f64>,
    edges: Vec<f64>,
    start: Vec<f64>,
    end: Vec<f64>,
}

fn random_weights(data: &Encoded<f64>, graph: &Graph, scale: f64, seed: u64) -> Weights {
    let mut random = Random::new(seed);
    let mut draw = |n: usize| -> Vec<f64> {
        (0..n).map(|_| ((random.next_u64() >> 11) as f64 / (1u64 << 53) as f64 - 0.5) * scale).collect()
    };
    let mut state = draw(data.n_weights());
    for (w, &m) in state.iter_mut().zip(data.multiplicity()) {
        if m == 0.0 {
            *w = 0.0;
        }
    }
    Weights {
        state,
        edges: draw(graph.n_edges()),
        start: draw(graph.n_states()),
        end: draw(graph.n_states()),
    }
}

fn model<'a>(graph: &'a Graph, w: &'a Weights) -> Model<'a, f64> {
    Model {
        graph,
        weights: &w.state,
        edges: &w.edges,
        free: None,
        start: &w.start,
        end: &w.end,
        edge_weights: &[],
    }
}

fn evaluate(
    data: &Encoded<f64>,
    graph: &Graph,
    w: &Weights,
    targets: Targets<'_>,
    n_threads: usize,
) -> Gradient {
    value_and_grad(data, &model(graph, w), targets, n_threads, &Interrupt::new()).expect("valid")
}

fn close(a: &Gradient, b: &Gradient, tolerance: f64) -> bool {
    let near = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() <= tolerance);
    (a.value - b.value).abs() <= tolerance * (1.0 + a.value.abs())
        && near(&a.weights, &b.weights)
        && near(&a.edges, &b.edges)
        && near(&a.start, &b.start)
        && near(&a.end, &b.end)
}

/// The same chain with its states in another order, which only the logarithmic domain takes.
fn disguised(k: usize) -> Graph {
    let label_of: Vec<i64> = (0..k as i64).rev().collect();
    let from: Vec<i64> = (0..k * k).map(|e| (e % k) as i64).collect();
    let to: Vec<i64> = (0..k * k).map(|e| (e / k) as i64).collect();
    Graph::new(k, &label_of, &from, &to).expect("valid")
}

#[test]
fn both_domains_agree_with_partial_labels_and_weights_too() {
    for (k, ones) in [(1, true), (2, false), (5, true), (9, false), (22, true), (35, true)] {
        let data = Data::new(160, 40, k, ones, k as u64);
        let encoded =
            Encoded::new(&data.csr(), data.offsets.clone(), &data.pattern(), k, false).expect("valid");
        let graph = Graph::first_order(k);
        let w = random_weights(&encoded, &graph, 3.0, 1);
        let allowed: Vec<bool> =
            (0..160 * k).map(|i| i % 3 == 0 || data.labels[i / k] as usize == i % k).collect();
        let weights: Vec<f64> = (0..data.offsets.len() - 1).map(|i| (i % 3) as f64 * 0.7).collect();
        let back = disguised(k);
        let turn = |e: usize| (k - 1 - e / k) * k + (k - 1 - e % k);
        let turned = Weights {
            state: w.state.clone(),
            edges: (0..k * k).map(|e| w.edges[turn(e)]).collect(),
            start: w.start.iter().rev().copied().collect(),
            end: w.end.iter().rev().copied().collect(),
        };
        for partial in [false, true] {
            for weighted in [false, true] {
                let targets = Targets {
                    labels: &data.labels,
                    allowed: partial.then_some(&allowed[..]),
                    weights: weighted.then_some(&weights[..]),
                };
                let fast = evaluate(&encoded, &graph, &w, targets, 1);
                let mut slow = evaluate(&encoded, &back, &turned, targets, 1);
                slow.edges = (0..k * k).map(|e| slow.edges[turn(e)]).collect();
                slow.start.reverse();
                slow.end.reverse();
                assert!(close(&fast, &slow, 1e-8), "{k} {partial} {weighted}");
            }
        }
    }
}

#[test]
fn few_transitions_with_a_weight_give_what_all_give() {
    for (k, weighted) in [(48, false), (61, true), (130, false)] {
        let data = Data::new(400, 60, k, true, 7);
        let encoded =
            Encoded::new(&data.csr(), data.offsets.clone(), &data.pattern(), k, true).expect("valid");
        let graph = Graph::first_order(k);
        let mut w = random_weights(&encoded, &graph, 4.0, 2);
        let free: Vec<bool> = (0..k * k).map(|e| (e * 7919) % 11 < 2).collect();
        for (score, _) in w.edges.iter_mut().zip(&free).filter(|(_, free)| !**free) {
            *score = 0.0;
        }
        let weights: Vec<f64> = (0..data.offsets.len() - 1).map(|i| (i % 3) as f64 * 0.7).collect();
        let targets =
            Targets { labels: &data.labels, allowed: None, weights: weighted.then_some(&weights[..]) };
        let all = evaluate(&encoded, &graph, &w, targets, 1);
        let stop = Interrupt::new();
        let few = |n_threads| {
            let model = Model { free: Some(&free), ..model(&graph, &w) };
            value_and_grad(&encoded, &model, targets, n_threads, &stop).expect("valid")
        };
        let mut found = few(1);
        assert_eq!(found, few(3));
        assert!(found.edges.iter().zip(&free).any(|(g, free)| !free && *g == 0.0), "the dense form ran");
        for ((g, dense), _) in found.edges.iter_mut().zip(&all.edges).zip(&free).filter(|(_, free)| !**free) {
            *g = *dense;
        }
        assert!(close(&found, &all, 1e-9), "{k}");
    }
}

#[test]
fn scores_of_encoded_tokens_are_those_of_their_attributes() {
    for (k, ones) in [(1, true), (3, false), (11, true)] {
        let data = Data::new(1200, 30, k, ones, 2);
        let pattern = data.pattern();
        let encoded = Encoded::new(&data.csr(), data.offsets.clone(), &pattern, k, false).expect("valid");
        let w = random_weights(&encoded, &Graph::first_order(k), 3.0, 1);
        let weights: Vec<f64> = encoded.positions().iter().map(|&p| w.state[p as usize]).collect();
        let stop = Interrupt::new();
        let scorer = Scorer::new(&pattern, &weights, k).expect("valid");
        let found = scorer.scores(&data.csr(), 1, &stop).expect("valid");
        assert_eq!(found, scorer.scores(&data.csr(), 2, &stop).expect("valid"));
        let mut row = vec![0.0; encoded.width()];
        for (t, found) in found.chunks(k).enumerate() {
            encoded.scores::<false>(t, &w.state, &mut row);
            assert!(found.iter().zip(&row).all(|(a, b)| (a - b).abs() < 1e-12));
        }
    }
}

#[test]
fn gradients_are_those_of_the_value() {
    let data = Data::new(60, 12, 3, false, 4);
    let encoded = Encoded::new(&data.csr(), data.offsets.clone(), &data.pattern(), 3, true).expect("valid");
    let graph = Graph::first_order(3);
    // At a scale of a thousand the edges are too far apart for the scaled domain.
    for scale in [2.0, 1000.0] {
        let mut w = random_weights(&encoded, &graph, scale, 2);
        let targets = Targets { labels: &data.labels, allowed: None, weights: None };
        let at = evaluate(&encoded, &graph, &w, targets, 1);
        let h = 1e-5;
        for i in (0..encoded.n_weights()).filter(|&i| encoded.multiplicity()[i] > 0.0) {
            let mut value = |delta: f64| {
                w.state[i] += delta;
                let value = evaluate(&encoded, &graph, &w, targets, 1).value;
                w.state[i] -= delta;
                value
            };
            let slope = (value(h) - value(-h)) / (2.0 * h);
            assert!((slope - at.weights[i]).abs() < 1e-5 * (1.0 + scale), "{i}");
        }
        for e in 0..9 {
            let mut value = |delta: f64| {
                w.edges[e] += delta;
                let value = evaluate(&encoded, &graph, &w, targets, 1).value;
                w.edges[e] -= delta;
                value
            };
            let slope = (value(h) - value(-h)) / (2.0 * h);
            assert!((slope - at.edges[e]).abs() < 1e-5 * (1.0 + scale), "{e}");
        }
    }
}

#[test]
fn merged_attributes_score_as_their_sum() {
    let data = Data::new(200, 60, 4, true, 9);
    let first = same_columns(&data.csr()).expect("valid");
    assert_eq!(first[1], 0);
    let pattern = data.pattern();
    let graph = Graph::first_order(4);
    let merged = Encoded::new(&data.csr(), data.offsets.clone(), &pattern, 4, true).expect("valid");
    let plain = Encoded::new(&data.csr(), data.offsets.clone(), &pattern, 4, false).expect("valid");
    assert!(merged.n_weights() < plain.n_weights());
    let w = random_weights(&merged, &graph, 2.0, 5);
    let mut spread = random_weights(&plain, &graph, 2.0, 5);
    (spread.edges, spread.start, spread.end) = (w.edges.clone(), w.start.clone(), w.end.clone());
    for (&from, &to) in merged.positions().iter().zip(plain.positions()) {
        spread.state[to as usize] = w.state[from as usize] / f64::from(merged.multiplicity()[from as usize]);
    }
    let targets = Targets { labels: &data.labels, allowed: None, weights: None };
    let (a, b) = (evaluate(&merged, &graph, &w, targets, 1), evaluate(&plain, &graph, &spread, targets, 1));
    assert!((a.value - b.value).abs() < 1e-9);
    for (&from, &to) in merged.positions().iter().zip(plain.positions()) {
        assert!((a.weights[from as usize] - b.weights[to as usize]).abs() < 1e-9);
    }
}

#[test]
fn threads_change_nothing() {
    let data = Data::new(20_000, 50, 11, true, 3);
    let pattern = data.pattern();
    let single: Vec<f32> = data.values.iter().map(|&v| v as f32).collect();
    let x = Csr::new(&data.starts, &data.columns, &single, data.n_cols).expect("valid");
    let encoded = Encoded::new(&x, data.offsets.clone(), &pattern, 11, true).expect("valid");
    let graph = Graph::first_order(11);
    let weights: Vec<f32> = (0..encoded.n_weights()).map(|i| (i % 13) as f32 / 7.0 - 0.9).collect();
    let zero = [0.1; 11];
    let edges: Vec<f64> = (0..121).map(|i| f64::from(i % 7) / 3.0 - 1.0).collect();
    let targets = Targets { labels: &data.labels, allowed: None, weights: None };
    let model = Model {
        graph: &graph,
        weights: &weights,
        edges: &edges,
        free: None,
        start: &zero,
        end: &zero,
        edge_weights: &[],
    };
    let stop = Interrupt::new();
    let one = value_and_grad(&encoded, &model, targets, 1, &stop).expect("valid");
    for n_threads in [2, 3] {
        assert_eq!(one, value_and_grad(&encoded, &model, targets, n_threads, &stop).expect("valid"));
    }
    stop.set();
    assert!(value_and_grad(&encoded, &model, targets, 1, &stop).is_err());
}

#[test]
fn tags_from_attributes_are_the_best_labelling_of_their_scores() {
    for (k, ones) in [(1, true), (3, false), (11, true), (40, true)] {
        let data = Data::new(40_000, 30, k, ones, 3);
        let pattern = data.pattern();
        let encoded = Encoded::new(&data.csr(), data.offsets.clone(), &pattern, k, false).expect("valid");
        let graph = Graph::first_order(k);
        let w = random_weights(&encoded, &graph, 3.0, 1);
        let weights: Vec<f64> = encoded.positions().iter().map(|&p| w.state[p as usize]).collect();
        let (stop, offsets) = (Interrupt::new(), &data.offsets);
        let scorer = Scorer::new(&pattern, &weights, k).expect("valid");
        let nodes = scorer.scores(&data.csr(), 1, &stop).expect("valid");
        let scores = Scores::new(&graph, &nodes, Edges::Shared(&w.edges), &w.start, &w.end, offsets);
        let (expected, _) = scores.expect("valid").best(1, &stop).expect("valid");
        let bonds = Bonds { edges: &w.edges, start: &w.start, end: &w.end };
        for n_threads in [1, 2] {
            let found = scorer.best(&data.csr(), offsets, bonds, n_threads, &stop).expect("valid");
            assert_eq!(found, expected, "{k}");
        }
        let endless = vec![f64::INFINITY; k];
        let bad = Bonds { start: &endless, ..bonds };
        assert!(scorer.best(&data.csr(), offsets, bad, 1, &stop).is_err());
        assert!(scorer.best(&data.csr(), &offsets[1..], bonds, 1, &stop).is_err() || offsets[1] == 0);
    }
    let pattern = Pattern { starts: vec![0, 1], labels: vec![0] };
    assert!(Scorer::new(&pattern, &[f64::NAN], 2).is_err());
    assert!(Scorer::new(&pattern, &[1.0], 0).is_err());
}
