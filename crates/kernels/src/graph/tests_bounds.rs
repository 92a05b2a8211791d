//! Bounds: tree-reweighted >= log Z >= mean field, and no labelling above the bound on the best score.

use super::dual::best_bound;
use super::mean_field::mean_field;
use super::schedule::{Options, Schedule};
use super::tests::{Problem, close, random_forest, random_graph};
use super::tests_loopy::{grids, options};
use super::trw::trw;
use crate::interrupt::Interrupt;
use crate::random::Random;

fn problems() -> Vec<Problem> {
    let mut all = Vec::new();
    for seed in 0..8 {
        for (k, scale) in [(2, 1.0), (2, 6.0), (2, 1000.0), (3, 4.0)] {
            let mut random = Random::new(seed);
            let mut graphs: Vec<_> = (0..2)
                .map(|_| {
                    let n = 1 + random.below(if k == 2 { 10 } else { 6 });
                    let m = random.below(3 * n);
                    random_graph(&mut random, n, m)
                })
                .collect();
            graphs.push(random_forest(&mut random, 6));
            graphs.push((0, Vec::new()));
            all.push(Problem::new(&graphs, k, scale, seed % 2 == 0, seed));
        }
    }
    all
}

#[test]
fn log_z_lies_between_its_bounds_at_all_times() {
    let stop = Interrupt::new();
    for problem in problems() {
        let truths: Vec<_> = (0..4).map(|g| problem.truth(g).expect("allowed")).collect();
        for schedule in [Schedule::Synchronous, Schedule::Colored, Schedule::Residual] {
            for max_iter in [0, 1, 3, 200] {
                let options = Options { max_iter, damping: 0.3, tol: 1e-9, schedule };
                let upper = trw(problem.scores(), &options, 1, None, true, 1, &stop).expect("valid");
                let lower = mean_field(problem.scores(), &options, None, 1, &stop).expect("valid");
                for (graph, truth) in truths.iter().enumerate() {
                    let slack = 1e-9 * (1.0 + truth.log_z.abs());
                    assert!(upper.values[graph] >= truth.log_z - slack);
                    assert!(lower.values[graph] <= truth.log_z + slack);
                }
                // Exact on the forest once messages have crossed it.
                if max_iter == 200 {
                    assert!(close(upper.values[2], truths[2].log_z));
                }
            }
        }
    }
}

#[test]
fn more_sweeps_do_not_loosen_the_bounds() {
    let stop = Interrupt::new();
    for problem in problems() {
        let at = |max_iter| Options { max_iter, damping: 0.3, tol: 0.0, schedule: Schedule::Colored };
        let (mut upper, mut lower) = (vec![f64::INFINITY; 4], vec![f64::NEG_INFINITY; 4]);
        for max_iter in [0, 10, 20, 40] {
            let above = trw(problem.scores(), &at(max_iter), 1, None, false, 1, &stop).expect("valid").values;
            let below = mean_field(problem.scores(), &at(max_iter), None, 1, &stop).expect("valid").values;
            for graph in 0..4 {
                assert!(
                    above[graph] <= upper[graph] && below[graph] >= lower[graph] - 1e-9 * lower[graph].abs()
                );
            }
            (upper, lower) = (above, below);
        }
    }
}

#[test]
fn the_tree_reweighted_bound_is_tight_where_edges_are_weak() {
    // Without pair scores every bound is exact; with weak ones nearly.
    let stop = Interrupt::new();
    let mut problem = Problem::new(&[(4, vec![(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)])], 2, 0.2, false, 3);
    let options = Options { max_iter: 200, damping: 0.0, tol: 1e-10, schedule: Schedule::Colored };
    let truth = problem.truth(0).expect("allowed");
    let found = trw(problem.scores(), &options, 1, None, true, 1, &stop).expect("valid");
    assert!(found.endings[0].converged && found.values[0] - truth.log_z < 1e-2);
    assert!(super::tests::near(&found.nodes, &truth.nodes, 1e-2));
    problem.tables.fill(0.0);
    let truth = problem.truth(0).expect("allowed");
    let found = trw(problem.scores(), &options, 1, None, true, 1, &stop).expect("valid");
    assert!(close(found.values[0], truth.log_z) && super::tests::near(&found.edges, &truth.edges, 1e-9));
    let lower = mean_field(problem.scores(), &options, None, 1, &stop).expect("valid");
    assert!(close(lower.values[0], truth.log_z));
    let warm = mean_field(problem.scores(), &options, Some(&lower.nodes), 1, &stop).expect("valid");
    assert_eq!(warm.endings[0].iterations, 1);
}

#[test]
fn no_labelling_is_above_the_bound_and_none_scores_more_than_it_says() {
    let stop = Interrupt::new();
    let (mut tight, mut all) = (0, 0);
    for problem in problems() {
        for max_iter in [0, 1, 300] {
            let options = Options { max_iter, tol: 1e-9, ..options(Schedule::Synchronous) };
            let found = best_bound(problem.scores(), &options, 1, 1, &stop).expect("valid");
            for graph in 0..4 {
                let truth = problem.truth(graph).expect("allowed");
                let slack = 1e-9 * (1.0 + truth.best.0.abs());
                assert!(found.bounds[graph] >= truth.best.0 - slack);
                assert!(found.values[graph] <= truth.best.0 + slack);
                let labels = &found.labels[problem.wiring.nodes(graph)];
                assert!(close(problem.scores().score(graph, labels), found.values[graph]));
            }
            let forest = problem.truth(2).expect("allowed");
            assert!(close(found.bounds[2], forest.best.0) && close(found.values[2], forest.best.0));
            if max_iter == 300 {
                all += 2;
                tight += (0..2).filter(|&g| close(found.bounds[g], found.values[g])).count();
            }
        }
    }
    // The relaxation is tight for most of these graphs.
    assert!(2 * tight > all, "{tight} of {all}");
}

#[test]
fn attractive_grids_are_solved_to_optimality() {
    let stop = Interrupt::new();
    let problem = grids(&[(6, 7)], vec![0.8, 0.0, 0.0, 0.8, 0.5, 0.0, 0.0, 0.5], 3.0, 2);
    let options = Options { max_iter: 3000, tol: 1e-7, ..options(Schedule::Synchronous) };
    let found = best_bound(problem.scores(), &options, 1, 1, &stop).expect("valid");
    assert!(found.bounds[0] - found.values[0] < 1e-5, "{} {}", found.bounds[0], found.values[0]);
}

#[test]
fn threads_change_nothing() {
    let stop = Interrupt::new();
    let mut random = Random::new(3);
    let graphs: Vec<_> = (0..20).map(|_| random_graph(&mut random, 20, 40)).collect();
    let problem = Problem::new(&graphs, 3, 2.0, false, 2);
    let options = Options { max_iter: 20, ..options(Schedule::Colored) };
    let upper = |n| trw(problem.scores(), &options, 1, None, true, n, &stop);
    let lower = |n| mean_field(problem.scores(), &options, None, n, &stop);
    let best = |n| best_bound(problem.scores(), &options, 1, n, &stop);
    for n in [2, 3] {
        assert_eq!(upper(1), upper(n));
        assert_eq!(lower(1), lower(n));
        assert_eq!(best(1), best(n));
    }
}
