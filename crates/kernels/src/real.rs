//! `f32` and `f64` behind one name.

use std::fmt::Debug;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Sub, SubAssign};

/// The floating-point types a kernel may compute in.
pub trait Real:
    Copy
    + Debug
    + Default
    + PartialOrd
    + Send
    + Sync
    + 'static
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + AddAssign
    + SubAssign
    + MulAssign
    + DivAssign
    + Sum
{
    /// 0
    const ZERO: Self;
    /// 1
    const ONE: Self;
    /// Not a number.
    const NAN: Self;
    /// The distance from one to the next larger number.
    const EPSILON: Self;

    /// Round to this type.
    fn from_f64(x: f64) -> Self;
    /// A small number, exactly.
    fn from_u16(x: u16) -> Self;
    /// Widen to `f64`.
    fn to_f64(self) -> f64;
    /// Neither NaN nor infinite.
    fn is_finite(self) -> bool;
    /// NaN.
    fn is_nan(self) -> bool;
    /// Absolute value.
    fn abs(self) -> Self;
    /// Larger of two.
    fn max(self, other: Self) -> Self;
    /// Smaller of two.
    fn min(self, other: Self) -> Self;
    /// Square root.
    fn sqrt(self) -> Self;
    /// Exponential.
    fn exp(self) -> Self;
    /// Natural logarithm.
    fn ln(self) -> Self;
    /// `self * a + b` in one rounding (slow without hardware support; see [`crate::simd`]).
    fn mul_add(self, a: Self, b: Self) -> Self;

    /// The same number, rounded where `A` is shorter; nothing where it is this type.
    #[inline(always)]
    fn cast<A: Real>(self) -> A {
        A::from_f64(self.to_f64())
    }

    /// `self * a + b`, fused where the caller's instruction set has it.
    #[inline(always)]
    fn fma<const FMA: bool>(self, a: Self, b: Self) -> Self {
        if FMA { self.mul_add(a, b) } else { self * a + b }
    }
}

macro_rules! impl_real {
    ($t:ty) => {
        impl Real for $t {
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;
            const NAN: Self = <$t>::NAN;
            const EPSILON: Self = <$t>::EPSILON;
            #[inline(always)]
            fn from_f64(x: f64) -> Self {
                x as $t
            }
            #[inline(always)]
            fn from_u16(x: u16) -> Self {
                <$t>::from(x)
            }
            #[inline(always)]
            fn to_f64(self) -> f64 {
                f64::from(self)
            }
            #[inline(always)]
            fn is_finite(self) -> bool {
                <$t>::is_finite(self)
            }
            #[inline(always)]
            fn is_nan(self) -> bool {
                <$t>::is_nan(self)
            }
            #[inline(always)]
            fn abs(self) -> Self {
                <$t>::abs(self)
            }
            #[inline(always)]
            fn max(self, other: Self) -> Self {
                if self > other { self } else { other }
            }
            #[inline(always)]
            fn min(self, other: Self) -> Self {
                if self < other { self } else { other }
            }
            #[inline(always)]
            fn sqrt(self) -> Self {
                <$t>::sqrt(self)
            }
            #[inline(always)]
            fn exp(self) -> Self {
                <$t>::exp(self)
            }
            #[inline(always)]
            fn ln(self) -> Self {
                <$t>::ln(self)
            }
            #[inline(always)]
            fn mul_add(self, a: Self, b: Self) -> Self {
                <$t>::mul_add(self, a, b)
            }
        }
    };
}

impl_real!(f32);
impl_real!(f64);
