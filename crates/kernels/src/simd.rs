//! Picks the instruction set at run time and compiles a task for each.
//!
//! A task is a struct whose `run` is `#[inline(always)]`, so that the compiler vectorizes its body
//! for the instruction set of the function that calls it. Closures do not inherit target features:
//! dispatch inside the parallel task, not around it.
#![allow(unsafe_code)]

use std::sync::OnceLock;

pub mod exponential;
mod gather;
mod lanes;
mod mask;
pub(crate) mod tile;

pub(crate) use gather::plain_dot;
pub use gather::{Gather, Index};
pub use lanes::{Lanes, Packed};
pub use mask::{MASK_BLOCK, words_mask};

/// Work to be compiled once per instruction set.
///
/// The versions are methods, not functions of this module: the compiler puts methods beside the type that they belong
/// to, and so works on many tasks at once.
pub trait Task: Sized {
    /// What it returns.
    type Output;
    /// Whether a version for [`Isa::Avx512`] pays; without, machines that have it run that for [`Isa::Avx2`], which
    /// gives the same. Most loops wait for memory and gain nothing, while every version costs time to compile; those
    /// that say yes gain about a fifth on sparse rows.
    const WIDE: bool = false;
    /// The work; must be `#[inline(always)]`. `FMA` says whether `mul_add` is one instruction.
    fn run<const FMA: bool>(self) -> Self::Output;

    /// The work for any machine.
    #[doc(hidden)]
    #[inline(never)]
    fn run_scalar(self) -> Self::Output {
        self.run::<false>()
    }

    /// The work for [`Isa::Avx2`].
    ///
    /// # Safety
    ///
    /// The machine must have these features.
    #[doc(hidden)]
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma")]
    unsafe fn run_avx2(self) -> Self::Output {
        self.run::<true>()
    }

    /// The work for [`Isa::Avx512`].
    ///
    /// # Safety
    ///
    /// The machine must have these features.
    #[doc(hidden)]
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw,avx2,fma")]
    unsafe fn run_avx512(self) -> Self::Output {
        self.run::<true>()
    }
}

/// Work on packs of values, to be compiled once per instruction set.
pub trait PackedTask<T: Packed>: Sized {
    /// What it returns.
    type Output;
    /// The work; must be `#[inline(always)]`. `FMA` says whether `mul_add` is one instruction.
    fn run<const FMA: bool, V: Lanes<T>>(self) -> Self::Output;

    /// The work for any machine.
    #[doc(hidden)]
    #[inline(never)]
    fn run_scalar(self) -> Self::Output {
        self.run::<false, T::Plain>()
    }

    /// The work for [`Isa::Avx2`].
    ///
    /// # Safety
    ///
    /// The machine must have these features.
    #[doc(hidden)]
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma")]
    unsafe fn run_avx2(self) -> Self::Output {
        self.run::<true, T::Avx2>()
    }

    /// The work for [`Isa::Avx512`].
    ///
    /// # Safety
    ///
    /// The machine must have these features.
    #[doc(hidden)]
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw,avx2,fma")]
    unsafe fn run_avx512(self) -> Self::Output {
        self.run::<true, T::Avx512>()
    }
}

/// Instruction sets with a compiled version of every task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Isa {
    /// What every machine of the target has.
    Scalar,
    /// x86-64 with AVX2 and FMA.
    Avx2,
    /// x86-64 with AVX-512 F, VL, DQ and BW.
    Avx512,
}

/// The instruction set in use: the best the machine has, or what `SEPARATRIX_ISA` names
/// (`scalar`, `avx2`), read once.
#[inline]
pub fn isa() -> Isa {
    static ISA: OnceLock<Isa> = OnceLock::new();
    *ISA.get_or_init(|| {
        let best = detect();
        match std::env::var("SEPARATRIX_ISA").as_deref() {
            Ok("scalar") => Isa::Scalar,
            Ok("avx2") if best != Isa::Scalar => Isa::Avx2,
            _ => best,
        }
    })
}

#[cfg(target_arch = "x86_64")]
fn detect() -> Isa {
    let avx2 = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
    let avx512 = is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512vl")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512bw");
    match (avx2, avx512) {
        (true, true) => Isa::Avx512,
        (true, false) => Isa::Avx2,
        _ => Isa::Scalar,
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn detect() -> Isa {
    Isa::Scalar
}

/// Run `task` compiled for the instruction set in use.
#[cfg(target_arch = "x86_64")]
#[inline]
pub fn dispatch<K: Task>(task: K) -> K::Output {
    match isa() {
        // SAFETY: `isa` returns these only after the CPU reported every feature that they ask for.
        Isa::Avx512 if K::WIDE => unsafe { task.run_avx512() },
        // SAFETY: as above; every machine with AVX-512 that it names has AVX2 and FMA too.
        Isa::Avx512 | Isa::Avx2 => unsafe { task.run_avx2() },
        Isa::Scalar => task.run_scalar(),
    }
}

/// Ask for the first cache lines of `values`; after a few, the hardware has seen where it goes.
///
/// A hint that changes nothing: rows visited in random order start with a cache miss each, which the
/// hardware cannot foresee.
#[inline(always)]
pub fn prefetch_lines<T>(values: &[T], lines: usize) {
    ask::<T, true>(values, lines.saturating_mul(LINE));
}

/// Ask for all cache lines of `values`, for the second level of the cache.
#[inline(always)]
pub fn prefetch_outer<T>(values: &[T]) {
    ask::<T, false>(values, usize::MAX);
}

/// Bytes of a cache line.
const LINE: usize = 64;

/// Ask for the cache lines of the first `most` bytes of `values`, for the first level or the second.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn ask<T, const FIRST: bool>(values: &[T], most: usize) {
    use std::arch::x86_64::{_MM_HINT_T0, _MM_HINT_T1, _mm_prefetch};
    let start = values.as_ptr().cast::<i8>();
    for at in (0..std::mem::size_of_val(values).min(most)).step_by(LINE) {
        // SAFETY: a prefetch reads nothing into the program and cannot fault; the address is in `values`.
        unsafe {
            let line = start.add(at);
            if FIRST { _mm_prefetch::<_MM_HINT_T0>(line) } else { _mm_prefetch::<_MM_HINT_T1>(line) }
        }
    }
}

/// Ask for cache lines: nothing on this target.
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
fn ask<T, const FIRST: bool>(_values: &[T], _most: usize) {}

/// Run `task` on the packs of the instruction set in use.
#[cfg(target_arch = "x86_64")]
#[inline]
pub fn dispatch_packed<T: Packed, K: PackedTask<T>>(task: K) -> K::Output {
    match isa() {
        // SAFETY: `isa` returns these only after the CPU reported every feature that they ask for.
        Isa::Avx512 => unsafe { task.run_avx512() },
        // SAFETY: as above.
        Isa::Avx2 => unsafe { task.run_avx2() },
        Isa::Scalar => task.run_scalar(),
    }
}

/// Run `task` on plain packs, the only ones of this target.
#[cfg(not(target_arch = "x86_64"))]
#[inline]
pub fn dispatch_packed<T: Packed, K: PackedTask<T>>(task: K) -> K::Output {
    if cfg!(target_arch = "aarch64") { task.run::<true, T::Plain>() } else { task.run::<false, T::Plain>() }
}

/// Run `task`; this target has one version, with fused multiply-add on aarch64.
#[cfg(not(target_arch = "x86_64"))]
#[inline]
pub fn dispatch<K: Task>(task: K) -> K::Output {
    if cfg!(target_arch = "aarch64") { task.run::<true>() } else { task.run::<false>() }
}
