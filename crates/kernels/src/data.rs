//! What kernels read: rows, sparse or dense, all or some of them.

pub mod column_set;
pub mod csr;
pub mod dense;
pub mod row_subset;
pub mod rows;
