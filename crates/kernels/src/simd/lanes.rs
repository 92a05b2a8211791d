//! 64 bytes of values at a time, for the few loops that the compiler does not vectorize by itself.
//!
//! Every instruction set gives the same lanes, so AVX2 and AVX-512 agree to the bit.

use crate::real::Real;

/// A pack of [`Lanes::COUNT`] values: 16 `f32` or 8 `f64`.
pub trait Lanes<T: Real>: Copy {
    /// Number of values.
    const COUNT: usize;
    /// Whether two dozen packs fit into the registers.
    const MANY: bool;

    /// The same value everywhere.
    fn splat(x: T) -> Self;
    /// The values from `x[at]` on; panics when there are fewer than [`Lanes::COUNT`].
    fn load(x: &[T], at: usize) -> Self;
    /// self * a + b
    fn fma(self, a: Self, b: Self) -> Self;
    /// Write the values to the front of `out`; panics when it is too short.
    fn store(self, out: &mut [T]);
}

/// Types with packs for every instruction set.
pub trait Packed: Real {
    /// Packs for [`crate::simd::Isa::Avx512`].
    type Avx512: Lanes<Self>;
    /// Packs for [`crate::simd::Isa::Avx2`].
    type Avx2: Lanes<Self>;
    /// Packs for any machine.
    type Plain: Lanes<Self>;
}

/// A plain array, one rounding more per multiply-add unless `FMA`.
#[derive(Clone, Copy)]
pub struct Array<T, const N: usize, const FMA: bool>([T; N]);

impl<T: Real, const N: usize, const FMA: bool> Lanes<T> for Array<T, N, FMA> {
    const COUNT: usize = N;
    const MANY: bool = false;

    #[inline(always)]
    fn splat(x: T) -> Self {
        Self([x; N])
    }

    #[inline(always)]
    fn load(x: &[T], at: usize) -> Self {
        let mut values = [T::ZERO; N];
        values.copy_from_slice(&x[at..at + N]);
        Self(values)
    }

    #[inline(always)]
    fn fma(self, a: Self, b: Self) -> Self {
        let mut out = b;
        for l in 0..N {
            out.0[l] = self.0[l].fma::<FMA>(a.0[l], b.0[l]);
        }
        out
    }

    #[inline(always)]
    fn store(self, out: &mut [T]) {
        out[..N].copy_from_slice(&self.0);
    }
}

/// Whether this target has a fused multiply-add on every machine.
const PLAIN_FMA: bool = cfg!(target_arch = "aarch64");

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use super::{Array, Lanes, PLAIN_FMA, Packed};

    /// Packs of one register of 64 bytes.
    #[derive(Clone, Copy)]
    pub struct One<V>(V);
    /// Packs of two registers of 32 bytes.
    #[derive(Clone, Copy)]
    pub struct Two<V>(V, V);

    // SAFETY, for every block below: these packs are only handed to tasks by `simd::dispatch_packed`,
    // after the CPU reported the instruction set; loads and stores follow a check of the length.
    macro_rules! lanes {
        ($t:ty, $count:expr, $one:ty, $two:ty, $half:expr,
         [$splat:ident, $load:ident, $fma:ident, $store:ident],
         [$splat2:ident, $load2:ident, $fma2:ident, $store2:ident]) => {
            impl Lanes<$t> for One<$one> {
                const COUNT: usize = $count;
                const MANY: bool = true;

                #[inline(always)]
                fn splat(x: $t) -> Self {
                    // SAFETY: see above.
                    Self(unsafe { $splat(x) })
                }

                #[inline(always)]
                fn load(x: &[$t], at: usize) -> Self {
                    let x = &x[at..at + $count];
                    // SAFETY: see above; x has $count values.
                    Self(unsafe { $load(x.as_ptr()) })
                }

                #[inline(always)]
                fn fma(self, a: Self, b: Self) -> Self {
                    // SAFETY: see above.
                    Self(unsafe { $fma(self.0, a.0, b.0) })
                }

                #[inline(always)]
                fn store(self, out: &mut [$t]) {
                    let out = &mut out[..$count];
                    // SAFETY: see above; out has $count values.
                    unsafe { $store(out.as_mut_ptr(), self.0) }
                }
            }

            impl Lanes<$t> for Two<$two> {
                const COUNT: usize = $count;
                const MANY: bool = false;

                #[inline(always)]
                fn splat(x: $t) -> Self {
                    // SAFETY: see above.
                    let v = unsafe { $splat2(x) };
                    Self(v, v)
                }

                #[inline(always)]
                fn load(x: &[$t], at: usize) -> Self {
                    let x = &x[at..at + $count];
                    // SAFETY: see above; x has $count values.
                    unsafe { Self($load2(x.as_ptr()), $load2(x[$half..].as_ptr())) }
                }

                #[inline(always)]
                fn fma(self, a: Self, b: Self) -> Self {
                    // SAFETY: see above.
                    unsafe { Self($fma2(self.0, a.0, b.0), $fma2(self.1, a.1, b.1)) }
                }

                #[inline(always)]
                fn store(self, out: &mut [$t]) {
                    let (low, high) = out[..$count].split_at_mut($half);
                    // SAFETY: see above; each half has $count / 2 values.
                    unsafe {
                        $store2(low.as_mut_ptr(), self.0);
                        $store2(high.as_mut_ptr(), self.1);
                    }
                }
            }

            impl Packed for $t {
                type Avx512 = One<$one>;
                type Avx2 = Two<$two>;
                type Plain = Array<$t, $count, PLAIN_FMA>;
            }
        };
    }

    lanes!(
        f32,
        16,
        __m512,
        __m256,
        8,
        [_mm512_set1_ps, _mm512_loadu_ps, _mm512_fmadd_ps, _mm512_storeu_ps],
        [_mm256_set1_ps, _mm256_loadu_ps, _mm256_fmadd_ps, _mm256_storeu_ps]
    );
    lanes!(
        f64,
        8,
        __m512d,
        __m256d,
        4,
        [_mm512_set1_pd, _mm512_loadu_pd, _mm512_fmadd_pd, _mm512_storeu_pd],
        [_mm256_set1_pd, _mm256_loadu_pd, _mm256_fmadd_pd, _mm256_storeu_pd]
    );
}

#[cfg(not(target_arch = "x86_64"))]
impl Packed for f32 {
    type Avx512 = Array<f32, 16, PLAIN_FMA>;
    type Avx2 = Array<f32, 16, PLAIN_FMA>;
    type Plain = Array<f32, 16, PLAIN_FMA>;
}

#[cfg(not(target_arch = "x86_64"))]
impl Packed for f64 {
    type Avx512 = Array<f64, 8, PLAIN_FMA>;
    type Avx2 = Array<f64, 8, PLAIN_FMA>;
    type Plain = Array<f64, 8, PLAIN_FMA>;
}
