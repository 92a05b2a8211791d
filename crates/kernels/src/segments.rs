//! Sequences cut into segments (semi-Markov chains): best segmentation, log Z and marginals.
//!
//! A segment of kind k and length n has the tag `first` at its first token and `inside` at the others, so that a
//! segmentation of T tokens is a sequence of tags, and scores like a chain of them,
//! start\[y_0\] + sum_t node\[t, y_t\] + sum_{t > 0} edge\[y_{t-1}, y_t\] + end\[y_{T-1}\],
//! plus length\[k, n\] for every segment. No segment is longer than its kind allows.
//!
//! With a(e, u) the sum over the segmentations of the first e tokens that end in tag u, and b(e, u) that over what
//! follows, the segment of tokens s..s+n has the probability before(s, k) value(s, n, k) b(s + n, last tag) / Z. Sums
//! over lengths are taken in the logarithmic domain, sums over tags by products with exp(edges), relative to the
//! largest, and again in the logarithmic domain where those underflow. One pass takes T (sum of the longest lengths +
//! tags x kinds) steps. Sarawagi & Cohen (2004), Semi-Markov conditional random fields for information extraction.

use crate::chain::batch::check_offsets;
use crate::chain::log_domain::log_sum_exp;
use crate::error::{KernelError, check_length};
use crate::interrupt::Interrupt;
use crate::primal::batch::threads_for;
use crate::threads::{Spaces, try_each};

/// Sums below this are taken again in the logarithmic domain: products have lost digits there.
const TINY: f64 = 1e-280;
/// Largest factor of a product of scaled sums.
const HUGE: f64 = 1e280;

/// A kind of segment.
#[derive(Debug, Clone, Copy)]
pub struct Kind {
    /// Tag of the first token.
    pub first: usize,
    /// Tag of the others; none for kinds of one token.
    pub inside: Option<usize>,
    /// The most tokens.
    pub longest: usize,
}

impl Kind {
    /// Tag of the last token of a segment of `n` tokens.
    fn last(&self, n: usize) -> usize {
        if n == 1 { self.first } else { self.inside.unwrap_or(self.first) }
    }
}

/// The scores of many sequences.
#[derive(Debug)]
pub struct Scores<'a> {
    kinds: &'a [Kind],
    n_tags: usize,
    nodes: &'a [f64],
    edges: &'a [f64],
    start: &'a [f64],
    end: &'a [f64],
    lengths: &'a [f64],
    /// Where the lengths of each kind begin, and where those of the last end.
    places: Vec<usize>,
    offsets: &'a [usize],
    /// exp(edge - top of its kind) from tags (rows) to kinds, and the same from kinds to tags.
    to_kinds: Vec<f64>,
    to_tags: Vec<f64>,
    tops: Vec<f64>,
}

/// By sequence: log Z; probabilities of the tags of all tokens; expected counts of pairs of tags, as
/// `tag * n_tags + tag before`, within and between segments; expected counts of lengths by kind.
pub type Sums = (Vec<f64>, Vec<f64>, Vec<f64>, Vec<f64>);

/// Work space of a sequence; rows are positions between tokens.
#[derive(Debug, Default)]
struct Space {
    before: Vec<f64>,
    ending: Vec<f64>,
    from: Vec<f64>,
    after: Vec<f64>,
    terms: Vec<f64>,
    scaled: Vec<f64>,
    other: Vec<f64>,
    totals: Vec<f64>,
    back: Vec<u32>,
}

