//! Row access, the one door through which kernels see the data.

use crate::real::Real;

/// A matrix that is read row by row.
///
/// Weight arrays for several scores are feature-major: the weights of feature `j` are
/// `w[j * k..][..k]`. Implementations are `#[inline(always)]`, to be compiled for the
/// instruction set of the kernel that calls them.
pub trait Rows<T: Real>: Sync {
    /// Number of examples.
    fn n_rows(&self) -> usize;
    /// Number of features.
    fn n_cols(&self) -> usize;
    /// Number of stored values in all rows.
    fn n_stored(&self) -> usize;
    /// Ask for row `i` to be in the cache soon; a hint for visits in random order.
    #[inline(always)]
    fn prefetch(&self, _i: usize) {}
    /// |x_i|^2, summed in `f64`.
    fn squared_norm(&self, i: usize) -> f64;
    /// <x_i, w>; `w` has at least `n_cols` entries.
    fn dot<const FMA: bool>(&self, i: usize, w: &[T]) -> T;
    /// w += a x_i
    fn add_to<const FMA: bool>(&self, i: usize, a: T, w: &mut [T]);
    /// w += a diag(scale) x_i; `scale` and `w` have at least `n_cols` entries.
    fn add_scaled_to<const FMA: bool>(&self, i: usize, a: T, scale: &[T], w: &mut [T]);
    /// x_i' diag(scale) x_i, summed in `f64`; `scale` has at least `n_cols` entries.
    fn scaled_square(&self, i: usize, scale: &[T]) -> f64;
    /// out = x_i' W for feature-major `w` with `out.len()` scores.
    fn dot_many<const FMA: bool>(&self, i: usize, w: &[T], out: &mut [T]);
    /// W += x_i a' for feature-major `w` with `a.len()` scores.
    fn add_to_many<const FMA: bool>(&self, i: usize, a: &[T], w: &mut [T]);
    /// W[:, column] += a x_i for feature-major `w` with `k` scores.
    fn add_to_column<const FMA: bool>(&self, i: usize, a: T, w: &mut [T], k: usize, column: usize);
}

/// Number of scores handled together in registers.
pub const LANES: usize = 8;

/// Round a number of scores up to whole lanes.
pub const fn padded(k: usize) -> usize {
    k.div_ceil(LANES) * LANES
}

/// acc += x * w over whole lanes held in an array.
#[inline(always)]
pub(crate) fn axpy_lanes<T: Real, const FMA: bool, const N: usize>(acc: &mut [[T; LANES]; N], x: T, w: &[T]) {
    for (b, lane) in acc.iter_mut().enumerate() {
        let w = &w[b * LANES..b * LANES + LANES];
        for (a, &v) in lane.iter_mut().zip(w) {
            *a = x.fma::<FMA>(v, *a);
        }
    }
}
