//! Templates against strings joined one by one.

use std::collections::HashMap;

use super::index::Index;
use super::learn::learn;
use super::numbers::Numbers;
use super::packing::stages;
use super::plan::{Part, Plan, Template};
use super::rows::Rows;
use super::tokens::{Column, Tokens};
use crate::error::KernelError;
use crate::interrupt::Interrupt;

fn random(state: &mut u64) -> usize {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
    (*state >> 33) as usize
}

/// A column of `n_words` words for sequences that begin at `starts`.
struct Held {
    codes: Vec<i32>,
    words: Vec<u8>,
    word_starts: Vec<i64>,
}

impl Held {
    fn new(n_words: usize, n: usize, state: &mut u64) -> Self {
        let (mut words, mut word_starts) = (Vec::new(), vec![0]);
        for word in 0..n_words {
            words.extend_from_slice(format!("w{word}").as_bytes());
            word_starts.push(words.len() as i64);
        }
        // Now and then a token has no word.
        let codes = (0..n).map(|_| (random(state) % (n_words + 1)) as i32 - 1).collect();
        Self { codes, words, word_starts }
    }

    fn column(&self) -> Column<'_> {
        Column { codes: &self.codes, words: &self.words, word_starts: &self.word_starts, pads: &[] }
    }
}

fn starts(n: usize, state: &mut u64) -> Vec<i64> {
    let mut starts = vec![0];
    while starts[starts.len() - 1] < n as i64 {
        let next = starts[starts.len() - 1] + (random(state) % 9) as i64;
        starts.push(next.min(n as i64));
    }
    starts
}

fn relative(column: usize, offset: i32) -> Part {
    Part { column, offset, absolute: false }
}

/// Single values, pairs, nine parts that need two stages, and a bag of two places.
fn plan() -> Plan {
    let text = |parts: usize, name: &str| {
        let mut literals = vec![format!("{name}=")];
        literals.resize(parts + 1, "|".into());
        literals
    };
    let nine: Vec<Part> = (-4..5).map(|offset| relative(0, offset)).collect();
    let literals = vec![vec!["bias".into()], text(1, "a"), text(2, "ab"), text(9, "nine"), text(1, "bag")];
    let parts = [
        (0, vec![]),
        (1, vec![relative(0, -1)]),
        (2, vec![relative(0, 0), relative(1, 1)]),
        (4, vec![relative(1, -1)]),
        (3, nine),
        (4, vec![relative(1, 1)]),
    ];
    let templates = parts.into_iter().map(|(group, parts)| Template { group, parts }).collect();
    Plan::new(literals, templates, vec![0, 1], false).unwrap()
}

/// The attributes of every token as strings, with how often each occurs.
fn strings(plan: &Plan, held: &[Held; 2], starts: &[i64]) -> Vec<HashMap<String, u32>> {
    let mut rows = Vec::new();
    for bounds in starts.windows(2) {
        for t in bounds[0]..bounds[1] {
            let mut row = HashMap::new();
            'template: for template in plan.templates() {
                let literals = &plan.literals()[template.group];
                let mut name = literals[0].clone();
                for (part, literal) in template.parts.iter().zip(&literals[1..]) {
                    let at = t + i64::from(part.offset);
                    if at < bounds[0] || at >= bounds[1] || held[part.column].codes[at as usize] < 0 {
                        continue 'template;
                    }
                    name += &format!("w{}{literal}", held[part.column].codes[at as usize]);
                }
                *row.entry(name).or_insert(0) += 1;
            }
            rows.push(row);
        }
    }
    rows
}

fn named(index: &Index, rows: &Rows) -> Vec<HashMap<String, u32>> {
    let (bytes, starts) = index.names();
    let name = |j: i32| {
        let (start, end) = (starts[j as usize] as usize, starts[j as usize + 1] as usize);
        String::from_utf8(bytes[start..end].to_vec()).unwrap()
    };
    let row = |bounds: &[i64]| {
        let range = bounds[0] as usize..bounds[1] as usize;
        range.map(|at| (name(rows.columns[at]), rows.values[at] as u32)).collect()
    };
    rows.starts.windows(2).map(row).collect()
}

