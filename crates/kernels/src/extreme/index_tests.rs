use super::*;
use crate::extreme::examples::Examples;
use crate::extreme::leave_one_out::{Counts, count, ranks};
use crate::extreme::rerank::{Learned, Plan, Ranker, Training, learn, rank};
use crate::interrupt::Interrupt;
use crate::random::Random;
use crate::threads::Spaces;

/// Random rows of `d` features with labels below `k`: rows of a label share features.
struct Made {
    starts: Vec<usize>,
    columns: Vec<i32>,
    values: Vec<f32>,
    y: Vec<u32>,
    d: usize,
    k: usize,
}

fn made(n: usize, d: usize, k: usize) -> Made {
    let mut random = Random::new(7);
    let mut out = Made { starts: vec![0], columns: vec![], values: vec![], y: vec![], d, k };
    for _ in 0..n {
        let label = random.below(k);
        let mut row: Vec<i32> = (0..3).map(|t| ((label * 5 + t * random.below(3)) % d) as i32).collect();
        row.push(random.below(d) as i32);
        row.sort_unstable();
        row.dedup();
        out.values.extend(row.iter().map(|_| 1.0 + random.below(3) as f32));
        out.columns.extend(row);
        out.starts.push(out.columns.len());
        out.y.push(label as u32);
    }
    out
}

impl Made {
    fn x(&self) -> Csr<'_, f32> {
        Csr::new(&self.starts, &self.columns, &self.values, self.d).unwrap()
    }
}

/// Counts of relative values, in full.
struct Counted {
    counts: Vec<f32>,
    mass: Vec<f32>,
    rows: Vec<f32>,
    shares: Vec<f32>,
    starts: Vec<i64>,
    labels: Vec<i32>,
    stored: Vec<f32>,
}

fn counted(data: &Made, skip: Option<usize>) -> Counted {
    let (d, k) = (data.d, data.k);
    let (mut counts, mut mass, mut rows) = (vec![0.0; d * k], vec![0.0; k], vec![0.0; k]);
    for i in (0..data.y.len()).filter(|&i| Some(i) != skip) {
        let range = data.starts[i]..data.starts[i + 1];
        let mean = data.values[range.clone()].iter().sum::<f32>() / range.len() as f32;
        let y = data.y[i] as usize;
        rows[y] += 1.0;
        for at in range {
            counts[data.columns[at] as usize * k + y] += data.values[at] / mean;
            mass[y] += data.values[at] / mean;
        }
    }
    let total: f32 = mass.iter().sum();
    let shares = counts.chunks(k).map(|c| c.iter().sum::<f32>().max(0.5) / total).collect();
    let (mut starts, mut labels, mut stored) = (vec![0], vec![], vec![]);
    for row in counts.chunks(k) {
        for (y, &c) in row.iter().enumerate().filter(|(_, c)| **c > 0.0) {
            labels.push(y as i32);
            stored.push(c);
        }
        starts.push(labels.len() as i64);
    }
    Counted { counts, mass, rows, shares, starts, labels, stored }
}

const MU: f32 = 8.0;
const ALPHA: f32 = 0.5;

/// The score by its definition.
fn exact(data: &Made, c: &Counted, shares: &[f32], i: usize, y: usize) -> f32 {
    let range = data.starts[i]..data.starts[i + 1];
    let mean = data.values[range.clone()].iter().sum::<f32>() / range.len() as f32;
    let mut score = ALPHA * c.rows[y].max(0.5).ln();
    for at in range {
        let f = data.columns[at] as usize;
        let weight = (c.counts[f * data.k + y] / (MU * shares[f])).ln_1p() - (c.mass[y] / MU).ln_1p();
        score += data.values[at] / mean * weight;
    }
    score
}

struct Arrays {
    starts: Vec<i64>,
    labels: Vec<u16>,
    weights: Vec<u8>,
    wide: Vec<i32>,
    wide_weights: Vec<u8>,
    penalty: Vec<i16>,
    prior: Vec<i16>,
}

