//! Loopy belief propagation: exact on forests, the same fixed points by every schedule, Potts as dense, grids.

use super::forest::{Forest, Order};
use super::grid::grid_messages;
use super::loopy::{Found, loopy};
use super::schedule::{Options, Schedule};
use super::scores::Scores;
use super::tests::{Problem, close, near, numbers, random_forest, random_graph};
use super::wiring::Wiring;
use crate::interrupt::Interrupt;
use crate::random::Random;

const ALL: [Schedule; 3] = [Schedule::Synchronous, Schedule::Colored, Schedule::Residual];

pub(super) fn options(schedule: Schedule) -> Options {
    Options { schedule, damping: 0.0, tol: 1e-10, max_iter: 1000 }
}

fn run(problem: &Problem, maximum: bool, options: &Options) -> Found {
    loopy(problem.scores(), maximum, options, None, true, 1, &Interrupt::new()).expect("valid")
}

#[test]
fn loopy_is_exact_on_forests() {
    let stop = Interrupt::new();
    for seed in 0..6 {
        for (k, scale) in [(1, 2.0), (2, 3.0), (2, 2000.0), (3, 2000.0), (4, 3.0)] {
            let mut random = Random::new(seed);
            let graphs: Vec<_> = (0..3).map(|_| random_forest(&mut random, 15)).collect();
            let problem = Problem::new(&graphs, k, scale, seed % 2 == 0, seed);
            let order = Order::new(&problem.wiring).expect("acyclic");
            let forest = Forest::new(problem.scores(), &order);
            let (log_z, p, q) = forest.marginals(true, 1, &stop).expect("valid");
            let (_, best) = forest.best(1, &stop).expect("valid");
            for schedule in ALL {
                for damping in [0.0, 0.3] {
                    let options = Options { damping, ..options(schedule) };
                    let found = run(&problem, false, &options);
                    assert!(found.endings.iter().all(|e| e.converged), "{:?}", found.endings);
                    assert!(found.values.iter().zip(&log_z).all(|(&a, &b)| close(a, b)));
                    assert!(near(&found.nodes, &p, 1e-8) && near(&found.edges, &q, 1e-8));
                    let found = run(&problem, true, &options);
                    assert!(found.values.iter().zip(&best).all(|(&a, &b)| close(a, b)));
                }
            }
        }
    }
}

#[test]
fn ties_on_forests_are_decoded_consistently() {
    // Equal labels score, nothing else does: all nodes must agree.
    let mut problem = Problem::new(&[(6, vec![(0, 3), (3, 1), (1, 5), (5, 2), (2, 4)])], 3, 0.0, false, 0);
    for kind in 0..2 {
        for a in 0..3 {
            problem.tables[kind * 9 + a * 4] = 1.0;
        }
    }
    for schedule in ALL {
        assert_eq!(run(&problem, true, &options(schedule)).values, [5.0]);
    }
}

#[test]
fn every_schedule_reaches_the_same_point_and_a_warm_start_stays_there() {
    let stop = Interrupt::new();
    let mut random = Random::new(1);
    let graphs: Vec<_> = (0..4).map(|_| random_graph(&mut random, 12, 20)).collect();
    for (k, own) in [(2, false), (3, true)] {
        let problem = Problem::new(&graphs, k, 1.0, own, 5);
        let reference = run(&problem, false, &options(Schedule::Synchronous));
        for schedule in ALL {
            let options = Options { damping: 0.2, ..options(schedule) };
            let found = run(&problem, false, &options);
            assert!(found.endings.iter().all(|e| e.converged && e.iterations > 2));
            assert!(near(&found.values, &reference.values, 1e-7));
            assert!(near(&found.nodes, &reference.nodes, 1e-7) && near(&found.edges, &reference.edges, 1e-7));
            let loose = Options { tol: 1e-8, ..options };
            let warm = loopy(problem.scores(), false, &loose, Some(&found.messages), true, 1, &stop);
            assert!(warm.expect("valid").endings.iter().all(|e| e.converged && e.iterations <= 1));
        }
    }
}

