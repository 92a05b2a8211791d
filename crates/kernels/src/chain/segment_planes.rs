//! Dual coordinate ascent on segment planes for the structured SVM on chains.
//!
//! Maximizes D(alpha) = sum_i C_i sum_k alpha_ik Delta_ik - 1/2 |w|^2 with
//!     w = -sum_i C_i sum_k alpha_ik psi_ik,
//! an equality that holds up to rounding at all times, over the constraints of [`Planes`]. New planes come from
//! rivals ([`Rival`]): in a pass sequence by sequence at the current w, or in a search at one fixed w for all sequences,
//! which yields the exact loss there as well, and so a duality gap. Between searches, sweeps over the planes known so
//! far are cheap. Compare Taskar et al. (2004) for the factored dual, Joachims et al. (2009) for cutting planes.
//!
//! Searches go on many threads with the same result to the bit; passes and sweeps on one.

use crate::chain::encoded::Encoded;
use crate::chain::exchange::Exchange;
use crate::chain::margin::{AtSequence, BLOCK, Entries, Margin, Pass, runs};
use crate::chain::planes::{Planes, Step};
use crate::chain::rival::Rival;
use crate::chain::tuning::PATIENCE;
use crate::error::{KernelError, check_length, zeros};
use crate::interrupt::Interrupt;
use crate::primal::batch::threads_for;
use crate::random::Random;
use crate::real::Real;
use crate::simd::{Task, dispatch};
use crate::threads::try_each;

/// Dual variables for a later run: plane i puts the labels `labels[starts[i]..starts[i + 1]]` at the tokens from
/// `firsts[i]` on of sequence `sequences[i]`.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct Active {
    /// Sequences of the planes.
    pub sequences: Vec<i64>,
    /// Their first tokens, counted in the sequence.
    pub firsts: Vec<i64>,
    /// Where their labels begin, and where the last end.
    pub starts: Vec<i64>,
    /// Labels of all planes.
    pub labels: Vec<i64>,
    /// Their dual variables.
    pub alphas: Vec<f64>,
}

/// The state of a solver.
#[derive(Debug)]
pub struct SegmentPlanes<T> {
    w: Vec<T>,
    planes: Vec<Planes<T>>,
    exchange: Exchange,
    random: Random,
    order: Vec<u32>,
    /// Sum of the weights after each sweep since the last search, sweep j counted j times.
    sum: Vec<f64>,
    n_summed: u32,
}

impl<T: Real> SegmentPlanes<T> {
    /// Begin at alpha = 0, w = 0.
    pub fn new(problem: &Margin, data: &Encoded<T>, seed: u64) -> Result<Self, KernelError> {
        problem.check(data)?;
        Ok(Self {
            w: zeros(problem.n_weights())?,
            planes: (0..data.offsets().len() - 1).map(|_| Planes::default()).collect(),
            exchange: Exchange::default(),
            random: Random::new(seed),
            order: problem.active(data),
            sum: zeros(problem.n_weights())?,
            n_summed: 0,
        })
    }

    /// The weights now.
    pub fn weights(&self) -> &[T] {
        &self.w
    }

    /// The average of the weights after each sweep since the last search, sweep j weighed by j; the weights now where
    /// there was none.
    pub fn average(&self) -> Vec<T> {
        if self.n_summed == 0 {
            return self.w.clone();
        }
        let n = f64::from(self.n_summed);
        let share = 2.0 / (n * (n + 1.0));
        self.sum.iter().map(|sum| T::from_f64(share * sum)).collect()
    }

    /// Planes known, and those with a positive dual variable.
    pub fn counts(&self) -> (usize, usize) {
        let all = || self.planes.iter().flat_map(|planes| &planes.all);
        (all().count(), all().filter(|plane| plane.alpha > 0.0).count())
    }

    /// The dual variables that are positive.
    pub fn active(&self, problem: &Margin) -> Active {
        let (graph, mut found) = (problem.links.graph(), Active::default());
        found.starts.push(0);
        for (number, planes) in self.planes.iter().enumerate() {
            for (first, states, alpha) in planes.active() {
                found.sequences.push(number as i64);
                found.firsts.push(first.into());
                found.labels.extend(states.iter().map(|&s| graph.label(s as usize) as i64));
                found.starts.push(found.labels.len() as i64);
                found.alphas.push(alpha);
            }
        }
        found
    }

