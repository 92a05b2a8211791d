//! Loops over data for linear prediction: pure Rust, no Python.
//!
//! One kernel per file; each opens with the problem, the invariant, the source and what is returned.
//! Data enters through [`rows::Rows`], implemented by [`csr::Csr`] and [`dense::Dense`], so that a
//! kernel is written once for sparse and dense input, in `f32` and `f64`.

pub mod batch;
pub mod chain;
pub mod class_scatter;
pub mod column_gram;
pub mod column_set;
pub mod columns;
pub mod count;
pub mod csr;
pub mod dense;
pub mod double;
pub mod dual_binary;
mod dual_binary_rows;
pub mod dual_columns;
pub mod dual_common;
pub mod dual_hinge;
pub mod dual_intercept;
mod dual_merge;
pub mod dual_multiclass;
mod dual_multiclass_rows;
pub mod dual_pairs;
mod dual_run;
pub mod dual_softmax;
pub mod error;
pub mod exponential;
pub mod formats;
pub mod fused;
pub mod gram;
pub mod graph;
pub mod hot;
pub mod interior;
pub mod interrupt;
pub mod label_gram;
pub mod likelihood;
pub mod losses;
pub mod many;
pub mod margin_dual;
pub mod mixing;
pub mod moments;
pub mod online;
pub mod pair_gram;
pub mod pixels;
pub mod planes;
pub mod products;
pub mod quadratic;
pub mod random;
pub mod real;
pub mod row_loss;
pub mod row_subset;
pub mod rows;
pub mod simd;
pub mod step_rule;
pub mod stochastic;
pub mod survey;
pub mod templates;
pub mod text;
pub mod threads;
mod tile;
pub mod vote;

pub use error::KernelError;
