//! The planes of one sequence: runs of tokens whose labels differ from the right ones, and their dual variables.
//!
//! Plane k is psi_k = Psi(labels with the run) - Psi(labels) with the cost Delta_k of the run. The edges of a sequence of T
//! tokens are numbered 0..=T, the first and the last being its ends; a run of the tokens a..b covers a..=b.
//! Invariant: alpha_k >= 0 and slack_e = 1 - sum of the alphas of the planes that cover e >= 0. These are exactly
//! the distributions over labellings, as far as costs and features can tell: a chain's local polytope is its marginal
//! polytope.

use crate::chain::tuning::REST;
use std::ops::Range;

use crate::chain::encoded::Encoded;
use crate::chain::margin::{Entries, Margin, runs};
use crate::real::Real;

/// Less slack than this is none.
pub(super) const TIGHT: f64 = 1e-9;

/// An entry of a plane other than +-1 at a weight of its own.
#[derive(Debug, Clone, Copy)]
struct Other<T> {
    at: u32,
    value: T,
    /// The value times the number of attributes that share the weight.
    moved: T,
}

/// A run and its dual variable.
#[derive(Debug, Clone)]
pub(super) struct Plane {
    /// First token of the run, counted in the sequence; also its first edge.
    pub first: u32,
    /// Tokens of the run.
    pub length: u32,
    pub cost: f64,
    /// |psi|^2
    pub norm: f64,
    pub alpha: f64,
    /// Searches since the plane was of use.
    idle: u32,
    /// Sweeps for which the plane need not be looked at.
    rest: u32,
    states: u32,
    /// Entries +1 are `ones[up..down]`, entries -1 `ones[down..ones_end]`.
    up: u32,
    down: u32,
    ones_end: u32,
    other: u32,
    others_end: u32,
}

impl Plane {
    /// The edges that the run covers.
    #[inline(always)]
    pub fn edges(&self) -> Range<usize> {
        self.first as usize..(self.first + self.length) as usize + 1
    }
}

/// The planes of a sequence.
#[derive(Debug, Default)]
pub(super) struct Planes<T> {
    pub all: Vec<Plane>,
    states: Vec<u32>,
    ones: Vec<u32>,
    others: Vec<Other<T>>,
    pub slack: Vec<f64>,
}

/// What a step did.
pub(super) enum Step {
    /// It raised the dual by so much.
    Gain(f64),
    /// It would raise the dual, but an edge has no slack.
    Blocked,
}

impl<T: Real> Planes<T> {
    /// Find or make the planes of a path, whose runs of tokens differ from the labels.
    pub fn take(
        &mut self,
        problem: &Margin,
        data: &Encoded<T>,
        number: usize,
        path: &[u32],
        entries: &mut Entries,
    ) {
        let tokens = data.offsets()[number]..data.offsets()[number + 1];
        if self.slack.is_empty() {
            self.slack = vec![1.0; tokens.len() + 1];
        }
        runs(path, &problem.states[tokens.clone()], |run| {
            let states = &path[run.clone()];
            match (0..self.all.len()).find(|&k| self.is(k, &run, states)) {
                Some(k) => (self.all[k].idle, self.all[k].rest) = (0, 0),
                None => self.make(problem, data, number, &tokens, run, states, entries),
            }
        });
    }

    #[allow(clippy::too_many_arguments)]
    fn make(
        &mut self,
        problem: &Margin,
        data: &Encoded<T>,
        number: usize,
        tokens: &Range<usize>,
        run: Range<usize>,
        states: &[u32],
        entries: &mut Entries,
    ) {
        let first = tokens.start + run.start;
        entries.clear();
        problem.difference(data, tokens, first, states, entries);
        let entries = entries.settle(&problem.shares);
        let share = |at: u32| f64::from(problem.shares[at as usize]);
        let norm = entries.iter().map(|&(at, v)| share(at) * v * v).sum();
        let plain = |wanted: f64| {
            entries.iter().filter(move |&&(at, v)| v == wanted && share(at) == 1.0).map(|entry| entry.0)
        };
        let up = self.ones.len() as u32;
        self.ones.extend(plain(1.0));
        let down = self.ones.len() as u32;
        self.ones.extend(plain(-1.0));
        let other = self.others.len() as u32;
        let rest = entries.iter().filter(|&&(at, v)| v.abs() != 1.0 || share(at) != 1.0);
        self.others.extend(rest.map(|&(at, v)| Other {
            at,
            value: T::from_f64(v),
            moved: T::from_f64(share(at) * v),
        }));
        self.all.push(Plane {
            first: run.start as u32,
            length: run.len() as u32,
            cost: problem.cost_of(number, first, states),
            norm,
            alpha: 0.0,
            idle: 0,
            rest: 0,
            states: self.states.len() as u32,
            up,
            down,
            ones_end: self.ones.len() as u32,
            other,
            others_end: self.others.len() as u32,
        });
        self.states.extend_from_slice(states);
    }

    /// Call `body(weight, value, moved)` for the entries of a plane.
    #[inline(always)]
    pub fn each(&self, k: usize, mut body: impl FnMut(usize, T, T)) {
        let plane = &self.all[k];
        for &at in &self.ones[plane.up as usize..plane.down as usize] {
            body(at as usize, T::ONE, T::ONE);
        }
        for &at in &self.ones[plane.down as usize..plane.ones_end as usize] {
            body(at as usize, -T::ONE, -T::ONE);
        }
        for other in &self.others[plane.other as usize..plane.others_end as usize] {
            body(other.at as usize, other.value, other.moved);
        }
    }

