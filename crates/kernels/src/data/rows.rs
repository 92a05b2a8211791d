//! Row access, the one door through which kernels see the data.

use crate::data::column_set::ColumnSet;
use crate::error::KernelError;
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
    /// What is wrong with row `i` of data that was not checked beforehand; its products are not finite.
    fn fault(&self, _i: usize) -> Option<KernelError> {
        None
    }
    /// |x_i|^2, summed in `f64`; the values of a repeated column count one by one.
    fn squared_norm(&self, i: usize) -> f64;
    /// |x_i|^2 with repeated columns added up, where the data may have such; `set` is scratch space.
    #[inline(always)]
    fn summed_squared_norm(&self, i: usize, _set: &mut ColumnSet) -> f64 {
        self.squared_norm(i)
    }
    /// Call `visit` with the column and the value of everything stored in row `i`.
    fn each(&self, i: usize, visit: impl FnMut(usize, T));
    /// <x_i, w>; `w` has at least `n_cols` entries.
    fn dot<const FMA: bool>(&self, i: usize, w: &[T]) -> T;
    /// <x_i, w>, summed in `f64`; NaN where a column is outside `w`.
    fn double_dot<const FMA: bool>(&self, i: usize, w: &[T]) -> f64;
    /// w += a x_i
    fn add_to<const FMA: bool>(&self, i: usize, a: T, w: &mut [T]);
    /// w += a diag(scale) x_i; `scale` and `w` have at least `n_cols` entries.
    fn add_scaled_to<const FMA: bool>(&self, i: usize, a: T, scale: &[T], w: &mut [T]);
    /// x_i' diag(scale) x_i, summed in `f64`; `scale` has at least `n_cols` entries.
    fn scaled_square(&self, i: usize, scale: &[T]) -> f64;
    /// out = x_i' W for feature-major `w` with `out.len()` scores, summed in `A`.
    fn dot_many<A: Real, const FMA: bool>(&self, i: usize, w: &[T], out: &mut [A]);
    /// W += x_i a' for feature-major `w` with `a.len()` scores, in `A`.
    fn add_to_many<A: Real, const FMA: bool>(&self, i: usize, a: &[A], w: &mut [A]);
    /// W[:, column] += a x_i for feature-major `w` with `k` scores.
    fn add_to_column<const FMA: bool>(&self, i: usize, a: T, w: &mut [T], k: usize, column: usize);
}

/// Fail with the first fault of the data if row `i` has one; to be called when a score is not finite.
///
/// The first one, so that the error does not depend on the order of the visits.
#[cold]
pub fn check_row<T: Real, X: Rows<T>>(x: &X, i: usize) -> Result<(), KernelError> {
    if x.fault(i).is_none() {
        return Ok(());
    }
    (0..x.n_rows()).find_map(|i| x.fault(i)).map_or(Ok(()), Err)
}

/// Sum of squares in `f64`, in a fixed order that fits the registers.
#[inline(always)]
pub(crate) fn sum_of_squares<T: Real>(values: &[T]) -> f64 {
    let mut acc = [0.0; LANES];
    let mut packs = values.chunks_exact(LANES);
    for pack in &mut packs {
        for (a, v) in acc.iter_mut().zip(pack) {
            *a += v.to_f64() * v.to_f64();
        }
    }
    let rest: f64 = packs.remainder().iter().map(|v| v.to_f64() * v.to_f64()).sum();
    ((acc[0] + acc[4]) + (acc[1] + acc[5])) + ((acc[2] + acc[6]) + (acc[3] + acc[7])) + rest
}

/// Number of scores handled together in registers.
pub const LANES: usize = 8;

/// Round a number of scores up to whole lanes.
pub const fn padded(k: usize) -> usize {
    k.div_ceil(LANES) * LANES
}

/// acc += x * w over whole lanes held in an array.
#[inline(always)]
pub(crate) fn axpy_lanes<T: Real, A: Real, const FMA: bool, const N: usize>(
    acc: &mut [[A; LANES]; N],
    x: T,
    w: &[T],
) {
    let x: A = x.cast();
    for (b, lane) in acc.iter_mut().enumerate() {
        let w = &w[b * LANES..b * LANES + LANES];
        for (a, &v) in lane.iter_mut().zip(w) {
            *a = x.fma::<FMA>(v.cast(), *a);
        }
    }
}