/// The index; features with more than `widest` labels are whole rows.
fn arrays(c: &Counted, k: usize, widest: usize) -> Arrays {
    let mut out = Arrays {
        starts: vec![0],
        labels: vec![],
        weights: vec![],
        wide: vec![],
        wide_weights: vec![],
        penalty: c.mass.iter().map(|m| (256.0 * (m / MU).ln_1p()).round() as i16).collect(),
        prior: c.rows.iter().map(|n| (256.0 * ALPHA * n.max(0.5).ln()).round() as i16).collect(),
    };
    for (f, row) in c.counts.chunks(k).enumerate() {
        let weight = |count: f32| (16.0 * (count / (MU * c.shares[f])).ln_1p()).round().min(255.0) as u8;
        if row.iter().filter(|c| **c > 0.0).count() > widest {
            out.wide.push((out.wide_weights.len() / k) as i32);
            out.wide_weights.extend(row.iter().map(|&c| weight(c)));
        } else {
            out.wide.push(-1);
            for (y, &count) in row.iter().enumerate().filter(|(_, c)| **c > 0.0) {
                out.labels.push(y as u16);
                out.weights.push(weight(count));
            }
        }
        out.starts.push(out.labels.len() as i64);
    }
    out
}

impl Arrays {
    fn index(&self) -> Index<'_, u16> {
        Index {
            starts: &self.starts,
            labels: &self.labels,
            weights: &self.weights,
            wide: &self.wide,
            wide_weights: &self.wide_weights,
            penalty: &self.penalty,
            prior: &self.prior,
        }
    }
}

fn counts_of(c: &Counted) -> Counts<'_> {
    Counts {
        starts: &c.starts,
        labels: &c.labels,
        counts: &c.stored,
        shares: &c.shares,
        label_mass: &c.mass,
        label_rows: &c.rows,
        mu: MU,
        alpha: ALPHA,
    }
}

/// All rows as examples of their labels.
struct Kept {
    rows: Vec<i64>,
    starts: Vec<i64>,
    lengths: Vec<u8>,
    features: Vec<u16>,
    worths: Vec<u8>,
    places: Vec<u32>,
}

fn kept(data: &Made) -> Kept {
    let mut out = Kept {
        rows: vec![0],
        starts: vec![0],
        lengths: vec![],
        features: vec![],
        worths: vec![20; data.d],
        places: vec![u32::MAX; data.y.len()],
    };
    for y in 0..data.k {
        for i in (0..data.y.len()).filter(|&i| data.y[i] as usize == y) {
            let row = &data.columns[data.starts[i]..data.starts[i + 1]];
            out.places[i] = out.lengths.len() as u32;
            out.lengths.push(row.len() as u8);
            out.features.extend(row.iter().map(|&f| f as u16));
        }
        out.rows.push(out.lengths.len() as i64);
        out.starts.push(out.features.len() as i64);
    }
    out
}

impl Kept {
    fn examples(&self) -> Examples<'_> {
        Examples {
            rows: &self.rows,
            starts: &self.starts,
            lengths: &self.lengths,
            features: &self.features,
            worths: &self.worths,
        }
    }
}

#[test]
fn scores_are_those_of_the_definition_up_to_rounding() {
    let data = made(400, 60, 150);
    let c = counted(&data, None);
    for widest in [0, 5, 1000] {
        let arrays = arrays(&c, data.k, widest);
        let index = arrays.index();
        let mut space = Workspace::new(&index);
        let mut found = Vec::new();
        for i in 0..40 {
            space.score(&index, &data.x(), i).unwrap();
            space.best(&index, data.k, &mut found);
            assert_eq!(found.len(), data.k);
            for &(score, y) in &found {
                let expected = exact(&data, &c, &c.shares, i, y as usize);
                assert!((score - expected).abs() < 0.6, "row {i} label {y}: {score} {expected}");
            }
        }
    }
}

