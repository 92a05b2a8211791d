//! Smooth losses of a block of rows: values, and derivatives in place of the scores.
//!
//! The same formulas as `separatrix.losses`, which stay the reference in the tests. Scores of a block
//! are score-major, `z[c * BLOCK + i]`; losses are summed in `f64`. [`crate::loss::row`] has them too, row by
//! row and in `f64`: here they run over packs of rows, in the data's precision and with an exponential of
//! their own, so that neither can serve the other without its speed or its digits; a test holds them together.

use crate::error::{KernelError, check_length};
use crate::interrupt::Interrupt;
use crate::loss::margin::{Exponential, Logistic, MarginLoss, Squared, SquaredHinge};
use crate::primal::batch::threads_for;
use crate::simd::exponential::VectorExp;
use crate::simd::tile::{self, BLOCK};
use crate::simd::{Task, dispatch};
use crate::threads::try_each;

/// Losses with a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SmoothLoss {
    /// log(1 + exp(-m)), m = y s
    Logistic,
    /// max(0, 1 - m)^2
    SquaredHinge,
    /// (1 - m)^2
    Squared,
    /// exp(-m)
    Exponential,
    /// log sum_k exp s_k - s_y
    MulticlassLogistic,
}

impl SmoothLoss {
    /// The loss of this name in `separatrix.losses`.
    pub fn named(name: &str) -> Result<Self, KernelError> {
        match name {
            "logistic" => Ok(Self::Logistic),
            "squared_hinge" => Ok(Self::SquaredHinge),
            "squared" => Ok(Self::Squared),
            "exponential" => Ok(Self::Exponential),
            "multiclass_logistic" => Ok(Self::MulticlassLogistic),
            _ => Err(KernelError::Argument(format!("there is no kernel for the loss {name:?}"))),
        }
    }
}

/// What the rows should be.
#[derive(Debug, Clone, Copy)]
pub enum Targets<'a, T> {
    /// +1 or -1, for losses of a margin.
    Signs(&'a [T]),
    /// Class numbers.
    Classes(&'a [i64]),
}

/// Loss, targets and weights of all rows, checked.
#[derive(Debug, Clone, Copy)]
pub struct Labeled<'a, T> {
    loss: SmoothLoss,
    targets: Targets<'a, T>,
    weights: Option<&'a [T]>,
    n_rows: usize,
    k: usize,
}

