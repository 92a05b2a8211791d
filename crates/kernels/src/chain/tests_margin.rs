//! The structured SVM: rivals against enumeration, solvers against each other, bounds on the right side.

use super::encoded::Encoded;
use super::frank_wolfe::FrankWolfe;
use super::graph::Graph;
use super::links::Links;
use super::margin::{Margin, Visits};
use super::segment_planes::SegmentPlanes;
use super::subgradient::Subgradient;
use super::tests_likelihood::Data;
use crate::interrupt::Interrupt;
use crate::random::Random;

/// Every edge, and every start and end, has a weight of its own; those of second order share the weights of pairs.
fn links(k: usize, second_order: bool) -> Links {
    if !second_order {
        let starts: Vec<i64> = (0..=k * k).map(|e| e as i64).collect();
        let weights: Vec<i64> = (0..k * k).map(|e| e as i64).collect();
        let start: Vec<i64> = (0..k).map(|s| (k * k + s) as i64).collect();
        let end: Vec<i64> = (0..k).map(|s| (k * k + k + s) as i64).collect();
        return Links::new(Graph::first_order(k), &starts, &weights, &start, &end, k * k + 2 * k)
            .expect("valid");
    }
    // States are (before, label), then (none, label).
    let label_of: Vec<i64> = (0..(k + 1) * k).map(|s| (s % k) as i64).collect();
    let (mut from, mut to, mut starts, mut weights) = (vec![], vec![], vec![0], vec![]);
    for state in 0..k * k {
        let (before, label) = (state / k, state % k);
        for first in 0..=k {
            from.push((first * k + before) as i64);
            to.push(state as i64);
            weights.push((before * k + label) as i64);
            if first < k {
                weights.push((k * k + (first * k + before) * k + label) as i64);
            }
            starts.push(weights.len() as i64);
        }
    }
    let graph = Graph::new(k, &label_of, &from, &to).expect("valid");
    let start: Vec<i64> = (0..(k + 1) * k).map(|s| if s < k * k { -2 } else { -1 }).collect();
    let end = vec![-1; (k + 1) * k];
    Links::new(graph, &starts, &weights, &start, &end, k * k + k * k * k).expect("valid")
}

fn problem(data: &Data, encoded: &Encoded<f64>, k: usize, second_order: bool, size: f64) -> Margin {
    let n = data.offsets.len() - 1;
    let cost: Vec<f64> =
        (0..k * k).map(|e| if e % (k + 1) == 0 { 0.0 } else { 0.5 + (e % 3) as f64 }).collect();
    let scale: Vec<f64> = (0..n).map(|i| 1.0 + (i % 2) as f64).collect();
    let c: Vec<f64> = (0..n).map(|i| size * (i % 4) as f64).collect();
    Margin::new(encoded, links(k, second_order), data.labels.clone(), cost, scale, c).expect("valid")
}

/// max over y' of Delta(y') + <w, Psi(y') - Psi(y)> of sequence `number`, by trying all.
fn enumerated(problem: &Margin, encoded: &Encoded<f64>, w: &[f64], number: usize) -> f64 {
    let (k, length) = (encoded.n_labels(), encoded.offsets()[number + 1] - encoded.offsets()[number]);
    let (mut entries, mut path) = (super::margin::Entries::default(), Vec::new());
    let mut most = f64::NEG_INFINITY;
    for code in 0..k.pow(length as u32) {
        let labels: Vec<u32> = (0..length as u32).map(|t| (code / k.pow(t) % k) as u32).collect();
        problem.links.states_of(&labels, &mut path);
        let cost = problem.path_difference(encoded, number, &path, &mut entries);
        let score: f64 = entries.settle(&problem.shares).iter().map(|&(at, v)| w[at as usize] * v).sum();
        most = most.max(cost + score);
    }
    most
}

#[test]
fn the_loss_is_the_maximum_over_all_labellings() {
    let mut random = Random::new(5);
    for (k, second_order) in [(3, false), (2, true), (3, true)] {
        let data = Data::new(40, 12, k, false, 3);
        // Short sequences only: the others have too many labellings.
        let encoded = Encoded::new(&data.csr(), (0..=40).step_by(4).collect(), &data.pattern(), k, true)
            .expect("valid");
        let n = encoded.offsets().len() - 1;
        let cost = (0..k * k).map(|e| if e % (k + 1) == 0 { 0.0 } else { 1.0 + (e % 2) as f64 }).collect();
        let problem = Margin::new(
            &encoded,
            links(k, second_order),
            data.labels.clone(),
            cost,
            vec![0.5; n],
            vec![2.0; n],
        )
        .expect("valid");
        for size in [0.0, 0.3, 3.0] {
            let w: Vec<f64> =
                (0..problem.n_weights()).map(|_| size * (random.below(1001) as f64 / 500.0 - 1.0)).collect();
            let expected: f64 = (0..n).map(|i| 2.0 * enumerated(&problem, &encoded, &w, i)).sum();
            let found = problem.loss(&encoded, &w, 1, &Interrupt::new()).expect("valid").0;
            assert!((found - expected).abs() < 1e-9 * (1.0 + expected), "{k} {size}: {found} {expected}");
        }
    }
}