    /// Delta + <w, psi>: the derivative of the dual, up to C.
    #[inline(always)]
    pub fn slope(&self, k: usize, w: &[T]) -> f64 {
        let plane = &self.all[k];
        let mut sums = [T::ZERO; 4];
        let (up, down) =
            self.ones[plane.up as usize..plane.ones_end as usize].split_at((plane.down - plane.up) as usize);
        // Two sums each, so that one addition does not wait for the other.
        for pair in up.chunks(2) {
            for (sum, &at) in sums.iter_mut().zip(pair) {
                *sum += w[at as usize];
            }
        }
        for pair in down.chunks(2) {
            for (sum, &at) in sums[2..].iter_mut().zip(pair) {
                *sum += w[at as usize];
            }
        }
        let mut rest = T::ZERO;
        for other in &self.others[plane.other as usize..plane.others_end as usize] {
            rest += other.value * w[other.at as usize];
        }
        plane.cost + ((sums[0] + sums[1]) - (sums[2] + sums[3]) + rest).to_f64()
    }

    /// Change alpha_k by `delta`, and w with it; `c` is C_i.
    #[inline(always)]
    pub fn change(&mut self, k: usize, delta: f64, c: f64, w: &mut [T]) {
        let by = T::from_f64(-c * delta);
        self.each(k, |at, _, moved| w[at] += by * moved);
        self.all[k].alpha += delta;
        for edge in self.all[k].edges() {
            self.slack[edge] -= delta;
        }
    }

    /// By how much the dual variables break their constraints: rounding at most.
    pub fn excess(&self) -> f64 {
        let mut cover = vec![0.0; self.slack.len()];
        for plane in &self.all {
            cover[plane.edges()].iter_mut().for_each(|sum| *sum += plane.alpha);
        }
        cover.iter().fold(0.0, |most, &sum: &f64| most.max(sum - 1.0))
    }

    /// Most that alpha_k can grow.
    #[inline(always)]
    fn room(&self, k: usize) -> f64 {
        self.slack[self.all[k].edges()].iter().fold(1.0, |room, &slack| room.min(slack))
    }

    /// Exact step on alpha_k alone; a plane that stays at zero is left alone for a few sweeps.
    #[inline(always)]
    pub fn step(&mut self, k: usize, c: f64, w: &mut [T]) -> Step {
        if self.all[k].rest > 0 {
            self.all[k].rest -= 1;
            return Step::Gain(0.0);
        }
        let slope = self.slope(k, w);
        let Plane { norm, alpha, .. } = self.all[k];
        let wanted = if norm > 0.0 { slope / (c * norm) } else { slope.signum() };
        let delta = if slope > 0.0 {
            let room = self.room(k);
            if room <= TIGHT {
                return Step::Blocked;
            }
            wanted.min(room)
        } else {
            wanted.max(-alpha)
        };
        if delta == 0.0 {
            self.all[k].rest = REST;
            return Step::Gain(0.0);
        }
        self.change(k, delta, c, w);
        Step::Gain(c * delta * (slope - 0.5 * c * delta * norm))
    }

    /// The dual variables that are positive: first token, states of the run, alpha.
    pub fn active(&self) -> impl Iterator<Item = (u32, &[u32], f64)> {
        self.all.iter().filter(|plane| plane.alpha > 0.0).map(|plane| {
            let states = &self.states[plane.states as usize..][..plane.length as usize];
            (plane.first, states, plane.alpha)
        })
    }

    /// Give the plane of a run, which must be known, the value `alpha`, or as much as the slack allows.
    pub fn restore(&mut self, run: &Range<usize>, states: &[u32], alpha: f64) {
        let found = (0..self.all.len()).find(|&k| self.is(k, run, states));
        if let Some(k) = found {
            let alpha = alpha.min(self.room(k)).max(0.0);
            self.all[k].alpha += alpha;
            for edge in self.all[k].edges() {
                self.slack[edge] -= alpha;
            }
        }
    }

    fn is(&self, k: usize, run: &Range<usize>, states: &[u32]) -> bool {
        let plane = &self.all[k];
        plane.first as usize == run.start
            && plane.length as usize == run.len()
            && self.states[plane.states as usize..][..run.len()] == *states
    }

    /// Forget the planes that were of no use in the last `patience` searches; settle the slack.
    pub fn tidy(&mut self, patience: u32) {
        for plane in &mut self.all {
            plane.idle = if plane.alpha > 0.0 { 0 } else { plane.idle + 1 };
        }
        let idle = self.all.iter().filter(|plane| plane.idle > patience).count();
        if idle * 4 > self.all.len() {
            let old = std::mem::take(self);
            self.slack = old.slack;
            for plane in old.all.into_iter().filter(|plane| plane.idle <= patience) {
                let [states, up, other] =
                    [self.states.len(), self.ones.len(), self.others.len()].map(|n| n as u32);
                self.states.extend_from_slice(&old.states[plane.states as usize..][..plane.length as usize]);
                self.ones.extend_from_slice(&old.ones[plane.up as usize..plane.ones_end as usize]);
                self.others.extend_from_slice(&old.others[plane.other as usize..plane.others_end as usize]);
                self.all.push(Plane {
                    states,
                    up,
                    down: up + plane.down - plane.up,
                    ones_end: up + plane.ones_end - plane.up,
                    other,
                    others_end: other + plane.others_end - plane.other,
                    ..plane
                });
            }
        }
        self.slack.fill(1.0);
        for plane in &self.all {
            for edge in plane.edges() {
                self.slack[edge] -= plane.alpha;
            }
        }
    }
}