#[test]
fn the_best_are_the_first_of_all() {
    let data = made(900, 60, 500);
    let c = counted(&data, None);
    let arrays = arrays(&c, data.k, 40);
    let index = arrays.index();
    let mut space = Workspace::new(&index);
    let (mut all, mut few) = (Vec::new(), Vec::new());
    for i in 0..data.y.len() {
        space.score(&index, &data.x(), i).unwrap();
        space.best(&index, data.k, &mut all);
        for n in [1, 3, 7, 20] {
            space.best(&index, n, &mut few);
            assert_eq!(few, all[..n]);
        }
    }
}

#[test]
fn a_row_left_out_scores_as_if_it_had_not_been_counted() {
    let data = made(120, 40, 10);
    let c = counted(&data, None);
    let arrays = arrays(&c, data.k, 5);
    let index = arrays.index();
    let mut space = Workspace::new(&index);
    for i in 0..data.y.len() {
        let y = data.y[i] as usize;
        space.score(&index, &data.x(), i).unwrap();
        let without = counts_of(&c).without(&space, y);
        let again = counted(&data, Some(i));
        if again.rows[y] < 0.5 {
            assert_eq!(without, None);
        } else {
            // The shares of all rows are kept.
            let expected = exact(&data, &again, &c.shares, i, y);
            assert!((without.unwrap() - expected).abs() < 1e-3);
        }
    }
}

#[test]
fn long_rows_are_scored_in_coarser_units() {
    let d = 4000;
    let columns: Vec<i32> = (0..d as i32).collect();
    let values = vec![1.0; d];
    let row = [0, d];
    let x = Csr::new(&row, &columns, &values, d).unwrap();
    let weights: Vec<u8> = (0..d * 2).map(|at| if at % 2 == 0 { 200 } else { 198 }).collect();
    let wide: Vec<i32> = (0..d as i32).collect();
    let starts = vec![0; d + 1];
    let index: Index<'_, u32> = Index {
        starts: &starts,
        labels: &[],
        weights: &[],
        wide: &wide,
        wide_weights: &weights,
        penalty: &[256, 0],
        prior: &[0, 0],
    };
    let mut space = Workspace::new(&index);
    let mut found = Vec::new();
    space.score(&index, &x, 0).unwrap();
    space.best(&index, 2, &mut found);
    assert_eq!(found[0].1, 1);
    assert!((found[0].0 - 4000.0 * 198.0 / 16.0).abs() < 0.1 * found[0].0);
}

#[test]
fn learning_ranks_better_and_does_not_depend_on_threads() {
    // More rows than one chunk, so that updates and candidates overlap.
    let data = made(9000, 80, 60);
    let c = counted(&data, None);
    let arrays = arrays(&c, data.k, 20);
    let index = arrays.index();
    let (order, kept): (Vec<u32>, Kept) = ((0..data.y.len() as u32).collect(), kept(&data));
    let stop = Interrupt::new();
    let run = |n_threads| {
        let (mut biases, mut pairs) = (vec![[0.0; 2]; data.k], vec![[0.0; 2]; 1 << 12]);
        let mut learned = Learned { factors: [[0.5, 0.0]; 2], biases: &mut biases, pairs: &mut pairs };
        let plan = Plan { n_candidates: 8, rate: 0.3, factor_rate: 0.1, decay: 1e-4 };
        let (counts, examples, x) = (counts_of(&c), kept.examples(), data.x());
        let training =
            Training { counts: &counts, examples: &examples, places: &kept.places, x: &x, y: &data.y };
        let mut epoch = || learn(&index, training, &order, plan, &mut learned, n_threads, &stop).unwrap();
        let (first, second) = (epoch(), epoch());
        (first, second, learned.factors, biases, pairs)
    };
    let (one, three) = (run(1), run(3));
    assert_eq!(one, three);
    assert!(one.1.loss < one.0.loss);
    assert!(one.2.iter().all(|factor| factor[0] > 0.0));
    let ranks = ranks(&index, &counts_of(&c), &data.x(), &data.y, 2, &stop).unwrap();
    assert_eq!(ranks.len(), data.y.len());
    let reached = ranks.iter().filter(|&&r| (0.0..7.0).contains(&r)).count() as u64;
    assert!(reached <= one.0.reached && one.0.reached <= one.0.rows);
}

