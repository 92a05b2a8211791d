//! Looks the attributes of tokens up; those that training never saw are passed over.

use super::index::Index;
use super::rows::{Rows, build};
use super::tokens::{Tokens, Values};
use super::{NONE, threads_for};
use crate::error::{KernelError, check_length};
use crate::interrupt::Interrupt;

impl Index {
    /// The rows of `tokens`, whose columns are those of the plan.
    pub fn encode(
        &self,
        tokens: &Tokens<'_>,
        n_threads: usize,
        stop: &Interrupt,
    ) -> Result<Rows, KernelError> {
        let plan = &self.plan;
        check_length("columns", tokens.columns().len(), plan.spaces().len())?;
        let values: Vec<Values> = tokens
            .columns()
            .iter()
            .zip(plan.spaces())
            .map(|(column, &space)| {
                Values::new(column, |word| Ok(self.spaces[space].number(word).unwrap_or(NONE)))
            })
            .collect::<Result<_, _>>()?;
        let n_threads = threads_for(tokens.len() * plan.templates().len(), n_threads);
        build(plan, tokens, !plan.shares(), n_threads, stop, |t, first, found| {
            let template = &plan.templates()[t];
            let (group, offset) = (&self.groups[template.group], self.offsets[template.group]);
            for (found, place) in found.iter_mut().zip(tokens.places(first)) {
                let number = group.find(&template.parts, &values, place);
                *found = if number == NONE { NONE } else { offset + number };
            }
        })
    }
}
