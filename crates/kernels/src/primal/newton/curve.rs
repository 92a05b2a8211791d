//! Losses of margins with their slopes and curvatures, a block of rows at a time.

use crate::error::KernelError;
use crate::loss::margin::{Conjugate, Exponential, Logistic, MarginLoss, Squared, SquaredHinge};
use crate::simd::Task;

/// Rows of a block.
pub const BLOCK: usize = 128;
/// Sums that run side by side.
const LANES: usize = 8;
/// Center of the smoothed hinge before there are multipliers.
pub(crate) const CENTER: f64 = 0.5;

/// A loss of the margin m.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Curve {
    /// log(1 + exp(-m))
    Logistic,
    /// max(0, 1 - m)^2
    SquaredHinge,
    /// (1 - m)^2
    Squared,
    /// exp(-m)
    Exponential,
    /// max(0, 1 - m), smoothed
    Hinge,
}

impl Curve {
    /// The loss of this name in `separatrix.losses`.
    pub fn named(name: &str) -> Result<Self, KernelError> {
        match name {
            "logistic" => Ok(Self::Logistic),
            "squared_hinge" => Ok(Self::SquaredHinge),
            "squared" => Ok(Self::Squared),
            "exponential" => Ok(Self::Exponential),
            "hinge" => Ok(Self::Hinge),
            _ => Err(KernelError::Argument(format!("there is no Newton step for the loss {name:?}"))),
        }
    }
}

/// Margins, weights U and centers of a block; rows that are not there have weight zero.
pub struct Block {
    pub(crate) margins: [f64; BLOCK],
    pub(crate) weights: [f64; BLOCK],
    pub(crate) centers: [f64; BLOCK],
    /// U a, where a is the slope's opposite.
    pub(crate) slopes: [f64; BLOCK],
    /// U times the second derivative.
    pub(crate) seconds: [f64; BLOCK],
    /// a itself.
    pub(crate) shares: [f64; BLOCK],
}

impl Block {
    pub(crate) fn new() -> Self {
        let zeros = [0.0; BLOCK];
        Self {
            margins: zeros,
            weights: zeros,
            centers: [CENTER; BLOCK],
            slopes: zeros,
            seconds: zeros,
            shares: zeros,
        }
    }

    /// Set slopes and curvatures; returns the losses, what smoothing costs, and the smoothed losses.
    #[inline(always)]
    pub(crate) fn bend<const FMA: bool>(&mut self, curve: Curve, sigma: f64) -> (f64, f64, f64) {
        match curve {
            Curve::Logistic => (self.smooth::<Logistic, FMA>(), 0.0, 0.0),
            Curve::SquaredHinge => (self.smooth::<SquaredHinge, FMA>(), 0.0, 0.0),
            Curve::Squared => (self.smooth::<Squared, FMA>(), 0.0, 0.0),
            Curve::Exponential => (self.smooth::<Exponential, FMA>(), 0.0, 0.0),
            Curve::Hinge => self.hinge(sigma),
        }
    }

    #[inline(always)]
    fn smooth<L: MarginLoss<f64>, const FMA: bool>(&mut self) -> f64 {
        let mut losses = [0.0; BLOCK];
        for (i, lost) in losses.iter_mut().enumerate() {
            let u = self.weights[i];
            let (loss, slope, second) = L::at::<FMA>(self.margins[i]);
            self.slopes[i] = u * slope;
            self.seconds[i] = u * second;
            *lost = u * loss;
        }
        sum(&losses)
    }

    #[inline(always)]
    fn hinge(&mut self, sigma: f64) -> (f64, f64, f64) {
        let (mut losses, mut slack, mut smooth) = ([0.0; BLOCK], [0.0; BLOCK], [0.0; BLOCK]);
        let half = 0.5 / sigma;
        for i in 0..BLOCK {
            let (z, u, c) = (1.0 - self.margins[i], self.weights[i], self.centers[i]);
            let free = sigma * z + c;
            let a = free.clamp(0.0, 1.0);
            let loss = z.max(0.0);
            self.shares[i] = a;
            self.slopes[i] = u * a;
            self.seconds[i] = if free == a { u * sigma } else { 0.0 };
            losses[i] = u * loss;
            slack[i] = u * (loss - a * z);
            smooth[i] = u * (a * z - (a - c) * (a - c) * half);
        }
        (sum(&losses), sum(&slack), sum(&smooth))
    }
}

/// The sum of a block, in as many sums side by side as there are lanes.
#[inline(always)]
pub(crate) fn sum(values: &[f64; BLOCK]) -> f64 {
    let mut lanes = [0.0; LANES];
    for pack in values.chunks_exact(LANES) {
        for (lane, v) in lanes.iter_mut().zip(pack) {
            *lane += v;
        }
    }
    lanes.iter().sum()
}

