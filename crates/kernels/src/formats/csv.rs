//! Delimited text (RFC 4180) to typed columns, in one pass over all cores.
//!
//! The text is cut into pieces that begin with a record: guessed by the parity of the quotes before, proven by the
//! end of the piece before; where the guess was wrong (a quote inside of an unquoted field) the rest is read again
//! by one thread. So the result does not depend on the number of threads.
//!
//! A column of numbers is a vector of doubles: whole numbers have at most 15 digits, longer ones and those with
//! leading zeros are codes and make the column fail, as does every other word; whoever calls then asks for words.
//! A column of words is numbered, each distinct one once, until most of its values are new; then it is a list.

use crate::formats::tuning::{CSV_WORTH_THREADS, LOOK, PIECES, SHORT};
use memchr::{memchr, memchr_iter, memchr2, memchr3};

use super::intern::Interner;
use super::lines::{LINES_PER_LOOK, at_line};
use super::number;
use crate::error::KernelError;
use crate::interrupt::Interrupt;
use crate::threads;

/// What a column is read as.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Wanted {
    /// Not at all.
    Nothing,
    /// Numbers.
    Numbers,
    /// Words.
    Words,
}

/// How a text is read.
#[derive(Clone, Copy, Debug)]
pub struct Options<'a> {
    /// Byte between fields.
    pub delimiter: u8,
    /// What every column is read as; as many as a record has fields.
    pub wanted: &'a [Wanted],
    /// Words for no value among numbers; at most 64.
    pub missing: &'a [Vec<u8>],
    /// Line that told the number of fields, for messages.
    pub width_line: usize,
    /// Most records to read.
    pub most: usize,
    /// Whether the text ends with its last record; else that may be cut, and is left.
    pub last: bool,
}

/// A column that was read.
#[derive(Clone, Debug, PartialEq)]
pub enum Cells {
    /// Not asked for.
    Nothing,
    /// Some value is no number.
    Failed,
    /// Numbers, NaN where missing; whether all are whole; which words for no value were met, by bits.
    Numbers(Vec<f64>, bool, u64),
    /// Numbers of words, and the words in the order of their first use.
    Words(Vec<u32>, Vec<Vec<u8>>),
    /// Words, one after another, where each ends, and which words for no value were met, by bits.
    List(Vec<u8>, Vec<usize>, u64),
}

/// The records of a text.
#[derive(Debug)]
pub struct Table {
    /// The columns, in the order of the text.
    pub columns: Vec<Cells>,
    /// Records.
    pub n_rows: usize,
    /// Bytes that they and the blank lines among them take.
    pub consumed: usize,
    /// Lines that they take.
    pub n_lines: usize,
}

/// Bytes of a field in a list of words up to which it may stand for no value; longer marks are not looked for there.
const LONGEST_MARK: usize = 32;
/// Digits of a whole number that a double always holds.
const EXACT: usize = 15;

/// Powers of ten that a double holds exactly.
const POWERS: [f64; 16] =
    [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];

/// A column while it is read.
enum Building {
    Nothing,
    Failed,
    Numbers { values: Vec<f64>, whole: bool, marks: u64 },
    Words { codes: Vec<u32>, words: Interner },
    List { bytes: Vec<u8>, ends: Vec<usize>, marks: u64 },
}

impl Building {
    fn new(wanted: Wanted) -> Self {
        match wanted {
            Wanted::Nothing => Self::Nothing,
            Wanted::Numbers => Self::Numbers { values: Vec::new(), whole: true, marks: 0 },
            Wanted::Words => Self::Words { codes: Vec::new(), words: Interner::default() },
        }
    }

    /// Take a field.
    fn push(&mut self, field: &[u8], missing: &[Vec<u8>]) -> Result<(), KernelError> {
        match self {
            Self::Nothing | Self::Failed => {}
            Self::Numbers { values, whole, marks } => {
                let word = field.trim_ascii();
                if let Some(mark) = missing.iter().position(|mark| mark == word) {
                    *marks |= 1 << mark;
                    values.push(f64::NAN);
                } else if let Some((value, is_whole)) = any_number(word) {
                    *whole &= is_whole;
                    values.push(value);
                } else {
                    *self = Self::Failed;
                }
            }
            Self::Words { codes, words } => {
                codes.push(words.intern(field)?);
                if codes.len() == LOOK && words.len() > LOOK - LOOK / 4 {
                    let (mut bytes, mut ends, mut marks) = (Vec::new(), Vec::new(), 0);
                    for &code in codes.iter() {
                        let word = words.word(code as usize);
                        bytes.extend_from_slice(word);
                        ends.push(bytes.len());
                        marks |= mark_of(word, missing);
                    }
                    *self = Self::List { bytes, ends, marks };
                }
            }
            Self::List { bytes, ends, marks } => {
                bytes.extend_from_slice(field);
                ends.push(bytes.len());
                if field.len() <= LONGEST_MARK {
                    *marks |= mark_of(field, missing);
                }
            }
        }
        Ok(())
    }

