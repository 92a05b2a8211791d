//! Products of a sparse row with a vector, on columns that nobody has checked.
//!
//! The columns may belong to somebody who changes them while we read. Each is read once, compared with
//! the length of the vector, and used from the register in which it was compared: a check beforehand
//! would be a pass over the data and would prove nothing. A product that met a column outside the
//! vector is NaN, so that one look at the result tells of bad columns and bad values alike.
//!
//! AVX-512 gathers sixteen `f32` or eight `f64` at a time. Gathers of older instruction sets are no faster
//! than single loads; there, and for 64-bit columns, the loops are plain ones.

use crate::real::Real;

/// Integer types in which row pointers and columns may arrive.
pub trait Index: Copy + Send + Sync + 'static {
    /// Widen.
    fn to_i64(self) -> i64;
}

impl Index for i32 {
    #[inline(always)]
    fn to_i64(self) -> i64 {
        i64::from(self)
    }
}

impl Index for i64 {
    #[inline(always)]
    fn to_i64(self) -> i64 {
        self
    }
}

/// Values that can be gathered by columns.
pub trait Gather: Real {
    /// sum_j values_j w[columns_j]; NaN where a column is outside `w`.
    #[inline(always)]
    fn gather_dot<const FMA: bool>(columns: &[i32], values: &[Self], w: &[Self]) -> Self {
        plain_dot::<Self, Self, FMA>(columns, values, w)
    }
}

/// [`Gather::gather_dot`] by single loads, summed in `A`.
#[inline(always)]
pub fn plain_dot<T: Real, A: Real, const FMA: bool>(columns: &[i32], values: &[T], w: &[T]) -> A {
    // A negative column becomes a huge one.
    let at = |c: i32| w.get(c as isize as usize).map_or(A::NAN, |w| w.cast());
    let mut acc = [A::ZERO; 4];
    let mut c4 = columns.chunks_exact(4);
    let mut v4 = values.chunks_exact(4);
    for (c, v) in (&mut c4).zip(&mut v4) {
        for l in 0..4 {
            acc[l] = v[l].cast::<A>().fma::<FMA>(at(c[l]), acc[l]);
        }
    }
    let mut sum = (acc[0] + acc[1]) + (acc[2] + acc[3]);
    for (&c, &v) in c4.remainder().iter().zip(v4.remainder()) {
        sum = v.cast::<A>().fma::<FMA>(at(c), sum);
    }
    sum
}

