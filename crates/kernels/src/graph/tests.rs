//! Exact inference against enumeration of all labellings, and against chains.

use super::forest::{Forest, Order};
use super::junction::{Elimination, Junction};
use super::scores::Scores;
use super::wiring::Wiring;
use crate::chain::batch::Scores as ChainScores;
use crate::chain::graph::{Edges, Graph};
use crate::interrupt::Interrupt;
use crate::random::Random;

pub(super) fn numbers(random: &mut Random, n: usize, scale: f64) -> Vec<f64> {
    (0..n).map(|_| ((random.next_u64() >> 11) as f64 / (1u64 << 53) as f64 - 0.5) * scale).collect()
}

/// A batch of graphs with scores.
pub(super) struct Problem {
    pub wiring: Wiring,
    pub k: usize,
    pub unary: Vec<f64>,
    pub tables: Vec<f64>,
    pub own: Option<Vec<f64>>,
}

/// All labellings of a graph with their scores, log Z, marginals of nodes and edges, and the best.
pub(super) struct Truth {
    pub all: Vec<(f64, Vec<u32>)>,
    pub log_z: f64,
    pub nodes: Vec<f64>,
    pub edges: Vec<f64>,
    pub best: (f64, Vec<u32>),
}

impl Problem {
    /// Graphs of given numbers of nodes and edges (ends within the graph).
    pub fn new(graphs: &[(usize, Vec<(usize, usize)>)], k: usize, scale: f64, own: bool, seed: u64) -> Self {
        let mut random = Random::new(seed);
        let (mut nodes, mut edges, mut from, mut to) = (vec![0i64], vec![0i64], Vec::new(), Vec::new());
        for (n, ends) in graphs {
            let first = nodes[nodes.len() - 1];
            for &(a, b) in ends {
                from.push(first + a as i64);
                to.push(first + b as i64);
            }
            nodes.push(first + *n as i64);
            edges.push(from.len() as i64);
        }
        let kinds: Vec<i64> = (0..from.len()).map(|_| random.below(2) as i64).collect();
        let wiring = Wiring::new(&nodes, &edges, &from, &to, &kinds).expect("valid");
        let unary = numbers(&mut random, wiring.n_nodes() * k, scale);
        let tables = numbers(&mut random, 2 * k * k, scale);
        let own = own.then(|| numbers(&mut random, from.len() * k * k, scale));
        Self { wiring, k, unary, tables, own }
    }

    pub fn scores(&self) -> Scores<'_> {
        Scores::new(&self.wiring, self.k, &self.unary, &self.tables, self.own.as_deref()).expect("valid")
    }

    /// By enumeration; `None` where every labelling is forbidden.
    pub fn truth(&self, graph: usize) -> Option<Truth> {
        let (scores, k) = (self.scores(), self.k);
        let (nodes, edges) = (self.wiring.nodes(graph), self.wiring.edges(graph));
        let n = nodes.len();
        let mut all = Vec::new();
        for code in 0..k.pow(n as u32) {
            let labels: Vec<u32> = (0..n).map(|i| (code / k.pow(i as u32) % k) as u32).collect();
            let score = scores.score(graph, &labels);
            if score > f64::NEG_INFINITY {
                all.push((score, labels));
            }
        }
        let best = all.iter().max_by(|a, b| a.0.total_cmp(&b.0))?.clone();
        let log_z = best.0 + all.iter().map(|(s, _)| (s - best.0).exp()).sum::<f64>().ln();
        let (mut p, mut q) = (vec![0.0; n * k], vec![0.0; edges.len() * k * k]);
        for (score, labels) in &all {
            let share = (score - log_z).exp();
            for (i, &label) in labels.iter().enumerate() {
                p[i * k + label as usize] += share;
            }
            for e in edges.clone() {
                let a = labels[self.wiring.from(e) - nodes.start] as usize;
                let b = labels[self.wiring.to(e) - nodes.start] as usize;
                q[(e - edges.start) * k * k + a * k + b] += share;
            }
        }
        Some(Truth { all, log_z, nodes: p, edges: q, best })
    }
}

/// A random forest: every node but a few hangs on one before it, with nodes numbered at random.
pub(super) fn random_forest(random: &mut Random, n: usize) -> (usize, Vec<(usize, usize)>) {
    let mut name: Vec<usize> = (0..n).collect();
    random.shuffle(&mut name);
    let mut edges = Vec::new();
    for i in 1..n {
        if random.below(6) > 0 {
            let (a, b) = (name[i], name[random.below(i)]);
            edges.push(if random.below(2) == 0 { (a, b) } else { (b, a) });
        }
    }
    random.shuffle(&mut edges);
    (n, edges)
}

