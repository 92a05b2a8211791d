//! Dual ascent over cached planes of structured hinge losses.
//!
//! Problem: minimize P(w) = 1/2 |w|^2 + sum_i c_i max_p (cost_ip - <w, psi_ip>) over the planes p that are known of
//! example i, the plane zero (its own labelling: no cost, psi = 0) always among them. In the dual every example has shares
//! a_ip >= 0 that add up to one, w = sum_i c_i sum_p a_ip psi_ip, and D(a) = sum_i c_i <a_i, cost_i> - 1/2 |w|^2 is at most
//! P. The equality for w holds on every exit. A visit of an example maximizes D over its shares by pairwise
//! Frank–Wolfe steps on the Gram matrix of its planes; a sweep visits examples in random order and returns by how much D
//! rose. Planes that had no share over many visits are dropped. Joachims, Finley & Yu (2009); Lacoste-Julien et al. (2013);
//! Shah, Kolmogorov & Lampert (2015), who keep planes between the calls of an expensive oracle.

use crate::dual::tuning::{ENOUGH, IDLE, PLANE_STEPS};
use crate::error::{KernelError, check_length, zeros};
use crate::interrupt::Interrupt;
use crate::random::Random;

/// Weights at most: 2 GB.
const MOST_WEIGHTS: usize = 1 << 28;

/// One plane of an example.
#[derive(Debug, Clone)]
struct Plane {
    columns: Vec<u32>,
    values: Vec<f64>,
    cost: f64,
    share: f64,
    idle: u32,
}

impl Plane {
    fn score(&self, w: &[f64]) -> f64 {
        self.columns.iter().zip(&self.values).map(|(&j, &v)| w[j as usize] * v).sum()
    }

    /// Inner product with another plane; both have rising columns.
    fn product(&self, other: &Self) -> f64 {
        let (mut i, mut j, mut sum) = (0, 0, 0.0);
        while i < self.columns.len() && j < other.columns.len() {
            match self.columns[i].cmp(&other.columns[j]) {
                std::cmp::Ordering::Less => i += 1,
                std::cmp::Ordering::Greater => j += 1,
                std::cmp::Ordering::Equal => {
                    sum += self.values[i] * other.values[j];
                    i += 1;
                    j += 1;
                }
            }
        }
        sum
    }
}

/// The planes of one example and their inner products, row by row.
#[derive(Debug, Clone, Default)]
struct Block {
    planes: Vec<Plane>,
    gram: Vec<f64>,
}

impl Block {
    /// Add a plane; false where it is known.
    fn add(&mut self, plane: Plane) -> bool {
        let known =
            |p: &Plane| p.cost == plane.cost && p.columns == plane.columns && p.values == plane.values;
        if self.planes.iter().any(known) {
            return false;
        }
        let old = self.planes.len();
        let mut gram = Vec::with_capacity((old + 1) * (old + 1));
        let products: Vec<f64> = self.planes.iter().map(|p| p.product(&plane)).collect();
        for (row, &product) in self.gram.chunks_exact(old.max(1)).zip(&products) {
            gram.extend_from_slice(row);
            gram.push(product);
        }
        gram.extend_from_slice(&products);
        gram.push(plane.product(&plane));
        self.gram = gram;
        self.planes.push(plane);
        true
    }

    /// Drop the planes that have been without a share for long.
    fn forget(&mut self) {
        let kept: Vec<usize> = (0..self.planes.len()).filter(|&p| self.planes[p].idle < IDLE).collect();
        let n = self.planes.len();
        if kept.len() == n {
            return;
        }
        self.gram = kept
            .iter()
            .flat_map(|&a| kept.iter().map(move |&b| (a, b)))
            .map(|(a, b)| self.gram[a * n + b])
            .collect();
        let mut number = 0;
        self.planes.retain(|_| {
            number += 1;
            kept.binary_search(&(number - 1)).is_ok()
        });
    }
}

/// Cached planes of all examples, the shares, and the weights that belong to them.
#[derive(Debug, Clone)]
pub struct Planes {
    factors: Vec<f64>,
    blocks: Vec<Block>,
    w: Vec<f64>,
    random: Random,
}

impl Planes {
    /// No planes: w = 0. `factors` are c_i.
    pub fn new(factors: &[f64], n_weights: usize, seed: u64) -> Result<Self, KernelError> {
        if let Some(bad) = factors.iter().position(|c| !c.is_finite() || *c < 0.0) {
            return Err(KernelError::Argument(format!("the factor of example {bad} is {}", factors[bad])));
        }
        if n_weights > MOST_WEIGHTS {
            return Err(KernelError::Argument(format!("{n_weights} weights are more than {MOST_WEIGHTS}")));
        }
        Ok(Self {
            factors: factors.to_vec(),
            blocks: vec![Block::default(); factors.len()],
            w: zeros(n_weights)?,
            random: Random::new(seed),
        })
    }

    /// The weights of the shares.
    pub fn weights(&self) -> &[f64] {
        &self.w
    }

