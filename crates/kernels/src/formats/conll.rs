//! CoNLL columns to numbered words: one token a line, one column per annotation, blank lines between sentences.
//!
//! Every column becomes one number per token and the distinct words in the order of their first use, so that a
//! text is kept in a few bytes a token and compared by numbers. Columns are parted by runs of space, or by single
//! tabs; all tokens have equally many. In CoNLL-U (<https://universaldependencies.org/format.html>) lines with `#`
//! are comments of the sentence that follows, and the lines of multiword ranges (`3-4`) and of empty nodes
//! (`5.1`) are left out: what remains are the syntactic words. In the other layouts a line with `#` before the first
//! token of a sentence is a comment where it has not as many columns as tokens have. Documents begin at `-DOCSTART-`
//! or `# newdoc`. Returns where sentences and documents begin, the columns, and the comments of CoNLL-U.

use super::intern::Interner;
use super::lines::{
    Block, LINES_PER_LOOK, Piece, at_blank_lines, at_line, check_utf8, is_blank, is_space, lines, shown,
    trim_return,
};
use crate::error::KernelError;
use crate::formats::tuning::CONLL_WORTH_THREADS;
use crate::interrupt::Interrupt;
use crate::threads::try_each;

/// Columns of CoNLL-U.
const UNIVERSAL: usize = 10;
/// Marks the beginning of a document in CoNLL-2003; not a token.
pub(super) const DOCUMENT: &[u8] = b"-DOCSTART-";
/// The same among comments (CoNLL-U).
const NEW_DOCUMENT: &[u8] = b"# newdoc";

/// Which of the two formats, and what parts columns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Layout {
    /// Runs of space part columns.
    Space,
    /// One tab parts columns; they may be empty.
    Tab,
    /// CoNLL-U.
    Universal,
}

/// One number per token and what the numbers mean.
#[derive(Default)]
pub struct Column {
    /// Number of the word of each token.
    pub codes: Vec<u32>,
    /// The distinct words.
    pub words: Interner,
}

/// The sentences of a file.
#[derive(Default)]
pub struct Sentences {
    /// Where each sentence begins; one more than sentences.
    pub starts: Vec<usize>,
    /// The columns.
    pub columns: Vec<Column>,
    /// Comment lines, without their line ends.
    pub comments: Vec<u8>,
    /// Where each comment ends, and the sentence it belongs to.
    pub comment_ends: Vec<(usize, usize)>,
    /// Numbers of the sentences that documents begin with, where there are marks.
    pub documents: Vec<usize>,
    /// Line of the first token; zero in CoNLL-U, which has ten columns.
    first_line: usize,
}

/// Tabs when the first token has one, else space; `None` where there is no token.
pub fn layout_of(block: &Block) -> Option<Layout> {
    let (_, line) = first_token(block)?;
    Some(if line.contains(&b'\t') { Layout::Tab } else { Layout::Space })
}

/// The line of the first token, after so many others.
fn first_token(block: &Block) -> Option<(usize, &[u8])> {
    let token = |line: &&[u8]| !is_blank(line) && !line.starts_with(DOCUMENT);
    let plain = |line: &&[u8]| token(line) && !line.starts_with(b"#");
    // Comments may stand before it; a file of nothing but `#` has tokens all the same.
    let found = lines(&block.bytes).enumerate().find(|(_, line)| plain(line));
    found.or_else(|| lines(&block.bytes).enumerate().find(|(_, line)| token(line)))
}

/// Read all sentences of a text. `shape` is the number of columns and the line that told it, from an earlier
/// block of the file; the first token tells it otherwise.
pub fn read(
    block: &Block,
    layout: Layout,
    shape: Option<(usize, usize)>,
    n_threads: usize,
    flag: &Interrupt,
) -> Result<Sentences, KernelError> {
    let shape = if layout == Layout::Universal {
        (UNIVERSAL, 0)
    } else {
        shape.or_else(|| shape_of(block, layout)).unwrap_or((0, 0))
    };
    let n = if block.bytes.len() < CONLL_WORTH_THREADS { 1 } else { n_threads };
    let pieces = at_blank_lines(block, n);
    let mut all = Sentences::new(shape);
    for part in try_each(n, &pieces, |piece| read_piece(piece, layout, shape, flag))? {
        all.join(part)?;
    }
    check_words(block, &all)?;
    Ok(all)
}