    /// Take dual variables that a run on other data, or with another C, ended with, as far as they fit; then the
    /// weights follow from [`SegmentPlanes::dual`].
    pub fn restore(
        &mut self,
        problem: &Margin,
        data: &Encoded<T>,
        active: &Active,
    ) -> Result<(), KernelError> {
        self.check(problem, data)?;
        let n = active.sequences.len();
        check_length("first tokens", active.firsts.len(), n)?;
        check_length("alphas", active.alphas.len(), n)?;
        check_length("starts of the labels", active.starts.len(), n + 1)?;
        let k = data.n_labels();
        let (mut entries, mut labels, mut path) = (Entries::default(), Vec::new(), Vec::new());
        for i in 0..n {
            let range =
                usize::try_from(active.starts[i]).ok().zip(usize::try_from(active.starts[i + 1]).ok());
            let run = range.and_then(|(a, b)| active.labels.get(a..b));
            let run = run.ok_or_else(|| KernelError::Argument("the starts are malformed".into()))?;
            let place = usize::try_from(active.sequences[i]).ok().zip(usize::try_from(active.firsts[i]).ok());
            let Some((number, first)) = place.filter(|&(number, _)| number < problem.c.len()) else {
                continue;
            };
            let tokens = data.offsets()[number]..data.offsets()[number + 1];
            let fits = first.checked_add(run.len()).is_some_and(|end| end <= tokens.len());
            if !fits || problem.c[number] == 0.0 || run.iter().any(|&y| y < 0 || y as usize >= k) {
                continue;
            }
            labels.clear();
            labels.extend_from_slice(&problem.labels[tokens.clone()]);
            for (label, &new) in labels[first..].iter_mut().zip(run) {
                *label = new as u32;
            }
            problem.links.states_of(&labels, &mut path);
            let planes = &mut self.planes[number];
            planes.take(problem, data, number, &path, &mut entries);
            runs(&path, &problem.states[tokens], |run| {
                planes.restore(&run, &path[run.clone()], active.alphas[i]);
            });
        }
        Ok(())
    }

    /// Visit all sequences in random order, each with its rival at the weights of that moment. Returns
    /// sum_i C_i H_i, each at the weights of its visit.
    pub fn run_pass(
        &mut self,
        problem: &Margin,
        data: &Encoded<T>,
        stop: &Interrupt,
    ) -> Result<f64, KernelError> {
        self.check(problem, data)?;
        self.random.shuffle(&mut self.order);
        dispatch(Pass { solver: self, problem, data, stop })
    }

    /// Visit the planes of all sequences in random order. Returns by how much the dual rose.
    pub fn sweep(&mut self, problem: &Margin, stop: &Interrupt) -> Result<f64, KernelError> {
        check_length("sequences", self.planes.len(), problem.c.len())?;
        self.random.shuffle(&mut self.order);
        let gain = dispatch(Sweep { solver: self, problem, stop })?;
        self.n_summed += 1;
        let weight = f64::from(self.n_summed);
        for (sum, w) in self.sum.iter_mut().zip(&self.w) {
            *sum += weight * w.to_f64();
        }
        Ok(gain)
    }

    /// Find the rivals of all sequences at the weights `at` and take their planes. Returns sum_i C_i H_i there.
    pub fn search(
        &mut self,
        problem: &Margin,
        data: &Encoded<T>,
        at: &[T],
        n_threads: usize,
        stop: &Interrupt,
    ) -> Result<f64, KernelError> {
        self.check(problem, data)?;
        check_length("weights", at.len(), problem.n_weights())?;
        let block = |(b, planes): (usize, &mut [Planes<T>])| {
            stop.check()?;
            Ok(dispatch(Search { problem, data, at, first: b * BLOCK, planes }))
        };
        let n_threads = threads_for(problem.work(data), n_threads);
        let parts = try_each(n_threads, self.planes.chunks_mut(BLOCK).enumerate(), block)?;
        self.sum.fill(0.0);
        self.n_summed = 0;
        Ok(parts.iter().sum())
    }

