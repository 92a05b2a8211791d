//! What the templates read, and what they have in common.

use crate::error::KernelError;

/// A value that a template reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// Number of the column.
    pub column: usize,
    /// Where it is read, from the token on; if `absolute`, the place in the sequence, from 1 at its start or
    /// from -1 at its end.
    pub offset: i32,
    /// What the offset counts from.
    pub absolute: bool,
}

/// One template.
#[derive(Debug, Clone)]
pub struct Template {
    /// Group whose attributes it names.
    pub group: usize,
    /// What it reads, in order.
    pub parts: Vec<Part>,
}

/// All templates, checked.
#[derive(Debug, Clone)]
pub struct Plan {
    /// Literal text of each group: before the first part, between parts, after the last.
    literals: Vec<Vec<String>>,
    templates: Vec<Template>,
    /// Space of each column.
    spaces: Vec<usize>,
    /// Spaces of the parts of each group.
    group_spaces: Vec<Vec<usize>>,
    /// Templates by group, then in the order in which they came.
    order: Vec<usize>,
    /// Whether `|` and `\` are escaped in the names of conjunctions.
    escape: bool,
}

fn fail<T>(message: String) -> Result<T, KernelError> {
    Err(KernelError::Argument(message))
}

impl Plan {
    /// The templates, with the literal text of every group and the space of every column.
    ///
    /// Templates of one group must read values of the same spaces.
    pub fn new(
        literals: Vec<Vec<String>>,
        templates: Vec<Template>,
        spaces: Vec<usize>,
        escape: bool,
    ) -> Result<Self, KernelError> {
        if spaces.iter().any(|&space| space >= spaces.len()) {
            return fail("spaces must be numbered from 0, with no more of them than columns".into());
        }
        let mut group_spaces = vec![None; literals.len()];
        for (i, template) in templates.iter().enumerate() {
            let Some(found) = group_spaces.get_mut(template.group) else {
                return fail(format!("template {i} is of group {}, which has no text", template.group));
            };
            let read: Option<Vec<usize>> =
                template.parts.iter().map(|part| spaces.get(part.column).copied()).collect();
            let Some(read) = read else {
                return fail(format!("template {i} reads a column that is not there"));
            };
            if read.len() + 1 != literals[template.group].len() {
                return fail(format!("template {i} and the text of its group differ in their parts"));
            }
            match found {
                None => *found = Some(read),
                Some(known) if *known != read => {
                    return fail(format!("template {i} reads other spaces than its group"));
                }
                Some(_) => {}
            }
        }
        let Some(group_spaces) = group_spaces.into_iter().collect() else {
            return fail("every group needs a template".into());
        };
        let mut order: Vec<usize> = (0..templates.len()).collect();
        order.sort_by_key(|&i| templates[i].group);
        Ok(Self { literals, templates, spaces, group_spaces, order, escape })
    }

    /// The templates.
    pub fn templates(&self) -> &[Template] {
        &self.templates
    }

    /// Numbers of the templates, those of one group together.
    pub(super) fn order(&self) -> &[usize] {
        &self.order
    }

    /// Space of each column.
    pub fn spaces(&self) -> &[usize] {
        &self.spaces
    }

    /// How many spaces there are.
    pub fn n_spaces(&self) -> usize {
        self.spaces.iter().max().map_or(0, |&last| last + 1)
    }

    /// Spaces of the parts of each group.
    pub(super) fn group_spaces(&self) -> &[Vec<usize>] {
        &self.group_spaces
    }

    /// Whether several templates name the same attributes, so that one may occur twice at a token.
    pub(super) fn shares(&self) -> bool {
        self.templates.len() > self.literals.len()
    }

    /// Literal text of each group.
    pub(super) fn literals(&self) -> &[Vec<String>] {
        &self.literals
    }

    /// Write the name of an attribute of a group from the values of its parts.
    pub(super) fn write_name<'a>(
        &self,
        group: usize,
        values: impl ExactSizeIterator<Item = &'a [u8]>,
        out: &mut Vec<u8>,
    ) {
        let escape = self.escape && values.len() > 1;
        let literals = &self.literals[group];
        out.extend_from_slice(literals[0].as_bytes());
        for (value, literal) in values.zip(&literals[1..]) {
            if escape && value.iter().any(|b| b"|\\".contains(b)) {
                for &byte in value {
                    if b"|\\".contains(&byte) {
                        out.push(b'\\');
                    }
                    out.push(byte);
                }
            } else {
                out.extend_from_slice(value);
            }
            out.extend_from_slice(literal.as_bytes());
        }
    }
}
