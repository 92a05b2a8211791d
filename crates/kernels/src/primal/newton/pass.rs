//! One pass over the rows: value, gradient and Hessian of the losses together.
//!
//! Dense rows are turned a block at a time, so that sums run over rows in packs, and rows without curvature are left
//! out of the Hessian. Sparse rows add the products of their pairs of values.

use crate::data::csr::Csr;
use crate::data::dense::Dense;
use crate::data::rows::Rows;
use crate::dual::intercept::Intercept;
use crate::error::{KernelError, zeros};
use crate::interrupt::Interrupt;
use crate::primal::newton::Problem;
use crate::primal::newton::curve::{BLOCK, Block, Curve};
use crate::real::Real;
use crate::simd::{Gather, Lanes, PackedTask};

/// Second derivatives of the logistic loss below this share of U do not enter the Hessian of sparse rows.
const NEGLIGIBLE: f64 = 1e-3;
/// Distance of the columns of a block: not a power of two, so that they do not share places in the cache.
const PITCH: usize = BLOCK + 8;

/// Sums over rows.
pub struct Sums {
    /// sum_i U_i loss_i
    pub value: f64,
    /// What smoothing costs.
    pub slack: f64,
    /// Smoothed losses.
    pub smooth: f64,
    /// sum_i U_i a_i y_i x_i
    pub gradient: Vec<f64>,
    /// Upper triangle of sum_i U_i loss_i'' x_i x_i'
    pub hessian: Vec<f64>,
}

impl Sums {
    /// Zeros for so many weights.
    pub fn new(size: usize) -> Result<Self, KernelError> {
        Ok(Self {
            value: 0.0,
            slack: 0.0,
            smooth: 0.0,
            gradient: zeros(size)?,
            hessian: zeros(size.saturating_mul(size))?,
        })
    }

    /// Add those of other rows.
    pub fn add(&mut self, other: &Self) {
        self.value += other.value;
        self.slack += other.slack;
        self.smooth += other.smooth;
        for (a, b) in self.gradient.iter_mut().zip(&other.gradient) {
            *a += b;
        }
        for (a, b) in self.hessian.iter_mut().zip(&other.hessian) {
            *a += b;
        }
    }
}

/// Numbers of at most [`BLOCK`] rows.
#[derive(Clone, Copy)]
pub struct Numbers {
    first: usize,
    stride: usize,
    count: usize,
}

impl Numbers {
    #[inline(always)]
    fn of(self, t: usize) -> usize {
        self.first + t * self.stride
    }
}

/// Rows that yield margins, gradients and Hessians block by block.
pub trait SecondOrder: Sync {
    /// Work space of a block.
    type Room;
    /// Number of rows.
    fn rows(&self) -> usize;
    /// Number of columns.
    fn columns(&self) -> usize;
    /// Second derivatives up to this share of U do not enter the Hessian.
    fn floor(&self, _: Curve) -> f64 {
        0.0
    }
    /// Work space for so many weights.
    fn room(&self, size: usize) -> Self::Room;
    /// Bring a block of rows into `room`, times their signs.
    fn read(&self, rows: Numbers, signs: &[f64], room: &mut Self::Room);
    /// y_i (<x_i, w> + b) of the block.
    fn margins<const FMA: bool>(
        &self,
        rows: Numbers,
        signs: &[f64],
        w: &[f64],
        room: &Self::Room,
        out: &mut [f64; BLOCK],
    );
    /// Add gradient and Hessian of the block.
    fn add<const FMA: bool, V: Lanes<f64>>(
        &self,
        rows: Numbers,
        problem: &Problem<'_>,
        block: &Block,
        room: &mut Self::Room,
        sums: &mut Sums,
    );
    /// Bring what was added below the diagonal of the Hessian above it.
    fn finish(&self, _: &mut Sums) {}
}

