//! Brown clusters: classes of words that keep as much mutual information between neighbors as possible.
//!
//! Every word begins as a class of its own, and the two classes whose union loses least are merged (Brown et al. 1992).
//! As in Liang (2005), words enter by falling frequency, and no more than C + 1 classes are looked at at once: a word
//! that enters is the class C + 1, and one merge follows. When all are in, the C classes are merged to a tree.
//!
//! With c_de the number of neighbors (word of d, word of e) and phi(x) = x log x, N times the mutual information is
//!     sum_de phi(c_de) - sum_d phi(left_d) - sum_e phi(right_e) + phi(N),
//! so that the loss of a union of e and f is, with g(u, v) = phi(u + v) - phi(u) - phi(v),
//!     own_ef - sum over other classes d of g(c_ed, c_fd) + g(c_de, c_df),
//! own_ef from the totals of e and f and the four counts among themselves. g vanishes where u or v does: a word with
//! few neighbors changes few terms. Invariant: `loss` holds the loss of every pair of classes. A word with n classes
//! around it costs n C, and a look at all C^2 / 2 losses; the counts of classes take 16 C^2 bytes.

use crate::error::{KernelError, zeros};
use crate::interrupt::Interrupt;
use crate::text::tuning::TABLE;

/// The most classes: C^2 counts and losses must fit into memory.
pub const MOST_CLASSES: usize = 1 << 13;

/// Classes of words, and the tree above them.
#[derive(Debug, PartialEq)]
pub struct Clusters {
    /// Class of every word; -1 where the word is too rare.
    pub classes: Vec<i32>,
    /// How often every word occurs.
    pub counts: Vec<u64>,
    /// Number of classes.
    pub n_classes: usize,
    /// Nodes that were merged, in order: the classes are the first nodes, and each merge is the next.
    pub merges: Vec<(u32, u32)>,
}

/// Cluster the words of a text: `codes` holds the number of the word of every token (negative: none). Words that occur
/// less than `min_count` times are left out, and there must not be more words than tokens.
pub fn brown_clusters(
    codes: &[i32],
    n_classes: usize,
    min_count: u64,
    stop: &Interrupt,
) -> Result<Clusters, KernelError> {
    if n_classes == 0 || n_classes > MOST_CLASSES {
        return Err(KernelError::Argument(format!("classes must be 1 to {MOST_CLASSES}, got {n_classes}")));
    }
    let n_words = codes.iter().map(|&code| i64::from(code) + 1).max().unwrap_or(0).max(0) as usize;
    if n_words > codes.len() {
        return Err(KernelError::Argument(format!(
            "{n_words} words are too many for {} tokens",
            codes.len()
        )));
    }
    let mut counts = vec![0u64; n_words];
    for &code in codes.iter().filter(|code| **code >= 0) {
        counts[code as usize] += 1;
    }
    let mut order: Vec<u32> =
        (0..n_words as u32).filter(|&w| counts[w as usize] >= min_count.max(1)).collect();
    order.sort_by_key(|&w| (std::cmp::Reverse(counts[w as usize]), w));
    let kept: Vec<bool> = counts.iter().map(|&count| count >= min_count.max(1)).collect();
    let neighbors = Neighbors::new(codes, &kept)?;
    let n_classes = n_classes.min(order.len());
    let mut window = Window::new(n_classes + 1, n_words)?;
    for (at, &word) in order.iter().enumerate() {
        stop.check()?;
        let slot = if at <= n_classes { at } else { window.free };
        window.insert(slot, word, &neighbors);
        if at >= n_classes
            && let Some((a, b)) = window.least()
        {
            window.merge(a, b);
        }
    }
    window.finish(counts, stop)
}

/// How often words stand side by side: rows of (word, count) after and before every word.
struct Neighbors {
    after: Rows,
    before: Rows,
}

struct Rows {
    starts: Vec<usize>,
    entries: Vec<(u32, f64)>,
}

impl Rows {
    /// From sorted pairs, each as high and low half of a key.
    fn new(keys: &[u64], n_words: usize) -> Self {
        let (mut starts, mut entries) = (Vec::with_capacity(n_words + 1), Vec::new());
        let mut at = 0;
        for word in 0..n_words as u64 {
            starts.push(entries.len());
            while at < keys.len() && keys[at] >> 32 == word {
                let first = at;
                while at < keys.len() && keys[at] == keys[first] {
                    at += 1;
                }
                entries.push((keys[first] as u32, (at - first) as f64));
            }
        }
        starts.push(entries.len());
        Self { starts, entries }
    }

