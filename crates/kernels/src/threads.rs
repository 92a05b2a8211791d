//! Thread pools, one per process and size: rayon's own pool does not survive a fork.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::OnceLock;

use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

struct Node {
    process: u32,
    n_threads: usize,
    pool: ThreadPool,
    next: OnceLock<Box<Node>>,
}

/// More threads than this are never made, whatever is asked for.
pub const MOST: usize = 256;

/// Values from which on reading them once is worth a second thread.
pub const WORTH_THREADS: usize = 1 << 18;

/// Values from which on a pass over rows is worth a second copy of its weights.
const WORTH_COPIES: usize = 1 << 21;
/// Values per column from which on it is: merging touches all weights.
const PER_COLUMN: usize = 4;

/// Whether to share a pass over so many stored values of so many columns, by threads with weights of their own.
pub fn worth_copies(n_stored: usize, n_cols: usize) -> bool {
    n_stored >= WORTH_COPIES && n_stored / PER_COLUMN >= n_cols
}

static HEAD: OnceLock<Box<Node>> = OnceLock::new();

/// Run `work` inside the pool of `n_threads` threads of this process (inline for one thread).
///
/// The pools form a list that only grows and is read without a lock, so a fork at any moment
/// leaves the child able to make its own.
pub fn with_threads<R: Send>(n_threads: usize, work: impl FnOnce() -> R + Send) -> R {
    if n_threads <= 1 {
        return work();
    }
    match pool(n_threads.min(MOST)) {
        Some(pool) => pool.install(work),
        None => work(),
    }
}

thread_local! {
    /// The pool of one thread that works for this one, and the process it belongs to.
    static PARTNER: RefCell<Option<(u32, Rc<ThreadPool>)>> = const { RefCell::new(None) };
}

/// Run `work` on a thread that works for this one alone, and `wait` here; returns after both.
///
/// The thread is kept for the next call: its start costs, and so do the caches that a new one finds cold. When
/// the system gives no thread, `work` runs here first.
pub fn on_partner<'a, R>(work: impl FnOnce() + Send + 'a, wait: impl FnOnce() -> R) -> R {
    let Some(pool) = PARTNER.with_borrow_mut(partner) else {
        work();
        return wait();
    };
    pool.in_place_scope(|scope| {
        scope.spawn(|_| work());
        wait()
    })
}

fn partner(kept: &mut Option<(u32, Rc<ThreadPool>)>) -> Option<Rc<ThreadPool>> {
    let process = std::process::id();
    if kept.as_ref().is_none_or(|(owner, _)| *owner != process) {
        // A pool from before a fork has lost its thread: it is left alone.
        std::mem::forget(kept.take());
        let name = |_| "separatrix-partner".into();
        let pool = ThreadPoolBuilder::new().num_threads(1).thread_name(name).build().ok()?;
        *kept = Some((process, Rc::new(pool)));
    }
    kept.as_ref().map(|(_, pool)| Rc::clone(pool))
}

/// Run both at once.
pub fn side_by_side<A: Send, B: Send>(
    first: impl FnOnce() -> A + Send,
    second: impl FnOnce() -> B + Send,
) -> (A, B) {
    with_threads(2, || rayon::join(first, second))
}

/// Call `body` with the number and the values of each block of `size` values, on `n_threads` threads; the answers stand
/// in the order of the blocks.
pub fn map_blocks<V: Sync, R: Send, E: Send>(
    n_threads: usize,
    values: &[V],
    size: usize,
    body: impl Fn((usize, &[V])) -> Result<R, E> + Sync + Send,
) -> Result<Vec<R>, E> {
    if n_threads <= 1 {
        return values.chunks(size).enumerate().map(body).collect();
    }
    with_threads(n_threads, || values.par_chunks(size).enumerate().map(body).collect())
}

/// The pool, or `None` when the system gives no threads (the work then runs on the caller's).
fn pool(n_threads: usize) -> Option<&'static ThreadPool> {
    let process = std::process::id();
    let mut slot = &HEAD;
    loop {
        if let Some(node) = slot.get() {
            if node.process == process && node.n_threads == n_threads {
                return Some(&node.pool);
            }
            slot = &node.next;
            continue;
        }
        let pool = ThreadPoolBuilder::new()
            .num_threads(n_threads)
            .thread_name(|i| format!("separatrix-{i}"))
            .build()
            .ok()?;
        let node = Box::new(Node { process, n_threads, pool, next: OnceLock::new() });
        // When another thread was faster its node stands here: the loop looks at that one next.
        let _ = slot.set(node);
    }
}

#[cfg(test)]
mod tests {
    use super::{on_partner, side_by_side, with_threads, worth_copies};

    #[test]
    fn a_partner_works_while_its_owner_waits() {
        let me = std::thread::current().id();
        for n in 0..3 {
            let (send, receive) = std::sync::mpsc::channel();
            let found = on_partner(
                || send.send((n, std::thread::current().id())).expect("heard"),
                || receive.recv().expect("sent"),
            );
            assert_eq!(found.0, n);
            assert_ne!(found.1, me);
        }
    }

    #[test]
    fn long_passes_over_few_columns_are_worth_copies() {
        assert!(worth_copies(1 << 21, 1 << 19) && worth_copies(1 << 30, 100));
        assert!(!worth_copies(1 << 20, 100) && !worth_copies(1 << 22, 1 << 21));
    }

    #[test]
    fn both_run() {
        let mut seen = 0;
        assert_eq!(side_by_side(|| seen += 1, || 2), ((), 2));
        assert_eq!(seen, 1);
    }

    #[test]
    fn a_pool_has_the_size_asked_for() {
        for n in [1, 2, 3, 2] {
            let seen = with_threads(n, rayon::current_num_threads);
            assert!(n == 1 || seen == n);
        }
    }
}
