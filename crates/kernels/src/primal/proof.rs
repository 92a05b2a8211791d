//! What a proof of the gap of a margin loss is made of: sums over scores in double precision.
//!
//! Problem: given scores s of all rows, find the free intercept at which sum_i U_i phi(y_i s_i) is smallest, the dual
//! point theta_i = U_i phi'(y_i s_i) y_i there (or that of given dual variables), V(theta), and how steep the losses
//! are where rounding may have moved the scores to. `separatrix.solvers.certificate` has the theory, and the same for
//! other losses. Rows are cut by shape alone and sums added in order: the result does not depend on the number of
//! threads.

use std::marker::PhantomData;

use crate::error::{KernelError, check_length, zeros};
use crate::interrupt::Interrupt;
use crate::loss::margin::{Conjugate, Exponential, Hinge, Logistic, MarginLoss, Squared, SquaredHinge};
use crate::primal::batch::threads_for;
use crate::primal::newton::curve::{BLOCK, sum};
use crate::simd::{Task, dispatch};
use crate::threads::try_each;

/// Rounding of a sum, relative to it: as in `certificate.py`.
const ROUNDING: f64 = 4.0 * f64::EPSILON;
/// Share of the wanted gap that an imbalance of theta may cost.
const BALANCE: f64 = 0.02;
/// Steps of the search for the intercept at most.
const STEPS: usize = 60;
/// Rows of a task.
const PART: usize = 32 * BLOCK;

/// Scores to be judged, and what is known about them.
#[derive(Debug, Clone, Copy)]
pub struct Judged<'a> {
    /// X w + b.
    pub scores: &'a [f64],
    /// +1 or -1.
    pub signs: &'a [f64],
    /// U_i >= 0.
    pub weights: &'a [f64],
    /// Dual variables, in [0, U_i] for the hinge and the logistic loss; instead of slopes at the scores.
    pub duals: Option<&'a [f64]>,
    /// The intercept in the scores, and whether it is free to be moved.
    pub intercept: (f64, bool),
    /// Whether intercepts are stored in single precision.
    pub single: bool,
    /// The longest row, times the length of the weights, and by itself.
    pub reach: (f64, f64),
    /// Whether the penalty is quadratic.
    pub l2: bool,
    /// The gap that would do.
    pub wanted: f64,
}

/// What was found.
#[derive(Debug, Clone)]
pub struct Judgment {
    /// The intercept to be stored.
    pub intercept: f64,
    /// sum_i U_i phi_i there.
    pub losses: f64,
    /// By how much rounding may have moved that sum.
    pub noise: f64,
    /// V(theta).
    pub dual: f64,
    /// Sizes of what V is a sum of: its rounding is a share of this.
    pub size: f64,
    /// sum_i theta_i
    pub sum: f64,
    /// sum_i |theta_i|
    pub mass: f64,
    /// The dual point.
    pub theta: Vec<f64>,
}

/// Sums at scores that are moved.
#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    losses: f64,
    /// sum theta, sum |theta|, and sum of the second derivatives.
    theta: f64,
    mass: f64,
    second: f64,
    /// sum_i U_i and sum_i U_i y_i
    weights: f64,
    signed: f64,
    /// sum theta s and sum |theta s|
    paired: f64,
    size: f64,
}

impl Sums {
    fn add(&mut self, other: &Self) {
        self.losses += other.losses;
        self.theta += other.theta;
        self.mass += other.mass;
        self.second += other.second;
        self.weights += other.weights;
        self.signed += other.signed;
        self.paired += other.paired;
        self.size += other.size;
    }
}

struct Part<'a, L> {
    scores: &'a [f64],
    signs: &'a [f64],
    weights: &'a [f64],
    /// How far scores are moved, and by how much margins are less besides.
    by: f64,
    less: f64,
    theta: &'a mut [f64],
    of: PhantomData<L>,
}

