//! Pairwise models on graphs of labels: the scores of many graphs, and what follows from them.
//!
//! A labelling y of the nodes of a graph scores sum_i unary\[i, y_i\] + sum_e pair_e\[y_from(e), y_to(e)\].
//! [`wiring::Wiring`] says which nodes an edge joins, [`scores::Scores`] adds the numbers. Exact: [`forest`] on
//! graphs without cycles, [`junction`] on graphs of small treewidth. Approximate: [`loopy`] with the fast form
//! [`grid`] for images of two labels. With a certificate: [`trw`] bounds log Z from above, [`mean_field`] from
//! below, [`dual`] bounds the best score from above.

pub mod beliefs;
mod draw;
pub mod dual;
pub mod forest;
pub mod grid;
pub mod junction;
pub mod loopy;
pub mod mean_field;
pub mod message;
pub mod schedule;
pub mod scores;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_bounds;
#[cfg(test)]
mod tests_loopy;
pub mod trees;
pub mod trw;
pub(crate) mod tuning;
pub mod wiring;