impl<'a> Scores<'a> {
    /// Take the scores: of nodes (n_tokens x n_tags), of edges `tag * n_tags + tag before`, of starts and ends
    /// (n_tags), and of lengths, those of each kind one after the other. All must be finite.
    #[allow(clippy::too_many_arguments)]
    pub fn new(
        kinds: &'a [Kind],
        n_tags: usize,
        nodes: &'a [f64],
        edges: &'a [f64],
        start: &'a [f64],
        end: &'a [f64],
        lengths: &'a [f64],
        offsets: &'a [usize],
    ) -> Result<Self, KernelError> {
        let n = check_offsets(offsets, nodes.len() / n_tags.max(1))?;
        let (mut places, mut taken) = (vec![0_usize], vec![false; n_tags]);
        for (number, kind) in kinds.iter().enumerate() {
            let mut free = |tag: usize| tag < n_tags && !std::mem::replace(&mut taken[tag], true);
            let tags = free(kind.first) && kind.inside.is_none_or(free);
            if !tags || kind.longest == 0 || (kind.inside.is_none() && kind.longest > 1) {
                return Err(KernelError::Argument(format!(
                    "kind {number} of segments is not valid: {kind:?}"
                )));
            }
            places.push(places[number].saturating_add(kind.longest));
        }
        if kinds.is_empty() {
            return Err(KernelError::Argument("there is no kind of segments".into()));
        }
        check_length("node scores", nodes.len(), n * n_tags)?;
        check_length("edge scores", edges.len(), n_tags * n_tags)?;
        check_length("start scores", start.len(), n_tags)?;
        check_length("end scores", end.len(), n_tags)?;
        check_length("length scores", lengths.len(), places[kinds.len()])?;
        for (what, scores) in
            [("node", nodes), ("edge", edges), ("start", start), ("end", end), ("length", lengths)]
        {
            if let Some(at) = scores.iter().position(|x| !x.is_finite()) {
                let message =
                    format!("{what} score {} at place {at}: scores of segments must be finite", scores[at]);
                return Err(KernelError::Argument(message));
            }
        }
        let row = |kind: &Kind| &edges[kind.first * n_tags..(kind.first + 1) * n_tags];
        let tops: Vec<f64> =
            kinds.iter().map(|k| row(k).iter().copied().fold(f64::NEG_INFINITY, f64::max)).collect();
        let to_tags: Vec<f64> = kinds
            .iter()
            .zip(&tops)
            .flat_map(|(kind, top)| row(kind).iter().map(move |edge| (edge - top).exp()))
            .collect();
        let mut to_kinds = vec![0.0; to_tags.len()];
        for (k, row) in to_tags.chunks(n_tags).enumerate() {
            for (u, &value) in row.iter().enumerate() {
                to_kinds[u * kinds.len() + k] = value;
            }
        }
        Ok(Self {
            kinds,
            n_tags,
            nodes,
            edges,
            start,
            end,
            lengths,
            places,
            offsets,
            to_kinds,
            to_tags,
            tops,
        })
    }

    /// `body` for every sequence, in order: with work space and the scores of its nodes.
    fn each<R: Send>(
        &self,
        n_threads: usize,
        stop: &Interrupt,
        body: impl Fn(&mut Space, &[f64]) -> R + Sync + Send,
    ) -> Result<Vec<R>, KernelError> {
        let steps = self.lengths.len() + self.n_tags * self.kinds.len();
        let spaces = Spaces::default();
        let one = |number: usize| {
            stop.check()?;
            let (first, last) = (self.offsets[number], self.offsets[number + 1]);
            let nodes = &self.nodes[first * self.n_tags..last * self.n_tags];
            Ok(spaces.lend(Space::default, |space| body(space, nodes)))
        };
        let work = self.nodes.len() / self.n_tags * steps;
        try_each(threads_for(work, n_threads), 0..self.offsets.len() - 1, one)
    }

    fn edge(&self, from: usize, to: usize) -> f64 {
        self.edges[to * self.n_tags + from]
    }

    /// What a segment of `kind` gains from its n-th token, n > 1, besides the score of the node.
    fn step(&self, kind: &Kind, inside: usize, n: usize) -> f64 {
        self.edge(if n == 2 { kind.first } else { inside }, inside)
    }

    /// Call `take(n, value)` for all segments of a kind that end before token `end`, shortest first.
    #[inline(always)]
    fn ending(&self, k: usize, nodes: &[f64], end: usize, mut take: impl FnMut(usize, f64)) {
        let (kind, by_length) = (&self.kinds[k], &self.lengths[self.places[k]..self.places[k + 1]]);
        let mut inner = 0.0;
        for n in 1..=kind.longest.min(end) {
            if let (true, Some(inside)) = (n > 1, kind.inside) {
                inner += nodes[(end - n + 1) * self.n_tags + inside] + self.step(kind, inside, n);
            }
            take(n, nodes[(end - n) * self.n_tags + kind.first] + inner + by_length[n - 1]);
        }
    }

    /// Call `take(n, value)` for all segments of a kind that begin at token `begin`, shortest first.
    #[inline(always)]
    fn beginning(&self, k: usize, nodes: &[f64], begin: usize, mut take: impl FnMut(usize, f64)) {
        let (kind, by_length) = (&self.kinds[k], &self.lengths[self.places[k]..self.places[k + 1]]);
        let mut inner = nodes[begin * self.n_tags + kind.first];
        for n in 1..=kind.longest.min(nodes.len() / self.n_tags - begin) {
            if let (true, Some(inside)) = (n > 1, kind.inside) {
                inner += nodes[(begin + n - 1) * self.n_tags + inside] + self.step(kind, inside, n);
            }
            take(n, inner + by_length[n - 1]);
        }
    }

