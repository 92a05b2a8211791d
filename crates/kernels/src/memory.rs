//! An allocator with a reserve, so that running out of memory is an error and not the end of the process.
//!
//! Rust ends the process where an allocation fails, unless it was asked for by `try_reserve`. What grows with the data
//! is asked for so ([`crate::error::zeros`] and its like). Everything else is small, but may still be what finds the
//! memory full: then the reserve is given back to the system, which serves it and what follows, and kernels stop at the
//! next block of rows, where they look for interrupts anyway.

#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};

use crate::error::KernelError;

/// Bytes of the reserve: address space only, as nothing is ever written there. More than the 32 MB up to which glibc
/// may learn to serve from its heap, so that they do go back to the system.
const RESERVE: usize = 40 << 20;
/// Bytes up to which an allocation may be served from the reserve; larger ones are asked for by `try_reserve`.
const SERVED: usize = RESERVE / 4;

const LAYOUT: Layout = match Layout::from_size_align(RESERVE, 4096) {
    Ok(layout) => layout,
    Err(_) => panic!("a size that is no layout"),
};

/// Bytes that were asked for when memory ran out; none before.
static FAILED: AtomicUsize = AtomicUsize::new(0);
/// Whether the allocator of this process is one with a reserve, and has it.
static READY: AtomicBool = AtomicBool::new(false);
static KEPT: AtomicPtr<u8> = AtomicPtr::new(ptr::null_mut());

/// Fail where memory has run out since the last [`renew`].
#[inline]
pub fn check() -> Result<(), KernelError> {
    match FAILED.load(Ordering::Relaxed) {
        0 => Ok(()),
        bytes => Err(KernelError::Memory { n: bytes, what: "more bytes", bytes }),
    }
}

/// Have the reserve, again where it was used; fails where there is no memory for it.
pub fn renew() -> Result<(), KernelError> {
    if READY.load(Ordering::Relaxed) {
        return Ok(());
    }
    // SAFETY: the size of the layout is not zero.
    let Some(taken) = NonNull::new(unsafe { System.alloc(LAYOUT) }) else {
        return Err(KernelError::Memory { n: RESERVE, what: "bytes to work with", bytes: RESERVE });
    };
    if KEPT.compare_exchange(ptr::null_mut(), taken.as_ptr(), Ordering::AcqRel, Ordering::Acquire).is_err() {
        // SAFETY: it was allocated above with this layout, and nobody else knows it.
        unsafe { System.dealloc(taken.as_ptr(), LAYOUT) };
    }
    FAILED.store(0, Ordering::Relaxed);
    READY.store(true, Ordering::Relaxed);
    Ok(())
}

/// Give the reserve back to the system, for a failed allocation of `bytes`; whether it is worth another try.
#[cold]
#[inline(never)]
fn give_back(bytes: usize) -> bool {
    if bytes > SERVED {
        return false;
    }
    let kept = KEPT.swap(ptr::null_mut(), Ordering::AcqRel);
    READY.store(false, Ordering::Relaxed);
    FAILED.store(bytes.max(1), Ordering::Relaxed);
    if !kept.is_null() {
        // SAFETY: it was allocated in `renew` with this layout, and the swap made it ours alone.
        unsafe { System.dealloc(kept, LAYOUT) };
    }
    true // where another thread was first, there is room now too
}

/// The system's allocator, with the reserve behind it.
#[derive(Debug)]
pub struct WithReserve;

// SAFETY: every call is passed on to the system's allocator as it came, a second time where the first found no memory.
unsafe impl GlobalAlloc for WithReserve {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the contract of `alloc`.
        let found = unsafe { System.alloc(layout) };
        if found.is_null() && give_back(layout.size()) {
            // SAFETY: as above.
            return unsafe { System.alloc(layout) };
        }
        found
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the contract of `alloc_zeroed`.
        let found = unsafe { System.alloc_zeroed(layout) };
        if found.is_null() && give_back(layout.size()) {
            // SAFETY: as above.
            return unsafe { System.alloc_zeroed(layout) };
        }
        found
    }

    unsafe fn realloc(&self, old: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller keeps the contract of `realloc`; where it fails, `old` is still what it was.
        let found = unsafe { System.realloc(old, layout, size) };
        if found.is_null() && give_back(size) {
            // SAFETY: as above.
            return unsafe { System.realloc(old, layout, size) };
        }
        found
    }

    unsafe fn dealloc(&self, old: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(old, layout) }
    }
}