/// A random graph, in which two edges may join the same nodes.
pub(super) fn random_graph(random: &mut Random, n: usize, n_edges: usize) -> (usize, Vec<(usize, usize)>) {
    let edge = |random: &mut Random| {
        let a = random.below(n);
        (a, (a + 1 + random.below(n - 1)) % n)
    };
    (n, if n < 2 { Vec::new() } else { (0..n_edges).map(|_| edge(random)).collect() })
}

pub(super) fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * (1.0 + a.abs().max(b.abs()))
}

pub(super) fn near(a: &[f64], b: &[f64], within: f64) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() <= within)
}

fn forests(seed: u64, k: usize, scale: f64) -> Problem {
    let mut random = Random::new(seed);
    let largest = if k == 2 { 12 } else { 7 };
    let graphs: Vec<_> = (0..4)
        .map(|_| {
            let n = random.below(largest + 1);
            random_forest(&mut random, n)
        })
        .collect();
    Problem::new(&graphs, k, scale, seed % 2 == 1, seed)
}

fn graphs(seed: u64, k: usize, scale: f64) -> Problem {
    let mut random = Random::new(seed);
    let largest = if k == 2 { 11 } else { 6 };
    let graphs: Vec<_> = (0..3)
        .map(|_| {
            let n = 1 + random.below(largest);
            let m = random.below(3 * n);
            random_graph(&mut random, n, m)
        })
        .collect();
    Problem::new(&graphs, k, scale, seed.is_multiple_of(2), seed)
}

/// Sums, best labelling and marginals of a batch against enumeration.
fn check(problem: &Problem, sums: &super::forest::Sums, best: &(Vec<u32>, Vec<f64>)) {
    let (wiring, k) = (&problem.wiring, problem.k);
    for graph in 0..wiring.n_graphs() {
        let truth = problem.truth(graph).expect("allowed");
        let (nodes, edges) = (wiring.nodes(graph), wiring.edges(graph));
        assert!(close(sums.0[graph], truth.log_z));
        assert!(near(&sums.1[nodes.start * k..nodes.end * k], &truth.nodes, 1e-9));
        assert!(near(&sums.2[edges.start * k * k..edges.end * k * k], &truth.edges, 1e-9));
        assert!(close(best.1[graph], truth.best.0));
        assert!(close(problem.scores().score(graph, &best.0[nodes]), truth.best.0));
    }
}

fn eliminations(problem: &Problem, most: usize) -> Vec<Elimination> {
    let wiring = &problem.wiring;
    (0..wiring.n_graphs()).map(|g| Elimination::new(wiring, g, problem.k, most).expect("small")).collect()
}

#[test]
fn forests_match_enumeration() {
    let stop = Interrupt::new();
    for seed in 0..12 {
        for (k, scale) in [(1, 2.0), (2, 2.0), (2, 2000.0), (3, 5.0)] {
            let problem = forests(seed, k, scale);
            let order = Order::new(&problem.wiring).expect("acyclic");
            let forest = Forest::new(problem.scores(), &order);
            let sums = forest.marginals(true, 1, &stop).expect("valid");
            assert_eq!(sums.0, forest.log_partition(1, &stop).expect("valid"));
            check(&problem, &sums, &forest.best(1, &stop).expect("valid"));
        }
    }
}

#[test]
fn junction_trees_match_enumeration() {
    let stop = Interrupt::new();
    for seed in 0..10 {
        for (k, scale) in [(1, 2.0), (2, 2.0), (2, 2000.0), (3, 5.0)] {
            let problem = graphs(seed, k, scale);
            let cliques = eliminations(&problem, 1 << 20);
            let junction = Junction::new(problem.scores(), &cliques);
            let sums = junction.marginals(true, 1, &stop).expect("valid");
            assert_eq!(sums.0, junction.log_partition(1, &stop).expect("valid"));
            check(&problem, &sums, &junction.best(1, &stop).expect("valid"));
        }
        let problem = forests(seed, 2, 3.0);
        assert!(eliminations(&problem, 1 << 20).iter().all(|c| c.width() <= 1));
    }
}

