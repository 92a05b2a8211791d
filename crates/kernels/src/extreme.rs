//! Very many classes: trees over the labels; candidates first, then a closer look at them.

pub mod examples;
pub mod given;
pub mod index;
pub mod joint;
pub mod leave_one_out;
pub mod numbers;
pub mod pairs;
pub mod rerank;
pub mod tree_beam;
pub mod tree_cluster;
pub mod tree_fit;
pub mod tree_model;
mod tree_node;
pub mod tree_plan;
mod tree_prune;
#[cfg(test)]
mod tree_tests;
