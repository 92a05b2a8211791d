//! Very many classes.

pub mod tree_beam;
pub mod tree_cluster;
pub mod tree_fit;
pub mod tree_model;
mod tree_node;
pub mod tree_plan;
mod tree_prune;
#[cfg(test)]
mod tree_tests;
