//! Loops over data for linear prediction: pure Rust, no Python.
//!
//! One kernel per file; each opens with the problem, the invariant, the source and what is returned.
//! Data enters through [`data::rows::Rows`], implemented by [`data::csr::Csr`] and [`data::dense::Dense`], so that a
//! kernel is written once for sparse and dense input, in `f32` and `f64`.

pub mod chain;
pub mod data;
pub mod dual;
pub mod error;
pub mod extreme;
pub mod features;
pub mod formats;
pub mod graph;
pub mod interrupt;
pub mod loss;
pub mod memory;
pub mod online;
pub mod primal;
pub mod random;
pub mod real;
pub mod segments;
pub mod simd;
pub mod stats;
pub mod stochastic;
pub mod templates;
pub mod text;
pub mod threads;

pub use error::KernelError;
