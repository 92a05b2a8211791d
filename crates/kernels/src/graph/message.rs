//! One message of belief propagation: from the sums at a node to the scores of a neighbor's labels.
//!
//! out\[b\] = log sum_a exp(cavity\[a\] + pair(a, b)), or the maximum, less its largest value. Sums are taken over products
//! with tables of exponentials made once, K exponentials for K^2 terms; where a sum is too small to trust, its terms
//! are added again in the logarithmic domain. A table whose values off the diagonal are all equal (Potts) takes O(K):
//! the sum over the others is the sum over all less one. Felzenszwalb & Huttenlocher (2006), section 3.1.

use crate::chain::log_domain::log_sum_exp;
use crate::graph::scores::{Pair, Scores, first_best};

/// Sums below this may have lost terms that matter.
const SMALLEST: f64 = 1e-250;
/// Exponentials above this may overflow in sums.
const LARGEST: f64 = 1e250;

/// What a table of pairs allows.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Form {
    Dense,
    /// One value off the diagonal.
    Potts,
}

/// Tables of a batch, made ready for messages.
#[derive(Debug)]
pub struct Messenger<'a> {
    scores: Scores<'a>,
    maximum: bool,
    /// By kind of edge, or by edge where edges have scores of their own.
    forms: Vec<Form>,
    /// exp(pair - its largest value); exp(diagonal - rest) on the diagonal for Potts. Empty for maxima.
    exponentials: Vec<f64>,
}

/// Work space of a message.
#[derive(Debug, Clone)]
pub struct Space {
    /// What the sender's node knows without the receiver.
    pub cavity: Vec<f64>,
    /// The message.
    pub out: Vec<f64>,
    weights: Vec<f64>,
    terms: Vec<f64>,
}

impl Space {
    /// For `k` labels.
    pub fn new(k: usize) -> Self {
        let zeros = vec![0.0; k];
        Self { cavity: zeros.clone(), out: zeros.clone(), weights: zeros.clone(), terms: zeros }
    }
}

impl<'a> Messenger<'a> {
    /// Make the tables of sums or of maxima ready.
    pub fn new(scores: Scores<'a>, maximum: bool) -> Self {
        let (wiring, k) = (scores.wiring, scores.k);
        let mut pairs: Vec<Option<Pair<'_>>> = Vec::new();
        if scores.has_own() {
            pairs.extend((0..wiring.n_edges()).map(|e| Some(scores.pair(e))));
        } else {
            pairs.resize(wiring.n_kinds(), None);
            for e in 0..wiring.n_edges() {
                pairs[wiring.kind(e)].get_or_insert_with(|| scores.pair(e));
            }
        }
        let mut forms = Vec::with_capacity(pairs.len());
        let mut exponentials = Vec::new();
        for pair in pairs {
            let Some(pair) = pair else {
                forms.push(Form::Dense);
                exponentials.extend(std::iter::repeat_n(0.0, if maximum { 0 } else { k * k }));
                continue;
            };
            let form = if is_potts(&pair, k) { Form::Potts } else { Form::Dense };
            forms.push(form);
            if !maximum {
                let most = (0..k * k).map(|c| pair.at(c / k, c % k)).fold(f64::NEG_INFINITY, f64::max);
                let shift =
                    |a: usize, b: usize| if form == Form::Potts && a == b { off(&pair, k) } else { most };
                exponentials.extend((0..k * k).map(|c| (pair.at(c / k, c % k) - shift(c / k, c % k)).exp()));
            }
        }
        Self { scores, maximum, forms, exponentials }
    }

