//! The extension module `separatrix._core`: takes arrays over, checks them, and calls the kernels.

mod arrays;
mod design;
mod errors;
mod fused;
mod run;

use pyo3::prelude::*;

/// The module `separatrix._core`.
#[pymodule]
mod _core {
    use super::*;

    #[pymodule_export]
    use super::design::{Csr, Dense, adjoint, scores};

    #[pymodule_export]
    use super::fused::{fused_value_and_grad, gram, losses_at};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("build_profile", if cfg!(debug_assertions) { "debug" } else { "release" })?;
        module.add("isa", format!("{:?}", separatrix_kernels::simd::isa()).to_lowercase())
    }
}
