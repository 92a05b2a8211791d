//! Runs a kernel off the interpreter: GIL released, Ctrl-C heard, panics caught.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use separatrix_kernels::KernelError;
use separatrix_kernels::interrupt::Interrupt;
use separatrix_kernels::threads::on_partner;

use crate::errors::to_python;

/// Work (multiply-adds) below which a kernel runs on the calling thread: it ends long before
/// anybody could press Ctrl-C, and a thread costs tens of microseconds.
const SMALL: usize = 1 << 22;
/// How often the calling thread looks for signals.
const SLICE: Duration = Duration::from_millis(100);

/// Call `kernel` with the GIL released; `work` is its size in multiply-adds.
///
/// A long kernel runs on a thread that is kept for the purpose while the calling thread wakes every 100 ms to ask
/// Python for signals; when a handler raises, the kernel's flag is set and the exception returned.
pub fn run<R: Send>(
    py: Python<'_>,
    work: usize,
    kernel: impl FnOnce(&Interrupt) -> Result<R, KernelError> + Send,
) -> PyResult<R> {
    let flag = Interrupt::new();
    let guarded = || catch_unwind(AssertUnwindSafe(|| kernel(&flag)));
    let mut signal = None;
    let outcome = if work < SMALL {
        py.detach(guarded)
    } else {
        py.detach(|| {
            let (done, finished) = sync_channel(1);
            let work = move || {
                let _ = done.send(guarded());
            };
            on_partner(work, || {
                loop {
                    match finished.recv_timeout(SLICE) {
                        Ok(outcome) => break outcome,
                        Err(RecvTimeoutError::Timeout) => {
                            if let (None, Err(error)) = (&signal, Python::attach(|py| py.check_signals())) {
                                signal = Some(error);
                                flag.set();
                            }
                        }
                        Err(RecvTimeoutError::Disconnected) => {
                            break Ok(Err(KernelError::Argument("a kernel thread ended early".into())));
                        }
                    }
                }
            })
        })
    };
    if let Some(error) = signal {
        return Err(error);
    }
    match outcome {
        Ok(result) => result.map_err(to_python),
        Err(_) => Err(PyRuntimeError::new_err(
            "a kernel failed in a way that is a bug of separatrix; please report it with the data's shape",
        )),
    }
}