    /// Forget what came after so many records.
    fn truncate(&mut self, n: usize) {
        match self {
            Self::Nothing | Self::Failed => {}
            Self::Numbers { values, .. } => values.truncate(n),
            Self::Words { codes, .. } => codes.truncate(n),
            Self::List { bytes, ends, .. } => {
                ends.truncate(n);
                bytes.truncate(ends.last().copied().unwrap_or(0));
            }
        }
    }
}

/// The bit of the word for no value that a field is, zero for others.
fn mark_of(field: &[u8], missing: &[Vec<u8>]) -> u64 {
    let word = field.trim_ascii();
    missing.iter().position(|mark| mark == word).map_or(0, |mark| 1 << mark)
}

/// The number that a word spells, and whether it is whole; `None` for codes and words.
fn any_number(word: &[u8]) -> Option<(f64, bool)> {
    let digits = word.strip_prefix(b"-").or_else(|| word.strip_prefix(b"+")).unwrap_or(word);
    if digits.len() > 1 && digits[0] == b'0' && digits[1].is_ascii_digit() {
        return None;
    }
    let whole = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    if whole && digits.len() > EXACT {
        return None;
    }
    let value = number::parse(word)?;
    (!value.is_nan()).then_some((value, whole))
}

/// A short plain number at a place: its value, whether it is whole, and where it ends.
#[inline]
fn plain_number(text: &[u8], start: usize) -> Option<(f64, bool, usize)> {
    let negative = text.get(start) == Some(&b'-');
    let first = start + usize::from(negative);
    let (mut at, mut mantissa) = (first, 0_u64);
    let digit = |at: usize| text.get(at).map(|byte| byte.wrapping_sub(b'0')).filter(|&digit| digit < 10);
    while let Some(found) = digit(at) {
        mantissa = mantissa.wrapping_mul(10).wrapping_add(u64::from(found));
        at += 1;
    }
    let mut n_digits = at - first;
    if n_digits == 0 || (n_digits > 1 && text[first] == b'0') {
        return None;
    }
    let (mut value_of, mut whole) = (1.0, true);
    if text.get(at) == Some(&b'.') {
        whole = false;
        let point = at;
        at += 1;
        while let Some(found) = digit(at) {
            mantissa = mantissa.wrapping_mul(10).wrapping_add(u64::from(found));
            at += 1;
        }
        n_digits += at - point - 1;
        value_of = *POWERS.get(at - point - 1)?;
    }
    if n_digits > EXACT {
        return None;
    }
    // Both are exact, so that one division rounds once and right (Clinger 1990).
    let value = mantissa as f64 / value_of;
    Some((if negative { -value } else { value }, whole, at))
}

/// What comes after a field.
#[derive(Clone, Copy, PartialEq)]
enum After {
    Field,
    Line,
    End,
}

/// What follows at a place, and where the next field begins; `None` for other bytes.
fn after(text: &[u8], at: usize, options: &Options<'_>) -> Option<(After, usize)> {
    match text.get(at) {
        None => Some((After::End, at)),
        Some(&byte) if byte == options.delimiter => Some((After::Field, at + 1)),
        Some(b'\n') => Some((After::Line, at + 1)),
        Some(b'\r') => match text.get(at + 1) {
            Some(b'\n') => Some((After::Line, at + 2)),
            // Cut between the two, perhaps.
            None => Some((After::End, at + 1)),
            Some(_) => None,
        },
        Some(_) => None,
    }
}

fn end_of_field(text: &[u8], start: usize, delimiter: u8) -> usize {
    let near = text.len().min(start + SHORT);
    for (at, &byte) in text[..near].iter().enumerate().skip(start) {
        if byte == delimiter || byte == b'\n' || byte == b'\r' {
            return at;
        }
    }
    memchr3(delimiter, b'\n', b'\r', &text[near..]).map_or(text.len(), |length| near + length)
}

/// Some records of a text.
struct Piece {
    columns: Vec<Building>,
    n_rows: usize,
    start: usize,
    end: usize,
    n_lines: usize,
    /// What is wrong, with the line counted from the piece.
    fault: Option<(usize, String)>,
}

