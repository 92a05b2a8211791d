//! New features from rows: products of entries, and the shape of what is drawn.

pub mod pixels;
pub mod products;
