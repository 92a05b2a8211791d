//! The extension module `separatrix._core`: takes arrays over, checks them, and calls the kernels.

mod arrays;
mod chain;
mod chain_crfsuite;
mod chain_learners;
mod chain_margin;
mod chain_scorer;
mod chains;
mod columns;
mod count;
mod design;
mod dual;
mod errors;
mod formats;
mod fused;
mod graph;
mod graph_messages;
mod hasher;
mod interior;
mod many_given;
mod many_index;
mod many_joint;
mod many_tree;
mod online;
mod pixels;
mod planes;
mod products;
mod quadratic;
mod run;
mod sparse;
mod state;
mod stochastic;
mod templates;
mod text;

use pyo3::prelude::*;

/// The module `separatrix._core`.
#[pymodule]
mod _core {
    use super::*;

    #[pymodule_export]
    use super::chain::{
        ChainGraph, chain_best, chain_k_best, chain_log_partition, chain_marginals, chain_sample,
    };
    #[pymodule_export]
    use super::chain_crfsuite::ChainCrfsuite;
    #[pymodule_export]
    use super::chain_learners::{ChainDual, ChainOnline};
    #[pymodule_export]
    use super::chain_margin::{ChainMargin, ChainSegments, ChainVisits};
    #[pymodule_export]
    use super::chain_scorer::ChainScorer;
    #[pymodule_export]
    use super::chains::{Chains, observed_labels};
    #[pymodule_export]
    use super::columns::solve_columns;
    #[pymodule_export]
    use super::count::{class_scatter, count, joint_likelihood, survey};
    #[pymodule_export]
    use super::design::{Dense, adjoint, double_adjoint, double_scores, longest_row, scores};
    #[pymodule_export]
    use super::many_given::{given_learn, given_rank};
    #[pymodule_export]
    use super::many_index::{LabelCounts, LabelExamples, LabelIndex};
    #[pymodule_export]
    use super::many_joint::{joint_learn, joint_rank};
    #[pymodule_export]
    use super::many_tree::{TreeModel, TreeProgress, tree_fit, tree_groups};
    #[pymodule_export]
    use super::online::{Online, vote_shares};
    #[pymodule_export]
    use super::pixels::measure_pixels;
    #[pymodule_export]
    use super::planes::MarginPlanes;
    #[pymodule_export]
    use super::products::{expand, expand_dense, joint};
    #[pymodule_export]
    use super::sparse::Csr;
    #[pymodule_export]
    use super::stochastic::{
        StepRule, Stochastic, curvature_rate, newest_share, row_adjoint, row_scores, scheduled_rate,
    };

    #[pymodule_export]
    use super::dual::{DualBinary, DualMulticlass};

    #[pymodule_export]
    use super::formats::{
        Block, Source, conll_layout, read_conll, read_crfsuite, read_svmlight, write_crfsuite, write_svmlight,
    };

    #[pymodule_export]
    use super::fused::{fused_value_and_grad, gram, label_gram, losses_at, moments};

    #[pymodule_export]
    use super::graph::{GraphWiring, graph_best, graph_log_partition, graph_marginals, graph_sample};
    #[pymodule_export]
    use super::graph_messages::{
        graph_beliefs, graph_best_bound, graph_max_beliefs, graph_mean_field, graph_tree_reweighted,
        grid_messages,
    };

    #[pymodule_export]
    use super::interior::{fixed_moves, interior_moves};

    #[pymodule_export]
    use super::quadratic::{column_descent, column_gram, quadratic_descent};

    #[pymodule_export]
    use super::hasher::hash_features;

    #[pymodule_export]
    use super::templates::{TemplateIndex, TemplatePlan};

    #[pymodule_export]
    use super::text::column::TextColumn;
    #[pymodule_export]
    use super::text::{Characters, TextAnalyzer, TextCounter, TextIndex, TextRows, TextTerms, hash_text};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("build_profile", if cfg!(debug_assertions) { "debug" } else { "release" })?;
        module.add("isa", format!("{:?}", separatrix_kernels::simd::isa()).to_lowercase())
    }
}
