//! Exchange steps between the planes of a sequence, where edges without slack block single steps.
//!
//! Direction: the disjoint planes of the largest summed slope enter, the cheapest active planes that cover their
//! edges without slack leave (a plane in both sets stays as it is); one exact line search for every connected part.
//! Both sets are found by dynamic programming over the edges. Each step raises the dual and keeps all constraints. Where
//! no active plane has a negative slope, there is such a direction unless the planes known are at their optimum: the
//! alphas are a mixture of disjoint sets, each of which covers every edge without slack.

use crate::chain::planes::{Planes, TIGHT};
use crate::real::Real;

/// A plane that may take part.
#[derive(Debug, Clone, Copy)]
struct Candidate {
    plane: usize,
    /// Edges covered, both included.
    first: usize,
    last: usize,
    slope: f64,
    alpha: f64,
    enters: bool,
    leaves: bool,
}

/// Work space.
#[derive(Debug, Default)]
pub(super) struct Exchange {
    candidates: Vec<Candidate>,
    /// Best sum of slopes of disjoint planes on the edges before each, and the plane that ends there.
    best: Vec<(f64, Option<usize>)>,
    tight: Vec<usize>,
    /// Cheapest cover of the first tight edges: cost, last plane, where it begins.
    cover: Vec<(f64, usize, usize)>,
    /// Active planes by their first edge, and those that have begun and not ended at an edge.
    begin: Vec<usize>,
    window: Vec<usize>,
    net: Vec<f64>,
    /// Sum of the planes of a direction, and where it is not zero.
    sum: Vec<f64>,
    touched: Vec<usize>,
}

impl Exchange {
    /// Exchange where it pays; returns the gain of the dual. `c` is C_i.
    pub fn run<T: Real>(&mut self, planes: &mut Planes<T>, c: f64, w: &mut [T]) -> f64 {
        self.candidates.clear();
        for (plane, found) in planes.all.iter().enumerate() {
            let slope = planes.slope(plane, w);
            if slope > 0.0 || found.alpha > 0.0 {
                let edges = found.edges();
                self.candidates.push(Candidate {
                    plane,
                    first: edges.start,
                    last: edges.end - 1,
                    slope,
                    alpha: found.alpha,
                    enters: false,
                    leaves: false,
                });
            }
        }
        self.candidates.sort_unstable_by_key(|candidate| candidate.last);
        self.choose_entering(planes.slack.len());
        // Edges of the planes that enter; these are disjoint, so each comes once.
        self.tight.clear();
        let entering = self.candidates.iter().filter(|candidate| candidate.enters);
        for candidate in entering {
            let edges = candidate.first..=candidate.last;
            self.tight.extend(edges.filter(|&edge| planes.slack[edge] <= TIGHT));
        }
        self.tight.sort_unstable();
        if self.tight.is_empty() || !self.choose_leaving() {
            return 0.0;
        }
        self.step_parts(planes, c, w)
    }

    /// The disjoint planes of the largest summed slope: weighted interval scheduling.
    fn choose_entering(&mut self, n_edges: usize) {
        self.best.clear();
        self.best.push((0.0, None));
        let mut next = 0;
        for edge in 0..n_edges {
            let mut here = (self.best[edge].0, None);
            while next < self.candidates.len() && self.candidates[next].last == edge {
                let candidate = self.candidates[next];
                let sum = self.best[candidate.first].0 + candidate.slope;
                if candidate.slope > 0.0 && sum > here.0 {
                    here = (sum, Some(next));
                }
                next += 1;
            }
            self.best.push(here);
        }
        let mut at = n_edges;
        while at > 0 {
            match self.best[at].1 {
                Some(i) => {
                    self.candidates[i].enters = true;
                    at = self.candidates[i].first;
                }
                None => at -= 1,
            }
        }
    }

