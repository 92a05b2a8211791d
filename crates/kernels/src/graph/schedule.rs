//! In which order messages are sent, until none changes.
//!
//! Synchronous: all from those of the sweep before. Coloured: nodes of one color after those of another; no two nodes
//! of a color are neighbors, so each sends from what is newest. Residual: always the message that would change most
//! (Elidan, McGraw & Koller 2006). A message moves to (1 - damping) new + damping old; the change that decides
//! convergence is the one before damping.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use crate::error::KernelError;
use crate::graph::message::{Messenger, Space};
use crate::graph::wiring::Wiring;
use crate::interrupt::Interrupt;

/// Order of the messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Schedule {
    /// All at once.
    Synchronous,
    /// Color after color.
    Colored,
    /// The one that changes most first.
    Residual,
}

/// When to stop, and how far to move.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// Order of the messages.
    pub schedule: Schedule,
    /// Share of the old message, from 0 to below 1.
    pub damping: f64,
    /// Change of a message that counts as none.
    pub tol: f64,
    /// Sweeps at most; for the residual schedule, so many times the number of messages.
    pub max_iter: usize,
}

impl Options {
    /// Fail unless the numbers make sense.
    pub fn check(&self) -> Result<(), KernelError> {
        if !(0.0..1.0).contains(&self.damping) {
            return Err(KernelError::Argument(format!(
                "damping must be from 0 to below 1, got {}",
                self.damping
            )));
        }
        if self.tol.is_nan() || self.tol < 0.0 {
            return Err(KernelError::Argument(format!("tol must not be negative, got {}", self.tol)));
        }
        Ok(())
    }
}

/// How a run of messages ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ending {
    /// Sweeps made.
    pub iterations: usize,
    /// Largest change of a message at the end.
    pub residual: f64,
    /// Whether it was small enough.
    pub converged: bool,
}

/// Weights of messages in the sums at nodes: all one, or one per edge (tree-reweighted, Wainwright et al. 2005).
pub type Weights<'a> = Option<&'a [f64]>;

/// The messages of one graph.
pub struct Exchange<'a> {
    /// The tables.
    pub messenger: &'a Messenger<'a>,
    /// The graph.
    pub graph: usize,
    /// Weight of every edge of the batch.
    pub weights: Weights<'a>,
}