/// Read records from `start` on while they begin before `limit`.
fn read_piece(
    text: &[u8],
    start: usize,
    limit: usize,
    options: &Options<'_>,
    flag: &Interrupt,
) -> Result<Piece, KernelError> {
    let columns = options.wanted.iter().map(|&wanted| Building::new(wanted)).collect();
    let mut piece = Piece { columns, n_rows: 0, start, end: start, n_lines: 0, fault: None };
    let mut scratch = Vec::new();
    let Piece { columns, n_rows, end, n_lines, .. } = &mut piece;
    while *end < limit && *n_rows < options.most {
        if n_rows.is_multiple_of(LINES_PER_LOOK) {
            flag.check()?;
        }
        match text[*end] {
            b'\n' => {
                *end += 1;
                *n_lines += 1;
                continue;
            }
            b'\r' if text.get(*end + 1) == Some(&b'\n') => {
                *end += 2;
                *n_lines += 1;
                continue;
            }
            _ => {}
        }
        let (mut at, mut lines, mut column) = (*end, 0, 0);
        let whole = loop {
            let mut plain = None;
            if let Some(Building::Numbers { values, whole, .. }) = columns.get_mut(column)
                && let Some((value, is_whole, next)) = plain_number(text, at)
                && let Some(follows) = after(text, next, options)
            {
                values.push(value);
                *whole &= is_whole;
                plain = Some(follows);
            }
            let (follows, next) = match plain {
                Some(follows) => follows,
                None => {
                    let (field, stop) = if text.get(at) == Some(&b'"') {
                        scratch.clear();
                        let mut from = at + 1;
                        let closed = loop {
                            let Some(length) = memchr(b'"', &text[from..]) else { break None };
                            let quote = from + length;
                            if text.get(quote + 1) == Some(&b'"') {
                                scratch.extend_from_slice(&text[from..=quote]);
                                from = quote + 2;
                            } else {
                                break Some(quote);
                            }
                        };
                        let Some(quote) = closed else {
                            if options.last {
                                piece.fault =
                                    Some((*n_lines, "a quote is opened here and never closed".into()));
                                return Ok(piece);
                            }
                            break None;
                        };
                        lines += memchr_iter(b'\n', &text[at..quote]).count();
                        let field = if scratch.is_empty() {
                            &text[from..quote]
                        } else {
                            scratch.extend_from_slice(&text[from..quote]);
                            &scratch[..]
                        };
                        (field, quote + 1)
                    } else {
                        let stop = end_of_field(text, at, options.delimiter);
                        (&text[at..stop], stop)
                    };
                    if let Some(building) = columns.get_mut(column) {
                        building.push(field, options.missing)?;
                    }
                    let Some(follows) = after(text, stop, options) else {
                        let message = if text[stop] == b'\r' {
                            "a carriage return stands alone inside of the line".into()
                        } else {
                            format!("'{}' expected after '\"'", char::from(options.delimiter))
                        };
                        piece.fault = Some((*n_lines + lines, message));
                        return Ok(piece);
                    };
                    follows
                }
            };
            at = next;
            column += 1;
            match follows {
                After::Field => {}
                After::Line => break Some(1),
                After::End => break options.last.then_some(0),
            }
        };
        // A record that is cut is left for the next text.
        let Some(ended) = whole else {
            for building in columns.iter_mut() {
                building.truncate(*n_rows);
            }
            break;
        };
        if column != options.wanted.len() {
            let message =
                format!("{column} fields, but {} on line {}", options.wanted.len(), options.width_line);
            piece.fault = Some((*n_lines + lines, message));
            return Ok(piece);
        }
        *n_lines += lines + ended;
        *n_rows += 1;
        *end = at;
    }
    Ok(piece)
}

/// Where pieces begin: after line ends outside of quotes, as far as their parity tells.
fn starts(text: &[u8], n: usize) -> Vec<usize> {
    let (mut found, mut seen, mut inside) = (vec![0], 0, false);
    for number in 1..n {
        let from = (text.len() / n * number).max(seen);
        inside ^= memchr_iter(b'"', &text[seen..from]).count() % 2 == 1;
        seen = from;
        while let Some(length) = memchr2(b'"', b'\n', &text[seen..]) {
            let byte = text[seen + length];
            seen += length + 1;
            if byte == b'"' {
                inside = !inside;
            } else if !inside {
                break;
            }
        }
        if seen < text.len() && Some(&seen) != found.last() {
            found.push(seen);
        }
    }
    found
}