#[test]
fn rows_are_those_of_joined_strings() {
    let mut state = 1;
    for n in [0, 1, 7, 20_000] {
        let starts = starts(n, &mut state);
        let held = [Held::new(300, n, &mut state), Held::new(5, n, &mut state)];
        let columns = || held.iter().map(Held::column).collect();
        let tokens = Tokens::new(columns(), &starts).unwrap();
        let plan = plan();
        let stop = Interrupt::new();
        let (index, rows) = learn(&plan, &tokens, 1, true, 1, &stop).unwrap();
        let rows = rows.unwrap();
        assert_eq!(named(&index, &rows), strings(&plan, &held, &starts));
        for n_threads in [2, 3] {
            let (again, other) = learn(&plan, &tokens, 1, true, n_threads, &stop).unwrap();
            assert_eq!(Some(&rows), other.as_ref());
            assert_eq!(index.keys(), again.keys());
            assert_eq!(rows, index.encode(&tokens, n_threads, &stop).unwrap());
        }
        let (spaces, keys) = (index.spaces(), index.keys());
        let spaces: Vec<_> = spaces.iter().map(|(bytes, starts)| (&bytes[..], &starts[..])).collect();
        let keys: Vec<Vec<&[u64]>> = keys.iter().map(|g| g.iter().map(Vec::as_slice).collect()).collect();
        let restored = Index::restore(plan.clone(), &spaces, &keys).unwrap();
        assert_eq!(rows, restored.encode(&tokens, 1, &stop).unwrap());
        assert_eq!(index.names(), restored.names());
    }
}

#[test]
fn a_flag_that_is_set_stops_the_work() {
    let mut state = 2;
    let held = Held::new(3, 100, &mut state);
    let plan = Plan::new(
        vec![vec!["a".into(), String::new()]],
        vec![Template { group: 0, parts: vec![relative(0, 0)] }],
        vec![0],
        false,
    )
    .unwrap();
    let tokens = Tokens::new(vec![held.column()], &[0, 100]).unwrap();
    let (index, _) = learn(&plan, &tokens, 1, false, 1, &Interrupt::new()).unwrap();
    let stop = Interrupt::new();
    stop.set();
    assert_eq!(learn(&plan, &tokens, 1, false, 1, &stop).err(), Some(KernelError::Interrupted));
    assert_eq!(index.encode(&tokens, 1, &stop).err(), Some(KernelError::Interrupted));
}

#[test]
fn stages_hold_all_parts_and_unpack_what_was_packed() {
    for sizes in [vec![], vec![0], vec![7, 1, 3], vec![1 << 30; 9], vec![(1 << 31) - 1; 5]] {
        let stages = stages(&sizes);
        assert_eq!(stages.iter().map(|stage| stage.radices.len()).sum::<usize>(), sizes.len());
        let mut leading = 0_u64;
        for stage in &stages {
            let values: Vec<u32> = stage.radices.iter().map(|&radix| radix as u32 - 1).collect();
            let packed = stage.radices.iter().zip(&values).fold(leading, |k, (r, &v)| k * r + u64::from(v));
            assert!(packed < stage.range);
            let mut unpacked = Vec::new();
            assert_eq!(stage.unpack(packed, &mut unpacked), leading);
            assert_eq!(unpacked, values);
            leading = u64::from(u32::MAX);
        }
    }
}

#[test]
fn numbers_do_not_depend_on_the_table() {
    let (mut direct, mut hashed) = (Numbers::new(1000, 1000), Numbers::new(1 << 60, 1000));
    let mut state = 3;
    for _ in 0..5000 {
        let key = random(&mut state) as u64 % 1000;
        assert_eq!(direct.find(key), hashed.find(key));
        assert_eq!(direct.insert(key), hashed.insert(key));
    }
    assert_eq!(direct.keys(), hashed.keys());
    assert!(Numbers::restore(&[3, 3], 10).is_err());
    assert!(Numbers::restore(&[10], 10).is_err());
}

#[test]
fn malformed_input_is_refused() {
    let mut state = 4;
    let held = Held::new(3, 4, &mut state);
    let with = |codes: &'static [i32], pads: &'static [i32]| {
        let column = Column { codes, pads, ..held.column() };
        Tokens::new(vec![column], &[0, codes.len() as i64])
    };
    assert!(with(&[0, -1, 2], &[0, -1]).is_ok());
    for (codes, pads) in [(&[0, 3][..], &[][..]), (&[-2], &[]), (&[0], &[0]), (&[0], &[0, 3])] {
        assert!(with(codes, pads).is_err());
    }
    for starts in [&[][..], &[1, 4], &[0, 3, 2, 4], &[0, 3], &[0, -4]] {
        assert!(Tokens::new(vec![held.column()], starts).is_err());
    }
    let literal = || vec![vec!["a".into(), String::new()]];
    let make = |group, column, spaces| {
        Plan::new(literal(), vec![Template { group, parts: vec![relative(column, 0)] }], spaces, false)
    };
    assert!(make(0, 0, vec![0]).is_ok());
    assert!(make(1, 0, vec![0]).is_err());
    assert!(make(0, 1, vec![0]).is_err());
    assert!(make(0, 0, vec![1]).is_err());
    assert!(Plan::new(literal(), vec![], vec![0], false).is_err());
}