impl Exchange<'_> {
    fn wiring(&self) -> &Wiring {
        self.messenger.scores().wiring
    }

    /// Where a message stands among those of the graph.
    #[inline(always)]
    pub fn place(&self, message: usize) -> std::ops::Range<usize> {
        let k = self.messenger.scores().k;
        let at = (message - 2 * self.wiring().edges(self.graph).start) * k;
        at..at + k
    }

    #[inline(always)]
    fn weight(&self, message: usize) -> f64 {
        self.weights.map_or(1.0, |w| w[message / 2])
    }

    /// Scores of a node and all messages into it.
    #[inline]
    pub fn total(&self, node: usize, messages: &[f64], total: &mut [f64]) {
        total.copy_from_slice(self.messenger.scores().unary(node));
        for &out in self.wiring().out(node) {
            let message = out as usize ^ 1;
            let weight = self.weight(message);
            for (t, m) in total.iter_mut().zip(&messages[self.place(message)]) {
                *t += weight * m;
            }
        }
    }

    /// Write message number `out` to `space.out`, given the total of its sender.
    #[inline]
    fn send(&self, out: usize, total: &[f64], messages: &[f64], space: &mut Space) {
        let back = &messages[self.place(out ^ 1)];
        for ((cavity, total), back) in space.cavity.iter_mut().zip(total).zip(back) {
            *cavity = total - back;
        }
        self.messenger.send(out, space);
    }

    /// Send messages by the schedule until none changes, beginning with `messages`.
    pub fn run(
        &self,
        options: &Options,
        messages: &mut Vec<f64>,
        stop: &Interrupt,
    ) -> Result<Ending, KernelError> {
        match options.schedule {
            Schedule::Synchronous => self.synchronous(options, messages, stop),
            Schedule::Colored => self.colored(options, messages, stop),
            Schedule::Residual => self.residual(options, messages, stop),
        }
    }

    fn synchronous(
        &self,
        options: &Options,
        messages: &mut Vec<f64>,
        stop: &Interrupt,
    ) -> Result<Ending, KernelError> {
        let mut space = Space::new(self.messenger.scores().k);
        let mut total = space.cavity.clone();
        let mut next = messages.clone();
        sweeps(options, stop, || {
            let mut change = 0.0f64;
            for node in self.wiring().nodes(self.graph) {
                self.total(node, messages, &mut total);
                for &out in self.wiring().out(node) {
                    self.send(out as usize, &total, messages, &mut space);
                    let place = self.place(out as usize);
                    next[place.clone()].copy_from_slice(&messages[place.clone()]);
                    change = change.max(mix(&mut next[place], &space.out, options.damping));
                }
            }
            std::mem::swap(messages, &mut next);
            change
        })
    }

    fn colored(
        &self,
        options: &Options,
        messages: &mut [f64],
        stop: &Interrupt,
    ) -> Result<Ending, KernelError> {
        let order = by_color(self.wiring(), self.graph);
        let mut space = Space::new(self.messenger.scores().k);
        let mut total = space.cavity.clone();
        sweeps(options, stop, || {
            let mut change = 0.0f64;
            for &node in &order {
                self.total(node as usize, messages, &mut total);
                for &out in self.wiring().out(node as usize) {
                    self.send(out as usize, &total, messages, &mut space);
                    change =
                        change.max(mix(&mut messages[self.place(out as usize)], &space.out, options.damping));
                }
            }
            change
        })
    }

    fn residual(
        &self,
        options: &Options,
        messages: &mut [f64],
        stop: &Interrupt,
    ) -> Result<Ending, KernelError> {
        let (wiring, k) = (self.wiring(), self.messenger.scores().k);
        let first = 2 * wiring.edges(self.graph).start;
        let n = 2 * wiring.edges(self.graph).len();
        let mut space = Space::new(k);
        let mut total = space.cavity.clone();
        let mut pending = messages.to_vec();
        let mut change = vec![0.0f64; n];
        let mut queue = BinaryHeap::with_capacity(n);
        let most = options.max_iter.saturating_mul(n);
        let mut updates = 0;
        for node in wiring.nodes(self.graph) {
            self.total(node, messages, &mut total);
            for &out in wiring.out(node) {
                self.send(out as usize, &total, messages, &mut space);
                let place = self.place(out as usize);
                pending[place.clone()].copy_from_slice(&space.out);
                change[out as usize - first] = distance(&messages[place], &space.out);
                queue.push(Next(change[out as usize - first], out));
            }
        }
        while let Some(Next(size, message)) = queue.pop() {
            let message = message as usize;
            // Entries made before the message changed last are stale.
            if size != change[message - first] {
                continue;
            }
            if size <= options.tol || updates >= most {
                queue.push(Next(size, message as u32));
                break;
            }
            updates += 1;
            if updates.is_multiple_of(1024) {
                stop.check()?;
            }
            let place = self.place(message);
            mix(&mut messages[place.clone()], &pending[place.clone()], options.damping);
            change[message - first] = distance(&messages[place.clone()], &pending[place]);
            queue.push(Next(change[message - first], message as u32));
            let node = wiring.target(message);
            self.total(node, messages, &mut total);
            for &out in wiring.out(node) {
                let out = out as usize;
                // Without weights the message back does not depend on this one.
                if out == message ^ 1 && self.weights.is_none() {
                    continue;
                }
                self.send(out, &total, messages, &mut space);
                let place = self.place(out);
                pending[place.clone()].copy_from_slice(&space.out);
                change[out - first] = distance(&messages[place], &space.out);
                queue.push(Next(change[out - first], out as u32));
            }
        }
        let residual = change.iter().copied().fold(0.0, f64::max);
        let iterations = updates.div_ceil(n.max(1));
        Ok(Ending { iterations, residual, converged: residual <= options.tol })
    }
}

/// Call `sweep`, which returns the largest change, until that is small.
fn sweeps(
    options: &Options,
    stop: &Interrupt,
    mut sweep: impl FnMut() -> f64,
) -> Result<Ending, KernelError> {
    let mut ending = Ending { iterations: 0, residual: f64::INFINITY, converged: false };
    while ending.iterations < options.max_iter && !ending.converged {
        stop.check()?;
        ending.residual = sweep();
        ending.iterations += 1;
        ending.converged = ending.residual <= options.tol;
    }
    Ok(ending)
}

/// Move a message; returns how far the new one is from it.
#[inline(always)]
fn mix(message: &mut [f64], new: &[f64], damping: f64) -> f64 {
    let mut change = 0.0f64;
    for (m, &new) in message.iter_mut().zip(new) {
        let step = new - *m;
        change = change.max(step.abs());
        *m = if damping == 0.0 { new } else { *m + (1.0 - damping) * step };
    }
    change
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

/// A message by the size of its change; at a tie the lower number first.
#[derive(Debug, PartialEq)]
struct Next(f64, u32);

impl Eq for Next {}

impl Ord for Next {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0).then(other.1.cmp(&self.1))
    }
}

impl PartialOrd for Next {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Nodes of a graph sorted by color: each takes the lowest color that no neighbor before it in breadth-first order has.
fn by_color(wiring: &Wiring, graph: usize) -> Vec<u32> {
    let first = wiring.nodes(graph).start;
    let mut order = wiring.breadth_first(graph);
    let mut colors = vec![u32::MAX; order.len()];
    let mut taken = Vec::new();
    for &node in &order {
        taken.clear();
        taken.extend(wiring.out(node as usize).iter().map(|&m| colors[wiring.target(m as usize) - first]));
        taken.sort_unstable();
        let mut color = 0;
        for &other in &taken {
            if other == color {
                color += 1;
            }
        }
        colors[node as usize - first] = color;
    }
    order.sort_by_key(|&node| (colors[node as usize - first], node));
    order
}