impl<'a, T: VectorExp> Labeled<'a, T> {
    /// Take targets for `n_rows` rows of `k` scores, with or without row weights.
    pub fn new(
        loss: SmoothLoss,
        targets: Targets<'a, T>,
        weights: Option<&'a [T]>,
        n_rows: usize,
        k: usize,
    ) -> Result<Self, KernelError> {
        if let Some(weights) = weights {
            check_length("row_weights", weights.len(), n_rows)?;
        }
        match (loss, targets) {
            (SmoothLoss::MulticlassLogistic, Targets::Classes(classes)) => {
                check_length("targets", classes.len(), n_rows)?;
                if let Some(row) = classes.iter().position(|&c| usize::try_from(c).map_or(true, |c| c >= k)) {
                    return Err(KernelError::IndexOutOfRange { row, index: classes[row], n_cols: k });
                }
            }
            (SmoothLoss::MulticlassLogistic, Targets::Signs(_)) => {
                return Err(KernelError::Argument("this loss takes class numbers".into()));
            }
            (_, Targets::Signs(signs)) => {
                check_length("targets", signs.len(), n_rows)?;
                check_length("scores of a margin loss", k, 1)?;
            }
            (_, Targets::Classes(_)) => {
                return Err(KernelError::Argument("this loss takes targets of +1 and -1".into()));
            }
        }
        Ok(Self { loss, targets, weights, n_rows, k })
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// Number of scores per row.
    pub fn n_scores(&self) -> usize {
        self.k
    }

    /// Weighted losses of `rows` rows from row `first`, and their derivatives in place of `z`.
    ///
    /// Entries of `z` beyond the rows are set to zero.
    #[inline(always)]
    pub(crate) fn block<const FMA: bool>(&self, first: usize, rows: usize, z: &mut [T]) -> f64 {
        let mut values = [T::ZERO; BLOCK];
        for z in z.chunks_exact_mut(BLOCK) {
            z[rows..].fill(T::ZERO);
        }
        match self.targets {
            Targets::Classes(classes) => {
                softmax::<T, FMA>(z, self.k, &classes[first..first + rows], &mut values);
            }
            Targets::Signs(signs) => {
                let mut y = [T::ONE; BLOCK];
                y[..rows].copy_from_slice(&signs[first..first + rows]);
                match self.loss {
                    SmoothLoss::Logistic => margins::<T, Logistic, FMA>(&y, z, &mut values),
                    SmoothLoss::SquaredHinge => margins::<T, SquaredHinge, FMA>(&y, z, &mut values),
                    SmoothLoss::Squared => margins::<T, Squared, FMA>(&y, z, &mut values),
                    _ => margins::<T, Exponential, FMA>(&y, z, &mut values),
                }
            }
        }
        let mut sum = 0.0;
        match self.weights {
            Some(weights) => {
                let weights = &weights[first..first + rows];
                for z in z.chunks_exact_mut(BLOCK) {
                    for (z, &c) in z.iter_mut().zip(weights) {
                        // A row of weight zero is not there, even where its loss overflows.
                        *z = if c == T::ZERO { T::ZERO } else { *z * c };
                    }
                    z[rows..].fill(T::ZERO);
                }
                for (&v, &c) in values.iter().zip(weights) {
                    if c != T::ZERO {
                        sum += v.to_f64() * c.to_f64();
                    }
                }
            }
            None => {
                for z in z.chunks_exact_mut(BLOCK) {
                    z[rows..].fill(T::ZERO);
                }
                for v in &values[..rows] {
                    sum += v.to_f64();
                }
            }
        }
        sum
    }
}

#[inline(always)]
fn margins<T: VectorExp, L: MarginLoss<T>, const FMA: bool>(
    y: &[T; BLOCK],
    z: &mut [T],
    values: &mut [T; BLOCK],
) {
    for ((z, &y), v) in z[..BLOCK].iter_mut().zip(y).zip(values.iter_mut()) {
        let (loss, slope, _) = L::at::<FMA>(y * *z);
        *v = loss;
        *z = -y * slope;
    }
}

/// Cross-entropies, and softmax minus one-hot in place of the scores.
#[inline(always)]
fn softmax<T: VectorExp, const FMA: bool>(z: &mut [T], k: usize, classes: &[i64], values: &mut [T; BLOCK]) {
    let mut largest = [T::ZERO; BLOCK];
    largest.copy_from_slice(&z[..BLOCK]);
    for z in z[BLOCK..k * BLOCK].chunks_exact(BLOCK) {
        for (m, &z) in largest.iter_mut().zip(z) {
            *m = m.max(z);
        }
    }
    let mut right = [T::ZERO; BLOCK];
    for (i, (&c, r)) in classes.iter().zip(right.iter_mut()).enumerate() {
        *r = z[c as usize * BLOCK + i];
    }
    let mut sum = [T::ZERO; BLOCK];
    for z in z[..k * BLOCK].chunks_exact_mut(BLOCK) {
        for ((z, s), &m) in z.iter_mut().zip(sum.iter_mut()).zip(&largest) {
            *z = (*z - m).vector_exp::<FMA>();
            *s += *z;
        }
    }
    for ((v, &s), (&m, &r)) in values.iter_mut().zip(&sum).zip(largest.iter().zip(&right)) {
        *v = s.ln() + (m - r);
    }
    for s in &mut sum {
        *s = T::ONE / *s;
    }
    for z in z[..k * BLOCK].chunks_exact_mut(BLOCK) {
        for (z, &s) in z.iter_mut().zip(&sum) {
            *z *= s;
        }
    }
    for (i, &c) in classes.iter().enumerate() {
        z[c as usize * BLOCK + i] -= T::ONE;
    }
}

struct LossBlocks<'a, T> {
    labeled: Labeled<'a, T>,
    first: usize,
    scores: &'a [T],
    out: &'a mut [T],
}

