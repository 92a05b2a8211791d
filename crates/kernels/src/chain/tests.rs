//! Everything against enumeration of all labellings.

use super::batch::Scores;
use super::graph::{Edges, Graph};
use crate::interrupt::Interrupt;
use crate::random::Random;

fn numbers(random: &mut Random, n: usize, scale: f64) -> Vec<f64> {
    (0..n).map(|_| ((random.next_u64() >> 11) as f64 / (1u64 << 53) as f64 - 0.5) * scale).collect()
}

/// The chain of second order over `k` labels: states (a, b) as `a * k + b`, then (nothing, b).
fn second_order(k: usize) -> Graph {
    let label_of: Vec<i64> = (0..k * k + k).map(|s| (s % k) as i64).collect();
    let (mut from, mut to) = (Vec::new(), Vec::new());
    for b in 0..k {
        for c in 0..k {
            let sources = (0..k).map(|a| a * k + b).chain([k * k + b]);
            for source in sources {
                from.push(source as i64);
                to.push((b * k + c) as i64);
            }
        }
    }
    Graph::new(k, &label_of, &from, &to).expect("valid")
}

struct Problem {
    graph: Graph,
    length: usize,
    nodes: Vec<f64>,
    edges: Vec<f64>,
    per_token: bool,
    start: Vec<f64>,
    end: Vec<f64>,
}

impl Problem {
    fn new(graph: Graph, length: usize, per_token: bool, scale: f64, forbid: bool, seed: u64) -> Self {
        let mut random = Random::new(seed);
        let (k, s, e) = (graph.n_labels(), graph.n_states(), graph.n_edges());
        let mut nodes = numbers(&mut random, length * k, scale);
        let rows = if per_token { length } else { 1 };
        let mut edges = numbers(&mut random, rows * e, scale);
        let (mut start, end) = (numbers(&mut random, s, scale), numbers(&mut random, s, scale));
        if s > k {
            start[..k * k].fill(f64::NEG_INFINITY);
        }
        if forbid && k > 1 && length > 0 {
            nodes[random.below(length) * k + random.below(k)] = f64::NEG_INFINITY;
            edges[random.below(rows * e)] = f64::NEG_INFINITY;
        }
        Self { graph, length, nodes, edges, per_token, start, end }
    }

    /// Every labelling as (score, states, labels).
    fn enumerate(&self) -> Vec<(f64, Vec<usize>, Vec<u32>)> {
        let s = self.graph.n_states();
        let mut found = vec![(0.0, Vec::<usize>::new())];
        for t in 0..self.length {
            let mut longer = Vec::new();
            for (score, states) in &found {
                for state in 0..s {
                    let node = self.nodes[t * self.graph.n_labels() + self.graph.label(state)];
                    let step = match states.last() {
                        None => Some(self.start[state]),
                        Some(&last) => {
                            let row = if self.per_token { t * self.graph.n_edges() } else { 0 };
                            let edge = self.graph.into_state(state).find(|&e| self.graph.from(e) == last);
                            edge.map(|e| self.edges[row + e])
                        }
                    };
                    let Some(step) = step else { continue };
                    let mut more = states.clone();
                    more.push(state);
                    longer.push((score + step + node, more));
                }
            }
            found = longer;
        }
        let finish = |(score, states): (f64, Vec<usize>)| {
            let end = states.last().map_or(0.0, |&s| self.end[s]);
            let labels = states.iter().map(|&s| self.graph.label(s) as u32).collect();
            (score + end, states, labels)
        };
        let all = found.into_iter().map(finish);
        all.filter(|(score, _, _)| *score > f64::NEG_INFINITY).collect()
    }

    fn scores<'a>(&'a self, offsets: &'a [usize]) -> Scores<'a> {
        let edges = if self.per_token { Edges::PerToken(&self.edges) } else { Edges::Shared(&self.edges) };
        Scores::new(&self.graph, &self.nodes, edges, &self.start, &self.end, offsets).expect("valid")
    }
}

fn problems() -> Vec<Problem> {
    let mut all = Vec::new();
    for seed in 0..6 {
        for k in 1..=4 {
            for length in 0..=5 {
                for scale in [1.0, 8.0, 2000.0] {
                    let (forbid, per_token) = (seed % 2 == 1, seed % 3 == 2);
                    let graph = Graph::first_order(k);
                    all.push(Problem::new(
                        graph,
                        length,
                        per_token,
                        scale,
                        forbid,
                        seed * 1000 + length as u64,
                    ));
                }
            }
        }
        for (k, length) in [(1, 3), (2, 1), (2, 5), (3, 4), (2, 0)] {
            all.push(Problem::new(second_order(k), length, seed % 3 == 2, 5.0, false, seed));
        }
    }
    all
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * (1.0 + a.abs().max(b.abs()))
}