#[cfg(not(target_arch = "x86_64"))]
impl Gather for f32 {}
#[cfg(not(target_arch = "x86_64"))]
impl Gather for f64 {}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use super::{Gather, plain_dot};
    use crate::simd::{Isa, isa};

    /// The vector's length, as far as a column of 31 bits can tell.
    fn bound(length: usize) -> i32 {
        length.min(1 << 31) as u32 as i32
    }

    macro_rules! gather {
        ($t:ty, $dot:ident, $lanes:expr, $mask:ty, $zero:ident, $splat:ident, $load_columns:ident,
         $mask_columns:ident, $below:ident, $mask_below:ident, $gather:ident, $load:ident, $mask_load:ident,
         $fma:ident, $add:ident, $reduce:ident) => {
            #[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw,avx2,fma")]
            fn $dot(columns: &[i32], values: &[$t], w: &[$t]) -> $t {
                const LANES: usize = $lanes;
                let n = columns.len().min(values.len());
                let bound = $splat(bound(w.len()));
                let (columns, values, w) = (columns.as_ptr(), values.as_ptr(), w.as_ptr());
                let zero = $zero();
                let (mut even, mut odd) = (zero, zero);
                let mut outside: $mask = 0;
                let mut i = 0;
                while i + 2 * LANES <= n {
                    // SAFETY: both loads end at i + 2 LANES <= n, within columns and values; a lane is
                    // gathered only where its column, as it stands in the register, was found to be below
                    // the length of w (the comparison is unsigned).
                    unsafe {
                        let c0 = $load_columns(columns.add(i).cast());
                        let c1 = $load_columns(columns.add(i + LANES).cast());
                        let (ok0, ok1) = ($below(c0, bound), $below(c1, bound));
                        outside |= !ok0 | !ok1;
                        let w0 = $gather::<{ size_of::<$t>() as i32 }>(zero, ok0, c0, w.cast());
                        let w1 = $gather::<{ size_of::<$t>() as i32 }>(zero, ok1, c1, w.cast());
                        even = $fma($load(values.add(i)), w0, even);
                        odd = $fma($load(values.add(i + LANES)), w1, odd);
                    }
                    i += 2 * LANES;
                }
                while i < n {
                    let here = <$mask>::MAX >> (LANES - (n - i).min(LANES));
                    // SAFETY: as above; lanes from n on are neither loaded nor gathered.
                    unsafe {
                        let c = $mask_columns(here, columns.add(i).cast());
                        let ok = $mask_below(here, c, bound);
                        outside |= here & !ok;
                        let w = $gather::<{ size_of::<$t>() as i32 }>(zero, ok, c, w.cast());
                        even = $fma($mask_load(here, values.add(i)), w, even);
                    }
                    i += LANES;
                }
                if outside != 0 { <$t>::NAN } else { $reduce($add(even, odd)) }
            }

            impl Gather for $t {
                #[inline(always)]
                fn gather_dot<const FMA: bool>(columns: &[i32], values: &[$t], w: &[$t]) -> $t {
                    if isa() == Isa::Avx512 {
                        // SAFETY: `isa` says so only after the CPU reported the features.
                        unsafe { $dot(columns, values, w) }
                    } else {
                        plain_dot::<$t, $t, FMA>(columns, values, w)
                    }
                }
            }
        };
    }

    gather!(
        f32,
        dot_f32,
        16,
        u16,
        _mm512_setzero_ps,
        _mm512_set1_epi32,
        _mm512_loadu_epi32,
        _mm512_maskz_loadu_epi32,
        _mm512_cmplt_epu32_mask,
        _mm512_mask_cmplt_epu32_mask,
        _mm512_mask_i32gather_ps,
        _mm512_loadu_ps,
        _mm512_maskz_loadu_ps,
        _mm512_fmadd_ps,
        _mm512_add_ps,
        _mm512_reduce_add_ps
    );
    gather!(
        f64,
        dot_f64,
        8,
        u8,
        _mm512_setzero_pd,
        _mm256_set1_epi32,
        _mm256_loadu_epi32,
        _mm256_maskz_loadu_epi32,
        _mm256_cmplt_epu32_mask,
        _mm256_mask_cmplt_epu32_mask,
        _mm512_mask_i32gather_pd,
        _mm512_loadu_pd,
        _mm512_maskz_loadu_pd,
        _mm512_fmadd_pd,
        _mm512_add_pd,
        _mm512_reduce_add_pd
    );
}

#[cfg(test)]
mod tests {
    use super::{Gather, plain_dot};

    fn check<T: Gather>(tolerance: f64) {
        let d = 97;
        let w: Vec<T> = (0..d).map(|j| T::from_f64(0.25 * j as f64 - 7.0)).collect();
        for n in [0, 1, 7, 8, 15, 16, 17, 31, 32, 33, 48, 63, 64, 95] {
            let mut columns: Vec<i32> = (0..n).map(|j| ((j * 37 + n) % d) as i32).collect();
            let values: Vec<T> = (0..n).map(|j| T::from_f64(1.0 - 0.125 * (j % 11) as f64)).collect();
            let expected: f64 =
                columns.iter().zip(&values).map(|(&c, v)| v.to_f64() * w[c as usize].to_f64()).sum();
            let plain = plain_dot::<T, T, false>(&columns, &values, &w).to_f64();
            let found = T::gather_dot::<false>(&columns, &values, &w).to_f64();
            assert!((plain - expected).abs() < tolerance && (found - expected).abs() < tolerance, "{n}");
            for at in 0..n {
                for wrong in [d as i32, -1, i32::MIN, i32::MAX, 1 << 30] {
                    let right = std::mem::replace(&mut columns[at], wrong);
                    assert!(plain_dot::<T, T, false>(&columns, &values, &w).is_nan());
                    assert!(T::gather_dot::<false>(&columns, &values, &w).is_nan());
                    columns[at] = right;
                }
            }
        }
        assert!(T::gather_dot::<false>(&[0], &[T::ONE], &[]).is_nan());
    }

    #[test]
    fn gathered_products_are_the_plain_ones_and_bad_columns_are_not_numbers() {
        check::<f32>(1e-4);
        check::<f64>(1e-12);
    }
}