#[test]
fn forbidden_labels_are_obeyed() {
    let stop = Interrupt::new();
    let mut dead = 0;
    for seed in 0..20 {
        let mut random = Random::new(seed);
        let mut problem = forests(seed, 2, 3.0);
        for _ in 0..problem.unary.len() / 5 {
            let at = random.below(problem.unary.len());
            problem.unary[at] = f64::NEG_INFINITY;
        }
        problem.tables[1] = f64::NEG_INFINITY;
        let order = Order::new(&problem.wiring).expect("acyclic");
        let forest = Forest::new(problem.scores(), &order);
        let cliques = eliminations(&problem, 1 << 20);
        let junction = Junction::new(problem.scores(), &cliques);
        if (0..problem.wiring.n_graphs()).any(|g| problem.truth(g).is_none()) {
            dead += 1;
            let error = forest.best(1, &stop).expect_err("forbidden").to_string();
            assert!(error.contains("is forbidden"), "{error}");
            assert!(forest.marginals(true, 1, &stop).is_err() && junction.sample(1, 0, 1, &stop).is_err());
            continue;
        }
        check(
            &problem,
            &forest.marginals(true, 1, &stop).expect("valid"),
            &forest.best(1, &stop).expect("valid"),
        );
        let (sums, best) = (junction.marginals(true, 1, &stop), junction.best(1, &stop));
        check(&problem, &sums.expect("valid"), &best.expect("valid"));
    }
    assert!((1..20).contains(&dead));
}

#[test]
fn draws_follow_the_distribution() {
    let stop = Interrupt::new();
    let tree = Problem::new(&[(3, vec![(1, 0), (1, 2)])], 3, 3.0, true, 4);
    let ring = Problem::new(&[(3, vec![(1, 0), (1, 2), (2, 0)])], 2, 3.0, false, 4);
    let n = 20_000;
    let order = Order::new(&tree.wiring).expect("acyclic");
    let cliques = eliminations(&ring, 1000);
    let draws = [
        (&tree, Forest::new(tree.scores(), &order).sample(n, 3, 1, &stop).expect("valid")),
        (&ring, Junction::new(ring.scores(), &cliques).sample(n, 3, 1, &stop).expect("valid")),
    ];
    for (problem, draws) in draws {
        let truth = problem.truth(0).expect("allowed");
        for (score, labels) in &truth.all {
            let p = (score - truth.log_z).exp();
            let share = draws.chunks(3).filter(|draw| *draw == labels).count() as f64 / n as f64;
            assert!((share - p).abs() < 5.0 * (p * (1.0 - p) / n as f64).sqrt() + 1e-4, "{share} {p}");
        }
    }
}

#[test]
fn a_chain_as_a_forest_gives_the_numbers_of_the_chain() {
    let stop = Interrupt::new();
    let mut random = Random::new(8);
    for (k, scale) in [(2, 1.0), (5, 6.0), (3, 2000.0)] {
        let lengths = [1, 7, 0, 30];
        let n: usize = lengths.iter().sum();
        let chain = |length: usize| (length, (1..length).map(|t| (t - 1, t)).collect());
        let graphs: Vec<(usize, Vec<(usize, usize)>)> = lengths.iter().map(|&l| chain(l)).collect();
        let mut problem = Problem::new(&graphs, k, scale, false, 1);
        let edges = numbers(&mut random, k * k, scale);
        // Edges of a chain stand by target, those of a graph by the first node.
        for cell in 0..k * k {
            for kind in 0..2 {
                problem.tables[kind * k * k + cell] = edges[cell % k * k + cell / k];
            }
        }
        let mut offsets = vec![0];
        offsets.extend(lengths.iter().scan(0, |sum, l| {
            *sum += l;
            Some(*sum)
        }));
        let (zero, states) = (vec![0.0; k], Graph::first_order(k));
        let chains = ChainScores::new(&states, &problem.unary, Edges::Shared(&edges), &zero, &zero, &offsets)
            .expect("valid");
        let order = Order::new(&problem.wiring).expect("acyclic");
        let forest = Forest::new(problem.scores(), &order);
        let cliques = eliminations(&problem, 1 << 20);
        let junction = Junction::new(problem.scores(), &cliques);
        let (log_z, p, _) = chains.marginals(false, 1, &stop).expect("valid");
        assert_eq!(p.len(), n * k);
        for sums in [forest.marginals(false, 1, &stop), junction.marginals(false, 1, &stop)] {
            let sums = sums.expect("valid");
            assert!(near(&sums.0, &log_z, 1e-8) && near(&sums.1, &p, 1e-8));
        }
        let expected = chains.best(1, &stop).expect("valid");
        for best in [forest.best(1, &stop), junction.best(1, &stop)] {
            let best = best.expect("valid");
            assert_eq!(best.0, expected.0);
            assert!(near(&best.1, &expected.1, 1e-8));
        }
    }
}