#[test]
fn potts_messages_are_those_of_the_dense_table() {
    let mut random = Random::new(2);
    let graphs: Vec<_> = (0..3).map(|_| random_graph(&mut random, 10, 14)).collect();
    for (strength, scale) in [(0.7, 2.0), (-0.9, 2.0), (900.0, 1000.0), (-900.0, 1000.0), (500.0, 1.0)] {
        let mut problem = Problem::new(&graphs, 5, scale, false, 5);
        for cell in 0..50 {
            problem.tables[cell] = if cell % 25 % 6 == 0 { strength + (cell % 5) as f64 / 4.0 } else { 0.3 };
        }
        // A change below the last bit of any message makes the other table dense to the kernel.
        let mut dense = Problem::new(&graphs, 5, scale, false, 5);
        dense.tables.clone_from(&problem.tables);
        dense.tables[1] += 1e-14;
        dense.tables[26] += 1e-14;
        for maximum in [false, true] {
            for max_iter in [1, 3] {
                let options = Options { max_iter, ..options(Schedule::Synchronous) };
                let (a, b) = (run(&problem, maximum, &options), run(&dense, maximum, &options));
                assert!(near(&a.messages, &b.messages, 1e-9), "{strength} {maximum}");
            }
        }
    }
}

#[test]
fn not_settling_is_told() {
    // A frustrated ring: messages turn around it without end.
    let mut problem = Problem::new(&[(3, vec![(0, 1), (1, 2), (2, 0)])], 2, 0.0, false, 0);
    problem.unary = vec![0.0, 1.0, 0.0, -1.0, 0.0, 0.5];
    problem.tables = vec![-8.0, 8.0, 8.0, -8.0, -8.0, 8.0, 8.0, -8.0];
    let hard = Options { max_iter: 50, tol: 1e-12, ..options(Schedule::Synchronous) };
    let ending = run(&problem, true, &hard).endings[0];
    assert!(!ending.converged && ending.iterations == 50 && ending.residual > hard.tol, "{ending:?}");
    let bad =
        loopy(problem.scores(), false, &Options { damping: 1.0, ..hard }, None, false, 1, &Interrupt::new());
    assert!(bad.expect_err("damping").to_string().contains("damping must be"));
    problem.unary[0] = f64::NEG_INFINITY;
    let bad = loopy(problem.scores(), false, &hard, None, false, 1, &Interrupt::new());
    assert!(bad.expect_err("forbidden").to_string().contains("minus infinity"));
}

#[test]
fn threads_change_nothing() {
    let stop = Interrupt::new();
    let mut random = Random::new(3);
    let graphs: Vec<_> = (0..60).map(|_| random_graph(&mut random, 30, 50)).collect();
    let problem = Problem::new(&graphs, 3, 1.0, false, 2);
    for schedule in ALL {
        let options = Options { max_iter: 20, ..options(schedule) };
        let go = |n| loopy(problem.scores(), false, &options, None, true, n, &stop);
        assert_eq!(go(1), go(2));
        assert_eq!(go(1), go(3));
    }
    stop.set();
    assert!(loopy(problem.scores(), false, &options(ALL[0]), None, true, 1, &stop).is_err());
}

/// Grids of given shapes, edges along rows first, with tables along rows and down columns.
pub(super) fn grids(shapes: &[(usize, usize)], tables: Vec<f64>, scale: f64, seed: u64) -> Problem {
    let (mut nodes, mut edges) = (vec![0i64], vec![0i64]);
    let (mut from, mut to, mut kinds) = (Vec::new(), Vec::new(), Vec::new());
    for &(height, width) in shapes {
        let first = nodes[nodes.len() - 1];
        let mut join = |y: usize, x: usize, step: usize, kind: i64| {
            from.push(first + (y * width + x) as i64);
            to.push(first + (y * width + x + step) as i64);
            kinds.push(kind);
        };
        (0..height).for_each(|y| (1..width).for_each(|x| join(y, x - 1, 1, 0)));
        (1..height).for_each(|y| (0..width).for_each(|x| join(y - 1, x, width, 1)));
        nodes.push(first + (height * width) as i64);
        edges.push(from.len() as i64);
    }
    let wiring = Wiring::new(&nodes, &edges, &from, &to, &kinds).expect("valid");
    let unary = numbers(&mut Random::new(seed), wiring.n_nodes() * 2, scale);
    Problem { wiring, k: 2, unary, tables, own: None }
}