impl<L: MarginLoss<f64>> Task for Part<'_, L> {
    type Output = Sums;

    #[inline(always)]
    fn run<const FMA: bool>(self) -> Sums {
        let mut all = Sums::default();
        let zero = [0.0; BLOCK];
        let (mut y, mut u, mut s) = (zero, zero, zero);
        let (mut losses, mut theta, mut second, mut work) = (zero, zero, zero, zero);
        for (b, scores) in self.scores.chunks(BLOCK).enumerate() {
            let (first, n) = (b * BLOCK, scores.len());
            y[..n].copy_from_slice(&self.signs[first..first + n]);
            u[..n].copy_from_slice(&self.weights[first..first + n]);
            u[n..].fill(0.0);
            for (to, s) in s.iter_mut().zip(scores) {
                *to = s + self.by;
            }
            for i in 0..BLOCK {
                let (loss, slope, bend) = L::at::<FMA>(y[i] * s[i] - self.less);
                // A row of weight zero is not there, even where its loss overflows.
                let there = u[i] != 0.0;
                losses[i] = if there { u[i] * loss } else { 0.0 };
                theta[i] = if there { -u[i] * slope * y[i] } else { 0.0 };
                second[i] = if there { u[i] * bend } else { 0.0 };
            }
            all.losses += sum(&losses);
            all.theta += sum(&theta);
            all.second += sum(&second);
            all.weights += sum(&u);
            all.mass += sum(&theta.map(f64::abs));
            for i in 0..BLOCK {
                work[i] = u[i] * y[i];
            }
            all.signed += sum(&work);
            if let Some(out) = self.theta.get_mut(first..first + n) {
                out.copy_from_slice(&theta[..n]);
                for i in 0..BLOCK {
                    work[i] = theta[i] * s[i];
                }
                all.paired += sum(&work);
                all.size += sum(&work.map(f64::abs));
            }
        }
        all
    }
}

/// Judge scores by the loss that Python calls `loss`.
pub fn judge(
    loss: &str,
    judged: Judged<'_>,
    n_threads: usize,
    stop: &Interrupt,
) -> Result<Judgment, KernelError> {
    let n = judged.scores.len();
    check_length("signs", judged.signs.len(), n)?;
    check_length("weights", judged.weights.len(), n)?;
    if let Some(duals) = judged.duals {
        check_length("duals", duals.len(), n)?;
    }
    match loss {
        "logistic" => Run::<Logistic>::new(judged, n_threads, stop).judge(),
        "squared_hinge" => Run::<SquaredHinge>::new(judged, n_threads, stop).judge(),
        "squared" => Run::<Squared>::new(judged, n_threads, stop).judge(),
        "exponential" => Run::<Exponential>::new(judged, n_threads, stop).judge(),
        "hinge" if judged.duals.is_some() => Run::<Hinge>::new(judged, n_threads, stop).judge(),
        _ => Err(KernelError::Argument(format!("there are no proofs for the loss {loss:?}"))),
    }
}

struct Run<'a, L> {
    judged: Judged<'a>,
    n_threads: usize,
    stop: &'a Interrupt,
    of: PhantomData<fn() -> L>,
}

impl<'a, L: Conjugate + Send> Run<'a, L> {
    fn new(judged: Judged<'a>, n_threads: usize, stop: &'a Interrupt) -> Self {
        Self { judged, n_threads, stop, of: PhantomData }
    }

    /// Sums at scores moved by `by`, margins `less` besides; theta is written where there is room.
    fn at(&self, by: f64, less: f64, theta: &mut [f64]) -> Result<Sums, KernelError> {
        let Judged { scores, signs, weights, .. } = self.judged;
        let mut room = theta.chunks_mut(PART);
        let parts: Vec<_> =
            scores.chunks(PART).map(|scores| (scores, room.next().unwrap_or_default())).enumerate().collect();
        let threads = threads_for(16 * scores.len(), self.n_threads);
        let found = try_each(threads, parts, |(part, (scores, theta))| {
            self.stop.check()?;
            let (signs, weights) = (&signs[part * PART..], &weights[part * PART..]);
            Ok::<_, KernelError>(dispatch(Part::<L> {
                scores,
                signs,
                weights,
                by,
                less,
                theta,
                of: PhantomData,
            }))
        })?;
        let mut all = Sums::default();
        for sums in &found {
            all.add(sums);
        }
        Ok(all)
    }

    /// Whether moving the intercept on is worth nothing. Where duals are given, theta is not made of slopes, and what
    /// counts is by how much the losses may fall.
    fn is_enough(&self, sums: &Sums, small: f64, width: f64) -> bool {
        let (slope, cheap) = (sums.theta.abs(), BALANCE * self.judged.wanted);
        // By how much the losses fall to a step of Newton's method.
        let near = slope * slope <= 2.0 * cheap * sums.second;
        slope <= small || (self.judged.duals.is_some() && (near || slope * width <= cheap))
    }

    /// Where |sum theta| costs next to nothing: theta is mixed with another point to balance it (`Objective.imbalance`).
    fn small(&self, sums: &Sums) -> f64 {
        let lighter = 0.5 * (sums.weights - sums.signed.abs());
        let room = L::at::<false>(0.0).1 * lighter;
        // What a longer X' theta costs: its length times that of the weights, or all there is under L1.
        let steep = if self.judged.l2 { (2.0 * sums.losses).sqrt() } else { sums.losses };
        let per_unit = sums.losses / room + std::f64::consts::SQRT_2 * self.judged.reach.1 * steep;
        let cheap = BALANCE * self.judged.wanted / per_unit;
        let rounding = 4.0 * ROUNDING * sums.mass;
        if cheap.is_finite() { rounding.max(cheap) } else { rounding }
    }

