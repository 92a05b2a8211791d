//! Solvers of dual problems, one row at a time.

pub mod binary;
pub(crate) mod binary_rows;
pub mod columns;
pub mod common;
pub mod hinge;
pub mod hot;
pub mod intercept;
pub mod interior;
pub(crate) mod merge;
pub mod multiclass;
pub(crate) mod multiclass_rows;
pub mod pair_gram;
pub mod pairs;
pub mod planes;
pub(crate) mod run;
pub mod softmax;
pub(crate) mod tuning;
