//! svmlight / LIBSVM text to a sparse matrix.
//!
//! Reads `label[,label…] [qid:q] index:value … [# comment]`, one row a line; blank lines and lines that are all
//! comment count for nothing. Indices rise within a row. Numbers are rounded as Python rounds them. With
//! `zero_based: None` the file counts from one unless some index is zero, as scikit-learn's
//! `load_svmlight_file` decides. Returns CSR arrays with indices from zero, all labels, and the queries.

use super::lines::{Block, LINES_PER_LOOK, Piece, at_line, at_line_ends, lines};
use super::svmlight_line::{Part, Refusal};
use crate::error::KernelError;
use crate::formats::tuning::SVMLIGHT_PIECE;
use crate::interrupt::Interrupt;
use crate::threads::each;

/// How to read.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Whether indices count from zero; decided by the file when not given.
    pub zero_based: Option<bool>,
    /// Columns of the matrix; the largest index decides when not given.
    pub n_features: Option<usize>,
}

/// The rows of a file.
#[derive(Debug, PartialEq)]
pub struct Svmlight<I> {
    /// Labels of all rows, rising within a row.
    pub labels: Vec<f64>,
    /// Where the labels of each row begin; one more than rows.
    pub label_starts: Vec<usize>,
    /// Query of each row; empty when the file has none.
    pub queries: Vec<i64>,
    /// Row pointer.
    pub starts: Vec<usize>,
    /// Columns, from zero.
    pub indices: Vec<I>,
    /// Values.
    pub values: Vec<f64>,
    /// Columns of the matrix.
    pub n_features: usize,
    /// Whether the indices counted from zero.
    pub zero_based: bool,
    /// First line with several labels.
    pub several: Option<usize>,
    /// First line without a label.
    pub none: Option<usize>,
}

/// An integer that holds column indices.
pub trait Width: Copy + Default + Send + Sync {
    /// The index, if it fits.
    fn narrow(index: u64) -> Option<Self>;
    /// The index less one.
    fn less_one(self) -> Self;
}

impl Width for i32 {
    fn narrow(index: u64) -> Option<Self> {
        Self::try_from(index).ok()
    }
    fn less_one(self) -> Self {
        self - 1
    }
}

impl Width for i64 {
    fn narrow(index: u64) -> Option<Self> {
        Self::try_from(index).ok()
    }
    fn less_one(self) -> Self {
        self - 1
    }
}

/// Rows with narrow or wide columns.
pub enum Either {
    /// All columns fit 32 bits.
    Narrow(Svmlight<i32>),
    /// Some do not.
    Wide(Svmlight<i64>),
}

/// Read all rows of a text.
pub fn read(
    block: &Block,
    options: &Options,
    n_threads: usize,
    flag: &Interrupt,
) -> Result<Either, KernelError> {
    match read_as(block, options, n_threads, flag) {
        Ok(rows) => Ok(Either::Narrow(rows)),
        Err(Refusal::Error(error)) => Err(error),
        Err(Refusal::Wide) => match read_as(block, options, n_threads, flag) {
            Ok(rows) => Ok(Either::Wide(rows)),
            Err(Refusal::Error(error)) => Err(error),
            // Eighteen digits, the most that are read, fit 64 bits.
            Err(Refusal::Wide) => Err(KernelError::Argument("an index is too large".into())),
        },
    }
}

fn read_as<I: Width>(
    block: &Block,
    options: &Options,
    n_threads: usize,
    flag: &Interrupt,
) -> Result<Svmlight<I>, Refusal> {
    let pieces = at_line_ends(block, block.bytes.len().div_ceil(SVMLIGHT_PIECE));
    let parts: Vec<Result<Part<I>, Refusal>> =
        each(n_threads, &pieces, |piece| read_piece(piece, options, flag));
    // The first error in the file is told, unless indices are too wide somewhere: then all is read again.
    let wide = parts.iter().any(|part| matches!(part, Err(Refusal::Wide)));
    if wide {
        return Err(Refusal::Wide);
    }
    let parts = parts.into_iter().collect::<Result<Vec<_>, _>>()?;
    Ok(join(parts, options)?)
}

fn read_piece<I: Width>(piece: &Piece<'_>, options: &Options, flag: &Interrupt) -> Result<Part<I>, Refusal> {
    let mut part = Part::default();
    // A pair takes eight bytes or more in most files.
    part.indices.reserve(piece.bytes.len() / 10);
    part.values.reserve(piece.bytes.len() / 10);
    for (at, line) in lines(piece.bytes).enumerate() {
        if at % LINES_PER_LOOK == 0 {
            flag.check()?;
        }
        part.read(line, piece.first_line + at, options)?;
    }
    Ok(part)
}

/// Of what some lines have and others lack, the first line that differs from the first.
fn disagreement(with: Option<usize>, without: Option<usize>) -> Option<usize> {
    Some(with?.max(without?))
}

fn first(a: Option<usize>, b: Option<usize>) -> Option<usize> {
    a.into_iter().chain(b).min()
}