    /// How far to move the intercept to where the losses are smallest, Newton's method within a bracket; with the sums
    /// there.
    fn search(&self, mut sums: Sums) -> Result<(f64, Sums), KernelError> {
        let (mut low, mut high, mut at, mut step) = (f64::NEG_INFINITY, f64::INFINITY, 0.0, 1.0);
        let small = if self.judged.duals.is_some() { 0.0 } else { self.small(&sums) };
        for _ in 0..STEPS {
            if self.is_enough(&sums, small, high - low) {
                break;
            }
            if sums.theta < 0.0 {
                low = at
            } else {
                high = at
            }
            let mut after = at - sums.theta / sums.second;
            if !(low < after && after < high) {
                step *= 2.0;
                after = match (low.is_finite(), high.is_finite()) {
                    (true, true) => 0.5 * (low + high),
                    _ if sums.theta < 0.0 => at + step,
                    _ => at - step,
                };
            }
            if after == at || !after.is_finite() {
                break;
            }
            at = after;
            sums = self.at(at, 0.0, &mut [])?;
        }
        Ok((at, sums))
    }

    fn judge(&self) -> Result<Judgment, KernelError> {
        let Judged { intercept: (before, free), reach, single, .. } = self.judged;
        let mut theta: Vec<f64> = zeros(self.judged.scores.len())?;
        if !free {
            let sums = self.at(0.0, 0.0, &mut theta)?;
            return self.judgment((before, 0.0), reach.0 + before.abs(), &sums, &sums, theta);
        }
        let first = self.at(0.0, 0.0, &mut [])?;
        let (mut by, sums) = self.search(first)?;
        let stored = if single { f64::from((before + by) as f32) } else { before + by };
        let moved = stored - before;
        if self.judged.duals.is_some() || (moved - by).abs() * sums.second <= self.small(&sums) {
            by = moved; // one look for both
        }
        // The dual point is that of the best intercept, the value that of the stored one.
        let best = self.at(by, 0.0, &mut theta)?;
        let there = if by == moved { best } else { self.at(moved, 0.0, &mut [])? };
        let size = reach.0 + before.abs().max(stored.abs());
        if there.losses <= first.losses * (1.0 + ROUNDING) {
            self.judgment((stored, moved), size, &there, &best, theta)
        } else {
            self.judgment((before, 0.0), size, &first, &best, theta)
        }
    }

    /// What the sums at the stored intercept, to which scores are moved, and at the best one come to; scores were sums of
    /// such a `size`.
    fn judgment(
        &self,
        (intercept, moved): (f64, f64),
        size: f64,
        there: &Sums,
        best: &Sums,
        theta: Vec<f64>,
    ) -> Result<Judgment, KernelError> {
        let off = ROUNDING * size;
        // Slopes at the scores themselves will not do: rounding may hide a row beyond a kink.
        let steepest = match L::steepest(there.mass, there.weights, off) {
            Some(steepest) => steepest,
            None => self.at(moved, off, &mut [])?.mass,
        };
        let found = Judgment {
            intercept,
            losses: there.losses,
            noise: steepest * off,
            dual: best.losses - best.paired,
            size: best.losses.abs() + best.size,
            sum: best.theta,
            mass: best.mass,
            theta,
        };
        Ok(match self.judged.duals {
            Some(duals) => self.judge_duals(duals, found),
            None => found,
        })
    }

    /// The dual point of given dual variables; where the intercept is free, those of the heavier class are scaled down
    /// until both classes weigh the same.
    fn judge_duals(&self, duals: &[f64], mut found: Judgment) -> Judgment {
        let Judged { scores, signs, weights, intercept, .. } = self.judged;
        let (mut plus, mut minus) = (0.0, 0.0);
        for (((theta, &a), &y), &u) in found.theta.iter_mut().zip(duals).zip(signs).zip(weights) {
            *theta = if u > 0.0 { u * L::closest(a / u) } else { 0.0 };
            if y > 0.0 { plus += *theta } else { minus += *theta }
        }
        let mut scale = (1.0, 1.0);
        if intercept.1 {
            if plus == 0.0 || minus == 0.0 {
                scale = (0.0, 0.0);
            } else if plus > minus {
                scale.0 = minus / plus;
            } else {
                scale.1 = plus / minus;
            }
        }
        let by = if intercept.1 { found.intercept - intercept.0 } else { 0.0 };
        let (mut dual, mut size, mut mass, mut total) = (0.0, 0.0, 0.0, 0.0);
        let numbers = signs.chunks(BLOCK).zip(weights.chunks(BLOCK)).zip(scores.chunks(BLOCK));
        for (theta, ((signs, weights), scores)) in found.theta.chunks_mut(BLOCK).zip(numbers) {
            let zero = [0.0; BLOCK];
            let (mut a, mut values, mut paired, mut signed) = (zero, zero, zero, zero);
            for (i, (((theta, &y), &u), &s)) in
                theta.iter_mut().zip(signs).zip(weights).zip(scores).enumerate()
            {
                if u > 0.0 {
                    a[i] = *theta * if y > 0.0 { scale.0 } else { scale.1 };
                    let m = y * (s + by);
                    values[i] = u * L::dual(a[i] / u, m, L::at::<false>(m));
                    paired[i] = (a[i] * m).abs() + values[i].abs();
                }
                signed[i] = -y * a[i];
                *theta = signed[i];
            }
            dual += sum(&values);
            size += sum(&paired);
            mass += sum(&a.map(f64::abs));
            total += sum(&signed);
        }
        found.dual = dual;
        found.mass = mass;
        found.size = found.losses.abs() + size;
        found.sum = total;
        found
    }
}