/// Columns of the first token, and its line.
fn shape_of(block: &Block, layout: Layout) -> Option<(usize, usize)> {
    let (at, line) = first_token(block)?;
    Some((columns_of(line, layout), block.first_line + at))
}

/// Columns of a line.
fn columns_of(line: &[u8], layout: Layout) -> usize {
    match layout {
        Layout::Space => line.split(|&byte| is_space(byte)).filter(|field| !field.is_empty()).count(),
        _ => line.split(|&byte| byte == b'\t').count(),
    }
}

/// Words and comments must be UTF-8; where one is not, its line is looked up.
fn check_words(block: &Block, all: &Sentences) -> Result<(), KernelError> {
    let mut words = all.columns.iter().flat_map(|column| column.words.words());
    if std::str::from_utf8(&all.comments).is_err() || words.any(|word| std::str::from_utf8(word).is_err()) {
        for (at, line) in lines(&block.bytes).enumerate() {
            line.split(|&byte| is_space(byte))
                .try_for_each(|word| check_utf8(word, block.first_line + at))?;
        }
    }
    Ok(())
}

fn read_piece(
    piece: &Piece<'_>,
    layout: Layout,
    shape: (usize, usize),
    flag: &Interrupt,
) -> Result<Sentences, KernelError> {
    let mut part = Sentences::new(shape);
    if layout == Layout::Space {
        part.read_spaced(piece, flag)?;
        return Ok(part);
    }
    for (at, line) in lines(piece.bytes).enumerate() {
        if at % LINES_PER_LOOK == 0 {
            flag.check()?;
        }
        let line = trim_return(line);
        let number = piece.first_line + at;
        if is_blank(line) {
            part.end_sentence();
        } else if layout == Layout::Universal {
            if part.is_word(line, number)? {
                part.read_token(line, number)?;
            }
        } else if !part.passes_over(line, layout) {
            part.read_token(line, number)?;
        }
    }
    part.end_sentence();
    Ok(part)
}

impl Sentences {
    fn new((columns, first_line): (usize, usize)) -> Self {
        let columns = (0..columns).map(|_| Column::default()).collect();
        Self { starts: vec![0], columns, first_line, ..Self::default() }
    }

    /// Read a line whose columns are parted by tabs.
    fn read_token(&mut self, line: &[u8], number: usize) -> Result<(), KernelError> {
        let mut found = 0;
        for field in line.split(|&byte| byte == b'\t') {
            if let Some(column) = self.columns.get_mut(found) {
                column.codes.push(column.words.intern(field)?);
            }
            found += 1;
        }
        self.check_columns(found, number)
    }

    /// Fail unless the token on a line has all its columns.
    #[inline]
    pub(super) fn check_columns(&self, found: usize, line: usize) -> Result<(), KernelError> {
        let expected = self.columns.len();
        if found == expected {
            return Ok(());
        }
        let message = match self.first_line {
            0 => format!("{found} columns where CoNLL-U has {expected}, parted by tabs"),
            first => format!("{found} columns, but {expected} on line {first}"),
        };
        Err(at_line(line, message))
    }

    /// A blank line: the sentence ends, if there is one.
    #[inline]
    pub(super) fn end_sentence(&mut self) {
        let tokens = self.columns.first().map_or(0, |column| column.codes.len());
        if self.starts.last() != Some(&tokens) {
            self.starts.push(tokens);
        }
    }

    /// Whether a line that is not blank marks a document, or is a comment.
    #[inline]
    pub(super) fn passes_over(&mut self, line: &[u8], layout: Layout) -> bool {
        if line.starts_with(DOCUMENT) {
            self.begin_document();
            return true;
        }
        let tokens = self.columns.first().map_or(0, |column| column.codes.len());
        let begins = line[0] == b'#' && self.starts.last() == Some(&tokens);
        if !begins || columns_of(line, layout) == self.columns.len() {
            return false;
        }
        if line.starts_with(NEW_DOCUMENT) {
            self.begin_document();
        }
        true
    }