    /// A lower bound of min P: D(alpha) with the weights computed anew from the dual variables, less what rounding may
    /// have added. Entries other than +-1 are kept in the precision of the data.
    pub fn dual(&mut self, problem: &Margin) -> Result<f64, KernelError> {
        check_length("sequences", self.planes.len(), problem.c.len())?;
        let n = self.w.len();
        let (mut w, mut size) = (zeros::<f64>(n)?, zeros::<f64>(n)?);
        let (mut linear, mut count, mut excess) = (0.0, 0.0, 0.0f64);
        let kept = T::EPSILON.to_f64();
        for (planes, &c) in self.planes.iter().zip(&problem.c) {
            for (k, plane) in planes.all.iter().enumerate().filter(|(_, plane)| plane.alpha > 0.0) {
                linear += c * plane.alpha * plane.cost;
                count += 1.0;
                planes.each(k, |at, _, moved| {
                    let moved = moved.to_f64();
                    w[at] -= c * plane.alpha * moved;
                    // In units of the rounding of a double.
                    let rounded = if moved.abs() == 1.0 { 0.0 } else { kept / f64::EPSILON };
                    size[at] += c * plane.alpha * moved.abs() * rounded;
                });
            }
            excess = excess.max(planes.excess());
        }
        let (mut cross, mut square, mut penalty) = (0.0, 0.0, 0.0);
        let mut lengths = 0.0;
        for ((w, size), &k) in w.iter().zip(&size).zip(&problem.shares).filter(|(_, k)| **k > 0.0) {
            let (off, k) = (size * f64::EPSILON, f64::from(k));
            penalty += 0.5 * w * w / k;
            cross += w.abs() * off / k;
            square += off * off / k;
            lengths += w * w / k;
        }
        for (old, &new) in self.w.iter_mut().zip(&w) {
            *old = T::from_f64(new);
        }
        // Sums of so many terms, each rounded.
        let rounding = (count + 8.0) * f64::EPSILON * (linear + lengths);
        let dual = linear - penalty - cross - 0.5 * square - rounding;
        // D is concave and zero at alpha = 0: what leaves the constraints by rounding is scaled back.
        Ok(if dual > 0.0 { dual / (1.0 + excess) } else { dual })
    }

    fn check(&self, problem: &Margin, data: &Encoded<T>) -> Result<(), KernelError> {
        problem.check(data)?;
        check_length("sequences", self.planes.len(), problem.c.len())?;
        check_length("weights", self.w.len(), problem.n_weights())
    }

    /// A step on every plane of a sequence, and an exchange where a step was blocked.
    #[inline(always)]
    fn visit(&mut self, number: usize, c: f64) -> f64 {
        let planes = &mut self.planes[number];
        let (mut gain, mut blocked) = (0.0, false);
        for k in 0..planes.all.len() {
            match planes.step(k, c, &mut self.w) {
                Step::Gain(by) => gain += by,
                Step::Blocked => blocked = true,
            }
        }
        if blocked {
            gain += self.exchange.run(planes, c, &mut self.w);
        }
        gain
    }
}

impl<T: Real> AtSequence<T> for SegmentPlanes<T> {
    fn order(&self) -> &[u32] {
        &self.order
    }

    fn point(&self) -> (&[T], f64) {
        (&self.w, 1.0)
    }

    #[inline(always)]
    fn learn(
        &mut self,
        problem: &Margin,
        data: &Encoded<T>,
        number: usize,
        states: &[u32],
        entries: &mut Entries,
    ) {
        self.planes[number].take(problem, data, number, states, entries);
        self.visit(number, problem.c[number]);
    }
}

struct Sweep<'a, T> {
    solver: &'a mut SegmentPlanes<T>,
    problem: &'a Margin,
    stop: &'a Interrupt,
}

impl<T: Real> Task for Sweep<'_, T> {
    type Output = Result<f64, KernelError>;

    #[inline(always)]
    fn run<const FMA: bool>(self) -> Self::Output {
        let Self { solver, problem, stop } = self;
        let mut gain = 0.0;
        for at in 0..solver.order.len() {
            if at % 256 == 0 {
                stop.check()?;
            }
            let number = solver.order[at] as usize;
            gain += solver.visit(number, problem.c[number]);
        }
        Ok(gain)
    }
}

struct Search<'a, T> {
    problem: &'a Margin,
    data: &'a Encoded<T>,
    at: &'a [T],
    first: usize,
    planes: &'a mut [Planes<T>],
}

impl<T: Real> Task for Search<'_, T> {
    type Output = f64;

    #[inline(always)]
    fn run<const FMA: bool>(self) -> f64 {
        let Self { problem, data, at, first, planes } = self;
        let (mut rival, mut entries) = (Rival::new(problem), Entries::default());
        rival.set_edges(problem, at, 1.0);
        let mut total = 0.0;
        for (number, planes) in (first..).zip(planes) {
            let c = problem.c[number];
            if c == 0.0 {
                continue;
            }
            planes.tidy(PATIENCE);
            let found = rival.find::<FMA>(problem, data, at, number);
            if found > 0.0 {
                total += c * found;
                planes.take(problem, data, number, &rival.states, &mut entries);
            }
        }
        total
    }
}
