//! The learners: the dual comes close to the optimum of the likelihood, merging changes nothing, ties are mistakes.

use super::dual::{ChainDual, Penalty};
use super::encoded::Encoded;
use super::graph::Graph;
use super::likelihood::{Model, Targets, value_and_grad};
use super::online::{ChainRule, Free, OnlineChain, Slack, Weights};
use super::tests_likelihood::Data;
use super::viterbi::{Steps, best_path};
use crate::error::KernelError;
use crate::interrupt::Interrupt;
use crate::online::Rule;
use crate::random::Random;

#[test]
fn the_dual_comes_close_to_the_optimum() {
    let stop = Interrupt::new();
    for (k, merge, boundaries, l1, l2) in [
        (2, true, true, 0.0, 1.0),
        (5, false, false, 0.0, 1.0),
        (9, true, true, 0.0, 1.0),
        (2, true, true, 0.4, 0.7),
        (5, false, false, 0.2, 1.5),
        (9, true, true, 0.5, 0.5),
    ] {
        let data = Data::new(120, 30, k, k != 5, 7);
        let encoded =
            Encoded::new(&data.csr(), data.offsets.clone(), &data.pattern(), k, merge).expect("valid");
        let graph = Graph::first_order(k);
        let targets = Targets { labels: &data.labels, allowed: None, weights: None };
        let n = data.offsets.len() - 1;
        let c: Vec<f64> = (0..n).map(|i| 0.3 + (i % 3) as f64).collect();
        let free = Free { edges: (0..k * k).map(|e| e % 4 != 1).collect(), boundaries };
        let penalty = Penalty { l1, l2 };
        let mut dual = ChainDual::new(&encoded, targets, free.clone(), c.clone(), penalty, 3).expect("valid");
        let mut last = 0.0;
        for _ in 0..300 {
            last = dual.run_pass(&encoded, targets, &stop).expect("valid");
        }
        let w = dual.weights(&encoded);
        if l1 > 0.0 {
            let zeros = w.state.iter().zip(encoded.multiplicity()).filter(|(w, m)| **m > 0.0 && **w == 0.0);
            assert!(zeros.count() > 0, "no weight is zero");
        }
        let model = Model {
            graph: &graph,
            weights: &w.state,
            edges: &w.edges,
            free: None,
            start: &w.start,
            end: &w.end,
            edge_weights: &[],
        };
        let weighted = Targets { weights: Some(&c), ..targets };
        let found = value_and_grad(&encoded, &model, weighted, 1, &stop).expect("valid");
        // The penalty r of a weight and r(w) + r*(-g) + w g, its part of the duality gap.
        let value = |w: f64| l1 * w.abs() + 0.5 * l2 * w * w;
        let gap = |w: f64, g: f64| {
            let over = (g.abs() - l1).max(0.0);
            value(w) + 0.5 * over * over / l2 + w * g
        };
        // A weight that m attributes share is the sum of theirs, and they have the same.
        let (mut bound, mut penalty) = (0.0, 0.0);
        for ((&g, &w), &m) in found.weights.iter().zip(&w.state).zip(encoded.multiplicity()) {
            if m > 0.0 {
                let m = f64::from(m);
                bound += m * gap(w / m, g);
                penalty += m * value(w / m);
            }
        }
        let mut others = Vec::new();
        others.extend(found.edges.iter().zip(&w.edges).zip(free.edges.iter().copied()));
        let ends = found.start.iter().zip(&w.start).chain(found.end.iter().zip(&w.end));
        others.extend(ends.map(|pair| (pair, boundaries)));
        for ((&g, &w), free) in others {
            assert!(free || w == 0.0);
            if free {
                bound += gap(w, g);
                penalty += value(w);
            }
        }
        assert!((last - found.value - penalty).abs() < 1e-3 * last, "{last} {}", found.value + penalty);
        let curvature = dual.curvature(&encoded).expect("fits");
        assert!(curvature.state.iter().all(|h| h.is_finite()));
        assert!(curvature.edges.iter().all(|h| *h >= 0.0));
        assert!(bound < 1e-2 * (found.value + penalty), "{bound} {}", found.value + penalty);
    }
}

#[test]
fn merging_changes_nothing_for_the_online_learners() {
    let stop = Interrupt::new();
    let data = Data::new(150, 40, 4, true, 5);
    let targets = Targets { labels: &data.labels, allowed: None, weights: None };
    for rule in [Rule::Perceptron { rate: 0.5 }, Rule::Mira { cap: 0.7 }] {
        let mut found = Vec::new();
        for merge in [false, true] {
            let encoded =
                Encoded::new(&data.csr(), data.offsets.clone(), &data.pattern(), 4, merge).expect("valid");
            let free = Free { edges: vec![true; 16], boundaries: true };
            let start = Weights::zero(&encoded).expect("fits");
            let rule = ChainRule::Plain(rule);
            let mut learner = OnlineChain::new(&encoded, rule, free, start, None, 0, Some(1)).expect("valid");
            let mistakes: Vec<f64> =
                (0..4).map(|_| learner.run_epoch(&encoded, targets, &stop).expect("valid")).collect();
            found.push((mistakes, learner.average(0).edges, learner.seen()));
        }
        assert_eq!(found[0].0, found[1].0);
        assert_eq!(found[0].2, found[1].2);
        assert!(found[0].1.iter().zip(&found[1].1).all(|(a, b)| (a - b).abs() < 1e-9));
    }
}