    /// Number of planes.
    pub fn len(&self) -> usize {
        self.blocks.iter().map(|block| block.planes.len()).sum()
    }

    /// Whether there are no planes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A lower bound of min P: D of the shares with the weights computed anew, less what rounding may have added.
    pub fn dual(&mut self) -> f64 {
        self.w.fill(0.0);
        let (mut gain, mut excess, mut lengths, mut count) = (0.0, 0.0f64, 0.0, 0.0);
        for (block, &c) in self.blocks.iter().zip(&self.factors) {
            let mut total = 0.0;
            for plane in block.planes.iter().filter(|plane| plane.share > 0.0) {
                total += plane.share;
                count += 1.0;
                gain += c * plane.share * plane.cost;
                let mut square = 0.0;
                for (&j, &v) in plane.columns.iter().zip(&plane.values) {
                    self.w[j as usize] += c * plane.share * v;
                    square += v * v;
                }
                lengths += c * plane.share * square.sqrt();
            }
            excess = excess.max(total - 1.0);
        }
        let square: f64 = self.w.iter().map(|w| w * w).sum();
        // Sums of so many terms, each rounded.
        let rounding = (count + 8.0) * f64::EPSILON * (gain + square + square.sqrt() * lengths);
        let dual = gain - 0.5 * square - rounding;
        // D is concave and zero without shares: what is more than one share in all is scaled back.
        if dual > 0.0 { dual / (1.0 + excess) } else { dual }
    }

    /// The largest cost less score among the planes of an example, the plane zero among them.
    pub fn loss(&self, example: usize, w: &[f64]) -> f64 {
        self.blocks[example].planes.iter().map(|p| p.cost - p.score(w)).fold(0.0, f64::max)
    }

    /// Add a plane to each of some examples: rows of a CSR matrix with rising columns. Returns how many were new.
    pub fn add(
        &mut self,
        examples: &[i64],
        starts: &[i64],
        columns: &[i64],
        values: &[f64],
        costs: &[f64],
    ) -> Result<usize, KernelError> {
        let n = examples.len();
        check_length("starts", starts.len(), n + 1)?;
        check_length("costs", costs.len(), n)?;
        check_length("values", values.len(), columns.len())?;
        let bounds = |row: usize| -> Option<(usize, usize)> {
            let (a, b) = (usize::try_from(starts[row]).ok()?, usize::try_from(starts[row + 1]).ok()?);
            (a <= b && b <= columns.len()).then_some((a, b))
        };
        let mut made = Vec::with_capacity(n);
        for row in 0..n {
            let (a, b) = bounds(row).ok_or_else(|| {
                KernelError::Argument(format!("the plane of row {row} has no place in the columns"))
            })?;
            let example = usize::try_from(examples[row]).ok().filter(|&i| i < self.blocks.len());
            let example = example
                .ok_or_else(|| KernelError::Argument(format!("there is no example {}", examples[row])))?;
            let rising = columns[a..b].windows(2).all(|pair| pair[0] < pair[1]);
            let inside = columns[a..b].iter().all(|&j| usize::try_from(j).is_ok_and(|j| j < self.w.len()));
            let finite = costs[row].is_finite() && values[a..b].iter().all(|v| v.is_finite());
            if !(rising && inside && finite) {
                return Err(KernelError::Argument(format!(
                    "the plane of row {row} must have rising columns below {} and finite numbers",
                    self.w.len()
                )));
            }
            let plane = Plane {
                columns: columns[a..b].iter().map(|&j| j as u32).collect(),
                values: values[a..b].to_vec(),
                cost: costs[row],
                share: 0.0,
                idle: 0,
            };
            made.push((example, plane));
        }
        Ok(made.into_iter().map(|(example, plane)| usize::from(self.blocks[example].add(plane))).sum())
    }

    /// Visit some examples, or all, in random order; returns by how much D rose.
    pub fn sweep(&mut self, examples: Option<&[i64]>, stop: &Interrupt) -> Result<f64, KernelError> {
        let mut order: Vec<usize> = match examples {
            None => (0..self.blocks.len()).collect(),
            Some(some) => {
                let inside = |&i: &i64| usize::try_from(i).ok().filter(|&i| i < self.blocks.len());
                let known: Option<Vec<usize>> = some.iter().map(inside).collect();
                known.ok_or_else(|| KernelError::Argument("there is no such example".into()))?
            }
        };
        self.random.shuffle(&mut order);
        let mut gain = 0.0;
        for (number, &example) in order.iter().enumerate() {
            if number.is_multiple_of(64) {
                stop.check()?;
            }
            gain += self.visit(example);
        }
        Ok(gain)
    }