    fn of(&self, word: u32) -> &[(u32, f64)] {
        &self.entries[self.starts[word as usize]..self.starts[word as usize + 1]]
    }
}

impl Neighbors {
    fn new(codes: &[i32], kept: &[bool]) -> Result<Self, KernelError> {
        let mut keys = Vec::new();
        keys.try_reserve_exact(codes.len())
            .map_err(|_| KernelError::Argument("the text is too long for the memory".into()))?;
        let known = |code: i32| code >= 0 && kept[code as usize];
        for pair in codes.windows(2).filter(|pair| known(pair[0]) && known(pair[1])) {
            keys.push((pair[0] as u64) << 32 | pair[1] as u64);
        }
        keys.sort_unstable();
        let after = Rows::new(&keys, kept.len());
        keys.iter_mut().for_each(|key| *key = key.rotate_left(32));
        keys.sort_unstable();
        Ok(Self { after, before: Rows::new(&keys, kept.len()) })
    }
}

/// phi(x) = x log x at whole numbers.
struct Phi(Vec<f64>);

impl Phi {
    fn new() -> Self {
        Self((0..TABLE).map(|x| if x == 0 { 0.0 } else { x as f64 * (x as f64).ln() }).collect())
    }

    #[inline(always)]
    fn of(&self, x: f64) -> f64 {
        self.0.get(x as usize).copied().unwrap_or_else(|| x * x.ln())
    }

    /// g(u, v).
    #[inline(always)]
    fn gain(&self, u: f64, v: f64) -> f64 {
        if u == 0.0 || v == 0.0 { 0.0 } else { self.of(u + v) - self.of(u) - self.of(v) }
    }
}

/// The classes that are looked at, in `n` slots.
struct Window {
    n: usize,
    phi: Phi,
    /// n x n counts (first, second), and (second, first).
    after: Vec<f64>,
    before: Vec<f64>,
    left: Vec<f64>,
    right: Vec<f64>,
    /// n x n; infinite on the diagonal and where a slot is free.
    loss: Vec<f64>,
    members: Vec<Vec<u32>>,
    /// Slot of every word that entered.
    slots: Vec<Option<u32>>,
    /// The slot that the last merge freed.
    free: usize,
}

impl Window {
    fn new(n: usize, n_words: usize) -> Result<Self, KernelError> {
        let mut loss = zeros(n * n)?;
        loss.fill(f64::INFINITY);
        Ok(Self {
            n,
            phi: Phi::new(),
            after: zeros(n * n)?,
            before: zeros(n * n)?,
            left: vec![0.0; n],
            right: vec![0.0; n],
            loss,
            members: vec![Vec::new(); n],
            slots: vec![None; n_words],
            free: 0,
        })
    }

    fn used(&self, slot: usize) -> bool {
        !self.members[slot].is_empty()
    }

    /// Classes but `a` and `b` that stand beside `a`.
    fn around(&self, a: usize, b: usize) -> Vec<usize> {
        let row = a * self.n..(a + 1) * self.n;
        let counts = self.after[row.clone()].iter().zip(&self.before[row]).enumerate();
        counts.filter(|&(d, (x, y))| d != a && d != b && x + y > 0.0).map(|(d, _)| d).collect()
    }

    /// The part of the loss that knows the two classes alone.
    fn own(&self, e: usize, f: usize) -> f64 {
        let (n, phi) = (self.n, &self.phi);
        let inner = [e * n + e, e * n + f, f * n + e, f * n + f].map(|at| self.after[at]);
        let apart: f64 = inner.iter().map(|&x| phi.of(x)).sum();
        phi.gain(self.left[e], self.left[f]) + phi.gain(self.right[e], self.right[f]) + apart
            - phi.of(inner.iter().sum())
    }

    /// What class d keeps in a union of e and f.
    fn kept_by(&self, d: usize, e: usize, f: usize) -> f64 {
        let (e, f) = (e * self.n + d, f * self.n + d);
        self.phi.gain(self.after[e], self.after[f]) + self.phi.gain(self.before[e], self.before[f])
    }

    fn set_loss(&mut self, e: usize, f: usize, loss: f64) {
        self.loss[e * self.n + f] = loss;
        self.loss[f * self.n + e] = loss;
    }

