//! Losses and their derivatives: of blocks of rows, and of one row.

pub mod block;
pub mod row;
