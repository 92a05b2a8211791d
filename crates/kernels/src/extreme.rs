//! Very many labels: candidates from an inverted index, then a closer look at them.

pub mod examples;
pub mod index;
pub mod joint;
pub mod label_sets;
pub mod leave_one_out;
pub mod numbers;
pub mod pairs;
pub mod rerank;
