//! The attributes that training data hold: what a model keeps, and what names them.

use super::NONE;
use super::numbers::Numbers;
use super::packing::{Stage, stages};
use super::plan::{Part, Plan};
use super::tokens::{Place, Values};
use crate::error::{KernelError, check_length};
use crate::formats::intern::Interner;

/// The attributes of one group.
#[derive(Debug)]
pub(super) struct Group {
    pub stages: Vec<(Stage, Numbers)>,
}

impl Group {
    /// No attributes yet, of parts whose spaces have these sizes, for `n` tokens.
    pub fn new(sizes: &[usize], n: usize) -> Self {
        let with_numbers = |stage: Stage| {
            let numbers = Numbers::new(stage.range, n);
            (stage, numbers)
        };
        Self { stages: stages(sizes).into_iter().map(with_numbers).collect() }
    }

    /// How many attributes there are.
    pub fn len(&self) -> usize {
        self.stages.last().map_or(0, |(_, numbers)| numbers.keys().len())
    }

    /// The number of the attribute at a place, added when it is new; `NONE` where a value is missing.
    #[inline(always)]
    pub fn insert(&mut self, parts: &[Part], values: &[Values], place: Place) -> u32 {
        let (mut at, mut number) = (0, 0);
        for (stage, numbers) in &mut self.stages {
            let Some(key) = key(stage, number, &parts[at..], values, place) else { return NONE };
            number = numbers.insert(key);
            at += stage.radices.len();
        }
        number
    }

    /// The number of the attribute at a place; `NONE` where a value is missing or the attribute unknown.
    #[inline(always)]
    pub fn find(&self, parts: &[Part], values: &[Values], place: Place) -> u32 {
        let (mut at, mut number) = (0, 0);
        for (stage, numbers) in &self.stages {
            let Some(key) = key(stage, number, &parts[at..], values, place) else { return NONE };
            number = numbers.find(key);
            if number == NONE {
                return NONE;
            }
            at += stage.radices.len();
        }
        number
    }
}

#[inline(always)]
fn key(stage: &Stage, leading: u32, parts: &[Part], values: &[Values], place: Place) -> Option<u64> {
    let mut key = u64::from(leading);
    for (part, radix) in parts.iter().zip(&stage.radices) {
        let value = values[part.column].at(part, place);
        if value == NONE {
            return None;
        }
        key = key * radix + u64::from(value);
    }
    Some(key)
}

/// All attributes of a plan.
#[derive(Debug)]
pub struct Index {
    pub(super) plan: Plan,
    pub(super) spaces: Vec<Interner>,
    pub(super) groups: Vec<Group>,
    /// Number of the first attribute of each group, and of all attributes.
    pub(super) offsets: Vec<u32>,
}

impl Index {
    /// The groups with their attributes, which are numbered one group after another.
    pub(super) fn new(plan: Plan, spaces: Vec<Interner>, groups: Vec<Group>) -> Result<Self, KernelError> {
        let mut offsets = vec![0_u32];
        let mut total = 0;
        for group in &groups {
            total += group.len();
            if total > i32::MAX as usize {
                return Err(KernelError::Argument(
                    "there are more than 2^31 - 1 attributes; use hashing or a larger min_count".into(),
                ));
            }
            offsets.push(total as u32);
        }
        Ok(Self { plan, spaces, groups, offsets })
    }