/// Read the records of a text whose first line has a number.
pub fn read(
    text: &[u8],
    first_line: usize,
    options: &Options<'_>,
    n_threads: usize,
    flag: &Interrupt,
) -> Result<Table, KernelError> {
    let shared = n_threads > 1 && options.most == usize::MAX && text.len() >= CSV_WORTH_THREADS;
    let begins = starts(text, if shared { n_threads * PIECES } else { 1 });
    let limits = begins.iter().skip(1).copied().chain([text.len()]);
    let ranges: Vec<_> = begins.iter().copied().zip(limits).collect();
    let mut pieces =
        threads::try_each(n_threads, ranges, |(start, limit)| read_piece(text, start, limit, options, flag))?;
    let proven =
        pieces.windows(2).take_while(|two| two[0].fault.is_none() && two[0].end == two[1].start).count();
    if proven + 1 < pieces.len() && pieces[proven].fault.is_none() {
        pieces.truncate(proven + 1);
        let from = pieces[proven].end;
        pieces.push(read_piece(text, from, text.len(), options, flag)?);
    } else {
        pieces.truncate(proven + 1);
    }
    let mut table = Table { columns: Vec::new(), n_rows: 0, consumed: 0, n_lines: 0 };
    for piece in &pieces {
        if let Some((line, message)) = &piece.fault {
            check_utf8(&text[..piece.end], first_line)?;
            return Err(at_line(first_line + table.n_lines + line, message.clone()));
        }
        table.n_rows += piece.n_rows;
        table.n_lines += piece.n_lines;
        table.consumed = piece.end;
    }
    check_utf8(&text[..table.consumed], first_line)?;
    let mut columns: Vec<Vec<Building>> = options.wanted.iter().map(|_| Vec::new()).collect();
    for piece in pieces {
        for (column, part) in columns.iter_mut().zip(piece.columns) {
            column.push(part);
        }
    }
    let n_rows = table.n_rows;
    table.columns = threads::try_each(n_threads, columns, |parts| joined(parts, n_rows, options.missing))?;
    Ok(table)
}

fn joined(mut parts: Vec<Building>, n_rows: usize, missing: &[Vec<u8>]) -> Result<Cells, KernelError> {
    if parts.iter().any(|part| matches!(part, Building::Failed)) {
        return Ok(Cells::Failed);
    }
    match parts.first() {
        Some(Building::Numbers { .. }) => {
            let (mut all, mut whole, mut marks) = (Vec::new(), true, 0);
            for part in parts {
                if let Building::Numbers { values, whole: these, marks: met } = part {
                    if all.is_empty() {
                        all = values;
                        all.reserve_exact(n_rows - all.len());
                    } else {
                        all.extend_from_slice(&values);
                    }
                    whole &= these;
                    marks |= met;
                }
            }
            Ok(Cells::Numbers(all, whole, marks))
        }
        Some(Building::Nothing) | None => Ok(Cells::Nothing),
        _ if parts.iter().all(|part| matches!(part, Building::Words { .. })) => {
            let Building::Words { mut codes, mut words } = parts.remove(0) else { return Ok(Cells::Nothing) };
            for part in parts {
                if let Building::Words { codes: more, words: others } = part {
                    let places = words.absorb(&others)?;
                    codes.extend(more.iter().map(|&code| places[code as usize]));
                }
            }
            Ok(Cells::Words(codes, words.words().map(<[u8]>::to_vec).collect()))
        }
        _ => {
            let (mut all, mut places, mut met) = (Vec::new(), Vec::with_capacity(n_rows), 0);
            for part in parts {
                match part {
                    Building::List { bytes, ends, marks } => {
                        met |= marks;
                        let base = all.len();
                        all.extend_from_slice(&bytes);
                        places.extend(ends.iter().map(|end| base + end));
                    }
                    Building::Words { codes, words } => {
                        met |= words.words().fold(0, |met, word| met | mark_of(word, missing));
                        for code in codes {
                            all.extend_from_slice(words.word(code as usize));
                            places.push(all.len());
                        }
                    }
                    _ => {}
                }
            }
            Ok(Cells::List(all, places, met))
        }
    }
}