    /// The next sentence is the first of a document.
    fn begin_document(&mut self) {
        self.end_sentence();
        let sentence = self.starts.len() - 1;
        if self.documents.last() != Some(&sentence) {
            self.documents.push(sentence);
        }
    }

    /// Whether a line of CoNLL-U is a word; comments are kept, ranges and empty nodes passed over.
    fn is_word(&mut self, line: &[u8], number: usize) -> Result<bool, KernelError> {
        if line[0] == b'#' {
            if line.starts_with(NEW_DOCUMENT) {
                self.begin_document();
            }
            self.comments.extend_from_slice(line);
            self.comment_ends.push((self.comments.len(), self.starts.len() - 1));
            return Ok(false);
        }
        let id = line.split(|&byte| byte == b'\t').next().unwrap_or_default();
        let digits = |text: &[u8]| !text.is_empty() && text.iter().all(u8::is_ascii_digit);
        if digits(id) {
            return Ok(true);
        }
        let mut halves = id.splitn(2, |&byte| byte == b'-' || byte == b'.');
        if digits(halves.next().unwrap_or_default()) && digits(halves.next().unwrap_or_default()) {
            return Ok(false);
        }
        Err(at_line(number, format!("{} is not the number of a token (CoNLL-U)", shown(id))))
    }
}