#[test]
fn the_solvers_close_the_gap_at_one_optimum() {
    let stop = Interrupt::new();
    for (k, second_order, size) in [(2, false, 0.05), (3, false, 0.5), (5, false, 0.1), (2, true, 0.2)] {
        let data = Data::new(150, 30, k, k != 3, 7);
        let encoded =
            Encoded::new(&data.csr(), data.offsets.clone(), &data.pattern(), k, true).expect("valid");
        let problem = problem(&data, &encoded, k, second_order, size);
        let mut planes = SegmentPlanes::new(&problem, &encoded, 1).expect("valid");
        for _ in 0..3 {
            planes.run_pass(&problem, &encoded, &stop).expect("valid");
        }
        let (mut primal, mut dual) = (f64::INFINITY, f64::NEG_INFINITY);
        for pass in 0..200 {
            let mut gain = 0.0;
            for _ in 0..10 {
                gain += planes.sweep(&problem, &stop).expect("valid");
            }
            let w = planes.average();
            let loss = planes.search(&problem, &encoded, &w, 1 + pass % 2, &stop).expect("valid");
            primal = primal.min(loss + problem.penalty(&w));
            let now = planes.dual(&problem).expect("valid");
            assert!(gain >= -1e-9 && now >= dual - 1e-9 * primal, "{now} {dual} {gain}");
            dual = now;
            if primal - dual <= 1e-8 * primal {
                break;
            }
        }
        assert!(primal - dual <= 1e-8 * primal, "{k} {second_order}: {primal} {dual}");
        // A later run begins where this one ended, and with another C at a feasible point.
        let active = planes.active(&problem);
        assert_eq!(active.alphas.len(), planes.counts().1);
        let mut again = SegmentPlanes::new(&problem, &encoded, 5).expect("valid");
        again.restore(&problem, &encoded, &active).expect("valid");
        let restored = again.dual(&problem).expect("valid");
        assert!((restored - dual).abs() <= 1e-9 * primal, "{restored} {dual}");
        // Alphas as small as rounding may find no room.
        let sums = [&again, &planes].map(|solver| solver.active(&problem).alphas.iter().sum::<f64>());
        assert!((sums[0] - sums[1]).abs() < 1e-9 * sums[1]);
        let other = super::tests_margin::problem(&data, &encoded, k, second_order, 3.0 * size);
        let mut larger = SegmentPlanes::new(&other, &encoded, 5).expect("valid");
        larger.restore(&other, &encoded, &active).expect("valid");
        let w = {
            larger.dual(&other).expect("valid");
            larger.weights().to_vec()
        };
        let value = other.loss(&encoded, &w, 1, &stop).expect("valid").0 + other.penalty(&w);
        assert!(larger.dual(&other).expect("valid") <= value);
        let mut wolfe = FrankWolfe::new(&problem, &encoded, 2).expect("valid");
        let mut steps = Subgradient::new(&problem, &encoded, 2).expect("valid");
        let solvers: [(&mut dyn Visits<f64>, f64); 2] = [(&mut wolfe, 0.02), (&mut steps, 0.15)];
        for (solver, near) in solvers {
            for _ in 0..200 {
                solver.run_pass(&problem, &encoded, &stop).expect("valid");
            }
            let w = solver.average();
            let value = problem.loss(&encoded, &w, 1, &stop).expect("valid").0 + problem.penalty(&w);
            let bound = solver.dual(&problem).expect("valid");
            assert!(bound <= primal * (1.0 + 1e-9) && value >= dual * (1.0 - 1e-9));
            assert!(value - bound <= near * value, "{k} {second_order}: {value} {bound} {primal}");
        }
    }
}

#[test]
fn malformed_problems_are_refused() {
    let data = Data::new(20, 12, 2, true, 1);
    let encoded = Encoded::new(&data.csr(), data.offsets.clone(), &data.pattern(), 2, true).expect("valid");
    let n = data.offsets.len() - 1;
    let make = |labels: Vec<u32>, cost: Vec<f64>, c: Vec<f64>| {
        Margin::new(&encoded, links(2, false), labels, cost, vec![1.0; n], c).is_err()
    };
    let cost = vec![0.0, 1.0, 1.0, 0.0];
    assert!(make(vec![0; 20], vec![1.0; 4], vec![1.0; n]));
    assert!(make(vec![2; 20], cost.clone(), vec![1.0; n]));
    assert!(make(vec![0; 19], cost.clone(), vec![1.0; n]));
    assert!(make(vec![0; 20], cost.clone(), vec![-1.0; n]));
    assert!(make(vec![0; 20], vec![0.0, f64::NAN, 1.0, 0.0], vec![1.0; n]));
    assert!(!make(vec![0; 20], cost, vec![1.0; n]));
    let graph = || Graph::first_order(2);
    let none = [-1, -1];
    assert!(Links::new(graph(), &[0, 1, 2, 3, 4], &[0, 1, 2, 4], &none, &none, 4).is_err());
    assert!(Links::new(graph(), &[0, 1, 2, 1, 4], &[0, 1, 2, 3], &none, &none, 4).is_err());
    assert!(Links::new(graph(), &[0, 1, 2, 3, 4], &[0, 1, 2, 3], &[-2, -1], &none, 4).is_err());
    assert!(Links::new(graph(), &[0, 1, 2, 3, 4], &[0, 1, 2, 3], &none, &none, 4).is_ok());
}