    /// Tags of the best segmentation of every sequence, and its score.
    pub fn best(&self, n_threads: usize, stop: &Interrupt) -> Result<(Vec<u32>, Vec<f64>), KernelError> {
        let all = self.each(n_threads, stop, |space, nodes| self.best_of(space, nodes))?;
        let tags = all.iter().flat_map(|(tags, _)| tags.iter().copied()).collect();
        Ok((tags, all.iter().map(|&(_, score)| score).collect()))
    }

    fn best_of(&self, space: &mut Space, nodes: &[f64]) -> (Vec<u32>, f64) {
        let (tags, kinds, length) = (self.n_tags, self.kinds.len(), nodes.len() / self.n_tags);
        if length == 0 {
            return (Vec::new(), 0.0);
        }
        // Scores of the best that ends in a tag, and the length of its last segment; the tag before a kind.
        let mut sizes = vec![0_u32; (length + 1) * tags];
        space.ending.clear();
        space.ending.resize((length + 1) * tags, f64::NEG_INFINITY);
        space.before.clear();
        space.before.resize(length * kinds, f64::NEG_INFINITY);
        space.back.clear();
        space.back.resize(length * kinds, 0);
        for end in 1..=length {
            let position = end - 1;
            for (k, kind) in self.kinds.iter().enumerate() {
                let (mut most, mut from) = (self.start[kind.first], 0);
                if position > 0 {
                    most = f64::NEG_INFINITY;
                    for (u, value) in space.ending[position * tags..][..tags].iter().enumerate() {
                        let value = value + self.edge(u, kind.first);
                        if value > most {
                            (most, from) = (value, u);
                        }
                    }
                }
                space.before[position * kinds + k] = most;
                space.back[position * kinds + k] = from as u32;
            }
            for (k, kind) in self.kinds.iter().enumerate() {
                let (before, ending) = (&space.before, &mut space.ending);
                self.ending(k, nodes, end, |n, value| {
                    let value = value + before[(end - n) * kinds + k];
                    let place = end * tags + kind.last(n);
                    if value > ending[place] {
                        (ending[place], sizes[place]) = (value, n as u32);
                    }
                });
            }
        }
        let (mut tag, mut most) = (0, f64::NEG_INFINITY);
        for (u, (value, end)) in space.ending[length * tags..].iter().zip(self.end).enumerate() {
            if value + end > most {
                (tag, most) = (u, value + end);
            }
        }
        let (mut found, mut end) = (vec![0; length], length);
        while end > 0 {
            let n = (sizes[end * tags + tag] as usize).max(1);
            let own = |kind: &Kind| kind.last(n) == tag;
            let k = self.kinds.iter().position(own).unwrap_or(0);
            let begin = end - n;
            found[begin..end].fill(tag as u32);
            found[begin] = self.kinds[k].first as u32;
            tag = space.back[begin * kinds + k] as usize;
            end = begin;
        }
        (found, most)
    }

    /// log Z of every sequence, and its gradient, the marginals.
    pub fn marginals(&self, n_threads: usize, stop: &Interrupt) -> Result<Sums, KernelError> {
        let all = self.each(n_threads, stop, |space, nodes| self.marginals_of(space, nodes))?;
        let mut sums: Sums =
            (Vec::with_capacity(all.len()), Vec::with_capacity(self.nodes.len()), vec![], vec![]);
        for (log_z, nodes, edges, lengths) in all {
            sums.0.push(log_z);
            sums.1.extend(nodes);
            sums.2.extend(edges);
            sums.3.extend(lengths);
        }
        Ok(sums)
    }

    /// before(position, kind) from the sums that end there.
    fn enter(&self, space: &mut Space, position: usize) {
        let (tags, kinds) = (self.n_tags, self.kinds.len());
        let ending = &space.ending[position * tags..(position + 1) * tags];
        let most = ending.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        space.totals.clear();
        space.totals.resize(kinds, 0.0);
        for (value, row) in ending.iter().zip(self.to_kinds.chunks(kinds)) {
            let scaled = (value - most).exp();
            for (total, factor) in space.totals.iter_mut().zip(row) {
                *total += scaled * factor;
            }
        }
        for (k, kind) in self.kinds.iter().enumerate() {
            space.before[position * kinds + k] = if space.totals[k] > TINY {
                most + self.tops[k] + space.totals[k].ln()
            } else {
                space.terms.clear();
                space
                    .terms
                    .extend(ending.iter().enumerate().map(|(u, value)| value + self.edge(u, kind.first)));
                log_sum_exp(&space.terms)
            };
        }
    }

