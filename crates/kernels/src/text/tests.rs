//! The kernels against a plain count of strings, on text of ASCII.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::analyze::{Analyzer, Kind};
use super::batch::Batch;
use super::characters::{CASED, Characters, IGNORABLE, Replaced, SPACE, WORD};
use super::count::{Counter, Tally};
use super::finish::finish;
use super::hashing::hash_rows;
use super::lookup::Lookup;
use super::rows::{Rows, each_column};
use super::terms::Terms;
use super::weigh::{Norm, Weighting, weigh};
use crate::interrupt::Interrupt;

fn analyzer(kind: Kind, lengths: (usize, usize)) -> Arc<Analyzer> {
    let mut properties = vec![0; 0x11_0000];
    for c in (0..0x250u32).filter_map(char::from_u32) {
        properties[c as usize] = if c.is_alphanumeric() || c == '_' { WORD | CASED } else { 0 };
        properties[c as usize] |= if c.is_whitespace() { SPACE } else { 0 };
    }
    for c in "ΑΣας".chars() {
        properties[c as usize] = WORD | CASED;
    }
    properties[usize::from(b'\'')] = IGNORABLE;
    let replaced =
        [Replaced { character: 'Α' as u32, by: "α" }, Replaced { character: 'É' as u32, by: "e." }];
    let characters = Characters::new(&properties, replaced.into_iter(), ["s", "t"], true, false).unwrap();
    Arc::new(Analyzer::new(Arc::new(characters), kind, lengths, ["of"].into_iter()).unwrap())
}

fn texts() -> Vec<String> {
    let mut state = 7u64;
    let mut draw = |n: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) % n
    };
    let mut text = |_| {
        let words: Vec<String> =
            (0..draw(60)).map(|_| "Word".repeat(draw(5) as usize) + &draw(90).to_string()).collect();
        words.join([" ", ", ", " of ", "-"][draw(4) as usize])
    };
    (0..900).map(&mut text).collect()
}

/// Counts of terms per document, and the number of documents that hold each.
fn plain(texts: &[&str], low: usize, high: usize) -> (Vec<BTreeMap<String, usize>>, BTreeMap<String, usize>) {
    let mut rows = Vec::new();
    let mut frequency = BTreeMap::new();
    for text in texts {
        let lowered = text.to_lowercase();
        let words: Vec<&str> = lowered
            .split(|c: char| !c.is_alphanumeric())
            .filter(|word| word.len() > 1 && *word != "of")
            .collect();
        let mut row = BTreeMap::new();
        for n in low..=high {
            for term in words.windows(n) {
                *row.entry(term.join(" ")).or_insert(0) += 1;
            }
        }
        for term in row.keys() {
            *frequency.entry(term.clone()).or_insert(0) += 1;
        }
        rows.push(row);
    }
    (rows, frequency)
}

fn as_counts(rows: &Rows) -> Vec<Vec<(u32, i64)>> {
    let mut out = Vec::new();
    for row in rows.pieces().iter().flat_map(|piece| piece.rows()) {
        let mut counts = Vec::new();
        each_column(row, rows.signed(), |column, sum, _| counts.push((column, sum)));
        out.push(counts);
    }
    out
}

