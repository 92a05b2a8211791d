//! Sufficient statistics: counts, moments, scatters, and what follows from them.

pub mod class_scatter;
pub mod count;
pub mod likelihood;
pub mod moments;
pub mod survey;
pub(crate) mod tuning;