/// A part of the visited rows.
pub(crate) struct Part<'a, X> {
    pub x: &'a X,
    pub problem: Problem<'a>,
    /// Number of the first visited row among the visited ones.
    pub first: usize,
    pub stride: usize,
    pub w: &'a [f64],
    pub sigma: f64,
    /// Whether `margins` are those of `w` already.
    pub known: bool,
    pub margins: &'a mut [f64],
    pub shares: &'a mut [f64],
    pub centers: &'a [f64],
    pub stop: &'a Interrupt,
}

impl<X: SecondOrder> PackedTask<f64> for Part<'_, X> {
    type Output = Result<Sums, KernelError>;

    #[inline(always)]
    fn run<const FMA: bool, V: Lanes<f64>>(self) -> Self::Output {
        let Self { x, problem, stride, .. } = self;
        let mut sums = Sums::new(self.w.len())?;
        let mut room = x.room(self.w.len());
        let mut block = Block::new();
        for (b, margins) in self.margins.chunks_mut(BLOCK).enumerate() {
            self.stop.check()?;
            let at = b * BLOCK;
            let count = margins.len();
            let rows = Numbers { first: (self.first + at) * stride, stride, count };
            x.read(rows, problem.signs, &mut room);
            block.weights[count..].fill(0.0);
            for (t, u) in block.weights[..count].iter_mut().enumerate() {
                *u = problem.weights[rows.of(t)] * stride as f64;
            }
            if let Some(centers) = self.centers.get(at..at + count) {
                block.centers[..count].copy_from_slice(centers);
            }
            if self.known {
                block.margins[..count].copy_from_slice(margins);
            } else {
                x.margins::<FMA>(rows, problem.signs, self.w, &room, &mut block.margins);
                margins.copy_from_slice(&block.margins[..count]);
            }
            block.margins[count..].fill(0.0);
            let (value, slack, smooth) = block.bend::<FMA>(problem.curve, self.sigma);
            sums.value += value;
            sums.slack += slack;
            sums.smooth += smooth;
            if let Some(shares) = self.shares.get_mut(at..at + count) {
                shares.copy_from_slice(&block.shares[..count]);
            }
            x.add::<FMA, V>(rows, &problem, &block, &mut room, &mut sums);
        }
        x.finish(&mut sums);
        Ok(sums)
    }
}

/// Margins of a direction at a part of the visited rows.
pub(crate) struct Direction<'a, X> {
    pub x: &'a X,
    pub problem: Problem<'a>,
    pub first: usize,
    pub stride: usize,
    pub w: &'a [f64],
    pub out: &'a mut [f64],
    pub stop: &'a Interrupt,
}

impl<X: SecondOrder> PackedTask<f64> for Direction<'_, X> {
    type Output = Result<(), KernelError>;

    #[inline(always)]
    fn run<const FMA: bool, V: Lanes<f64>>(self) -> Self::Output {
        let mut room = self.x.room(self.w.len());
        let mut margins = [0.0; BLOCK];
        for (b, out) in self.out.chunks_mut(BLOCK).enumerate() {
            self.stop.check()?;
            let first = (self.first + b * BLOCK) * self.stride;
            let rows = Numbers { first, stride: self.stride, count: out.len() };
            self.x.read(rows, self.problem.signs, &mut room);
            self.x.margins::<FMA>(rows, self.problem.signs, self.w, &room, &mut margins);
            out.copy_from_slice(&margins[..out.len()]);
        }
        Ok(())
    }
}

/// Columns of a block: the rows as they are, those with curvature alone, and these times it.
pub struct Columns {
    signed: Vec<f64>,
    kept: Vec<f64>,
    bent: Vec<f64>,
}