    /// after(position, tag) from the sums that begin there.
    fn leave(&self, space: &mut Space, position: usize) {
        let (tags, kinds) = (self.n_tags, self.kinds.len());
        let from = &space.from[position * kinds..(position + 1) * kinds];
        let most = from.iter().zip(&self.tops).fold(f64::NEG_INFINITY, |m, (value, top)| m.max(value + top));
        space.totals.clear();
        space.totals.resize(tags, 0.0);
        for ((value, top), row) in from.iter().zip(&self.tops).zip(self.to_tags.chunks(tags)) {
            let scaled = (value + top - most).exp();
            for (total, factor) in space.totals.iter_mut().zip(row) {
                *total += scaled * factor;
            }
        }
        for u in 0..tags {
            space.after[position * tags + u] = if space.totals[u] > TINY {
                most + space.totals[u].ln()
            } else {
                space.terms.clear();
                let terms = from.iter().zip(self.kinds).map(|(value, kind)| value + self.edge(u, kind.first));
                space.terms.extend(terms);
                log_sum_exp(&space.terms)
            };
        }
    }

    #[allow(clippy::type_complexity)]
    fn marginals_of(&self, space: &mut Space, nodes: &[f64]) -> (f64, Vec<f64>, Vec<f64>, Vec<f64>) {
        let (tags, kinds, length) = (self.n_tags, self.kinds.len(), nodes.len() / self.n_tags);
        let (mut of_nodes, mut of_edges) = (vec![0.0; nodes.len()], vec![0.0; tags * tags]);
        let mut of_lengths = vec![0.0; self.lengths.len()];
        if length == 0 {
            return (0.0, of_nodes, of_edges, of_lengths);
        }
        let log_z = self.forward(space, nodes);
        self.backward(space, nodes);
        let mut chances = Vec::new();
        for begin in 0..length {
            if begin > 0 {
                self.between(space, begin, log_z, &mut of_edges);
            }
            for (k, kind) in self.kinds.iter().enumerate() {
                let before = space.before[begin * kinds + k] - log_z;
                let after = &space.after;
                chances.clear();
                self.beginning(k, nodes, begin, |n, value| {
                    chances.push((before + value + after[(begin + n) * tags + kind.last(n)]).exp());
                });
                // A token is inside all segments that begin here and reach it.
                let mut longer = 0.0;
                for (i, &p) in chances.iter().enumerate().rev() {
                    of_lengths[self.places[k] + i] += p;
                    longer += p;
                    if let (true, Some(inside)) = (i > 0, kind.inside) {
                        of_nodes[(begin + i) * tags + inside] += longer;
                        let from = if i == 1 { kind.first } else { inside };
                        of_edges[inside * tags + from] += longer;
                    }
                }
                of_nodes[begin * tags + kind.first] += longer;
            }
        }
        (log_z, of_nodes, of_edges, of_lengths)
    }

    /// Sums from the left; returns log Z.
    fn forward(&self, space: &mut Space, nodes: &[f64]) -> f64 {
        let (tags, kinds, length) = (self.n_tags, self.kinds.len(), nodes.len() / self.n_tags);
        space.before.clear();
        space.before.resize(length * kinds, 0.0);
        space.ending.clear();
        space.ending.resize((length + 1) * tags, f64::NEG_INFINITY);
        for end in 1..=length {
            if end == 1 {
                for (k, kind) in self.kinds.iter().enumerate() {
                    space.before[k] = self.start[kind.first];
                }
            } else {
                self.enter(space, end - 1);
            }
            for (k, kind) in self.kinds.iter().enumerate() {
                space.terms.clear();
                let (before, terms) = (&space.before, &mut space.terms);
                self.ending(k, nodes, end, |n, value| terms.push(value + before[(end - n) * kinds + k]));
                space.ending[end * tags + kind.first] = space.terms[0];
                if let Some(inside) = kind.inside {
                    space.ending[end * tags + inside] = log_sum_exp(&space.terms[1..]);
                }
            }
        }
        space.terms.clear();
        space
            .terms
            .extend(space.ending[length * tags..].iter().zip(self.end).map(|(value, end)| value + end));
        log_sum_exp(&space.terms)
    }

