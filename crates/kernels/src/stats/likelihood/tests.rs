//! Likelihoods against the sum of their terms.

use super::{Terms, joint};
use crate::data::csr::Csr;
use crate::data::dense::Dense;
use crate::interrupt::Interrupt;
use crate::random::Random;
use crate::stats::count::{Kind, Plan};

const K: usize = 3;

struct Model {
    plan: Plan,
    start: Vec<f64>,
    weight: Vec<f64>,
    base: Vec<f64>,
    mean: Vec<f64>,
    table: Vec<f64>,
}

impl Model {
    /// Class-major terms of `d` columns of all four kinds.
    fn new(d: usize) -> Self {
        let kinds: Vec<u8> = (0..d).map(|j| (j * 4 / d) as u8).collect();
        let sizes: Vec<i64> = kinds.iter().map(|&kind| if kind == 3 { 4 } else { 0 }).collect();
        let plan = Plan::new(&kinds, Some(&sizes), 0.5).expect("plan");
        let mut random = Random::new(3);
        let mut draw =
            |n: usize| -> Vec<f64> { (0..n).map(|_| random.below(1000) as f64 / 500.0 - 1.0).collect() };
        let (start, weight, base) = (draw(K), draw(K * d), draw(K * d));
        let (mean, table) = (draw(K * d), draw(K * plan.n_categories()));
        Self { plan, start, weight, base, mean, table }
    }

    fn terms(&self) -> Terms<'_> {
        let Self { plan, start, weight, base, mean, table } = self;
        Terms { plan, start, weight, base, mean, table }
    }

    fn turned(self) -> Self {
        let turn = |a: &[f64]| -> Vec<f64> {
            let d = a.len() / K;
            (0..d * K).map(|at| a[at % K * d + at / K]).collect()
        };
        let (weight, base) = (turn(&self.weight), turn(&self.base));
        Self { weight, base, mean: turn(&self.mean), table: turn(&self.table), ..self }
    }

    fn expected(&self, row: &[f64]) -> Vec<f64> {
        let d = row.len();
        let term = |k: usize, j: usize| {
            let (at, x) = (k * d + j, row[j]);
            match self.plan.kind(j) {
                _ if x.is_nan() => 0.0,
                Kind::Multinomial => self.weight[at] * x,
                Kind::Bernoulli => self.base[at] + if x > 0.5 { self.weight[at] } else { 0.0 },
                Kind::Gaussian => self.base[at] - 0.5 * self.weight[at] * (x - self.mean[at]).powi(2),
                Kind::Categorical => {
                    self.table[k * self.plan.n_categories() + self.plan.categories(j).start + x as usize]
                }
            }
        };
        (0..K).map(|k| self.start[k] + (0..d).map(|j| term(k, j)).sum::<f64>()).collect()
    }
}

#[test]
fn dense_and_sparse_rows_agree_with_the_definition_on_any_number_of_threads() {
    for (n, d) in [(7, 4), (300, 43), (3_000, 100)] {
        let mut random = Random::new(5);
        let mut x: Vec<f64> = (0..n * d).map(|_| (random.below(6) as f64 - 2.0).max(0.0)).collect();
        for at in (0..n * d).step_by(3 * d + 1) {
            x[at] = f64::NAN;
        }
        let model = Model::new(d);
        let expected: Vec<f64> = x.chunks(d).flat_map(|row| model.expected(row)).collect();
        let dense = Dense::new(&x, n, d).expect("shape");
        let near = |found: &[f64]| found.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-9);
        let one = joint(&dense, &model.terms(), 1, &Interrupt::new()).expect("valid").expect("ordered");
        assert!(near(&one));
        let many = joint(&dense, &model.terms(), 3, &Interrupt::new()).expect("valid").expect("ordered");
        assert_eq!(one, many);
        let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        for row in x.chunks(d) {
            for (j, &v) in row.iter().enumerate().filter(|(_, v)| **v != 0.0) {
                columns.push(j as i32);
                values.push(v);
            }
            starts.push(values.len());
        }
        let rows = Csr::new(&starts, &columns, &values, d).expect("lengths");
        let model = model.turned();
        let lean = joint(&rows, &model.terms(), 1, &Interrupt::new()).expect("valid").expect("ordered");
        assert!(near(&lean));
        let many = joint(&rows, &model.terms(), 2, &Interrupt::new()).expect("valid").expect("ordered");
        assert_eq!(lean, many);
    }
}

#[test]
fn products_of_counts_for_few_and_many_classes() {
    let (columns, values) = ([0, 1, 2, 3, 4, 5], [1.0, 2.0, 0.5, 3.0, 1.5, 1.0]);
    let plan = Plan::new(&[0; 6], None, 0.0).expect("plan");
    for k in [1, 2, 5] {
        let weight: Vec<f64> = (0..6 * k).map(|v| v as f64).collect();
        let start = vec![1.0; k];
        let terms = Terms { plan: &plan, start: &start, weight: &weight, base: &[], mean: &[], table: &[] };
        let rows = Csr::new(&[0, 6], &columns, &values, 6).expect("lengths");
        let expected: Vec<f64> =
            (0..k).map(|c| 1.0 + (0..6).map(|j| values[j] * weight[j * k + c]).sum::<f64>()).collect();
        assert_eq!(joint(&rows, &terms, 1, &Interrupt::new()), Ok(Some(expected)));
        let outside = Csr::new(&[0, 1], &[6], &[1.0], 6).expect("lengths");
        assert!(joint(&outside, &terms, 1, &Interrupt::new()).is_err());
        let infinite = Csr::new(&[0, 1], &[4], &[f64::INFINITY], 6).expect("lengths");
        assert!(joint(&infinite, &terms, 1, &Interrupt::new()).is_err());
        let short = Terms { weight: &weight[1..], ..terms };
        assert!(joint(&rows, &short, 1, &Interrupt::new()).is_err());
    }
}
