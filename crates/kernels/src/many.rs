//! Very many labels: candidates first, then a closer look at them.

pub mod index;
pub mod joint;
pub mod leave_one_out;
pub mod pairs;
pub mod rerank;
