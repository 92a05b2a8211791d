//! exp(x) for x <= 0 without branches, so that loops over it become vector code.

use crate::real::Real;

/// Types with an exponential that vectorizes.
pub trait VectorExp: Real {
    /// exp(x) for x <= 0, within two units in the last place; zero far below.
    ///
    /// x = n ln 2 + r with |r| <= ln(2)/2: the Taylor series of exp(r), times 2^n made from bits.
    fn exp_nonpositive<const FMA: bool>(self) -> Self;
}

/// Adding and subtracting 1.5 * 2^mantissa rounds to an integer, which then stands in the low bits.
macro_rules! exp_nonpositive {
    ($t:ty, $bits:ty, $round:expr, $least:expr, $ln2_high:expr, $ln2_low:expr, $mantissa:expr, $bias:expr,
     [$first:expr $(, $rest:expr)*]) => {
        impl VectorExp for $t {
            #[inline(always)]
            fn exp_nonpositive<const FMA: bool>(self) -> Self {
                let x = if self > $least { self } else { $least };
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

exp_nonpositive!(
    f32,
    u32,
    12_582_912.0f32,
    -87.0f32,
    0.693_359_4f32,
    -2.121_944_4e-4f32,
    23,
    127,
    [1.0 / 5040.0, 1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0]
);
exp_nonpositive!(
    f64,
    u64,
    6_755_399_441_055_744.0f64,
    -708.0f64,
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

#[cfg(test)]
mod tests {
    use super::VectorExp;

    #[test]
    fn close_to_the_library_over_the_whole_range() {
        for step in 0..70_000 {
            let x = -f64::from(step) * 0.01;
            let exact = x.exp();
            assert!((x.exp_nonpositive::<false>() - exact).abs() <= 5e-16 * exact, "{x}");
            assert!((x.exp_nonpositive::<true>() - exact).abs() <= 5e-16 * exact, "{x}");
            let single = x as f32;
            if single > -86.0 {
                let exact = f64::from(single).exp();
                let close = f64::from(single.exp_nonpositive::<false>());
                assert!((close - exact).abs() <= 2.5e-7 * exact, "{single}: {close} {exact}");
            }
        }
        assert_eq!(0f32.exp_nonpositive::<false>(), 1.0);
        assert!((-1e30f32).exp_nonpositive::<false>() < 1e-37);
        assert!(f64::NEG_INFINITY.exp_nonpositive::<true>() < 1e-300);
    }
}