#[test]
fn an_avoided_labelling_is_found_only_where_no_other_is_as_good() {
    let mut random = Random::new(2);
    for trial in 0..500 {
        let (k, length) = (1 + random.below(4), 1 + random.below(4));
        let mut small = |n: usize| -> Vec<f64> { (0..n).map(|_| random.below(2) as f64).collect() };
        let (nodes, edges) = (small(length * k), small(k * k));
        let width = k.next_multiple_of(8);
        let mut padded = vec![f64::NEG_INFINITY; length * width];
        for (row, node) in padded.chunks_mut(width).zip(nodes.chunks(k)) {
            row[..k].copy_from_slice(node);
        }
        let mut all = vec![(0.0, Vec::<u32>::new())];
        for t in 0..length {
            let mut longer = Vec::new();
            for (score, path) in &all {
                for y in 0..k {
                    let edge = path.last().map_or(0.0, |&z| edges[y * k + z as usize]);
                    let mut path = path.clone();
                    path.push(y as u32);
                    longer.push((score + edge + nodes[t * k + y], path));
                }
            }
            all = longer;
        }
        let most = all.iter().map(|(score, _)| *score).fold(f64::NEG_INFINITY, f64::max);
        let best: Vec<&Vec<u32>> =
            all.iter().filter(|(score, _)| *score == most).map(|(_, path)| path).collect();
        let avoid = best[trial % best.len()].clone();
        let steps = Steps::<f64>::new(&edges, k);
        let mut labels = vec![0; length];
        let score = best_path(&steps, &mut padded, Some(&avoid), &mut labels);
        assert_eq!(score, most);
        assert!(best.contains(&&labels));
        assert_eq!(labels == avoid, best.len() == 1);
    }
}

#[test]
fn many_labels_have_the_best_path_of_a_plain_search() {
    let (k, length) = (70usize, 12);
    let mut random = Random::new(3);
    for scale in [0.1, 3.0, 40.0] {
        let mut draw =
            |n: usize, scale: f64| -> Vec<f64> { (0..n).map(|_| (random.unit() - 0.5) * scale).collect() };
        let (nodes, edges) = (draw(length * k, scale), draw(k * k, 4.0));
        let mut best = nodes[..k].to_vec();
        for t in 1..length {
            let into = |to: usize| {
                (0..k).map(|from| best[from] + edges[to * k + from]).fold(f64::NEG_INFINITY, f64::max)
            };
            best = (0..k).map(|to| nodes[t * k + to] + into(to)).collect();
        }
        let most = best.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let width = k.next_multiple_of(8);
        let mut padded = vec![f64::NEG_INFINITY; length * width];
        for (row, node) in padded.chunks_mut(width).zip(nodes.chunks(k)) {
            row[..k].copy_from_slice(node);
        }
        let mut labels = vec![0; length];
        assert_eq!(best_path(&Steps::<f64>::new(&edges, k), &mut padded, None, &mut labels), most);
        let node = |(t, &y): (usize, &u32)| nodes[t * k + y as usize];
        let score = labels.iter().enumerate().map(node).sum::<f64>()
            + labels.windows(2).map(|pair| edges[pair[1] as usize * k + pair[0] as usize]).sum::<f64>();
        assert!((score - most).abs() < 1e-9 * (1.0 + most.abs()), "{scale}: {score} {most}");
    }
}

fn learner(data: &Encoded<f64>, rule: ChainRule, n_edges: usize) -> Result<OnlineChain<f64>, KernelError> {
    let free = Free { edges: vec![true; n_edges], boundaries: false };
    OnlineChain::new(data, rule, free, Weights::zero(data)?, None, 0, Some(1))
}

fn encoded(data: &Data, k: usize, merge: bool) -> Encoded<f64> {
    Encoded::new(&data.csr(), data.offsets.clone(), &data.pattern(), k, merge).expect("valid")
}

fn rules() -> [ChainRule; 6] {
    let aggressive = |slack, by_errors| ChainRule::Aggressive { slack, by_errors };
    [
        ChainRule::Perceptron,
        aggressive(Slack::None, false),
        aggressive(Slack::Linear(0.5), true),
        aggressive(Slack::Squared(2.0), true),
        ChainRule::Arow { variance: 1.0, gamma: 1.0 },
        ChainRule::Arow { variance: 0.3, gamma: 4.0 },
    ]
}

#[test]
fn losses_fall_and_numbers_stay_finite() {
    let stop = Interrupt::new();
    let data = Data::new(150, 40, 4, true, 5);
    let targets = Targets { labels: &data.labels, allowed: None, weights: None };
    let encoded = encoded(&data, 4, false);
    for rule in rules() {
        let mut learner = learner(&encoded, rule, 16).expect("valid");
        let losses: Vec<f64> =
            (0..30).map(|_| learner.run_epoch(&encoded, targets, &stop).expect("valid")).collect();
        assert!(losses[29] < 0.8 * losses[0], "{rule:?}: {losses:?}");
        assert!(learner.average(0).state.iter().all(|w| w.is_finite()));
    }
}

#[test]
fn bad_numbers_and_shared_weights_are_refused() {
    let data = Data::new(20, 10, 3, true, 5);
    let plain = encoded(&data, 3, false);
    let bad = ChainRule::Arow { variance: 1.0, gamma: 0.0 };
    assert!(learner(&plain, bad, 9).is_err());
    let bad = ChainRule::Aggressive { slack: Slack::Linear(f64::NAN), by_errors: true };
    assert!(learner(&plain, bad, 9).is_err());
    assert!(learner(&plain, ChainRule::Perceptron, 8).is_err());
    let shared = encoded(&data, 3, true);
    assert!(shared.multiplicity().iter().any(|&m| m > 1.0));
    assert!(learner(&shared, ChainRule::Perceptron, 9).is_err());
}