impl<T: VectorExp> Task for LossBlocks<'_, T> {
    type Output = f64;

    #[inline(always)]
    fn run<const FMA: bool>(self) -> f64 {
        let k = self.labeled.k;
        let mut z = vec![T::ZERO; k * BLOCK];
        let mut sum = 0.0;
        let blocks = self.scores.chunks(BLOCK * k).zip(self.out.chunks_mut(BLOCK * k));
        for (b, (scores, out)) in blocks.enumerate() {
            let rows = scores.len() / k;
            tile::from_rows(scores, k, &mut z);
            sum += self.labeled.block::<FMA>(self.first + b * BLOCK, rows, &mut z);
            tile::to_rows(&z, k, out);
        }
        sum
    }
}

/// Rows per task.
const TASK: usize = 16 * BLOCK;

/// Sum of the weighted losses at `scores` (n x k), their derivatives written to `out` (n x k).
///
/// The result does not depend on the number of threads: blocks are fixed, their sums added in order.
pub fn losses_at<T: VectorExp>(
    labeled: Labeled<'_, T>,
    scores: &[T],
    out: &mut [T],
    n_threads: usize,
    stop: &Interrupt,
) -> Result<f64, KernelError> {
    check_length("scores", scores.len(), labeled.n_rows * labeled.k)?;
    check_length("out", out.len(), scores.len())?;
    if scores.is_empty() {
        return Ok(0.0);
    }
    let size = TASK * labeled.k;
    let task = |(t, (scores, out)): (usize, (&[T], &mut [T]))| {
        stop.check()?;
        Ok(dispatch(LossBlocks { labeled, first: t * TASK, scores, out }))
    };
    let tasks = scores.chunks(size).zip(out.chunks_mut(size)).enumerate();
    Ok(try_each(threads_for(16 * scores.len(), n_threads), tasks, task)?.iter().sum())
}

#[cfg(test)]
mod tests {
    use super::{BLOCK, Labeled, SmoothLoss, Targets, losses_at};
    use crate::interrupt::Interrupt;
    use crate::loss::row::RowLoss;

    /// Scores from small to beyond what an exponential holds apart from one.
    fn scores(n: usize) -> Vec<f64> {
        (0..n).map(|i| ((i * 7919) % 101) as f64 / 10.0 - 5.0).map(|s| s * s * s / 10.0).collect()
    }

    fn agree(name: &str, targets: Targets<'_, f64>, classes: &[i32], k: usize) {
        let n = classes.len();
        let (scores, mut out) = (scores(n * k), vec![0.0; n * k]);
        let loss = SmoothLoss::named(name).expect("known");
        let labeled = Labeled::new(loss, targets, None, n, k).expect("valid");
        let sum = losses_at(labeled, &scores, &mut out, 1, &Interrupt::new()).expect("valid");
        let row = RowLoss::new(name, k, &[]).expect("known");
        let (mut expected, mut grad) = (0.0, vec![0.0; k]);
        for (i, &y) in classes.iter().enumerate() {
            expected += row.value_and_grad(&scores[i * k..(i + 1) * k], y, &mut grad);
            for (&g, &o) in grad.iter().zip(&out[i * k..(i + 1) * k]) {
                assert!((g - o).abs() <= 1e-13 * g.abs().max(1.0), "{name}: {g} and {o} in row {i}");
            }
        }
        assert!((sum - expected).abs() <= 1e-12 * expected.abs(), "{name}: {sum} and {expected}");
    }

    #[test]
    fn blocks_and_single_rows_have_the_same_losses() {
        let n = 2 * BLOCK + 3;
        let signs: Vec<i32> = (0..n).map(|i| if i % 3 == 0 { 1 } else { -1 }).collect();
        let values: Vec<f64> = signs.iter().map(|&y| f64::from(y)).collect();
        for name in ["logistic", "squared_hinge", "squared", "exponential"] {
            agree(name, Targets::Signs(&values), &signs, 1);
        }
        for k in [2, 5] {
            let classes: Vec<i32> = (0..n).map(|i| (i * 31 % k) as i32).collect();
            let numbers: Vec<i64> = classes.iter().map(|&c| i64::from(c)).collect();
            agree("multiclass_logistic", Targets::Classes(&numbers), &classes, k);
        }
    }
}
