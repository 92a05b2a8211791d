//! CRFsuite text to sparse rows: `label TAB attribute[:weight] TAB …`, blank lines between sequences.
//!
//! Follows the reader of CRFsuite (Okazaki 2007, `frontend/iwa.c`, `frontend/reader.c`): fields are parted by tabs and
//! empty ones passed over; `\:` and `\\` stand for `:` and `\`; a field that begins with `#` starts a comment; a line
//! `@weight:v` weights its sequence; an attribute without weight has 1. Unlike it, what is not a number is an error.
//! An attribute named twice in a row counts with the sum, which is what it scores. Returns sequences, labels, and
//! rows with columns that rise, numbered in the order of their first use.

use super::conll::Column;
use super::intern::Interner;
use super::lines::{
    Block, LINES_PER_LOOK, Piece, at_blank_lines, at_line, check_utf8, lines, shown, trim_return,
};
use super::number;
use crate::error::KernelError;
use crate::formats::tuning::CRFSUITE_WORTH_THREADS;
use crate::interrupt::Interrupt;
use crate::threads::try_each;

/// The sequences of a file.
#[derive(Default)]
pub struct Sequences {
    /// Where each sequence begins; one more than sequences.
    pub starts: Vec<usize>,
    /// Label of every item.
    pub labels: Column,
    /// Row pointer of the items.
    pub rows: Vec<usize>,
    /// Attribute numbers, rising within a row.
    pub indices: Vec<u32>,
    /// Their weights.
    pub values: Vec<f64>,
    /// The distinct attributes.
    pub attributes: Interner,
    /// Weight of each sequence; one where the file gives none.
    pub weights: Vec<f64>,
}

/// Read all sequences of a text.
pub fn read(block: &Block, n_threads: usize, flag: &Interrupt) -> Result<Sequences, KernelError> {
    let n = if block.bytes.len() < CRFSUITE_WORTH_THREADS { 1 } else { n_threads };
    let pieces = at_blank_lines(block, n);
    let mut all = join(try_each(n, &pieces, |piece| read_piece(piece, flag))?)?;
    all.order(flag)?;
    check_words(block, &all)?;
    Ok(all)
}

/// Names must be UTF-8; where one is not, its line is looked up.
fn check_words(block: &Block, all: &Sequences) -> Result<(), KernelError> {
    let mut words = all.attributes.words().chain(all.labels.words.words());
    if words.any(|word| std::str::from_utf8(word).is_err()) {
        for (at, line) in lines(&block.bytes).enumerate() {
            line.split(|&byte| byte == b'\t').try_for_each(|word| check_utf8(word, block.first_line + at))?;
        }
    }
    Ok(())
}

/// A field: its name, unescaped into `name`, and its weight where there is one.
fn read_field(field: &[u8], line: usize, name: &mut Vec<u8>) -> Result<Option<f64>, KernelError> {
    name.clear();
    let mut at = 0;
    while at < field.len() && field[at] != b':' {
        if field[at] == b'\\' && matches!(field.get(at + 1), Some(b'\\' | b':')) {
            at += 1;
        }
        name.push(field[at]);
        at += 1;
    }
    let weight = field.get(at + 1..).unwrap_or_default();
    if weight.is_empty() {
        return Ok(None);
    }
    number::parse(weight).map(Some).ok_or_else(|| {
        let message = format!(
            "{} in {} is not a number; a colon in a name is written \\:",
            shown(weight),
            shown(field)
        );
        at_line(line, message)
    })
}

fn read_piece(piece: &Piece<'_>, flag: &Interrupt) -> Result<Sequences, KernelError> {
    let mut part = Sequences { starts: vec![0], rows: vec![0], ..Sequences::default() };
    let mut name = Vec::new();
    let mut weight: Option<(f64, usize)> = None;
    for (at, line) in lines(piece.bytes).enumerate() {
        if at % LINES_PER_LOOK == 0 {
            flag.check()?;
        }
        let number = piece.first_line + at;
        let line = trim_return(line);
        if super::lines::is_blank(line) {
            part.end_sequence(&mut weight)?;
            continue;
        }
        part.read_item(line, number, &mut name, &mut weight)?;
    }
    part.end_sequence(&mut weight)?;
    Ok(part)
}

impl Sequences {
    fn read_item(
        &mut self,
        line: &[u8],
        number: usize,
        name: &mut Vec<u8>,
        weight: &mut Option<(f64, usize)>,
    ) -> Result<(), KernelError> {
        let mut labeled = false;
        for field in line.split(|&byte| byte == b'\t').filter(|field| !field.is_empty()) {
            if field[0] == b'#' {
                break;
            }
            let value = read_field(field, number, name)?;
            if !labeled && name.first() == Some(&b'@') {
                match (&name[..], value) {
                    (b"@weight", Some(value)) => *weight = Some((value, number)),
                    _ => return Err(at_line(number, format!("{} is not @weight:number", shown(field)))),
                }
                continue;
            }
            if name.is_empty() {
                let kind = if labeled { "attribute" } else { "label" };
                let message = format!("{} has an empty {kind}; a colon is written \\:", shown(field));
                return Err(at_line(number, message));
            }
            if !labeled {
                if value.is_some() {
                    return Err(at_line(
                        number,
                        format!("label {} has a weight; a colon is written \\:", shown(field)),
                    ));
                }
                self.labels.codes.push(self.labels.words.intern(name)?);
                labeled = true;
                continue;
            }
            self.indices.push(self.attributes.intern(name)?);
            self.values.push(value.unwrap_or(1.0));
        }
        if labeled {
            self.rows.push(self.values.len());
        }
        Ok(())
    }

