//! Classes and functions for Python: they take arrays over, check them, and call the kernels.
//!
//! What is generic in the kernels is compiled here, once per precision and kind of matrix; the extension module only
//! lists what is public.

mod arrays;
pub mod attributes;
pub mod chain;
pub mod chain_learners;
pub mod chain_margin;
pub mod chain_scorer;
pub mod chains;
pub mod columns;
pub mod count;
pub mod design;
pub mod dual;
mod errors;
pub mod extreme_index;
pub mod extreme_joint;
pub mod formats;
pub mod fused;
pub mod graph;
pub mod graph_messages;
pub mod hasher;
pub mod interior;
pub mod newton;
pub mod online;
pub mod pixels;
pub mod planes;
mod precision;
pub mod products;
pub mod proof;
pub mod quadratic;
mod run;
pub mod segments;
pub mod sparse;
pub mod stochastic;
pub mod templates;
pub mod text;