/// The first byte that is no UTF-8, by its line and column.
fn check_utf8(text: &[u8], first_line: usize) -> Result<(), KernelError> {
    let Err(error) = std::str::from_utf8(text) else { return Ok(()) };
    let at = error.valid_up_to();
    let line = first_line + memchr_iter(b'\n', &text[..at]).count();
    let begin = memchr::memrchr(b'\n', &text[..at]).map_or(0, |place| place + 1);
    let column = String::from_utf8_lossy(&text[begin..at]).chars().count() + 1;
    let message = format!(
        "byte 0x{:02x} at column {column} is not UTF-8; pass encoding= (such as 'latin-1' or 'utf-16')",
        text[at]
    );
    Err(at_line(line, message))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options<'a>(wanted: &'a [Wanted], missing: &'a [Vec<u8>]) -> Options<'a> {
        Options { delimiter: b',', wanted, missing, width_line: 1, most: usize::MAX, last: true }
    }

    fn columns(text: &str, wanted: &[Wanted]) -> Vec<Cells> {
        let missing = [b"".to_vec(), b"NA".to_vec()];
        read(text.as_bytes(), 1, &options(wanted, &missing), 1, &Interrupt::new()).unwrap().columns
    }

    fn words(text: &str) -> Vec<String> {
        let Cells::Words(codes, words) = columns(text, &[Wanted::Words]).remove(0) else { panic!() };
        codes.iter().map(|&code| String::from_utf8(words[code as usize].clone()).unwrap()).collect()
    }

    #[test]
    fn numbers_are_told_from_codes_and_words() {
        let numbers = |text: &str| columns(text, &[Wanted::Numbers]).remove(0);
        assert_eq!(numbers("1\n-2\n 3 \n"), Cells::Numbers(vec![1.0, -2.0, 3.0], true, 0));
        assert_eq!(numbers("1.5\r\n\"2e3\"\r\n0.25"), Cells::Numbers(vec![1.5, 2000.0, 0.25], false, 0));
        let Cells::Numbers(values, whole, marks) = numbers("1\nNA\n\"\"\n7\n") else { panic!() };
        assert!(values[1].is_nan() && values[2].is_nan() && whole && marks == 3);
        for text in ["007\n", "1\nx\n", "1234567890123456\n", "nan\n", "1_0\n", "1 2\n"] {
            assert_eq!(numbers(text), Cells::Failed, "{text}");
        }
        assert_eq!(numbers("123456789012345\n"), Cells::Numbers(vec![123_456_789_012_345.0], true, 0));
        assert_eq!(
            numbers("0.1234567890123456789\n"),
            Cells::Numbers(vec![0.123_456_789_012_345_68], false, 0)
        );
    }

    #[test]
    fn quotes_and_line_ends() {
        assert_eq!(words("a\n\n\"b\"\"c\nd\"\r\n e\"\n"), ["a", "b\"c\nd", " e\""]);
        assert_eq!(words("\"\"\n"), [""]);
    }

    #[test]
    fn faults_name_their_line() {
        let fault = |text: &str| {
            let wanted = [Wanted::Words, Wanted::Words];
            read(text.as_bytes(), 5, &options(&wanted, &[]), 1, &Interrupt::new()).unwrap_err().to_string()
        };
        assert!(fault("a,b\nc\n").contains("1 fields, but 2 on line 1"));
        assert!(fault("a,\"b\nc").contains("never closed"));
        assert!(fault("a,\"b\"c\n").contains("expected after"));
        assert!(fault("a,b\rc\n").contains("carriage return"));
    }

    #[test]
    fn a_cut_record_is_left() {
        let wanted = [Wanted::Numbers, Wanted::Words];
        let text = b"1,a\n2,\"b\nb\"\n3,c";
        for cut in 0..=text.len() {
            let mut given = options(&wanted, &[]);
            given.last = false;
            let table = read(&text[..cut], 1, &given, 1, &Interrupt::new()).unwrap();
            assert_eq!(table.n_rows, [0, 1, 2][usize::from(cut >= 4) + usize::from(cut >= 12)], "{cut}");
            assert_eq!(table.consumed, [0, 4, 12][table.n_rows]);
            let Cells::Numbers(values, ..) = &table.columns[0] else { panic!() };
            assert_eq!(values.len(), table.n_rows);
        }
    }

    #[test]
    fn threads_change_nothing() {
        let mut text = String::new();
        for row in 0..60_000_u32 {
            let odd = if row % 97 == 0 { "\"x\"\"\ny,\"" } else { "z" };
            // A stray quote turns the parity round.
            let stray = if row == 30_011 { "5\" pipe" } else { "ok" };
            text += &format!("{row}.5,{odd},text number {},{stray}\n", row.wrapping_mul(2_654_435_761));
        }
        let wanted = [Wanted::Numbers, Wanted::Words, Wanted::Words, Wanted::Words];
        let given = options(&wanted, &[]);
        let one = read(text.as_bytes(), 1, &given, 1, &Interrupt::new()).unwrap();
        assert!(matches!(one.columns[2], Cells::List(..)));
        for n_threads in [2, 3, 7] {
            let many = read(text.as_bytes(), 1, &given, n_threads, &Interrupt::new()).unwrap();
            assert_eq!((many.n_rows, many.n_lines), (60_000, one.n_lines));
            assert_eq!(many.columns, one.columns);
        }
    }
}
