//! Chains of labels: the scores of a sequence, and what follows from them.
//!
//! A labelling y of a sequence of T tokens scores
//! start\[y_0\] + sum_t node\[t, y_t\] + sum_{t > 0} edge\[t, y_{t-1}, y_t\] + end\[y_{T-1}\].
//! [`graph::Graph`] says which label may follow which, and serves chains of second order by states that are
//! pairs of labels. [`log_domain`], [`best`] and [`sample`] are exact for any finite scores; [`scaled`] is
//! the fast form of the same sums for scores of moderate range; [`encoded`] holds training data.

pub mod batch;
pub mod best;
pub mod dual;
pub mod encoded;
mod exchange;
pub mod frank_wolfe;
pub mod graph;
mod layout;
pub mod likelihood;
mod likelihood_log;
mod likelihood_scaled;
mod likelihood_sparse;
pub mod links;
pub mod log_domain;
pub mod margin;
pub mod observed;
pub mod online;
pub mod pairs;
mod planes;
mod rival;
pub mod sample;
pub mod scaled;
pub mod scorer;
pub mod segment_planes;
pub mod subgradient;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_learners;
#[cfg(test)]
mod tests_likelihood;
#[cfg(test)]
mod tests_margin;
pub(crate) mod tuning;
mod variables;
pub mod viterbi;
mod word_layout;