#[test]
fn ranking_without_pairs_keeps_the_order_of_the_index() {
    let data = made(300, 60, 200);
    let c = counted(&data, None);
    let arrays = arrays(&c, data.k, 30);
    let index = arrays.index();
    let biases = vec![0.0; data.k];
    let ranker = Ranker { factors: [1.0, 0.0], biases: &biases, pairs: &[], unit: 1.0 };
    let stop = Interrupt::new();
    let kept = kept(&data);
    let spaces = Spaces::default();
    let out = rank(&index, &ranker, &kept.examples(), &data.x(), 32, 5, &spaces, 2, &stop).unwrap();
    let mut space = Workspace::new(&index);
    let mut found = Vec::new();
    for i in 0..data.y.len() {
        space.score(&index, &data.x(), i).unwrap();
        space.best(&index, 5, &mut found);
        let labels: Vec<u32> = found.iter().map(|c| c.1).collect();
        assert_eq!(out.labels[5 * i..5 * i + 5], labels);
    }
    assert!(rank(&index, &ranker, &kept.examples(), &data.x(), 32, 0, &spaces, 1, &stop).is_err());
    assert!(rank(&index, &ranker, &kept.examples(), &data.x(), 32, 33, &spaces, 1, &stop).is_err());
}

#[test]
fn bad_rows_are_refused() {
    let data = made(30, 20, 5);
    let c = counted(&data, None);
    let arrays = arrays(&c, data.k, 3);
    let mut space = Workspace::new(&arrays.index());
    for (column, value) in [(20, 1.0), (-1, 1.0), (0, -1.0), (0, f32::NAN), (0, f32::INFINITY)] {
        let (columns, values) = ([column], [value]);
        let x = Csr::new(&[0, 1], &columns, &values, 20).unwrap();
        assert!(space.score(&arrays.index(), &x, 0).is_err(), "{column} {value}");
    }
}

#[test]
fn a_row_with_few_postings_is_scored_as_if_all_labels_were() {
    let data = made(200, 1500, 2000);
    let c = counted(&data, None);
    // Whole rows of weights are never few.
    let (narrow, wide) = (arrays(&c, data.k, usize::MAX), arrays(&c, data.k, 0));
    let (x, few, all) = (data.x(), narrow.index(), wide.index());
    let (mut some, mut every) = (Workspace::new(&few), Workspace::new(&all));
    let (mut found, mut expected) = (Vec::new(), Vec::new());
    for i in 0..data.y.len() {
        some.score(&few, &x, i).unwrap();
        every.score(&all, &x, i).unwrap();
        assert!(some.few && !every.few);
        let own = data.y[i] as usize;
        for score in [None, Some(-50.0), Some(-2.0), Some(30.0)] {
            if let Some(score) = score {
                some.replace(own, score);
                every.replace(own, score);
            }
            for n in [1, 20, MOST_CANDIDATES] {
                some.best(&few, n, &mut found);
                every.best(&all, n, &mut expected);
                assert_eq!(found, expected, "row {i}, {n} labels, own {score:?}");
            }
            for label in [own, 7, data.k - 1] {
                assert_eq!(some.rank(&few, label), every.rank(&all, label), "row {i}, label {label}");
            }
        }
    }
}

#[test]
fn counts_and_weights_are_those_of_the_definition() {
    let data = made(500, 60, 40);
    let (c, stop) = (counted(&data, None), Interrupt::new());
    let mut order: Vec<u32> = (0..data.y.len() as u32).collect();
    order.sort_by_key(|&i| data.y[i as usize]);
    let found = count(&data.x(), &data.y, &order, &stop).unwrap();
    assert_eq!((&found.starts, &found.labels), (&c.starts, &c.labels));
    assert!(found.counts.iter().zip(&c.stored).all(|(a, b)| (a - b).abs() < 1e-4));
    order.reverse();
    assert!(count(&data.x(), &data.y, &order, &stop).is_err());
    let expected = arrays(&c, data.k, usize::MAX).weights;
    for n_threads in [1, 2] {
        assert_eq!(counts_of(&c).weights(n_threads).unwrap(), expected);
    }
}