#[test]
fn sums_marginals_and_best_labellings_match_enumeration() {
    let stop = Interrupt::new();
    for problem in problems() {
        let offsets = [0, problem.length];
        let scores = problem.scores(&offsets);
        let mut all = problem.enumerate();
        all.sort_by(|a, b| b.0.total_cmp(&a.0));
        if all.is_empty() {
            assert!(scores.best(1, &stop).is_err() && scores.log_partition(1, &stop).is_err());
            assert!(scores.k_best(2, 1, &stop).is_err() && scores.sample(1, 0, 1, &stop).is_err());
            continue;
        }
        let most = all[0].0;
        let z: f64 = all.iter().map(|(score, _, _)| (score - most).exp()).sum();
        let log_z = most + z.ln();
        assert!(close(scores.log_partition(1, &stop).expect("valid")[0], log_z));
        let (labels, best) = scores.best(1, &stop).expect("valid");
        assert!(close(best[0], most));
        assert_eq!(labels, all[0].2);
        let found = scores.k_best(7, 1, &stop).expect("valid").remove(0);
        assert_eq!(found.len(), all.len().min(7));
        for ((score, labels), (expected, _, path)) in found.iter().zip(&all) {
            assert!(close(*score, *expected));
            assert_eq!(labels, path);
        }
        let (k, e) = (problem.graph.n_labels(), problem.graph.n_edges());
        let (mut nodes, mut edges) = (vec![0.0; problem.length * k], vec![0.0; problem.length * e]);
        for (score, states, labels) in &all {
            let p = (score - log_z).exp();
            for t in 0..problem.length {
                nodes[t * k + labels[t] as usize] += p;
                if t > 0 {
                    let into = problem.graph.into_state(states[t]);
                    let edge = into.clone().find(|&e| problem.graph.from(e) == states[t - 1]).expect("edge");
                    edges[t * e + edge] += p;
                }
            }
        }
        let (again, p, q) = scores.marginals(true, 1, &stop).expect("valid");
        assert!(close(again[0], log_z));
        assert!(p.iter().zip(&nodes).all(|(a, b)| (a - b).abs() < 1e-9));
        assert!(q.iter().zip(&edges).all(|(a, b)| (a - b).abs() < 1e-9));
    }
}

#[test]
fn draws_follow_the_distribution() {
    let stop = Interrupt::new();
    for graph in [Graph::first_order(3), second_order(2)] {
        let problem = Problem::new(graph, 3, true, 3.0, true, 5);
        let offsets = [0, 3];
        let scores = problem.scores(&offsets);
        let log_z = scores.log_partition(1, &stop).expect("valid")[0];
        let n = 20_000;
        let draws = scores.sample(n, 7, 1, &stop).expect("valid");
        for (score, _, labels) in problem.enumerate() {
            let p = (score - log_z).exp();
            let share = draws.chunks(3).filter(|draw| *draw == labels).count() as f64 / n as f64;
            assert!((share - p).abs() < 5.0 * (p * (1.0 - p) / n as f64).sqrt() + 1e-4, "{share} {p}");
        }
    }
}

#[test]
fn threads_change_nothing_and_an_interrupt_is_heard() {
    let stop = Interrupt::new();
    let mut random = Random::new(3);
    let (k, n) = (9, 20_000);
    let graph = Graph::first_order(k);
    let (nodes, edges) = (numbers(&mut random, n * k, 6.0), numbers(&mut random, k * k, 6.0));
    let (start, end) = (numbers(&mut random, k, 6.0), numbers(&mut random, k, 6.0));
    let mut offsets = vec![0];
    while offsets[offsets.len() - 1] < n {
        offsets.push((offsets[offsets.len() - 1] + random.below(30)).min(n));
    }
    let scores = Scores::new(&graph, &nodes, Edges::Shared(&edges), &start, &end, &offsets).expect("valid");
    for n_threads in [2, 3] {
        assert_eq!(scores.best(1, &stop), scores.best(n_threads, &stop));
        assert_eq!(scores.k_best(2, 1, &stop), scores.k_best(2, n_threads, &stop));
        assert_eq!(scores.marginals(true, 1, &stop), scores.marginals(true, n_threads, &stop));
        assert_eq!(scores.sample(2, 1, 1, &stop), scores.sample(2, 1, n_threads, &stop));
    }
    stop.set();
    assert!(scores.best(1, &stop).is_err());
}

#[test]
fn long_sequences_stay_exact() {
    // Independent tokens: log Z is a sum of small ones.
    let stop = Interrupt::new();
    let (k, n) = (3, 100_000);
    let graph = Graph::first_order(k);
    let nodes: Vec<f64> = (0..n * k).map(|i| ((i * 31) % 7) as f64 * 300.0 - 900.0).collect();
    let zero = vec![0.0; k];
    let edges = vec![0.0; k * k];
    let offsets = [0, n];
    let scores = Scores::new(&graph, &nodes, Edges::Shared(&edges), &zero, &zero, &offsets).expect("valid");
    let expected: f64 = nodes.chunks(k).map(super::log_domain::log_sum_exp).sum();
    assert!(close(scores.log_partition(1, &stop).expect("valid")[0], expected));
    let (_, p, _) = scores.marginals(false, 1, &stop).expect("valid");
    assert!(p.chunks(k).all(|row| (row.iter().sum::<f64>() - 1.0).abs() < 1e-7));
}

#[test]
fn bad_scores_are_named() {
    let graph = Graph::first_order(2);
    let zero = [0.0; 2];
    let nodes = [0.0, 1.0, f64::NAN, 0.0];
    let check = |nodes: &[f64], offsets: &[usize]| {
        Scores::new(&graph, nodes, Edges::Shared(&[0.0; 4]), &zero, &zero, offsets)
            .err()
            .map(|e| e.to_string())
    };
    assert_eq!(check(&nodes, &[0, 2]).as_deref(), Some("node score NaN at row 1, column 0"));
    assert!(check(&nodes[..2], &[0, 2]).is_some());
    assert!(Graph::new(2, &[0, 1], &[0, 5], &[0, 1]).is_err());
    assert!(Graph::new(2, &[0, 1], &[0, 1], &[1, 0]).is_err());
}