impl Sentences {
    /// Add the sentences that follow in the file.
    fn join(&mut self, part: Self) -> Result<(), KernelError> {
        if self.starts.len() == 1 && self.comments.is_empty() && self.documents.is_empty() {
            *self = part;
            return Ok(());
        }
        let (bytes, sentences) = (self.comments.len(), self.starts.len() - 1);
        self.comments.extend_from_slice(&part.comments);
        let moved = part.comment_ends.iter().map(|&(end, sentence)| (bytes + end, sentences + sentence));
        self.comment_ends.extend(moved);
        self.documents.extend(part.documents.iter().map(|document| sentences + document));
        let tokens = self.columns.first().map_or(0, |column| column.codes.len());
        self.starts.extend(part.starts[1..].iter().map(|start| tokens + start));
        for (column, other) in self.columns.iter_mut().zip(&part.columns) {
            let numbers = column.words.absorb(&other.words)?;
            column.codes.extend(other.codes.iter().map(|&code| numbers[code as usize]));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(text: &str) -> Block {
        Block { bytes: text.as_bytes().to_vec(), first_line: 1 }
    }

    fn parse(text: &str, layout: Layout, n: usize) -> Result<Sentences, KernelError> {
        read(&block(text), layout, None, n, &Interrupt::new())
    }

    fn column(all: &Sentences, at: usize) -> Vec<String> {
        let word =
            |&code: &u32| String::from_utf8_lossy(all.columns[at].words.word(code as usize)).into_owned();
        all.columns[at].codes.iter().map(word).collect()
    }

    fn complaint(text: &str, layout: Layout) -> String {
        parse(text, layout, 1).err().map(|error| error.to_string()).unwrap_or_default()
    }

    #[test]
    fn sentences_and_columns() {
        let all =
            parse("-DOCSTART- -X- O\n\nthe DT B\r\ncat  NN I\n\n \n\nsat VB O", Layout::Space, 1).unwrap();
        assert_eq!(all.starts, [0, 2, 3]);
        assert_eq!(column(&all, 0), ["the", "cat", "sat"]);
        assert_eq!(column(&all, 2), ["B", "I", "O"]);
        assert_eq!(all.documents, [0]);
        let empty = parse("a b\t\tX\nc\td\tY\n", Layout::Tab, 1).unwrap();
        assert_eq!(column(&empty, 0), ["a b", "c"]);
        assert_eq!(column(&empty, 1), ["", "d"]);
        assert_eq!(parse("\n \n", Layout::Space, 1).unwrap().starts, [0]);
    }

    #[test]
    fn universal_keeps_words_and_comments() {
        let row = |id: &str, form: &str| format!("{id}\t{form}\t_\t_\t_\t_\t_\t_\t_\t_\n");
        let text = format!(
            "# a\n# b\n{}{}{}{}\n# c\n{}\n",
            row("1-2", "dal"),
            row("1", "da"),
            row("2", "il"),
            row("2.1", "x"),
            row("1", "y")
        );
        let all = parse(&text, Layout::Universal, 1).unwrap();
        assert_eq!(all.starts, [0, 2, 3]);
        assert_eq!(column(&all, 1), ["da", "il", "y"]);
        assert_eq!(all.comments, b"# a# b# c");
        assert_eq!(all.comment_ends, [(3, 0), (6, 0), (9, 1)]);
        assert!(complaint(&row("x", "y"), Layout::Universal).contains("line 1: 'x'"));
        assert!(complaint("1\ta\n", Layout::Universal).contains("2 columns where CoNLL-U has 10"));
    }

    #[test]
    fn documents_and_comments() {
        let text = "# id 7\na X\n# #\n\n# newdoc id = 2\nb Y\n-DOCSTART- O\nc Z\n\n# #\n";
        let all = parse(text, Layout::Space, 1).unwrap();
        assert_eq!(column(&all, 0), ["a", "#", "b", "c", "#"]);
        assert_eq!((all.starts, all.documents), (vec![0, 2, 3, 4, 5], vec![1, 2]));
        let tabs = parse(&text.replace(' ', "\t"), Layout::Tab, 1).unwrap();
        assert_eq!(column(&tabs, 0), ["a", "#", "b", "c", "#"]);
        assert_eq!(tabs.documents, [2]); // "# newdoc" has a space
        assert_eq!(complaint("a X\n# 1 2\n", Layout::Space), "line 2: 3 columns, but 2 on line 1");
        let row = |id: &str| format!("{id}\ta\t_\t_\t_\t_\t_\t_\t_\t_\n\n");
        let one = format!("# newdoc id = a\n{0}{0}# newdoc\n{0}", row("1"));
        assert_eq!(parse(&one, Layout::Universal, 1).unwrap().documents, [0, 2]);
    }

    #[test]
    fn errors_name_the_line() {
        assert_eq!(complaint("a b\n\nc d\ne\n", Layout::Space), "line 4: 1 columns, but 2 on line 1");
        assert!(complaint("a b c\n\nc d e f\n", Layout::Space).starts_with("line 3: 4 columns"));
        let bad = Block { bytes: b"a b\nc \xff\n".to_vec(), first_line: 1 };
        let error = read(&bad, Layout::Space, None, 1, &Interrupt::new()).err().unwrap();
        assert!(error.to_string().contains("line 2: byte 0xff"), "{error}");
    }

    #[test]
    fn any_number_of_threads_gives_the_same_numbers() {
        let text: String = (0..40_000)
            .map(|i| {
                let end = if i % 110 == 0 {
                    "\n-DOCSTART- O\n\n"
                } else if i % 11 == 0 {
                    "\n"
                } else {
                    ""
                };
                format!("w{} t{}\n{end}", i * 7 % 901, i % 3)
            })
            .collect();
        let (one, three) = (parse(&text, Layout::Space, 1).unwrap(), parse(&text, Layout::Space, 3).unwrap());
        assert!(text.len() > CONLL_WORTH_THREADS);
        assert_eq!(one.starts, three.starts);
        assert_eq!(one.documents, three.documents);
        assert_eq!(one.documents.len(), 364);
        for (a, b) in one.columns.iter().zip(&three.columns) {
            assert_eq!(a.codes, b.codes);
            assert!(a.words.words().eq(b.words.words()));
        }
        let broken = text.clone() + "x\n";
        assert_eq!(
            complaint(&broken, Layout::Space),
            parse(&broken, Layout::Space, 3).err().unwrap().to_string()
        );
    }
}
