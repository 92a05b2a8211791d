//! Losses of margins with their slopes and curvatures, a block of rows at a time.

use crate::error::KernelError;
use crate::loss::margin::{Logistic, MarginLoss, SquaredHinge};
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
    /// max(0, 1 - m), smoothed
    Hinge,
}

impl Curve {
    /// The loss of this name in `separatrix.losses`.
    pub fn named(name: &str) -> Result<Self, KernelError> {
        match name {
            "logistic" => Ok(Self::Logistic),
            "squared_hinge" => Ok(Self::SquaredHinge),
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
