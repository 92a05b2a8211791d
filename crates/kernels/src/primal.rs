//! Passes over all rows: scores, adjoints, Gram matrices, and quadratic models.

pub mod batch;
pub mod column_gram;
pub mod columns;
pub mod double;
pub mod fused;
pub mod gram;
pub mod label_gram;
pub mod newton;
pub mod proof;
pub mod quadratic;
