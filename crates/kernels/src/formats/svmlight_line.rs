//! One line of svmlight: `label[,label…] [qid:q] index:value … [# comment]`.

use memchr::memchr;

use super::lines::{at_line, is_space, shown};
use super::number;
use super::svmlight::{Options, Width};
use crate::error::KernelError;

/// What the lines of one piece held.
#[derive(Default)]
pub struct Part<I> {
    pub labels: Vec<f64>,
    /// Where the labels of every row end.
    pub label_ends: Vec<usize>,
    pub queries: Vec<i64>,
    /// Where the values of every row end.
    pub ends: Vec<usize>,
    pub indices: Vec<I>,
    pub values: Vec<f64>,
    pub smallest: Option<u64>,
    pub largest: Option<u64>,
    /// First line with several labels or none.
    pub several: Option<usize>,
    pub none: Option<usize>,
    /// First line with a query and first line without.
    pub with_query: Option<usize>,
    pub without_query: Option<usize>,
}

/// Why a line was not taken.
pub enum Refusal {
    /// An index needs more bits than `I` has.
    Wide,
    /// The line is wrong.
    Error(KernelError),
}

impl From<KernelError> for Refusal {
    fn from(error: KernelError) -> Self {
        Self::Error(error)
    }
}

fn refuse<T>(line: usize, message: String) -> Result<T, Refusal> {
    Err(Refusal::Error(at_line(line, message)))
}

fn skip_space(text: &[u8], mut at: usize) -> usize {
    while text.get(at).copied().is_some_and(is_space) {
        at += 1;
    }
    at
}

fn token(text: &[u8], start: usize) -> &[u8] {
    let length = text[start..].iter().position(|&byte| is_space(byte)).unwrap_or(text.len() - start);
    &text[start..start + length]
}

impl<I: Width> Part<I> {
    /// Read one line; `number` is its number in the file.
    pub fn read(&mut self, line: &[u8], number: usize, options: &Options) -> Result<(), Refusal> {
        // A comment runs to the end, wherever it begins.
        let text = memchr(b'#', line).map_or(line, |end| &line[..end]);
        let mut at = skip_space(text, 0);
        if at == text.len() {
            return Ok(());
        }
        at = self.read_labels(text, at, number)?;
        at = self.read_query(text, at, number)?;
        // The least index that may come next.
        let mut least = 0_u64;
        loop {
            at = skip_space(text, at);
            if at == text.len() {
                break;
            }
            let start = at;
            let mut index = 0_u64;
            while let Some(digit) =
                text.get(at).map(|byte| byte.wrapping_sub(b'0')).filter(|&digit| digit < 10)
            {
                index = 10 * index + u64::from(digit);
                at += 1;
                if at - start > 18 {
                    break;
                }
            }
            if at == start || at - start > 18 || text.get(at) != Some(&b':') {
                return refuse(number, bad_pair(token(text, start)));
            }
            if index < least {
                let message = match least - 1 {
                    last if last == index => format!("index {index} twice: indices must rise"),
                    last => format!("index {index} after {last}: indices must rise"),
                };
                return refuse(number, message);
            }
            at += 1;
            let value = match number::plain(&text[at..]) {
                Some((value, length)) if text.get(at + length).copied().is_none_or(is_space) => {
                    at += length;
                    value
                }
                _ => {
                    let word = token(text, at);
                    let Some(value) = number::parse(word) else {
                        return refuse(
                            number,
                            format!("{} in {} is not a number", shown(word), shown(token(text, start))),
                        );
                    };
                    at += word.len();
                    value
                }
            };
            if least == 0 {
                self.begin(index, number, options)?;
            }
            least = index + 1;
            let Some(narrow) = I::narrow(index) else {
                return Err(Refusal::Wide);
            };
            self.indices.push(narrow);
            self.values.push(value);
        }
        if let Some(last) = least.checked_sub(1) {
            self.finish(last, number, options)?;
        }
        self.ends.push(self.values.len());
        Ok(())
    }

    fn begin(&mut self, first: u64, line: usize, options: &Options) -> Result<(), Refusal> {
        if first == 0 && options.zero_based == Some(false) {
            return refuse(line, "index 0, but indices count from one (zero_based=False)".into());
        }
        self.smallest = Some(self.smallest.map_or(first, |least| least.min(first)));
        Ok(())
    }

    fn finish(&mut self, last: u64, line: usize, options: &Options) -> Result<(), Refusal> {
        // While the base is not known, an index may be one more than a zero-based one.
        let shift = u64::from(options.zero_based != Some(true));
        if let Some(n) = options.n_features
            && last >= (n as u64).saturating_add(shift)
        {
            return refuse(line, format!("index {last}, but there are {n} features (n_features)"));
        }
        self.largest = Some(self.largest.map_or(last, |most| most.max(last)));
        Ok(())
    }

    fn read_labels(&mut self, text: &[u8], at: usize, number: usize) -> Result<usize, Refusal> {
        let word = token(text, at);
        let mut end = at + word.len();
        let before = self.labels.len();
        if memchr(b':', word).is_some() {
            // No label: the line begins with its query or first value.
            end = at;
        } else {
            for label in word.split(|&byte| byte == b',') {
                match number::parse(label) {
                    Some(value) => self.labels.push(value),
                    None => return refuse(number, format!("label {} is not a number", shown(label))),
                }
            }
        }
        match self.labels.len() - before {
            1 => {}
            0 => _ = self.none.get_or_insert(number),
            _ => {
                self.several.get_or_insert(number);
                self.labels[before..].sort_by(f64::total_cmp);
            }
        }
        self.label_ends.push(self.labels.len());
        Ok(end)
    }

    fn read_query(&mut self, text: &[u8], at: usize, number: usize) -> Result<usize, Refusal> {
        let start = skip_space(text, at);
        if !text[start..].starts_with(b"qid:") {
            self.without_query.get_or_insert(number);
            return Ok(at);
        }
        let word = token(text, start);
        let Some(query) = std::str::from_utf8(&word[4..]).ok().and_then(|text| text.parse().ok()) else {
            return refuse(number, format!("{} is not a query number", shown(word)));
        };
        self.with_query.get_or_insert(number);
        self.queries.push(query);
        Ok(start + word.len())
    }
}

fn bad_pair(word: &[u8]) -> String {
    let head = word.split(|&byte| byte == b':').next().unwrap_or_default();
    if word.starts_with(b"qid:") {
        format!("{} must follow the label", shown(word))
    } else if head.len() == word.len() {
        format!("{} is not index:value", shown(word))
    } else if head.len() > 18 && head.iter().all(u8::is_ascii_digit) {
        format!("index {} is too large", shown(head))
    } else {
        format!("index {} in {} is not a whole number that is not negative", shown(head), shown(word))
    }
}
