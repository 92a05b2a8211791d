//! Losses: derivatives of blocks of rows and of one row, and the duals of rows.

pub mod block;
pub mod dual;
pub(crate) mod margin;
pub mod row;
