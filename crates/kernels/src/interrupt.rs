//! A flag by which the caller asks a running kernel to stop.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::KernelError;
use crate::memory;

/// Set by the calling thread, read by kernels once per block of rows.
#[derive(Debug, Default)]
pub struct Interrupt(AtomicBool);

impl Interrupt {
    /// A flag that is not set.
    pub const fn new() -> Self {
        Self(AtomicBool::new(false))
    }

    /// Ask the kernel to stop.
    pub fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether somebody asked.
    #[inline]
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Fail with [`KernelError::Interrupted`] when somebody asked, and where memory has run out.
    #[inline]
    pub fn check(&self) -> Result<(), KernelError> {
        if self.is_set() { Err(KernelError::Interrupted) } else { memory::check() }
    }
}