    /// The scores.
    pub fn scores(&self) -> &Scores<'a> {
        &self.scores
    }

    /// Whether messages are maxima.
    pub fn maximum(&self) -> bool {
        self.maximum
    }

    /// Write message number `message`, from `space.cavity`, to `space.out`.
    #[inline]
    pub fn send(&self, message: usize, space: &mut Space) {
        let edge = message / 2;
        let table = if self.scores.has_own() { edge } else { self.scores.wiring.kind(edge) };
        let pair = self.scores.pair(edge);
        match (self.forms[table], self.maximum) {
            (Form::Dense, true) => dense_max(&pair, message, space),
            (Form::Potts, true) => potts_max(&pair, space),
            (form, false) => {
                let cells = self.scores.k * self.scores.k;
                let exponentials = &self.exponentials[table * cells..(table + 1) * cells];
                match form {
                    Form::Dense => dense_sum(&pair, exponentials, message, space),
                    Form::Potts => potts_sum(&pair, exponentials, space),
                }
            }
        }
        let most = space.out.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        for out in &mut space.out {
            *out -= most;
        }
    }
}

/// The value off the diagonal.
fn off(pair: &Pair<'_>, k: usize) -> f64 {
    if k > 1 { pair.at(0, 1) } else { 0.0 }
}

fn is_potts(pair: &Pair<'_>, k: usize) -> bool {
    let rest = off(pair, k);
    // With two labels nothing is gained.
    k > 2
        && (0..k * k).all(|c| c / k == c % k || pair.at(c / k, c % k) == rest)
        && (0..k).all(|b| (pair.at(b, b) - rest).exp() < LARGEST)
}

fn dense_max(pair: &Pair<'_>, message: usize, space: &mut Space) {
    space.out.fill(f64::NEG_INFINITY);
    for (a, &cavity) in space.cavity.iter().enumerate() {
        for (b, out) in space.out.iter_mut().enumerate() {
            *out = out.max(cavity + pair.sent(message, a, b));
        }
    }
}

fn potts_max(pair: &Pair<'_>, space: &mut Space) {
    let (top, most) = first_best(space.cavity.iter().copied());
    let others = space.cavity.iter().enumerate().filter(|(a, _)| *a != top);
    let second = others.map(|(_, &c)| c).fold(f64::NEG_INFINITY, f64::max);
    let rest = off(pair, space.cavity.len());
    for (b, out) in space.out.iter_mut().enumerate() {
        let other = if b == top { second } else { most };
        *out = (other + rest).max(space.cavity[b] + pair.at(b, b));
    }
}

fn dense_sum(pair: &Pair<'_>, exponentials: &[f64], message: usize, space: &mut Space) {
    let k = space.cavity.len();
    let most = space.cavity.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    for (weight, cavity) in space.weights.iter_mut().zip(&space.cavity) {
        *weight = (cavity - most).exp();
    }
    if message.is_multiple_of(2) {
        space.out.fill(0.0);
        for (weight, row) in space.weights.iter().zip(exponentials.chunks_exact(k)) {
            for (out, x) in space.out.iter_mut().zip(row) {
                *out += weight * x;
            }
        }
    } else {
        for (out, row) in space.out.iter_mut().zip(exponentials.chunks_exact(k)) {
            *out = space.weights.iter().zip(row).map(|(w, x)| w * x).sum();
        }
    }
    if space.out.iter().all(|&sum| sum > SMALLEST) {
        for out in &mut space.out {
            *out = out.ln();
        }
        return;
    }
    for b in 0..k {
        for a in 0..k {
            space.terms[a] = space.cavity[a] + pair.sent(message, a, b);
        }
        space.out[b] = log_sum_exp(&space.terms);
    }
}

fn potts_sum(pair: &Pair<'_>, exponentials: &[f64], space: &mut Space) {
    let k = space.cavity.len();
    let (top, most) = first_best(space.cavity.iter().copied());
    let mut rest = 0.0;
    for (a, (weight, cavity)) in space.weights.iter_mut().zip(&space.cavity).enumerate() {
        *weight = (cavity - most).exp();
        if a != top {
            rest += *weight;
        }
    }
    for b in 0..k {
        let same = exponentials[b * k + b];
        let sum = if b == top { rest + same } else { 1.0 + rest - space.weights[b] * (1.0 - same) };
        space.out[b] = if sum > SMALLEST {
            sum.ln()
        } else {
            let others = |a: usize| if a == b { pair.at(b, b) - off(pair, k) } else { 0.0 };
            for a in 0..k {
                space.terms[a] = space.cavity[a] - most + others(a);
            }
            log_sum_exp(&space.terms)
        };
    }
}
