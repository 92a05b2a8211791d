//! exp(x) without branches, so that loops over it become vector code.
//!
//! x = n ln 2 + r with |r| <= ln(2)/2 by a two-part ln 2 (Cody & Waite 1980): the Taylor series of
//! exp(r), times 2^n made from bits. Arguments are cut to the range in which the result is a normal
//! number: no overflow, no infinity, no subnormal.

use crate::real::Real;

/// Types with an exponential that vectorizes.
pub trait VectorExp: Real {
    /// Smallest argument that is not cut.
    const LOWEST: Self;

    /// exp(x), within two units in the last place.
    fn vector_exp<const FMA: bool>(self) -> Self;
}

/// Adding and subtracting 1.5 * 2^mantissa rounds to an integer, which then stands in the low bits.
macro_rules! impl_vector_exp {
    ($t:ty, $bits:ty, $round:expr, $least:expr, $most:expr, $ln2_high:expr, $ln2_low:expr, $mantissa:expr, $bias:expr,
     [$first:expr $(, $rest:expr)*]) => {
        impl VectorExp for $t {
            const LOWEST: Self = $least;

            #[inline(always)]
            fn vector_exp<const FMA: bool>(self) -> Self {
                let x = Real::min(Real::max(self, $least), $most);
                let shifted = <$t as Real>::fma::<FMA>(x, std::f64::consts::LOG2_E as $t, $round);
                let n = shifted - $round;
                let r = <$t as Real>::fma::<FMA>(n, -$ln2_high, x);
                let r = <$t as Real>::fma::<FMA>(n, -$ln2_low, r);
                let mut p: $t = $first;
                $(p = <$t as Real>::fma::<FMA>(p, r, $rest);)*
                let scale = (shifted.to_bits() << $mantissa).wrapping_add(($bias as $bits) << $mantissa);
                p * <$t>::from_bits(scale)
            }
        }
    };
}

impl_vector_exp!(
    f32,
    u32,
    12_582_912.0f32,
    -87.0f32,
    88.0f32,
    0.693_359_4f32,
    -2.121_944_4e-4f32,
    23,
    127,
    [1.0 / 5040.0, 1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0]
);
impl_vector_exp!(
    f64,
    u64,
    6_755_399_441_055_744.0f64,
    -708.0f64,
    709.0f64,
    0.693_147_180_369_123_8f64,
    1.908_214_929_270_587_7e-10f64,
    52,
    1023,
    [
        1.0 / 6_227_020_800.0,
        1.0 / 479_001_600.0,
        1.0 / 39_916_800.0,
        1.0 / 3_628_800.0,
        1.0 / 362_880.0,
        1.0 / 40_320.0,
        1.0 / 5040.0,
        1.0 / 720.0,
        1.0 / 120.0,
        1.0 / 24.0,
        1.0 / 6.0,
        0.5,
        1.0,
        1.0
    ]
);

/// log(1 + e) for e in [0, 1], by the series of 2 artanh(e / (2 + e)).
#[inline(always)]
pub(crate) fn log_one_plus<T: VectorExp, const FMA: bool>(e: T) -> T {
    let s = e / (T::ONE + T::ONE + e);
    let square = s * s;
    let mut sum = T::from_f64(1.0 / 31.0);
    for k in 0..15 {
        sum = T::fma::<FMA>(sum, square, T::from_f64(1.0 / f64::from(29 - 2 * k)));
    }
    (s + s) * sum
}

#[cfg(test)]
mod tests {
    use super::{VectorExp, log_one_plus};

    #[test]
    fn logarithms_are_close_to_those_of_the_library() {
        for step in 0..=1000 {
            for e in [f64::from(step) * 1e-3, 2f64.powi(-step)] {
                let exact = e.ln_1p();
                for found in [log_one_plus::<f64, true>(e), log_one_plus::<f64, false>(e)] {
                    assert!((found - exact).abs() <= 1e-15 * exact, "{e}");
                }
                let single = f64::from(log_one_plus::<f32, true>(e as f32));
                let exact = f64::from(e as f32).ln_1p();
                assert!((single - exact).abs() <= 3e-7 * exact.max(1e-37), "{e}");
            }
        }
    }

    #[test]
    fn close_to_the_library_over_the_whole_range() {
        for step in -70_000..70_000 {
            let x = f64::from(step) * 0.01;
            let exact = x.exp();
            assert!((x.vector_exp::<false>() / exact - 1.0).abs() <= 1e-15, "{x}");
            assert!((x.vector_exp::<true>() / exact - 1.0).abs() <= 1e-15, "{x}");
            let single = x as f32;
            if single.abs() < 86.0 {
                let ratio = f64::from(single.vector_exp::<false>()) / f64::from(single).exp();
                assert!((ratio - 1.0).abs() <= 3e-7, "{single}: {ratio}");
            }
        }
        assert_eq!(0f32.vector_exp::<false>(), 1.0);
    }

    #[test]
    fn the_ends_are_normal_numbers() {
        for x in [f32::MIN, f32::MAX, f32::NEG_INFINITY, f32::INFINITY, -87.0, 88.0] {
            assert!(x.vector_exp::<false>().is_normal(), "{x}");
        }
        for x in [f64::MIN, f64::MAX, f64::NEG_INFINITY, f64::INFINITY, -708.0, 709.0] {
            assert!(x.vector_exp::<true>().is_normal(), "{x}");
        }
    }
}
