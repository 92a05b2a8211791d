//! Numbers the attributes of training data.
//!
//! Attribute a of a group has the number a, by its first occurrence among tokens (and, at one token, templates in
//! their order); those that occur fewer than `min_count` times are left out and the others move up. A group is
//! numbered by one thread, so the result is the same for any number of them.

use super::index::{Group, Index};
use super::numbers::Numbers;
use super::plan::Plan;
use super::rows::{Rows, build};
use super::tokens::{Tokens, Values};
use super::{NONE, threads_for};
use crate::error::{KernelError, check_length};
use crate::formats::intern::Interner;
use crate::interrupt::Interrupt;
use crate::templates::tuning::LEARN_BLOCK;
use crate::threads::try_each;

/// Words of all columns as numbers of their spaces.
pub(super) fn intern(plan: &Plan, tokens: &Tokens<'_>) -> Result<(Vec<Interner>, Vec<Values>), KernelError> {
    check_length("columns", tokens.columns().len(), plan.spaces().len())?;
    let mut spaces: Vec<Interner> = (0..plan.n_spaces()).map(|_| Interner::default()).collect();
    let values = tokens
        .columns()
        .iter()
        .zip(plan.spaces())
        .map(|(column, &space)| Values::new(column, |word| spaces[space].intern(word)))
        .collect::<Result<_, _>>()?;
    Ok((spaces, values))
}

/// Learn the attributes of `tokens`; with `keep`, also the rows of these tokens.
pub fn learn(
    plan: &Plan,
    tokens: &Tokens<'_>,
    min_count: u64,
    keep: bool,
    n_threads: usize,
    stop: &Interrupt,
) -> Result<(Index, Option<Rows>), KernelError> {
    let (spaces, values) = intern(plan, tokens)?;
    let n = tokens.len();
    let n_threads = threads_for(n * plan.templates().len(), n_threads);
    let number = |g: usize| {
        let sizes: Vec<usize> = plan.group_spaces()[g].iter().map(|&space| spaces[space].len()).collect();
        number_group(plan, g, &sizes, tokens, &values, min_count, keep, stop)
    };
    let n_groups = plan.group_spaces().len();
    let numbered = try_each(n_threads, 0..n_groups, number)?;
    let (mut groups, mut kept) = (Vec::with_capacity(n_groups), vec![Vec::new(); plan.templates().len()]);
    for (g, (group, numbers)) in numbered.into_iter().enumerate() {
        groups.push(group);
        let members = plan.order().iter().filter(|&&t| plan.templates()[t].group == g);
        members.zip(numbers).for_each(|(&t, numbers)| kept[t] = numbers);
    }
    let index = Index::new(plan.clone(), spaces, groups)?;
    let rows = keep.then(|| {
        build(plan, tokens, !plan.shares(), n_threads, stop, |t, first, found| {
            let offset = index.offsets[plan.templates()[t].group];
            for (found, &number) in found.iter_mut().zip(&kept[t][first..]) {
                *found = if number == NONE { NONE } else { offset + number };
            }
        })
    });
    let rows = rows.transpose()?;
    Ok((index, rows))
}

/// The attributes of one group and, with `keep`, the number at every token for each of its templates.
#[expect(clippy::too_many_arguments, reason = "one task of `learn`, with all that it shares")]
fn number_group(
    plan: &Plan,
    g: usize,
    sizes: &[usize],
    tokens: &Tokens<'_>,
    values: &[Values],
    min_count: u64,
    keep: bool,
    stop: &Interrupt,
) -> Result<(Group, Vec<Vec<u32>>), KernelError> {
    let n = tokens.len();
    let members: Vec<_> = plan.templates().iter().filter(|template| template.group == g).collect();
    let mut group = Group::new(sizes, n);
    let mut kept = vec![Vec::with_capacity(if keep { n } else { 0 }); members.len()];
    let mut counts: Vec<u64> = Vec::new();
    for first in (0..n).step_by(LEARN_BLOCK) {
        stop.check()?;
        for place in tokens.places(first).take(LEARN_BLOCK) {
            for (template, kept) in members.iter().zip(&mut kept) {
                let number = group.insert(&template.parts, values, place);
                if min_count > 1 && number != NONE {
                    if number as usize == counts.len() {
                        counts.push(0);
                    }
                    counts[number as usize] += 1;
                }
                if keep {
                    kept.push(number);
                }
            }
        }
    }
    if min_count > 1
        && let Some((stage, numbers)) = group.stages.last_mut()
    {
        let mut renumbered = vec![NONE; counts.len()];
        let mut left = Vec::new();
        for (number, &key) in numbers.keys().iter().enumerate() {
            if counts[number] >= min_count {
                renumbered[number] = left.len() as u32;
                left.push(key);
            }
        }
        *numbers = Numbers::restore(&left, stage.range)?;
        for number in kept.iter_mut().flatten() {
            *number = renumbered.get(*number as usize).copied().unwrap_or(NONE);
        }
    }
    Ok((group, kept))
}