#[test]
fn threads_change_nothing_and_an_interrupt_is_heard() {
    let stop = Interrupt::new();
    let mut random = Random::new(3);
    let graphs: Vec<_> = (0..300).map(|_| random_forest(&mut random, 40)).collect();
    let problem = Problem::new(&graphs, 4, 5.0, false, 2);
    let order = Order::new(&problem.wiring).expect("acyclic");
    let forest = Forest::new(problem.scores(), &order);
    let cliques = eliminations(&problem, 1 << 20);
    let junction = Junction::new(problem.scores(), &cliques);
    for n_threads in [2, 3] {
        assert_eq!(forest.best(1, &stop), forest.best(n_threads, &stop));
        assert_eq!(forest.marginals(true, 1, &stop), forest.marginals(true, n_threads, &stop));
        assert_eq!(forest.sample(2, 1, 1, &stop), forest.sample(2, 1, n_threads, &stop));
        assert_eq!(junction.marginals(true, 1, &stop), junction.marginals(true, n_threads, &stop));
        assert_eq!(junction.sample(2, 1, 1, &stop), junction.sample(2, 1, n_threads, &stop));
    }
    stop.set();
    assert!(forest.best(1, &stop).is_err() && junction.best(1, &stop).is_err());
}

#[test]
fn bad_graphs_and_scores_are_named() {
    let make = |nodes: &[i64], edges: &[i64], from: &[i64], to: &[i64]| {
        Wiring::new(nodes, edges, from, to, &vec![0; from.len()])
    };
    let error = |nodes: &[i64], edges: &[i64], from: &[i64], to: &[i64]| {
        make(nodes, edges, from, to).expect_err("bad").to_string()
    };
    assert_eq!(
        error(&[0, 2, 5], &[0, 1, 2], &[0, 2], &[1, 5]),
        "edge 1 joins the nodes 2 and 5, but its graph 1 has the nodes 2..5"
    );
    assert!(error(&[0, 2, 5], &[0, 1, 2], &[0, 2], &[2, 3]).contains("edge 0 joins the nodes 0 and 2"));
    assert!(error(&[0, 2], &[0, 1], &[-1], &[1]).contains("nodes -1 and 1"));
    assert!(error(&[0, 2], &[0, 1], &[1], &[1]).starts_with("edge 0 of graph 0 is a self loop at node 1"));
    assert!(error(&[0, 2], &[0, 2], &[1], &[0]).contains("edge offsets must begin at 0"));
    assert!(error(&[1, 2], &[0, 1], &[1], &[0]).contains("node offsets"));
    assert!(error(&[], &[], &[], &[]).contains("node offsets"));
    assert!(Wiring::new(&[0, 2], &[0, 1], &[0], &[1], &[-1]).is_err());
    let ring = make(&[0, 1, 4], &[0, 0, 3], &[1, 2, 3], &[2, 3, 1]).expect("valid");
    let cycle = Order::new(&ring).expect_err("cycle").to_string();
    assert!(cycle.starts_with("graph 1 has a cycle: edge 2 joins the nodes 3 and 1"), "{cycle}");
    let wide = Elimination::new(&ring, 1, 10, 100).expect_err("wide").to_string();
    assert!(wide.contains("one with 10^3 cells, would have more than 100 in all"), "{wide}");
    let narrow = Elimination::new(&ring, 1, 2, 100).expect("narrow");
    assert!(narrow.width() == 2 && narrow.check(1, 2, 14).is_ok() && narrow.check(1, 2, 13).is_err());
    let bad = |unary: &[f64], tables: &[f64]| {
        Scores::new(&ring, 2, unary, tables, None).err().map(|e| e.to_string()).unwrap_or_default()
    };
    let mut unary = [0.0; 8];
    assert!(bad(&unary, &[]).contains("edges name 1 kinds, but there are 0 tables"));
    assert!(bad(&unary[1..], &[0.0; 4]).contains("unary scores"));
    unary[5] = f64::NAN;
    assert_eq!(bad(&unary, &[0.0; 4]), "unary score NaN at node 2, column 1");
}