    fn end_sequence(&mut self, weight: &mut Option<(f64, usize)>) -> Result<(), KernelError> {
        let items = self.labels.codes.len();
        if self.starts.last() != Some(&items) {
            self.starts.push(items);
            self.weights.push(weight.take().map_or(1.0, |(value, _)| value));
        } else if let Some((_, line)) = weight.take() {
            return Err(at_line(line, "@weight without a sequence after it".into()));
        }
        Ok(())
    }

    /// Columns in rising order, each once.
    fn order(&mut self, flag: &Interrupt) -> Result<(), KernelError> {
        let mut kept = 0;
        let mut pairs: Vec<(u32, f64)> = Vec::new();
        for row in 1..self.rows.len() {
            if row % LINES_PER_LOOK == 0 {
                flag.check()?;
            }
            let (start, end) = (self.rows[row - 1], self.rows[row]);
            pairs.clear();
            pairs.extend(
                self.indices[start..end].iter().copied().zip(self.values[start..end].iter().copied()),
            );
            // Stable, so that sums do not depend on the sort.
            pairs.sort_by_key(|pair| pair.0);
            pairs.dedup_by(|next, first| {
                let same = next.0 == first.0;
                if same {
                    first.1 += next.1;
                }
                same
            });
            for &(index, value) in &pairs {
                self.indices[kept] = index;
                self.values[kept] = value;
                kept += 1;
            }
            self.rows[row - 1] = kept;
        }
        // Ends were written one row early, while old bounds were still needed.
        self.rows.rotate_right(1);
        self.rows[0] = 0;
        self.indices.truncate(kept);
        self.values.truncate(kept);
        Ok(())
    }
}

fn join(parts: Vec<Sequences>) -> Result<Sequences, KernelError> {
    let mut parts = parts.into_iter();
    let Some(mut all) = parts.next() else {
        return Ok(Sequences { starts: vec![0], rows: vec![0], ..Sequences::default() });
    };
    for part in parts {
        let (items, stored) = (all.labels.codes.len(), all.values.len());
        all.starts.extend(part.starts[1..].iter().map(|start| items + start));
        all.rows.extend(part.rows[1..].iter().map(|start| stored + start));
        let numbers = all.labels.words.absorb(&part.labels.words)?;
        all.labels.codes.extend(part.labels.codes.iter().map(|&code| numbers[code as usize]));
        let numbers = all.attributes.absorb(&part.attributes)?;
        all.indices.extend(part.indices.iter().map(|&index| numbers[index as usize]));
        all.values.extend_from_slice(&part.values);
        all.weights.extend_from_slice(&part.weights);
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str, n: usize) -> Result<Sequences, KernelError> {
        read(&Block { bytes: text.as_bytes().to_vec(), first_line: 1 }, n, &Interrupt::new())
    }

    fn complaint(text: &str) -> String {
        parse(text, 1).err().map(|error| error.to_string()).unwrap_or_default()
    }

    #[test]
    fn items_weights_and_escapes() {
        let text = "@weight:2\nB\tw=a\\:b:0.5\t\tx\\\\y\tw=c\\d\nO\tx\\\\y\tw=a\\:b:3\tx\\\\y\r\n\nO\t# no attributes\n";
        let all = parse(text, 1).unwrap();
        assert_eq!(all.starts, [0, 2, 3]);
        assert_eq!(all.weights, [2.0, 1.0]);
        assert_eq!(all.labels.codes, [0, 1, 1]);
        let names: Vec<&[u8]> = all.attributes.words().collect();
        assert_eq!(names, [&b"w=a:b"[..], b"x\\y", b"w=c\\d"]);
        assert_eq!(all.rows, [0, 3, 5, 5]);
        assert_eq!(all.indices, [0, 1, 2, 0, 1]);
        assert_eq!(all.values, [0.5, 1.0, 1.0, 3.0, 2.0]);
        assert_eq!(parse("", 1).unwrap().rows, [0]);
    }

    #[test]
    fn errors_name_the_line() {
        assert!(complaint("B\ta\n\nB\ta:x").starts_with("line 3: 'x' in 'a:x' is not a number"));
        assert!(complaint("B\ta:1:2").contains("'1:2'"));
        assert!(complaint(":\ta").contains("empty label"));
        assert!(complaint("B\t:1").contains("empty attribute"));
        assert!(complaint("B:2\ta").contains("has a weight"));
        assert!(complaint("@other:1\nB\ta").contains("'@other:1' is not @weight"));
        assert!(complaint("B\ta\n\n@weight:3\n\n").starts_with("line 3: @weight without"));
    }

    #[test]
    fn any_number_of_threads_gives_the_same_rows() {
        let text: String = (0..20_000)
            .map(|i| {
                format!(
                    "L{}\ta={}\tb={}:{}\n{}",
                    i % 5,
                    i * 7 % 901,
                    i % 13,
                    i % 3,
                    if i % 9 == 0 { "\n" } else { "" }
                )
            })
            .collect();
        assert!(text.len() > CRFSUITE_WORTH_THREADS);
        let (one, three) = (parse(&text, 1).unwrap(), parse(&text, 3).unwrap());
        assert_eq!(
            (one.starts, one.rows, one.indices, one.values),
            (three.starts, three.rows, three.indices, three.values)
        );
        assert!(one.attributes.words().eq(three.attributes.words()));
    }
}