    /// Cover the edges of `tight` by the active planes of the smallest summed slope; false where that is not possible.
    fn choose_leaving(&mut self) -> bool {
        self.cover.clear();
        self.cover.push((0.0, 0, 0));
        self.begin.clear();
        self.begin.extend((0..self.candidates.len()).filter(|&i| self.candidates[i].alpha > TIGHT));
        self.begin.sort_unstable_by_key(|&i| self.candidates[i].first);
        self.window.clear();
        let mut next = 0;
        for j in 1..=self.tight.len() {
            let edge = self.tight[j - 1];
            while next < self.begin.len() && self.candidates[self.begin[next]].first <= edge {
                self.window.push(self.begin[next]);
                next += 1;
            }
            self.window.retain(|&i| self.candidates[i].last >= edge);
            let mut here = (f64::INFINITY, 0, 0);
            for &i in &self.window {
                let candidate = &self.candidates[i];
                let from = self.tight[..j].partition_point(|&edge| edge < candidate.first);
                for begin in from..j {
                    let cost = self.cover[begin].0 + candidate.slope;
                    if cost < here.0 {
                        here = (cost, i, begin);
                    }
                }
            }
            self.cover.push(here);
        }
        let mut j = self.tight.len();
        if self.cover[j].0 == f64::INFINITY {
            return false;
        }
        while j > 0 {
            let (_, i, begin) = self.cover[j];
            self.candidates[i].leaves = true;
            j = begin;
        }
        true
    }

    /// An exact step along every connected part of the exchange.
    fn step_parts<T: Real>(&mut self, planes: &mut Planes<T>, c: f64, w: &mut [T]) -> f64 {
        self.candidates.retain(|candidate| candidate.enters != candidate.leaves);
        self.candidates.sort_unstable_by_key(|candidate| candidate.first);
        self.sum.resize(w.len(), 0.0);
        let (mut gain, mut at) = (0.0, 0);
        while at < self.candidates.len() {
            let (mut last, begin) = (self.candidates[at].last, at);
            while at < self.candidates.len() && self.candidates[at].first <= last {
                last = last.max(self.candidates[at].last);
                at += 1;
            }
            if self.candidates[begin..at].iter().any(|candidate| candidate.leaves) {
                gain += self.step(begin..at, planes, c, w);
            }
        }
        gain
    }

    fn step<T: Real>(
        &mut self,
        part: std::ops::Range<usize>,
        planes: &mut Planes<T>,
        c: f64,
        w: &mut [T],
    ) -> f64 {
        let part = &self.candidates[part];
        let (first, last) = (part[0].first, part.iter().map(|candidate| candidate.last).max().unwrap_or(0));
        let sign = |candidate: &Candidate| if candidate.enters { 1.0 } else { -1.0 };
        let (mut slope, mut most) = (0.0, 1.0f64);
        self.net.clear();
        self.net.resize(last + 1 - first, 0.0);
        for candidate in part {
            slope += sign(candidate) * planes.slope(candidate.plane, w);
            if candidate.leaves {
                most = most.min(planes.all[candidate.plane].alpha);
            }
            for net in &mut self.net[candidate.first - first..=candidate.last - first] {
                *net += sign(candidate);
            }
        }
        for (&net, &slack) in self.net.iter().zip(&planes.slack[first..]) {
            if net > 0.0 {
                most = most.min(slack / net);
            }
        }
        if slope <= 0.0 || most <= 0.0 {
            return 0.0;
        }
        let mut curvature = 0.0;
        for candidate in part {
            let sign = sign(candidate);
            planes.each(candidate.plane, |at, value, _| {
                self.sum[at] += sign * value.to_f64();
                self.touched.push(at);
            });
        }
        // |sum|^2 in the metric of the weights: <sum, moved> over the planes.
        for candidate in part {
            let sign = sign(candidate);
            planes.each(candidate.plane, |at, _, moved| curvature += sign * moved.to_f64() * self.sum[at]);
        }
        for at in self.touched.drain(..) {
            self.sum[at] = 0.0;
        }
        let wanted = if curvature > 0.0 { slope / (c * curvature) } else { most };
        let delta = wanted.min(most);
        for candidate in part {
            planes.change(candidate.plane, sign(candidate) * delta, c, w);
        }
        c * delta * (slope - 0.5 * c * delta * curvature)
    }
}
