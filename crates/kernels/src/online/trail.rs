//! Sums of the average on a second thread, which follows the learner block by block.

use std::panic::resume_unwind;
use std::sync::mpsc::channel;

use super::{Online, add_row, n_scores};
use crate::error::KernelError;
use crate::real::Real;
use crate::rows::Rows;
use crate::simd::{Task, dispatch};

/// sums[:, column] += a x_row.
#[derive(Debug, Clone, Copy)]
pub(super) struct Addition<T> {
    pub row: u32,
    pub column: usize,
    pub a: T,
}

impl<T: Real> Online<T> {
    /// Run `learn` while another thread makes its additions to the sums, in their order; `learn` calls
    /// its second argument now and then to hand over what is pending.
    pub(super) fn trailed<X: Rows<T>>(
        &mut self,
        x: &X,
        learn: impl FnOnce(&mut Self, &mut dyn FnMut(&mut Self)) -> Result<u64, KernelError>,
    ) -> Result<u64, KernelError> {
        let k = n_scores(self.n_classes);
        let mut sums = std::mem::take(&mut self.sums);
        self.pending = Some(Vec::new());
        let (outcome, sums) = std::thread::scope(|scope| {
            let (send, receive) = channel::<Vec<Addition<T>>>();
            let follower = scope.spawn(move || {
                for additions in receive {
                    dispatch(Add { x, sums: &mut sums, k, additions: &additions });
                }
                sums
            });
            let outcome = learn(self, &mut |learner| {
                if let Some(pending) = &mut learner.pending {
                    // Fails only when the follower panicked, which `join` reports.
                    let _ = send.send(std::mem::take(pending));
                }
            });
            drop(send);
            (outcome, follower.join())
        });
        self.pending = None;
        self.sums = sums.unwrap_or_else(|panic| resume_unwind(panic));
        outcome
    }
}

struct Add<'a, T, X> {
    x: &'a X,
    sums: &'a mut [T],
    k: usize,
    additions: &'a [Addition<T>],
}

impl<T: Real, X: Rows<T>> Task for Add<'_, T, X> {
    type Output = ();

    #[inline(always)]
    fn run<const FMA: bool>(self) {
        for (at, &Addition { row, column, a }) in self.additions.iter().enumerate() {
            if let Some(next) = self.additions.get(at + 1) {
                self.x.prefetch(next.row as usize);
            }
            add_row::<T, X, FMA>(self.x, row as usize, self.sums, self.k, column, a);
        }
    }
}