    /// A word as a class of its own.
    fn insert(&mut self, x: usize, word: u32, neighbors: &Neighbors) {
        let n = self.n;
        self.slots[word as usize] = Some(x as u32);
        self.members[x].push(word);
        for &(other, count) in neighbors.after.of(word) {
            self.right[x] += count;
            if let Some(slot) = self.slots[other as usize] {
                self.after[x * n + slot as usize] += count;
                self.before[slot as usize * n + x] += count;
            }
        }
        for &(other, count) in neighbors.before.of(word) {
            self.left[x] += count;
            // A word beside itself was counted above.
            if let Some(slot) = self.slots[other as usize].filter(|_| other != word) {
                self.before[x * n + slot as usize] += count;
                self.after[slot as usize * n + x] += count;
            }
        }
        let around = self.around(x, x);
        for (at, &e) in around.iter().enumerate() {
            for &f in &around[..at] {
                let loss = self.loss[e * n + f] - self.kept_by(x, e, f);
                self.set_loss(e, f, loss);
            }
        }
        let mut kept = vec![0.0; n];
        for &d in &around {
            let (to, from) = (self.after[x * n + d], self.before[x * n + d]);
            let row = d * n..(d + 1) * n;
            let counts = self.before[row.clone()].iter().zip(&self.after[row]);
            for (f, (kept, (&t, &s))) in kept.iter_mut().zip(counts).enumerate() {
                if f != d {
                    *kept += self.phi.gain(to, t) + self.phi.gain(from, s);
                }
            }
        }
        for (f, kept) in kept.iter().enumerate() {
            if f != x && self.used(f) {
                self.set_loss(x, f, self.own(x, f) - kept);
            }
        }
    }

    /// The pair of classes with the least loss.
    fn least(&self) -> Option<(usize, usize)> {
        let mut best = (f64::INFINITY, 0, 0);
        for e in 1..self.n {
            let row = &self.loss[e * self.n..e * self.n + e];
            let least = row.iter().fold(f64::INFINITY, |least, &loss| least.min(loss));
            if least < best.0 {
                let f = row.iter().position(|&loss| loss == least)?;
                best = (least, f, e);
            }
        }
        best.0.is_finite().then_some((best.1, best.2))
    }

    /// Merge two classes into one of their slots, which is returned with the other.
    fn merge(&mut self, a: usize, b: usize) -> (usize, usize) {
        let n = self.n;
        let (mut a, mut b, mut around) = (a, b, self.around(b, a));
        let others = self.around(a, b);
        if others.len() < around.len() {
            (a, b, around) = (b, a, others);
        }
        // Pairs of two other classes: their terms of a and of b become one.
        for &e in &around {
            let at = e * n;
            let (ta, tb) = (self.after[at + a], self.after[at + b]);
            let (sa, sb) = (self.before[at + a], self.before[at + b]);
            for f in 0..n {
                let (ua, ub) = (self.before[a * n + f], self.before[b * n + f]);
                let (va, vb) = (self.after[a * n + f], self.after[b * n + f]);
                // A pair of two classes around b is met twice.
                if f == a || f == b || f == e || (ub + vb > 0.0 && f > e) {
                    continue;
                }
                let phi = &self.phi;
                let more = phi.gain(ta + tb, ua + ub) - phi.gain(ta, ua) - phi.gain(tb, ub)
                    + phi.gain(sa + sb, va + vb)
                    - phi.gain(sa, va)
                    - phi.gain(sb, vb);
                if more != 0.0 {
                    let loss = self.loss[at + f] - more;
                    self.set_loss(e, f, loss);
                }
            }
        }
        let mut kept = vec![0.0; n];
        for (f, kept) in kept.iter_mut().enumerate() {
            if f != a && f != b && self.used(f) {
                *kept = self.own(a, f) - self.loss[a * n + f] - self.kept_by(b, a, f);
            }
        }
        for &d in &around {
            let (ta, tb) = (self.after[a * n + d], self.after[b * n + d]);
            let (sa, sb) = (self.before[a * n + d], self.before[b * n + d]);
            let row = d * n..(d + 1) * n;
            let counts = self.before[row.clone()].iter().zip(&self.after[row]);
            for (f, (kept, (&u, &v))) in kept.iter_mut().zip(counts).enumerate() {
                if f != d {
                    let phi = &self.phi;
                    *kept += phi.gain(ta + tb, u) - phi.gain(ta, u) + phi.gain(sa + sb, v) - phi.gain(sa, v);
                }
            }
        }
        for counts in [&mut self.after, &mut self.before] {
            for d in 0..n {
                counts[a * n + d] += std::mem::take(&mut counts[b * n + d]);
            }
            for d in 0..n {
                counts[d * n + a] += std::mem::take(&mut counts[d * n + b]);
            }
        }
        self.left[a] += std::mem::take(&mut self.left[b]);
        self.right[a] += std::mem::take(&mut self.right[b]);
        let moved = std::mem::take(&mut self.members[b]);
        for &word in &moved {
            self.slots[word as usize] = Some(a as u32);
        }
        self.members[a].extend(moved);
        for f in 0..n {
            self.set_loss(b, f, f64::INFINITY);
        }
        for (f, kept) in kept.iter().enumerate() {
            if f != a && self.used(f) {
                self.set_loss(a, f, self.own(a, f) - kept);
            }
        }
        self.free = b;
        (a, b)
    }

