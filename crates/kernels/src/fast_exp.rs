//! Exponentials of whole lanes, written so that the compiler vectorizes them.
//!
//! exp(x) = 2^n exp(r) with n = round(x / ln 2) and |r| <= ln(2)/2 by a two-part ln 2 (Cody & Waite
//! 1980), exp(r) by its Taylor polynomial to the precision of the type. Arguments are cut to the range in
//! which the result is a normal number: no overflow, no infinity, no subnormal.

use crate::real::Real;
use crate::rows::LANES;

/// Types with a vectorizable exponential.
pub trait FastExp: Real {
    /// Smallest argument that is not cut.
    const LOWEST: Self;

    /// x <- exp(x), to a few units in the last place.
    fn exp_lanes<const FMA: bool>(x: &mut [Self; LANES]);
}

macro_rules! impl_fast_exp {
    ($t:ty, $int:ty, $bits_type:ty, $bits:literal, $magic:literal, $low:literal, $high:literal, $hi:expr, $lo:literal, [$($c:expr),*]) => {
        impl FastExp for $t {
            const LOWEST: Self = $low;

            #[inline(always)]
            fn exp_lanes<const FMA: bool>(x: &mut [Self; LANES]) {
                for x in x.iter_mut() {
                    let v = Real::min(Real::max(*x, $low), $high);
                    // Adding and subtracting 1.5 * 2^mantissa rounds to an integer.
                    let n = (v * std::f64::consts::LOG2_E as $t + $magic) - $magic;
                    let r = n.fma::<FMA>(-$lo, n.fma::<FMA>(-$hi, v));
                    let mut sum: $t = 0.0;
                    for c in [$($c),*] {
                        sum = sum.fma::<FMA>(r, c);
                    }
                    // 2^n by its exponent field; n is in range because v was cut.
                    let field = n as $int + ((1 as $int) << ($bits - 1)) - 1;
                    let power = <$t>::from_bits((field as $bits_type) << (<$t>::MANTISSA_DIGITS - 1));
                    *x = sum * power;
                }
            }
        }
    };
}

impl_fast_exp!(
    f32,
    i32,
    u32,
    8,
    12_582_912.0,
    -87.0,
    88.0,
    355.0 / 512.0,
    -2.121_944_4e-4,
    [1.0 / 5040.0, 1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0]
);
impl_fast_exp!(
    f64,
    i64,
    u64,
    11,
    6_755_399_441_055_744.0,
    -708.0,
    709.0,
    0.693_147_180_369_123_8,
    1.908_214_929_270_587_7e-10,
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

#[cfg(test)]
mod tests {
    use super::FastExp;
    use crate::rows::LANES;

    #[test]
    fn agrees_with_the_standard_library() {
        for step in -8_000..8_000 {
            let v = f64::from(step) * 0.01;
            let mut single = [v as f32; LANES];
            f32::exp_lanes::<false>(&mut single);
            assert!((single[3] / (v as f32).exp() - 1.0).abs() < 4e-7, "{v}");
            let mut double = [v * 8.0; LANES];
            f64::exp_lanes::<true>(&mut double);
            assert!((double[7] / (v * 8.0).exp() - 1.0).abs() < 1e-15, "{v}");
        }
    }

    #[test]
    fn the_ends_are_finite() {
        let mut x = [f32::MIN, f32::MAX, -1e3, 1e3, 0.0, -0.0, 88.0, -87.0];
        f32::exp_lanes::<false>(&mut x);
        assert!(x.iter().all(|v| v.is_normal()) && x[4] == 1.0);
        let mut x = [f64::MIN, f64::MAX, -1e3, 1e3, 0.0, -0.0, 709.0, -708.0];
        f64::exp_lanes::<false>(&mut x);
        assert!(x.iter().all(|v| v.is_normal()) && x[4] == 1.0);
    }
}
