//! Documents on their way through the kernels.

use std::ops::Range;

/// Documents that are worked on together.
#[derive(Debug, Clone, Copy)]
pub enum Batch<'a> {
    /// Raw texts.
    Text(&'a [&'a str]),
    /// Units, and where those of each document end.
    Units(&'a [&'a str], &'a [usize]),
}

/// One document of a batch.
#[derive(Debug, Clone, Copy)]
pub enum Document<'a> {
    /// Raw text.
    Text(&'a str),
    /// Units.
    Units(&'a [&'a str]),
}

impl<'a> Batch<'a> {
    /// Number of documents.
    pub fn len(&self) -> usize {
        match self {
            Self::Text(texts) => texts.len(),
            Self::Units(_, ends) => ends.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Size of a document in bytes, and one more.
    pub fn size(&self, i: usize) -> usize {
        1 + match self.get(i) {
            Document::Text(text) => text.len(),
            Document::Units(units) => units.iter().map(|unit| unit.len()).sum(),
        }
    }

    /// Document `i`.
    pub fn get(&self, i: usize) -> Document<'a> {
        match self {
            Self::Text(texts) => Document::Text(texts[i]),
            Self::Units(units, ends) => {
                let start = if i == 0 { 0 } else { ends[i - 1] };
                Document::Units(&units[start..ends[i]])
            }
        }
    }

    /// Documents cut into at most `n` runs of about the same size in bytes, and that size in total.
    pub fn cuts(&self, n: usize) -> (Vec<Range<usize>>, usize) {
        let n = n.min(self.len());
        let sizes: Vec<usize> = (0..self.len()).map(|i| self.size(i)).collect();
        let total: usize = sizes.iter().sum();
        let mut runs = Vec::with_capacity(n);
        let (mut start, mut sum) = (0, 0);
        for (i, size) in sizes.into_iter().enumerate() {
            sum += size;
            if sum * n >= total * (runs.len() + 1) {
                runs.push(start..i + 1);
                start = i + 1;
            }
        }
        (runs, total)
    }
}