#[cfg(test)]
mod tests {
    use super::{Judged, judge};
    use crate::interrupt::Interrupt;

    const LOSSES: [&str; 5] = ["logistic", "squared_hinge", "squared", "exponential", "hinge"];

    fn loss(name: &str, m: f64) -> (f64, f64) {
        match name {
            "logistic" => ((-m).exp().ln_1p(), 1.0 / (1.0 + m.exp())),
            "squared_hinge" => ((1.0 - m).max(0.0).powi(2), 2.0 * (1.0 - m).max(0.0)),
            "squared" => ((1.0 - m).powi(2), 2.0 * (1.0 - m)),
            "exponential" => ((-m).exp(), (-m).exp()),
            _ => ((1.0 - m).max(0.0), f64::from(u8::from(m < 1.0))),
        }
    }

    #[test]
    fn sums_are_those_by_hand_and_free_intercepts_are_where_losses_are_smallest() {
        let n = 9000;
        let scores: Vec<f64> = (0..n).map(|i| ((i * 7919) % 101) as f64 / 20.0 - 2.0).collect();
        let signs: Vec<f64> = (0..n).map(|i| if (i * 31) % 5 < 2 { 1.0 } else { -1.0 }).collect();
        let weights: Vec<f64> = (0..n).map(|i| (i % 4) as f64 * 0.3).collect();
        let duals: Vec<f64> = (0..n).map(|i| ((i * 13) % 17) as f64 / 10.0 - 0.2).collect();
        let at = |name: &str, by: f64| -> f64 {
            (0..n).map(|i| weights[i] * loss(name, signs[i] * (scores[i] + by)).0).sum()
        };
        for name in LOSSES {
            for free in [false, true] {
                let judged = Judged {
                    scores: &scores,
                    signs: &signs,
                    weights: &weights,
                    duals: (name == "hinge").then_some(&duals[..]),
                    intercept: (0.5, free),
                    single: false,
                    reach: (3.0, 1.0),
                    l2: true,
                    wanted: 1e-9,
                };
                let stop = Interrupt::new();
                let found = judge(name, judged, 1, &stop).expect("valid");
                let many = judge(name, judged, 2, &stop).expect("valid");
                assert_eq!((found.losses, &found.theta), (many.losses, &many.theta));
                let by = found.intercept - 0.5;
                assert!(free || by == 0.0);
                assert!((found.losses - at(name, by)).abs() <= 1e-10 * found.losses, "{name}");
                if free {
                    for near in [by - 1e-3, by + 1e-3] {
                        assert!(at(name, near) >= found.losses * (1.0 - 1e-12), "{name}");
                    }
                    assert!(found.sum.abs() <= 1e-6 * found.mass, "{name}");
                }
                let mut dual = 0.0;
                for i in 0..n {
                    let s = scores[i] + by;
                    let (value, a) = loss(name, signs[i] * s);
                    if name == "hinge" {
                        let a = -found.theta[i] * signs[i];
                        assert!(a >= 0.0 && a <= weights[i]);
                        dual += a;
                    } else {
                        let theta = -weights[i] * a * signs[i];
                        assert!((theta - found.theta[i]).abs() <= 1e-12, "{name}");
                        dual += weights[i] * value - theta * s;
                    }
                }
                assert!((dual - found.dual).abs() <= 1e-9 * found.size, "{name}: {dual} and {}", found.dual);
                assert!(found.noise > 0.0 && found.noise < 1e-9 * found.size);
            }
            let short = Judged {
                scores: &scores,
                signs: &signs[1..],
                weights: &weights,
                duals: None,
                intercept: (0.0, false),
                single: true,
                reach: (1.0, 1.0),
                l2: false,
                wanted: 1.0,
            };
            assert!(judge(name, short, 1, &Interrupt::new()).is_err());
        }
    }
}
