//! The extension module `separatrix._core`: the list of what Python sees.
//!
//! Everything else stands in libraries below: those are compiled side by side, while a module like this one has to
//! wait until all of them are done.

use pyo3::prelude::*;
use separatrix_kernels::memory::{self, WithReserve};

#[global_allocator]
static MEMORY: WithReserve = WithReserve;

/// The module `separatrix._core`.
#[pymodule]
mod _core {
    use super::*;

    #[pymodule_export]
    use separatrix_python::attributes::{WordIndex, encode_items};
    #[pymodule_export]
    use separatrix_python::chain::{
        ChainGraph, chain_best, chain_k_best, chain_log_partition, chain_marginals, chain_sample,
    };
    #[pymodule_export]
    use separatrix_python::chain_learners::{ChainDual, ChainOnline};
    #[pymodule_export]
    use separatrix_python::chain_margin::{ChainMargin, ChainSegments, ChainVisits};
    #[pymodule_export]
    use separatrix_python::chain_scorer::ChainScorer;
    #[pymodule_export]
    use separatrix_python::chains::{Chains, observed_labels};
    #[pymodule_export]
    use separatrix_python::columns::solve_columns;
    #[pymodule_export]
    use separatrix_python::count::{class_scatter, count, joint_likelihood, survey};
    #[pymodule_export]
    use separatrix_python::design::{Dense, adjoint, double_adjoint, double_scores, longest_row, scores};
    #[pymodule_export]
    use separatrix_python::extreme_index::{LabelCounts, LabelExamples, LabelIndex, count_labels};
    #[pymodule_export]
    use separatrix_python::extreme_joint::{joint_learn, joint_rank, label_sets_best, label_sets_learn};
    #[pymodule_export]
    use separatrix_python::newton::{newton_margins, newton_softmax};
    #[pymodule_export]
    use separatrix_python::online::{Online, vote_shares};
    #[pymodule_export]
    use separatrix_python::pixels::measure_pixels;
    #[pymodule_export]
    use separatrix_python::planes::MarginPlanes;
    #[pymodule_export]
    use separatrix_python::products::{expand, expand_dense, joint};
    #[pymodule_export]
    use separatrix_python::proof::margin_judgment;
    #[pymodule_export]
    use separatrix_python::segments::{segments_best, segments_marginals};
    #[pymodule_export]
    use separatrix_python::sparse::Csr;
    #[pymodule_export]
    use separatrix_python::stochastic::{
        StepRule, Stochastic, curvature_rate, newest_share, row_adjoint, row_scores, scheduled_rate,
    };

    #[pymodule_export]
    use separatrix_python::dual::{DualBinary, DualMulticlass};

    #[pymodule_export]
    use separatrix_python::formats::{
        Block, Source, conll_layout, identity_codes, read_conll, read_crfsuite, read_csv, read_svmlight,
        write_crfsuite, write_rows, write_svmlight,
    };

    #[pymodule_export]
    use separatrix_python::fused::{fused_value_and_grad, gram, label_gram, losses_at, moments};

    #[pymodule_export]
    use separatrix_python::graph::{
        GraphWiring, graph_best, graph_log_partition, graph_marginals, graph_sample,
    };
    #[pymodule_export]
    use separatrix_python::graph_messages::{
        graph_beliefs, graph_best_bound, graph_max_beliefs, graph_mean_field, graph_tree_reweighted,
        grid_messages,
    };

    #[pymodule_export]
    use separatrix_python::interior::{fixed_moves, interior_moves};

    #[pymodule_export]
    use separatrix_python::quadratic::{column_descent, column_gram, quadratic_descent};

    #[pymodule_export]
    use separatrix_python::hasher::hash_features;

    #[pymodule_export]
    use separatrix_python::templates::{TemplateIndex, TemplatePlan, brown_clusters};

    #[pymodule_export]
    use separatrix_python::text::column::TextColumn;
    #[pymodule_export]
    use separatrix_python::text::{
        Characters, TextAnalyzer, TextCounter, TextIndex, TextRows, TextTerms, hash_text,
    };

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        // Where there is no room for it yet, the first kernel says so.
        let _ = memory::renew();
        module.add("build_profile", if cfg!(debug_assertions) { "debug" } else { "release" })?;
        module.add("isa", format!("{:?}", separatrix_kernels::simd::isa()).to_lowercase())
    }
}