#[test]
fn the_fast_form_of_a_grid_reaches_the_fixed_point() {
    let stop = Interrupt::new();
    let shapes = [(1, 1), (1, 9), (8, 1), (5, 6), (2, 2), (7, 600), (0, 4)];
    let tables = vec![0.4, -0.2, 0.1, 0.5, 0.3, -0.4, -0.1, 0.2];
    for (scale, maximum) in [(2.0, false), (2000.0, false), (3.0, true)] {
        let problem = grids(&shapes, tables.clone(), scale, 3);
        let fast = Options { tol: 1e-6, ..options(Schedule::Synchronous) };
        let (messages, endings) =
            grid_messages(problem.scores(), &shapes, maximum, &fast, None, 1, &stop).expect("valid");
        assert!(endings.iter().all(|e| e.converged));
        // From there on the exact form has nothing to do.
        let polish = Options { tol: 1e-4, ..options(Schedule::Synchronous) };
        let found =
            loopy(problem.scores(), maximum, &polish, Some(&messages), true, 1, &stop).expect("valid");
        assert!(found.endings.iter().all(|e| e.iterations == 1 && e.converged));
        let warm = Options { tol: 1e-4, ..fast };
        let warm = grid_messages(problem.scores(), &shapes, maximum, &warm, Some(&messages), 1, &stop);
        // Messages that leave the image are not among those of the start: they change once, and are read by nobody.
        assert!(warm.expect("valid").1.iter().all(|e| e.iterations <= 2));
        let damped = Options { damping: 0.5, ..fast };
        let damped =
            grid_messages(problem.scores(), &shapes, maximum, &damped, None, 1, &stop).expect("valid");
        assert!(damped.1.iter().all(|e| e.converged));
        // Maxima have more fixed points than one.
        if !maximum {
            let exact = run(&problem, maximum, &options(Schedule::Colored));
            assert!(near(&messages, &exact.messages, 2e-5) && near(&damped.0, &messages, 1e-4));
            assert!(near(&found.nodes, &exact.nodes, 1e-5));
            let tight = |(a, b): (&f64, &f64)| (a - b).abs() < 1e-6 * (1.0 + b.abs());
            assert!(found.values.iter().zip(&exact.values).all(tight));
        }
    }
}

#[test]
fn the_fast_form_of_a_grid_is_the_same_on_threads_and_knows_its_limits() {
    let stop = Interrupt::new();
    let shapes = [(300, 300), (20, 30), (21, 31)];
    let problem = grids(&shapes, vec![0.4, -0.2, 0.1, 0.5, 0.3, -0.4, -0.1, 0.2], 2.0, 3);
    let few = Options { max_iter: 5, ..options(Schedule::Synchronous) };
    let go = |n| grid_messages(problem.scores(), &shapes, false, &few, None, n, &stop);
    assert_eq!(go(1), go(2));
    assert_eq!(go(1), go(3));
    let wrong = [(300, 300), (30, 20), (21, 31)];
    let error = grid_messages(problem.scores(), &wrong, false, &few, None, 1, &stop).expect_err("shape");
    assert!(error.to_string().contains("does not stand where a grid of shape (30, 20)"), "{error}");
    let strong = grids(&[(2, 2)], vec![9.0, 0.0, 0.0, 9.0, 0.0, 0.0, 0.0, 0.0], 1.0, 0);
    assert!(grid_messages(strong.scores(), &[(2, 2)], false, &few, None, 1, &stop).is_err());
    let scores: Scores<'_> = strong.scores();
    assert!(grid_messages(scores, &[], false, &few, None, 1, &stop).is_err());
}