/// sum_i U_i a_i t_i at margins m + at t: how fast the losses fall along a direction with margins t.
pub(crate) struct Slope<'a> {
    pub curve: Curve,
    pub sigma: f64,
    pub margins: &'a [f64],
    pub toward: &'a [f64],
    pub centers: &'a [f64],
    /// Weights of all rows, of which every `stride`-th is visited and stands for the others.
    pub weights: &'a [f64],
    pub stride: usize,
    pub at: f64,
}

impl Task for Slope<'_> {
    type Output = f64;

    #[inline(always)]
    fn run<const FMA: bool>(self) -> f64 {
        let mut sum = 0.0;
        let mut block = Block::new();
        for (b, margins) in self.margins.chunks(BLOCK).enumerate() {
            let first = b * BLOCK;
            let toward = &self.toward[first..first + margins.len()];
            block.weights[margins.len()..].fill(0.0);
            for (i, (&m, &t)) in margins.iter().zip(toward).enumerate() {
                block.margins[i] = m + self.at * t;
                block.weights[i] = self.weights[(first + i) * self.stride];
            }
            if let Some(centers) = self.centers.get(first..first + margins.len()) {
                block.centers[..margins.len()].copy_from_slice(centers);
            }
            block.bend::<FMA>(self.curve, self.sigma);
            sum += block.slopes.iter().zip(toward).map(|(a, t)| a * t).sum::<f64>();
        }
        sum * self.stride as f64
    }
}

/// Dual variables that are moved along a whole step, as shares of U: the sum of U (loss + loss* + a m) at its end, and
/// whether any had to be cut off to stay where the conjugate is finite.
pub(crate) struct Linear<'a> {
    pub curve: Curve,
    /// Second derivatives up to this share of U do not count.
    pub floor: f64,
    /// Of the hinge.
    pub sigma: f64,
    pub centers: &'a [f64],
    pub margins: &'a [f64],
    pub toward: &'a [f64],
    pub weights: &'a [f64],
    pub shares: &'a mut [f64],
}

impl Linear<'_> {
    #[inline(always)]
    fn of<L: Conjugate, const FMA: bool>(self) -> (f64, bool) {
        let zero = [0.0; BLOCK];
        let (mut m, mut t, mut u, mut share, mut left) = (zero, zero, zero, zero, zero);
        let (mut total, mut cut) = (0.0, false);
        for (b, shares) in self.shares.chunks_mut(BLOCK).enumerate() {
            let (first, n) = (b * BLOCK, shares.len());
            m[..n].copy_from_slice(&self.margins[first..first + n]);
            t[..n].copy_from_slice(&self.toward[first..first + n]);
            u[..n].copy_from_slice(&self.weights[first..first + n]);
            u[n..].fill(0.0);
            for i in 0..BLOCK {
                let (_, slope, second) = L::at::<FMA>(m[i]);
                let moved = slope - if second > self.floor { second * t[i] } else { 0.0 };
                share[i] = L::closest(moved);
                cut |= share[i] != moved && u[i] > 0.0;
            }
            for i in 0..BLOCK {
                let there = m[i] + t[i];
                let at = L::at::<FMA>(there);
                let gap = at.0 + share[i] * there - L::dual(share[i], there, at);
                left[i] = if u[i] > 0.0 { u[i] * gap } else { 0.0 };
            }
            shares.copy_from_slice(&share[..n]);
            total += sum(&left);
        }
        (total, cut)
    }

    /// The slopes of the smoothed hinge are linear up to their kinks.
    fn of_hinge(self) -> (f64, bool) {
        let (mut total, mut cut) = (0.0, false);
        let rows = self.margins.iter().zip(self.toward).zip(self.weights);
        for (i, (((&m, &t), &u), share)) in rows.zip(self.shares).enumerate() {
            let free = self.sigma * (1.0 - m) + self.centers.get(i).copied().unwrap_or(CENTER);
            let bends = (0.0..=1.0).contains(&free);
            let moved = if bends { free - self.sigma * t } else { free.clamp(0.0, 1.0) };
            *share = moved.clamp(0.0, 1.0);
            cut |= *share != moved && u > 0.0;
            let z = 1.0 - (m + t);
            total += u * (z.max(0.0) - *share * z);
        }
        (total, cut)
    }
}

impl Task for Linear<'_> {
    type Output = (f64, bool);

    #[inline(always)]
    fn run<const FMA: bool>(self) -> (f64, bool) {
        match self.curve {
            Curve::Logistic => self.of::<Logistic, FMA>(),
            Curve::SquaredHinge => self.of::<SquaredHinge, FMA>(),
            Curve::Squared => self.of::<Squared, FMA>(),
            Curve::Exponential => self.of::<Exponential, FMA>(),
            Curve::Hinge => self.of_hinge(),
        }
    }
}