    /// The index that `spaces` and `keys` were taken from: the words of every space with their bounds, and the
    /// keys of every stage of every group.
    pub fn restore(
        plan: Plan,
        spaces: &[(&[u8], &[i64])],
        keys: &[Vec<&[u64]>],
    ) -> Result<Self, KernelError> {
        check_length("spaces", spaces.len(), plan.n_spaces())?;
        check_length("keys", keys.len(), plan.group_spaces().len())?;
        let spaces: Vec<Interner> =
            spaces.iter().map(|(b, s)| restore_space(b, s)).collect::<Result<_, _>>()?;
        let mut groups = Vec::with_capacity(keys.len());
        for (parts, keys) in plan.group_spaces().iter().zip(keys) {
            let sizes: Vec<usize> = parts.iter().map(|&space| spaces[space].len()).collect();
            let plain = stages(&sizes);
            check_length("keys of a group", keys.len(), plain.len())?;
            // In an empty space there is no value, so that no key can hold one.
            let none = sizes.contains(&0) && keys.last().is_some_and(|keys| !keys.is_empty());
            let mut made = Vec::with_capacity(plain.len());
            let mut leading = 1_u64 << 32;
            for (stage, keys) in plain.into_iter().zip(keys) {
                let numbers = Numbers::restore(keys, stage.range)?;
                let product: u64 = stage.radices.iter().product();
                if none || (!made.is_empty() && keys.iter().any(|key| key / product >= leading)) {
                    return Err(KernelError::Argument(
                        "a key of a template names a value that is not there".into(),
                    ));
                }
                leading = keys.len() as u64;
                made.push((stage, numbers));
            }
            groups.push(Group { stages: made });
        }
        Self::new(plan, spaces, groups)
    }

    /// The templates.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// How many attributes there are.
    pub fn len(&self) -> usize {
        self.offsets.last().map_or(0, |&n| n as usize)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of the first attribute of each group, and of all attributes.
    pub fn offsets(&self) -> &[u32] {
        &self.offsets
    }

    /// The words of every space one after another, and where each begins and the last ends.
    pub fn spaces(&self) -> Vec<(Vec<u8>, Vec<i64>)> {
        let parts = |space: &Interner| {
            let (mut bytes, mut starts) = (Vec::new(), vec![0]);
            for word in space.words() {
                bytes.extend_from_slice(word);
                starts.push(bytes.len() as i64);
            }
            (bytes, starts)
        };
        self.spaces.iter().map(parts).collect()
    }

    /// The keys of every stage of every group, in the order of their numbers.
    pub fn keys(&self) -> Vec<Vec<Vec<u64>>> {
        let stages =
            |group: &Group| group.stages.iter().map(|(_, numbers)| numbers.keys().to_vec()).collect();
        self.groups.iter().map(stages).collect()
    }

    /// The names of all attributes one after another, and where each begins and the last ends.
    pub fn names(&self) -> (Vec<u8>, Vec<i64>) {
        let (mut bytes, mut starts) =
            (Vec::with_capacity(24 * self.len()), Vec::with_capacity(self.len() + 1));
        starts.push(0);
        let (mut values, mut stage_values) = (Vec::new(), Vec::new());
        for (g, (group, spaces)) in self.groups.iter().zip(self.plan.group_spaces()).enumerate() {
            for number in 0..group.len() as u64 {
                values.clear();
                let mut number = number;
                for (stage, numbers) in group.stages.iter().rev() {
                    stage_values.clear();
                    number = stage.unpack(numbers.keys()[number as usize], &mut stage_values);
                    values.splice(0..0, stage_values.drain(..));
                }
                let words =
                    values.iter().zip(spaces).map(|(&id, &space)| self.spaces[space].word(id as usize));
                self.plan.write_name(g, words, &mut bytes);
                starts.push(bytes.len() as i64);
            }
        }
        (bytes, starts)
    }
}

fn restore_space(bytes: &[u8], starts: &[i64]) -> Result<Interner, KernelError> {
    let malformed = || KernelError::Argument("words of a space are malformed".into());
    let mut space = Interner::default();
    for (i, pair) in starts.windows(2).enumerate() {
        let range = usize::try_from(pair[0]).ok().zip(usize::try_from(pair[1]).ok());
        let word = range.and_then(|(start, end)| bytes.get(start..end)).ok_or_else(malformed)?;
        if std::str::from_utf8(word).is_err() || space.intern(word)? != i as u32 {
            return Err(malformed());
        }
    }
    Ok(space)
}