    /// Number the classes, and merge them to a tree.
    fn finish(mut self, counts: Vec<u64>, stop: &Interrupt) -> Result<Clusters, KernelError> {
        let mut nodes = vec![0u32; self.n];
        let mut n_classes = 0;
        for (node, members) in nodes.iter_mut().zip(&self.members) {
            if !members.is_empty() {
                *node = n_classes;
                n_classes += 1;
            }
        }
        let classes =
            self.slots.iter().map(|slot| slot.map_or(-1, |slot| nodes[slot as usize] as i32)).collect();
        let (n_classes, mut merges) = (n_classes as usize, Vec::new());
        while let Some((a, b)) = self.least() {
            stop.check()?;
            let pair = (nodes[a], nodes[b]);
            let (kept, _) = self.merge(a, b);
            nodes[kept] = (n_classes + merges.len()) as u32;
            merges.push(pair);
        }
        Ok(Clusters { classes, counts, n_classes, merges })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// Words of eight kinds, where kind k is followed by k + 1 or k + 3.
    fn text(n: usize) -> Vec<i32> {
        let mut random = Random::new(3);
        let mut below = |n: u64| random.next_u64() % n;
        let mut kind = 0;
        let mut next = || {
            kind = (kind + if below(3) == 0 { 3 } else { 1 }) % 8;
            (kind + 8 * below(6)) as i32
        };
        (0..n).map(|_| next()).collect()
    }

    #[test]
    fn losses_are_those_of_the_mutual_information() {
        let codes = text(600);
        let neighbors = Neighbors::new(&codes, &[true; 48]).expect("valid");
        let mut window = Window::new(10, 48).expect("small");
        for word in 0..48u32 {
            let slot = if word < 10 { word as usize } else { window.free };
            window.insert(slot, word, &neighbors);
            for e in 0..10 {
                for f in (0..e).filter(|&f| window.used(f) && window.used(e)) {
                    let others = (0..10).filter(|&d| d != e && d != f);
                    let kept: f64 = others.map(|d| window.kept_by(d, e, f)).sum();
                    let loss = window.own(e, f) - kept;
                    assert!((window.loss[e * 10 + f] - loss).abs() < 1e-8 * (1.0 + loss.abs()));
                    assert_eq!(window.loss[e * 10 + f], window.loss[f * 10 + e]);
                }
            }
            if word >= 9 {
                // Any pair will do: not always one with the new word.
                let pair =
                    if word % 3 == 0 { (1, 4 + word as usize % 3) } else { window.least().expect("ten") };
                window.merge(pair.0, pair.1);
            }
        }
    }

    #[test]
    fn kinds_of_words_are_found() {
        let codes = text(20_000);
        let found = brown_clusters(&codes, 20, 1, &Interrupt::new()).expect("valid");
        assert_eq!((found.n_classes, found.merges.len()), (20, 19));
        for (word, class) in found.classes.iter().enumerate() {
            let kind = found.classes.iter().position(|other| other == class).map(|first| first % 8);
            assert_eq!(kind, Some(word % 8));
        }
    }

    #[test]
    fn rare_words_have_no_class_and_few_words_few_classes() {
        let found = brown_clusters(&[0, 1, 0, 2, -1], 10, 1, &Interrupt::new()).expect("valid");
        assert_eq!((found.classes, found.n_classes), (vec![0, 1, 2], 3));
        let found = brown_clusters(&[0, 1, 0, 2], 2, 2, &Interrupt::new()).expect("valid");
        assert_eq!((found.classes, found.merges), (vec![0, -1, -1], vec![]));
        assert!(brown_clusters(&[0, 4], 2, 1, &Interrupt::new()).is_err());
        assert!(brown_clusters(&[], 2, 1, &Interrupt::new()).expect("empty").merges.is_empty());
    }
}