fn join<I: Width>(parts: Vec<Part<I>>, options: &Options) -> Result<Svmlight<I>, KernelError> {
    let smallest = parts.iter().filter_map(|part| part.smallest).min();
    let largest = parts.iter().filter_map(|part| part.largest).max();
    // Without any value there is no sign of counting from one.
    let zero_based = options.zero_based.unwrap_or(smallest.is_none_or(|least| least == 0));
    let seen = largest.map_or(0, |most| most as usize + usize::from(zero_based));
    let n_features = match options.n_features {
        Some(n) if seen > n => {
            let message = format!("index {n} counts from zero, but there are {n} features (n_features)");
            return Err(KernelError::Argument(message));
        }
        Some(n) => n,
        None => seen,
    };
    let rows = parts.iter().map(|part| part.ends.len()).sum::<usize>();
    let stored = parts.iter().map(|part| part.values.len()).sum();
    let mut all = Svmlight {
        labels: Vec::with_capacity(rows),
        label_starts: Vec::with_capacity(rows + 1),
        queries: Vec::new(),
        starts: Vec::with_capacity(rows + 1),
        indices: Vec::with_capacity(stored),
        values: Vec::with_capacity(stored),
        n_features,
        zero_based,
        several: None,
        none: None,
    };
    let (mut with, mut without) = (None, None);
    all.starts.push(0);
    all.label_starts.push(0);
    for part in parts {
        let (before, labels) = (all.values.len(), all.labels.len());
        all.starts.extend(part.ends.iter().map(|end| before + end));
        all.label_starts.extend(part.label_ends.iter().map(|end| labels + end));
        all.labels.extend_from_slice(&part.labels);
        all.queries.extend_from_slice(&part.queries);
        if zero_based {
            all.indices.extend_from_slice(&part.indices);
        } else {
            all.indices.extend(part.indices.iter().map(|index| index.less_one()));
        }
        all.values.extend_from_slice(&part.values);
        all.several = first(all.several, part.several);
        all.none = first(all.none, part.none);
        with = first(with, part.with_query);
        without = first(without, part.without_query);
    }
    match disagreement(with, without) {
        Some(line) if Some(line) == without => {
            Err(at_line(line, "no qid, but the lines before have one".into()))
        }
        Some(line) => Err(at_line(line, "a qid, but the lines before have none".into())),
        None => Ok(all),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str, options: Options) -> Result<Svmlight<i32>, KernelError> {
        let block = Block { bytes: text.as_bytes().to_vec(), first_line: 1 };
        match read(&block, &options, 1, &Interrupt::new())? {
            Either::Narrow(rows) => Ok(rows),
            Either::Wide(_) => Err(KernelError::Argument("wide".into())),
        }
    }

    fn complaint(text: &str) -> String {
        parse(text, Options::default()).map(|_| ()).unwrap_err().to_string()
    }

    #[test]
    fn rows_labels_and_comments() {
        let rows = parse("# head\n1 1:2.5 3:-1e-3 # tail 9:9\r\n\n-1\n2.5 2:1", Options::default()).unwrap();
        assert_eq!(rows.labels, [1.0, -1.0, 2.5]);
        assert_eq!(rows.starts, [0, 2, 2, 3]);
        assert_eq!(rows.indices, [0, 2, 1]);
        assert_eq!(rows.values, [2.5, -1e-3, 1.0]);
        assert_eq!((rows.n_features, rows.zero_based), (3, false));
        assert!(parse("1 0:1", Options::default()).unwrap().zero_based);
    }

    #[test]
    fn several_labels_queries_and_none() {
        let rows = parse("3,1 qid:7 1:1\nqid:7 2:1\n", Options::default()).unwrap();
        assert_eq!(rows.labels, [1.0, 3.0]);
        assert_eq!(rows.label_starts, [0, 2, 2]);
        assert_eq!(rows.queries, [7, 7]);
        assert_eq!((rows.several, rows.none), (Some(1), Some(2)));
    }

    #[test]
    fn errors_name_the_line() {
        assert_eq!(complaint("1 1:1\n1 40:1 12:1"), "line 2: index 12 after 40: indices must rise");
        assert!(complaint("1 2:1 2:1").contains("index 2 twice"));
        assert!(complaint("x 2:1").contains("label 'x'"));
        assert!(complaint("1 2:x").contains("'x' in '2:x' is not a number"));
        assert!(complaint("1 -2:1").contains("'-2'"));
        assert!(complaint("1 2").contains("'2' is not index:value"));
        assert!(complaint("1 99999999999999999999:1").contains("too large"));
        assert!(complaint("1 qid:1 1:1\n1 1:1").starts_with("line 2: no qid"));
        assert!(complaint("1 1:1\n1 1:1\n1 qid:3 1:1").starts_with("line 3: a qid"));
        let from_one = Options { zero_based: Some(false), n_features: None };
        assert!(parse("1 0:1", from_one).is_err());
        let three = Options { zero_based: None, n_features: Some(3) };
        assert_eq!(parse("1 1:1", three).unwrap().n_features, 3);
        assert!(parse("1 4:1", three).is_err());
        assert!(parse("1 0:1 3:1", three).is_err());
    }

    #[test]
    fn any_number_of_threads_gives_the_same_rows() {
        let text: String =
            (0..60_000).map(|i| format!("{} {}:{} {}:0.5\n", i % 7, i % 100, i, 200 + i % 90)).collect();
        let block = Block { bytes: text.into_bytes(), first_line: 1 };
        let read = |n| match read(&block, &Options::default(), n, &Interrupt::new()).unwrap() {
            Either::Narrow(rows) => rows,
            Either::Wide(_) => panic!("narrow indices"),
        };
        assert_eq!(read(1), read(3));
    }

    #[test]
    fn wide_indices_and_interrupts() {
        let block = Block { bytes: b"1 3000000000:1".to_vec(), first_line: 1 };
        assert!(matches!(read(&block, &Options::default(), 1, &Interrupt::new()), Ok(Either::Wide(_))));
        let flag = Interrupt::new();
        flag.set();
        assert!(matches!(read(&block, &Options::default(), 1, &flag), Err(KernelError::Interrupted)));
    }
}
