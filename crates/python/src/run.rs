//! Runs a kernel off the interpreter: GIL released, Ctrl-C heard, panics caught.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use separatrix_kernels::KernelError;
use separatrix_kernels::interrupt::Interrupt;
use separatrix_kernels::memory;
use separatrix_kernels::threads::on_partner;

use crate::errors::to_python;

/// Work (multiply-adds) below which a kernel runs on the calling thread: it ends long before
/// anybody could press Ctrl-C, and a thread costs tens of microseconds.
const SMALL: usize = 1 << 22;
/// How often the calling thread looks for signals.
const SLICE: Duration = Duration::from_millis(100);

/// Call `kernel` with the GIL released; `work` is its size in multiply-adds.
pub fn run<R: Send>(
    py: Python<'_>,
    work: usize,
    kernel: impl FnOnce(&Interrupt) -> Result<R, KernelError> + Send,
) -> PyResult<R> {
    let mut kernel = Some(kernel);
    watch_for(py, work, &mut |flag| kernel.take().map(|kernel| kernel(flag)))
}

/// [`run`] for all kernels that return an `R`, so `kernel` is not a type parameter.
#[inline(never)]
fn watch_for<R: Send>(
    py: Python<'_>,
    work: usize,
    kernel: &mut (dyn FnMut(&Interrupt) -> Option<Result<R, KernelError>> + Send),
) -> PyResult<R> {
    let mut outcome = None;
    watch(py, work, &mut |flag| outcome = kernel(flag))?;
    outcome.ok_or_else(failed)?.map_err(to_python)
}

fn failed() -> PyErr {
    PyRuntimeError::new_err(
        "a kernel failed in a way that is a bug of separatrix; please report it with the data's shape",
    )
}

/// [`run`] for all kernels, so `kernel` is not a type parameter: this is compiled once.
///
/// A long kernel runs on a thread that is kept for the purpose while the calling thread wakes every 100 ms to ask
/// Python for signals; when a handler raises, the kernel's flag is set and the exception returned.
fn watch(py: Python<'_>, work: usize, kernel: &mut (dyn FnMut(&Interrupt) + Send)) -> PyResult<()> {
    memory::renew().map_err(to_python)?;
    let flag = Interrupt::new();
    let mut guarded = || catch_unwind(AssertUnwindSafe(|| kernel(&flag))).map_err(|_| failed());
    if work < SMALL {
        return py.detach(guarded);
    }
    let (mut signal, mut outcome) = (Ok(()), Ok(()));
    py.detach(|| {
        let (done, finished) = sync_channel(1);
        on_partner(
            &mut || {
                outcome = guarded();
                // There is room for one message, so nobody waits here even where no other thread listens.
                let _ = done.send(());
            },
            &mut || {
                while let Err(RecvTimeoutError::Timeout) = finished.recv_timeout(SLICE) {
                    if signal.is_ok() {
                        signal = Python::attach(|py| py.check_signals());
                        if signal.is_err() {
                            flag.set();
                        }
                    }
                }
            },
        );
    });
    signal.and(outcome)
}