impl<T: Real> SecondOrder for Dense<'_, T> {
    type Room = Columns;

    fn rows(&self) -> usize {
        self.n_rows()
    }

    fn columns(&self) -> usize {
        self.n_cols()
    }

    fn room(&self, size: usize) -> Columns {
        let zeros = vec![0.0; size * PITCH];
        Columns { signed: zeros.clone(), kept: zeros.clone(), bent: zeros }
    }

    #[inline(always)]
    fn read(&self, rows: Numbers, signs: &[f64], room: &mut Columns) {
        let (d, signed) = (self.n_cols(), &mut room.signed);
        if rows.count < BLOCK {
            signed.fill(0.0);
        }
        let mut y = [0.0; BLOCK];
        for (t, y) in y[..rows.count].iter_mut().enumerate() {
            *y = signs[rows.of(t)];
        }
        // Column by column: few rows of the block are as much as the nearest cache holds.
        let values = &self.values()[rows.first * d..];
        for (j, column) in signed.chunks_exact_mut(PITCH).enumerate() {
            let column = &mut column[..rows.count];
            if j == d {
                column.copy_from_slice(&y[..rows.count]);
                continue;
            }
            for ((to, y), v) in column.iter_mut().zip(&y).zip(values[j..].iter().step_by(d * rows.stride)) {
                *to = y * v.to_f64();
            }
        }
    }

    #[inline(always)]
    fn margins<const FMA: bool>(
        &self,
        _: Numbers,
        _: &[f64],
        w: &[f64],
        room: &Columns,
        out: &mut [f64; BLOCK],
    ) {
        out.fill(0.0);
        for (column, &w) in room.signed.chunks_exact(PITCH).zip(w) {
            for (o, &x) in out.iter_mut().zip(column) {
                *o = Real::fma::<FMA>(w, x, *o);
            }
        }
    }

    #[inline(always)]
    fn add<const FMA: bool, V: Lanes<f64>>(
        &self,
        _: Numbers,
        _: &Problem<'_>,
        block: &Block,
        room: &mut Columns,
        sums: &mut Sums,
    ) {
        let size = sums.gradient.len();
        for (g, column) in sums.gradient.iter_mut().zip(room.signed.chunks_exact(PITCH)) {
            let mut lanes = [0.0; 8];
            for (a, x) in block.slopes.chunks_exact(8).zip(column.chunks_exact(8)) {
                for lane in 0..8 {
                    lanes[lane] = Real::fma::<FMA>(a[lane], x[lane], lanes[lane]);
                }
            }
            *g += lanes.iter().sum::<f64>();
        }
        let mut bent = [0; BLOCK];
        let mut count = 0;
        for (t, &v) in block.seconds.iter().enumerate() {
            bent[count] = t;
            count += usize::from(v != 0.0);
        }
        if count == 0 {
            return;
        }
        // Half of the rows or more: the others are zeros in the sums.
        let whole = 2 * count > BLOCK;
        let length = if whole { BLOCK } else { count.next_multiple_of(V::COUNT) };
        for j in 0..size {
            let column = &room.signed[j * PITCH..j * PITCH + BLOCK];
            let to = &mut room.bent[j * PITCH..j * PITCH + length];
            if whole {
                for ((to, &x), &v) in to.iter_mut().zip(column).zip(&block.seconds) {
                    *to = v * x;
                }
            } else {
                let kept = &mut room.kept[j * PITCH..j * PITCH + length];
                for ((to, kept), &t) in to.iter_mut().zip(kept.iter_mut()).zip(&bent[..count]) {
                    *kept = column[t];
                    *to = block.seconds[t] * column[t];
                }
                to[count..].fill(0.0);
                kept[count..].fill(0.0);
            }
        }
        let plain = if whole { &room.signed } else { &room.kept };
        for i in (0..size).step_by(2) {
            let left = &room.bent[i * PITCH..];
            for j in (i..size).step_by(2) {
                let right = &plain[j * PITCH..];
                let mut add =
                    |r: usize, c: usize, product: f64| sums.hessian[(i + r) * size + j + c] += product;
                match (i + 1 < size, j + 1 < size) {
                    (true, true) => products::<V, 2, 2>(left, right, PITCH, length, &mut add),
                    (true, false) => products::<V, 2, 1>(left, right, PITCH, length, &mut add),
                    _ => products::<V, 1, 1>(left, right, PITCH, length, &mut add),
                }
            }
        }
    }
}