    /// Sums from the right, after [`Scores::forward`].
    fn backward(&self, space: &mut Space, nodes: &[f64]) {
        let (tags, kinds, length) = (self.n_tags, self.kinds.len(), nodes.len() / self.n_tags);
        space.from.clear();
        space.from.resize(length * kinds, 0.0);
        space.after.clear();
        space.after.resize((length + 1) * tags, 0.0);
        space.after[length * tags..].copy_from_slice(self.end);
        for begin in (0..length).rev() {
            for (k, kind) in self.kinds.iter().enumerate() {
                space.terms.clear();
                let (after, terms) = (&space.after, &mut space.terms);
                self.beginning(k, nodes, begin, |n, value| {
                    terms.push(value + after[(begin + n) * tags + kind.last(n)]);
                });
                space.from[begin * kinds + k] = log_sum_exp(&space.terms);
            }
            if begin > 0 {
                self.leave(space, begin);
            }
        }
    }

    /// Add the chances that a segment ends before `position` in a tag, and one of a kind begins there.
    fn between(&self, space: &mut Space, position: usize, log_z: f64, out: &mut [f64]) {
        let (tags, kinds) = (self.n_tags, self.kinds.len());
        let ending = &space.ending[position * tags..(position + 1) * tags];
        let from = &space.from[position * kinds..(position + 1) * kinds];
        let left = ending.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let right = from.iter().zip(&self.tops).fold(f64::NEG_INFINITY, |m, (value, top)| m.max(value + top));
        let factor = (left + right - log_z).exp();
        if factor < HUGE {
            space.scaled.clear();
            space.scaled.extend(ending.iter().map(|value| (value - left).exp() * factor));
            space.other.clear();
            space.other.extend(from.iter().zip(&self.tops).map(|(value, top)| (value + top - right).exp()));
            for ((kind, y), row) in self.kinds.iter().zip(&space.other).zip(self.to_tags.chunks(tags)) {
                let own = &mut out[kind.first * tags..(kind.first + 1) * tags];
                for ((total, x), edge) in own.iter_mut().zip(&space.scaled).zip(row) {
                    *total += x * edge * y;
                }
            }
            return;
        }
        for (kind, &value) in self.kinds.iter().zip(from) {
            for (u, end) in ending.iter().enumerate() {
                out[kind.first * tags + u] += (end + self.edge(u, kind.first) + value - log_z).exp();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// Tags 0 and 1 of one kind, tags 3 and 4 of another, tag 2 alone.
    fn kinds() -> Vec<Kind> {
        vec![
            Kind { first: 0, inside: Some(1), longest: 3 },
            Kind { first: 2, inside: None, longest: 1 },
            Kind { first: 3, inside: Some(4), longest: 2 },
        ]
    }

    /// All segmentations of so many tokens, as (kind, length).
    fn all(kinds: &[Kind], length: usize) -> Vec<Vec<(usize, usize)>> {
        if length == 0 {
            return vec![vec![]];
        }
        let mut found = vec![];
        for (k, kind) in kinds.iter().enumerate() {
            for n in 1..=kind.longest.min(length) {
                for mut rest in all(kinds, length - n) {
                    rest.insert(0, (k, n));
                    found.push(rest);
                }
            }
        }
        found
    }

    fn tags_of(kinds: &[Kind], segments: &[(usize, usize)]) -> Vec<usize> {
        let tag = |k: usize, i: usize| if i == 0 { kinds[k].first } else { kinds[k].inside.expect("a tag") };
        segments.iter().flat_map(|&(k, n)| (0..n).map(move |i| tag(k, i))).collect()
    }

    fn check(scale: f64) {
        let (kinds, tags, lengths) = (kinds(), 5, 6);
        let mut random = Random::new(1);
        let mut draw = |n: usize| -> Vec<f64> {
            (0..n).map(|_| scale * (random.below(1 << 20) as f64 / (1 << 20) as f64 - 0.5)).collect()
        };
        let offsets = [0, 5, 5, 6];
        let (nodes, edges, start, end) = (draw(6 * tags), draw(tags * tags), draw(tags), draw(tags));
        let by_length = draw(lengths);
        let scores =
            Scores::new(&kinds, tags, &nodes, &edges, &start, &end, &by_length, &offsets).expect("valid");
        let stop = Interrupt::new();
        let (best, values) = scores.best(1, &stop).expect("runs");
        let (log_z, of_nodes, of_edges, of_lengths) = scores.marginals(1, &stop).expect("runs");
        assert_eq!((values[1], log_z[1]), (0.0, 0.0));
        for (number, (a, b)) in [(0, (0, 5)), (2, (5, 6))] {
            let every = all(&kinds, b - a);
            let mut total = vec![];
            for segments in &every {
                let path = tags_of(&kinds, segments);
                let mut value = start[path[0]] + end[path[path.len() - 1]];
                value += path.iter().enumerate().map(|(t, &u)| nodes[(a + t) * tags + u]).sum::<f64>();
                value += path.windows(2).map(|w| edges[w[1] * tags + w[0]]).sum::<f64>();
                value += segments.iter().map(|&(k, n)| by_length[[0, 3, 4][k] + n - 1]).sum::<f64>();
                total.push(value);
            }
            let wanted = log_sum_exp(&total);
            assert!((log_z[number] - wanted).abs() < 1e-9 * scale.max(1.0), "{} {wanted}", log_z[number]);
            let top = (0..total.len()).max_by(|&i, &j| total[i].total_cmp(&total[j])).expect("some");
            let path: Vec<u32> = tags_of(&kinds, &every[top]).iter().map(|&u| u as u32).collect();
            assert_eq!(best[a..b], path);
            assert!((values[number] - total[top]).abs() < 1e-9 * scale.max(1.0));
            let (mut p_nodes, mut p_edges, mut p_lengths) =
                (vec![0.0; (b - a) * tags], vec![0.0; tags * tags], vec![0.0; lengths]);
            for (segments, value) in every.iter().zip(&total) {
                let (p, path) = ((value - wanted).exp(), tags_of(&kinds, segments));
                path.iter().enumerate().for_each(|(t, &u)| p_nodes[t * tags + u] += p);
                path.windows(2).for_each(|w| p_edges[w[1] * tags + w[0]] += p);
                segments.iter().for_each(|&(k, n)| p_lengths[[0, 3, 4][k] + n - 1] += p);
            }
            let near =
                |found: &[f64], wanted: &[f64]| found.iter().zip(wanted).all(|(x, y)| (x - y).abs() < 1e-9);
            assert!(near(&of_nodes[a * tags..b * tags], &p_nodes));
            assert!(near(&of_edges[number * tags * tags..][..tags * tags], &p_edges));
            assert!(near(&of_lengths[number * lengths..][..lengths], &p_lengths));
        }
    }

    #[test]
    fn sums_and_maxima_are_those_of_enumeration() {
        check(3.0);
    }

    #[test]
    fn scores_of_any_finite_size_are_safe() {
        check(5000.0);
    }

    #[test]
    fn threads_change_nothing() {
        let (kinds, tags) = (kinds(), 5);
        let mut random = Random::new(2);
        let mut draw =
            |n: usize| -> Vec<f64> { (0..n).map(|_| random.below(1000) as f64 / 1000.0).collect() };
        let offsets: Vec<usize> = (0..=400).map(|i| i * 10).collect();
        let (nodes, edges, ends, lengths) = (draw(4000 * tags), draw(tags * tags), draw(tags), draw(6));
        let scores =
            Scores::new(&kinds, tags, &nodes, &edges, &ends, &ends, &lengths, &offsets).expect("valid");
        let stop = Interrupt::new();
        assert_eq!(scores.marginals(1, &stop).expect("runs"), scores.marginals(3, &stop).expect("runs"));
        assert_eq!(scores.best(1, &stop).expect("runs"), scores.best(3, &stop).expect("runs"));
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let nodes = [0.0, f64::NAN];
        let kind = |first, inside, longest| [Kind { first, inside, longest }];
        let make = |kinds: &[Kind], nodes: &[f64]| {
            Scores::new(kinds, 1, nodes, &[0.0], &[0.0], &[0.0], &vec![0.0; kinds.len()], &[0, 2]).err()
        };
        assert!(make(&kind(0, None, 1), &[0.0; 2]).is_none());
        assert!(make(&kind(0, None, 1), &nodes).is_some());
        assert!(make(&kind(1, None, 1), &[0.0; 2]).is_some());
        assert!(make(&kind(0, None, 2), &[0.0; 2]).is_some());
        assert!(make(&kind(0, Some(0), 1), &[0.0; 2]).is_some());
        assert!(make(&[], &[0.0; 2]).is_some());
    }
}