#[test]
fn terms_and_rows_are_those_of_a_plain_count() {
    let (owned, stop) = (texts(), Interrupt::new());
    let texts: Vec<&str> = owned.iter().map(String::as_str).collect();
    for lengths in [(1, 1), (1, 2), (2, 2), (1, 3), (3, 5)] {
        let (rows, frequency) = plain(&texts, lengths.0, lengths.1);
        let expected: Vec<(&str, usize)> =
            frequency.iter().filter(|(_, f)| **f >= 2).map(|(term, &f)| (term.as_str(), f)).collect();
        let columns: BTreeMap<&str, u32> =
            expected.iter().enumerate().map(|(j, &(term, _))| (term, j as u32)).collect();
        for n_threads in [1, 3] {
            let analyzer = analyzer(Kind::Word, lengths);
            let mut counter = Counter::new(analyzer.clone(), Tally::Occurrences);
            for batch in texts.chunks(350) {
                counter.feed(Batch::Text(batch), &[], true, n_threads, &stop).unwrap();
            }
            let finished = finish(&counter, 2.0, f64::INFINITY, n_threads);
            let (names, ends) = finished.terms.names();
            let mut start = 0;
            for (&end, &(term, f)) in ends.iter().zip(&expected) {
                assert_eq!(&names[start..end as usize], term.as_bytes());
                assert_eq!(finished.frequency[columns[term] as usize] as usize, f);
                start = end as usize;
            }
            assert_eq!(finished.terms.len(), expected.len());

            let wanted: Vec<Vec<(u32, i64)>> = rows
                .iter()
                .map(|row| {
                    row.iter()
                        .filter_map(|(term, &n)| Some((*columns.get(term.as_str())?, n as i64)))
                        .collect()
                })
                .collect();
            let kept = finished.rows(&mut counter, n_threads, &stop).unwrap();
            assert_eq!(as_counts(&kept), wanted);
            // Terms that went through their names are found again.
            let parsed = Terms::parse(&names, &ends, Kind::Word).unwrap();
            let lookup = Lookup::new(analyzer, &parsed);
            let mut found = Rows::new(false);
            found.extend(lookup.rows(Batch::Text(&texts), n_threads, &stop).unwrap());
            assert_eq!(as_counts(&found), wanted);
            let total: u64 = finished.counts.iter().map(|counts| counts[0]).sum();
            assert_eq!(total as i64, wanted.iter().flatten().map(|&(_, n)| n).sum::<i64>());
        }
    }
}

#[test]
fn folding_sees_context_and_expansions() {
    let stop = Interrupt::new();
    let found = |text: &str| {
        let mut counter = Counter::new(analyzer(Kind::Word, (1, 1)), Tally::Nothing);
        counter.feed(Batch::Text(&[text]), &[], false, 1, &stop).unwrap();
        let names = finish(&counter, 0.0, 9.0, 1).terms.names().0;
        String::from_utf8(names).unwrap()
    };
    assert_eq!(found("ΑΣ"), "αt");
    assert_eq!(found("ΑΣΑ"), "αsα");
    assert_eq!(found("ΑΣ'Α"), "αs");
    assert_eq!(found("Σ ΣΣ"), "st");
    assert_eq!(found("xÉyy"), "xeyy");
    assert_eq!(found("é éa x"), "éa");
}

#[test]
fn a_hash_needs_no_vocabulary() {
    let (owned, stop) = (texts(), Interrupt::new());
    let texts: Vec<&str> = owned.iter().map(String::as_str).collect();
    let analyzer = analyzer(Kind::Word, (1, 2));
    let make = |n_threads| {
        let mut rows = Rows::new(true);
        rows.extend(hash_rows(&analyzer, Batch::Text(&texts), 64, true, n_threads, &stop).unwrap());
        rows
    };
    let (one, many) = (make(1), make(4));
    assert_eq!(as_counts(&one), as_counts(&many));
    let weighting = Weighting { binary: false, sublinear: true, idf: None, norm: Norm::L2, scale: None };
    let matrix = weigh::<f64>(&one, 64, weighting, 2, &stop).unwrap();
    assert_eq!(matrix.starts.len(), texts.len() + 1);
    for (row, text) in matrix.starts.windows(2).zip(&texts) {
        let values = &matrix.values[row[0] as usize..row[1] as usize];
        let norm: f64 = values.iter().map(|v| v * v).sum();
        assert!((norm - 1.0).abs() < 1e-12 || values.iter().all(|&v| v == 0.0), "{text}");
        let columns: BTreeSet<i32> =
            matrix.columns[row[0] as usize..row[1] as usize].iter().copied().collect();
        assert_eq!(columns.len(), values.len());
    }
    assert!(weigh::<f32>(&one, 63, weighting, 1, &stop).is_err());
}

#[test]
fn an_interrupted_batch_is_not_counted() {
    let stop = Interrupt::new();
    let mut counter = Counter::new(analyzer(Kind::CharWb, (2, 3)), Tally::Documents);
    counter.feed(Batch::Text(&["one", "two"]), &[0, 1], false, 1, &stop).unwrap();
    let before = finish(&counter, 0.0, 9.0, 1);
    stop.set();
    assert!(counter.feed(Batch::Text(&["three"]), &[1], false, 1, &stop).is_err());
    let after = finish(&counter, 0.0, 9.0, 1);
    assert_eq!((before.terms.names(), before.counts), (after.terms.names(), after.counts));
    assert_eq!(counter.n_documents(), 2);
}