/// The inner products of R and C vectors of a block that lie `pitch` apart, one after the other to `found(r, c, value)`.
#[inline(always)]
pub(crate) fn products<V: Lanes<f64>, const R: usize, const C: usize>(
    left: &[f64],
    right: &[f64],
    pitch: usize,
    length: usize,
    found: &mut impl FnMut(usize, usize, f64),
) {
    let mut sums = [[V::splat(0.0); C]; R];
    let mut t = 0;
    while t < length {
        let mut packs = [V::splat(0.0); R];
        for (r, pack) in packs.iter_mut().enumerate() {
            *pack = V::load(left, r * pitch + t);
        }
        for c in 0..C {
            let other = V::load(right, c * pitch + t);
            for (sums, pack) in sums.iter_mut().zip(&packs) {
                sums[c] = pack.fma(other, sums[c]);
            }
        }
        t += V::COUNT;
    }
    let mut lanes = [0.0; 8];
    for (r, sums) in sums.iter().enumerate() {
        for (c, sum) in sums.iter().enumerate() {
            sum.store(&mut lanes);
            for half in [4, 2, 1] {
                for lane in 0..half {
                    lanes[lane] += lanes[lane + half];
                }
            }
            found(r, c, lanes[0]);
        }
    }
}

impl<T: Gather> SecondOrder for Csr<'_, T> {
    type Room = ();

    fn rows(&self) -> usize {
        self.n_rows()
    }

    fn columns(&self) -> usize {
        self.n_cols()
    }

    fn floor(&self, curve: Curve) -> f64 {
        if curve == Curve::Logistic { NEGLIGIBLE } else { 0.0 }
    }

    fn room(&self, _: usize) {}

    fn read(&self, _: Numbers, _: &[f64], (): &mut ()) {}

    #[inline(always)]
    fn margins<const FMA: bool>(
        &self,
        rows: Numbers,
        signs: &[f64],
        w: &[f64],
        (): &(),
        out: &mut [f64; BLOCK],
    ) {
        let intercept = w.get(self.n_cols()).copied().unwrap_or(0.0);
        for (t, out) in out[..rows.count].iter_mut().enumerate() {
            let i = rows.of(t);
            let mut sum = intercept;
            self.each(i, |j, v| {
                sum = Real::fma::<FMA>(v.to_f64(), w.get(j).copied().unwrap_or(f64::NAN), sum);
            });
            *out = signs[i] * sum;
        }
    }

    #[inline(always)]
    fn add<const FMA: bool, V: Lanes<f64>>(
        &self,
        rows: Numbers,
        problem: &Problem<'_>,
        block: &Block,
        (): &mut (),
        sums: &mut Sums,
    ) {
        let (size, d) = (sums.gradient.len(), self.n_cols());
        let intercept = problem.intercept != Intercept::None;
        let floor = self.floor(problem.curve);
        for t in 0..rows.count {
            let i = rows.of(t);
            let (columns, values) = self.row(i);
            let slope = block.slopes[t] * problem.signs[i];
            if slope != 0.0 {
                for (&j, v) in columns.iter().zip(values) {
                    if let Some(g) = sums.gradient.get_mut(j as usize) {
                        *g = Real::fma::<FMA>(slope, v.to_f64(), *g);
                    }
                }
                if intercept {
                    sums.gradient[d] += slope;
                }
            }
            let second = block.seconds[t];
            if second > floor * block.weights[t] {
                for (at, (&j, v)) in columns.iter().zip(values).enumerate() {
                    let scaled = second * v.to_f64();
                    let j = j as usize;
                    let Some(row) = sums.hessian.get_mut(j * size..(j + 1) * size) else { continue };
                    for (&other, v) in columns[at..].iter().zip(&values[at..]) {
                        if let Some(h) = row.get_mut(other as usize) {
                            *h = Real::fma::<FMA>(scaled, v.to_f64(), *h);
                        }
                    }
                    if intercept {
                        row[d] += scaled;
                    }
                }
                if intercept {
                    sums.hessian[d * size + d] += second;
                }
            }
        }
    }

    fn finish(&self, sums: &mut Sums) {
        // Columns of a row need not be sorted.
        let size = sums.gradient.len();
        for i in 0..size {
            for j in 0..i {
                sums.hessian[j * size + i] += sums.hessian[i * size + j];
            }
        }
    }
}
