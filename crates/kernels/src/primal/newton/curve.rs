//! Losses of margins with their slopes and curvatures, a block of rows at a time.

use crate::error::KernelError;
use crate::simd::Task;
use crate::simd::exponential::VectorExp;

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
        let (mut losses, mut slack, mut smooth) = ([0.0; LANES], [0.0; LANES], [0.0; LANES]);
        for first in (0..BLOCK).step_by(LANES) {
            for lane in 0..LANES {
                let i = first + lane;
                let (m, u) = (self.margins[i], self.weights[i]);
                let (a, second, loss);
                match curve {
                    Curve::Logistic => {
                        let e = (-m.abs()).vector_exp::<FMA>();
                        let r = 1.0 / (1.0 + e);
                        a = if m > 0.0 { e * r } else { r };
                        second = e * r * r;
                        loss = (-m).max(0.0) + log_one_plus::<FMA>(e);
                    }
                    Curve::SquaredHinge => {
                        let z = (1.0 - m).max(0.0);
                        a = 2.0 * z;
                        second = if z > 0.0 { 2.0 } else { 0.0 };
                        loss = z * z;
                    }
                    Curve::Hinge => {
                        let (z, c) = (1.0 - m, self.centers[i]);
                        let free = sigma * z + c;
                        a = free.clamp(0.0, 1.0);
                        second = if free == a { sigma } else { 0.0 };
                        loss = z.max(0.0);
                        slack[lane] += u * (loss - a * z);
                        smooth[lane] += u * (a * z - (a - c) * (a - c) * (0.5 / sigma));
                    }
                }
                self.shares[i] = a;
                self.slopes[i] = u * a;
                self.seconds[i] = u * second;
                losses[lane] += u * loss;
            }
        }
        (losses.iter().sum(), slack.iter().sum(), smooth.iter().sum())
    }
}

/// log(1 + e) for e in [0, 1], by the series of 2 artanh(e / (2 + e)).
#[inline(always)]
fn log_one_plus<const FMA: bool>(e: f64) -> f64 {
    use crate::real::Real;
    let s = e / (2.0 + e);
    let square = s * s;
    let mut sum = 1.0 / 31.0;
    for k in 0..15 {
        sum = Real::fma::<FMA>(sum, square, 1.0 / f64::from(29 - 2 * k));
    }
    2.0 * s * sum
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
