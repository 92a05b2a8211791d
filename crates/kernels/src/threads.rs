//! Thread pools, one per process and size: rayon's own pool does not survive a fork.

use std::cell::RefCell;
use std::cmp::Ordering;
use std::convert::Infallible;
use std::rc::Rc;
use std::sync::atomic::{self, AtomicUsize};
use std::sync::{Mutex, OnceLock, PoisonError};

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

thread_local! {
    /// The pool of one thread that works for this one, and the process it belongs to.
    static PARTNER: RefCell<Option<(u32, Rc<ThreadPool>)>> = const { RefCell::new(None) };
}

/// Run `work` on a thread that works for this one alone, and `wait` here; returns after both.
///
/// The thread is kept for the next call: its start costs, and so do the caches that a new one finds cold. When
/// the system gives no thread, `work` runs here first.
pub fn on_partner(work: &mut (dyn FnMut() + Send), wait: &mut dyn FnMut()) {
    let Some(pool) = PARTNER.with_borrow_mut(partner) else {
        work();
        return wait();
    };
    pool.in_place_scope(|scope| {
        scope.spawn(|_| work());
        wait();
    });
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

/// Run both, at once where there are several threads.
pub fn side_by_side<A: Send, B: Send>(
    n_threads: usize,
    mut first: impl FnMut() -> A + Send,
    mut second: impl FnMut() -> B + Send,
) -> (A, B) {
    let (mut one, mut other) = (None, None);
    both(n_threads, &mut || one = Some(first()), &mut || other = Some(second()));
    let (Some(one), Some(other)) = (one, other) else { unreachable!("both have run") };
    (one, other)
}

fn both(n_threads: usize, first: &mut (dyn FnMut() + Send), second: &mut (dyn FnMut() + Send)) {
    if let Some(pool) = pool(n_threads) {
        pool.install(|| rayon::join(first, second));
    } else {
        first();
        second();
    }
}

/// An item that waits for its turn, is at work or left out, or what came of it.
enum Turn<I, R> {
    Waiting(I),
    Away,
    Done(R),
}

/// Call `body` with every item, on `n_threads` threads; the answers stand in the order of the items.
///
/// The error is that of the first item that fails, whatever the number of threads; later ones may be left out.
pub fn try_each<I: Send, R: Send, E: Send>(
    n_threads: usize,
    items: impl IntoIterator<Item = I>,
    body: impl Fn(I) -> Result<R, E> + Sync,
) -> Result<Vec<R>, E> {
    // A lock that nobody else asks for costs nothing beside the work on an item.
    let mut turns = Vec::new();
    for item in items {
        turns.push(Mutex::new(Turn::Waiting(item)));
    }
    take_turns(n_threads, turns, &body)
}

/// [`try_each`] on items that wait: compiled once per type of item and answer, so `body` is not a type parameter.
#[allow(clippy::type_complexity)]
fn take_turns<I: Send, R: Send, E: Send>(
    n_threads: usize,
    turns: Vec<Mutex<Turn<I, Result<R, E>>>>,
    body: &(dyn Fn(I) -> Result<R, E> + Sync),
) -> Result<Vec<R>, E> {
    let failed = AtomicUsize::new(usize::MAX);
    each_number(n_threads, turns.len(), &|i| {
        if i > failed.load(atomic::Ordering::Relaxed) {
            return;
        }
        let mut turn = turns[i].lock().unwrap_or_else(PoisonError::into_inner);
        if let Turn::Waiting(item) = std::mem::replace(&mut *turn, Turn::Away) {
            let answer = body(item);
            if answer.is_err() {
                failed.fetch_min(i, atomic::Ordering::Relaxed);
            }
            *turn = Turn::Done(answer);
        }
    });
    let mut answers = Vec::with_capacity(turns.len());
    for turn in turns {
        if let Turn::Done(answer) = turn.into_inner().unwrap_or_else(PoisonError::into_inner) {
            answers.push(answer?);
        }
    }
    Ok(answers)
}

/// [`try_each`] for work that cannot fail.
pub fn each<I: Send, R: Send>(
    n_threads: usize,
    items: impl IntoIterator<Item = I>,
    body: impl Fn(I) -> R + Sync,
) -> Vec<R> {
    let Ok(answers) = try_each(n_threads, items, |item| Ok::<R, Infallible>(body(item)));
    answers
}

/// Pieces per thread into which many numbers are cut, so that no thread waits long for another.
const PIECES: usize = 16;

/// Call `body` with the numbers below `n`. Compiled once for all kernels, so `body` is not a type parameter.
fn each_number(n_threads: usize, n: usize, body: &(dyn Fn(usize) + Sync)) {
    if n > 1
        && let Some(pool) = pool(n_threads)
    {
        let most = (n / (PIECES * n_threads.min(MOST))).max(1);
        pool.install(|| (0..n).into_par_iter().with_max_len(most).for_each(body));
    } else {
        (0..n).for_each(body);
    }
}

/// Sort `items`; equal ones end up in any order.
pub fn sort<T: Send>(n_threads: usize, items: &mut [T], order: impl Fn(&T, &T) -> Ordering + Sync + Send) {
    match pool(n_threads) {
        Some(pool) => pool.install(|| items.par_sort_unstable_by(order)),
        None => items.sort_unstable_by(order),
    }
}

/// Work space that tasks borrow one after the other, where a new one costs as much as some of the work.
#[derive(Debug)]
pub struct Spaces<S>(Mutex<Vec<S>>);

impl<S> Default for Spaces<S> {
    fn default() -> Self {
        Self(Mutex::new(Vec::new()))
    }
}

impl<S> Spaces<S> {
    /// Call `work` with a space that was returned, or with a new one.
    pub fn lend<R>(&self, make: impl FnOnce() -> S, work: impl FnOnce(&mut S) -> R) -> R {
        let idle = self.0.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut space = idle.unwrap_or_else(make);
        let result = work(&mut space);
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(space);
        result
    }
}

/// The pool of this process of so many threads; `None` for one, and where the system gives no more.
///
/// Without it the work runs on the caller's thread, and not by rayon, whose own pool would ask for threads too. The
/// pools form a list that only grows and is read without a lock, so a fork at any moment leaves the child able to make
/// its own.
fn pool(n_threads: usize) -> Option<&'static ThreadPool> {
    if n_threads <= 1 {
        return None;
    }
    let n_threads = n_threads.min(MOST);
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
    use super::{each, on_partner, pool, side_by_side, try_each, worth_copies};

    #[test]
    fn a_partner_works_while_its_owner_waits() {
        let me = std::thread::current().id();
        for n in 0..3 {
            let (send, receive) = std::sync::mpsc::channel();
            let mut found = None;
            on_partner(&mut || send.send((n, std::thread::current().id())).expect("heard"), &mut || {
                found = Some(receive.recv().expect("sent"))
            });
            assert!(found.is_some_and(|(seen, thread)| seen == n && thread != me));
        }
    }

    #[test]
    fn long_passes_over_few_columns_are_worth_copies() {
        assert!(worth_copies(1 << 21, 1 << 19) && worth_copies(1 << 30, 100));
        assert!(!worth_copies(1 << 20, 100) && !worth_copies(1 << 22, 1 << 21));
    }

    #[test]
    fn both_run() {
        for n_threads in [1, 2] {
            let mut seen = 0;
            assert_eq!(side_by_side(n_threads, || seen += 1, || 2), ((), 2));
            assert_eq!(seen, 1);
        }
    }

    #[test]
    fn answers_stand_in_order_and_the_first_error_is_told() {
        for n_threads in [0, 1, 2, 3] {
            for n in [0, 1, 2, 7, 1000] {
                let doubled: Vec<usize> = (0..n).map(|i| 2 * i).collect();
                assert_eq!(each(n_threads, 0..n, |i| 2 * i), doubled);
                let mut out = vec![0; n];
                each(n_threads, out.iter_mut().enumerate(), |(i, out)| *out = 2 * i);
                assert_eq!(out, doubled);
                let fail = |i: usize| if i % 5 == 3 { Err(i) } else { Ok(i) };
                let expected = if n > 3 { Err(3) } else { Ok((0..n).collect()) };
                assert_eq!(try_each(n_threads, 0..n, fail), expected);
            }
        }
    }

    #[test]
    fn a_pool_has_the_size_asked_for() {
        assert!(pool(1).is_none());
        for n in [2, 3, 2] {
            let seen = pool(n).map(|pool| pool.install(rayon::current_num_threads));
            assert_eq!(seen, Some(n));
        }
    }
}