    /// Maximize D over the shares of one example.
    fn visit(&mut self, example: usize) -> f64 {
        let (block, c) = (&mut self.blocks[example], self.factors[example]);
        let n = block.planes.len();
        if n == 0 || c == 0.0 {
            return 0.0;
        }
        // The plane zero stands last: its slope and its products are zero.
        let mut slopes: Vec<f64> = block.planes.iter().map(|p| p.cost - p.score(&self.w)).collect();
        slopes.push(0.0);
        let mut shares: Vec<f64> = block.planes.iter().map(|p| p.share).collect();
        shares.push((1.0 - shares.iter().sum::<f64>()).max(0.0));
        let before = shares.clone();
        let product = |a: usize, b: usize| if a == n || b == n { 0.0 } else { block.gram[a * n + b] };
        let (mut gain, mut first) = (0.0, 0.0);
        for step in 0..PLANE_STEPS {
            let mut to = n;
            let mut from = usize::MAX;
            for p in 0..=n {
                if slopes[p] > slopes[to] {
                    to = p;
                }
                if shares[p] > 0.0 && (from == usize::MAX || slopes[p] < slopes[from]) {
                    from = p;
                }
            }
            let slope = if from == usize::MAX { 0.0 } else { slopes[to] - slopes[from] };
            if slope <= 0.0 {
                break;
            }
            let curvature = c * (product(to, to) + product(from, from) - 2.0 * product(to, from));
            let most = shares[from];
            let move_ = if curvature * most > slope { slope / curvature } else { most };
            let rise = c * move_ * (slope - 0.5 * curvature * move_);
            shares[to] += move_;
            shares[from] = if move_ == most { 0.0 } else { shares[from] - move_ };
            for (p, slope) in slopes.iter_mut().enumerate().take(n) {
                *slope -= c * move_ * (product(p, to) - product(p, from));
            }
            gain += rise;
            if step == 0 {
                first = rise;
            } else if rise <= ENOUGH * first {
                break;
            }
        }
        for ((plane, &share), &old) in block.planes.iter_mut().zip(&shares).zip(&before) {
            if share != old {
                let change = c * (share - old);
                for (&j, &v) in plane.columns.iter().zip(&plane.values) {
                    self.w[j as usize] += change * v;
                }
                plane.share = share;
            }
            plane.idle = if share > 0.0 { 0 } else { plane.idle + 1 };
        }
        block.forget();
        gain
    }
}

#[cfg(test)]
mod tests {
    use super::{MOST_WEIGHTS, Planes};
    use crate::interrupt::Interrupt;

    /// Two examples with two planes each, over three weights.
    fn filled() -> Planes {
        let mut planes = Planes::new(&[1.0, 0.5], 3, 0).unwrap();
        let starts = [0, 2, 3, 5, 6];
        let columns = [0, 1, 2, 0, 2, 1];
        let values = [1.0, -1.0, 2.0, 0.5, 1.0, 1.5];
        let added = planes.add(&[0, 0, 1, 1], &starts, &columns, &values, &[1.0, 2.0, 1.0, 3.0]).unwrap();
        assert_eq!(added, 4);
        planes
    }

    #[test]
    fn sweeps_close_the_gap() {
        let mut planes = filled();
        let stop = Interrupt::new();
        let mut dual = planes.dual();
        for _ in 0..200 {
            let gain = planes.sweep(None, &stop).unwrap();
            let after = planes.dual();
            assert!((after - dual - gain).abs() < 1e-9, "the gain is what the dual rose by");
            assert!(gain >= 0.0);
            dual = after;
        }
        let w = planes.weights().to_vec();
        let primal =
            0.5 * w.iter().map(|x| x * x).sum::<f64>() + planes.loss(0, &w) + 0.5 * planes.loss(1, &w);
        assert!(primal - dual < 1e-9, "{primal} {dual}");
    }

    #[test]
    fn known_planes_are_not_kept_twice_and_bad_ones_are_refused() {
        let mut planes = filled();
        assert_eq!(planes.add(&[0], &[0, 1], &[2], &[2.0], &[2.0]).unwrap(), 0);
        assert_eq!(planes.len(), 4);
        assert!(planes.add(&[2], &[0, 1], &[2], &[2.0], &[2.0]).is_err());
        assert!(planes.add(&[0], &[0, 1], &[3], &[2.0], &[2.0]).is_err());
        assert!(planes.add(&[0], &[0, 2], &[1, 1], &[2.0, 1.0], &[2.0]).is_err());
        assert!(planes.add(&[0], &[0, 9], &[1], &[2.0], &[2.0]).is_err());
        assert!(planes.add(&[0], &[0, 1], &[1], &[f64::NAN], &[2.0]).is_err());
        assert!(planes.sweep(Some(&[5]), &Interrupt::new()).is_err());
        assert!(Planes::new(&[1.0], MOST_WEIGHTS + 1, 0).is_err());
        assert!(Planes::new(&[-1.0], 1, 0).is_err());
    }

    #[test]
    fn planes_without_a_share_are_dropped() {
        let mut planes = Planes::new(&[1.0], 1, 0).unwrap();
        planes.add(&[0, 0], &[0, 1, 2], &[0, 0], &[1.0, 1.0], &[1.0, 0.25]).unwrap();
        for _ in 0..40 {
            planes.sweep(None, &Interrupt::new()).unwrap();
        }
        assert_eq!(planes.len(), 1);
        assert!((planes.dual() - 0.5).abs() < 1e-12);
    }
}
