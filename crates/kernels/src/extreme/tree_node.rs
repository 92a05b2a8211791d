//! One node of a label tree: which of its children lead to the labels of a row.
//!
//! Problem, one label per row: P of [`crate::dual::multiclass`] (softmax) over the children, or of
//! [`crate::dual::binary`] (logistic) where there are two of them; one problem of [`crate::dual::binary`] for each
//! child against the others for margins. Several labels per row: one two-class problem per child, whether a
//! label lies below it. Or averaged perceptrons in place of either.
//! Invariant: solved by one thread, on a copy of the node's rows over the features that they have, so that the
//! answer depends on nothing but the node.
//! Returns the pruned weights, and how the node's problems ended.

use crate::data::csr::Csr;
use crate::data::row_subset::Subset;
use crate::data::rows::Rows;
use crate::dual::binary::DualBinary;
use crate::dual::columns::{Ending, Settings};
use crate::dual::intercept::Intercept;
use crate::dual::multiclass::DualMulticlass;
use crate::dual::run::{Outcome, descend};
use crate::error::{KernelError, zeros};
use crate::extreme::tree_prune::{Kept, NodeWeights, sparse};
use crate::interrupt::Interrupt;
use crate::loss::dual::ClassLoss;
use crate::loss::dual::MarginLoss;
use crate::online::{Examples, Keep, Online, Rule, n_scores};
use crate::simd::Gather;
use crate::simd::exponential::VectorExp;
use crate::threads::try_each;

/// What a node learns by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NodeKind {
    /// Softmax, or one sigmoid per child.
    Logistic,
    /// Squared hinge loss, one problem per child.
    Svm,
    /// Averaged perceptrons.
    Perceptron,
}

impl NodeKind {
    /// From "logistic", "svm" or "perceptron".
    pub fn parse(name: &str) -> Result<Self, KernelError> {
        match name {
            "logistic" => Ok(Self::Logistic),
            "svm" => Ok(Self::Svm),
            "perceptron" => Ok(Self::Perceptron),
            _ => Err(KernelError::Argument(format!("there is no node {name:?}"))),
        }
    }
}

/// The labels of a node's rows, as children of the node.
#[derive(Debug)]
pub(crate) enum Targets {
    /// One child for each row.
    One(Vec<u32>),
    /// For each child the rows that it is above, rising.
    Several(Vec<Vec<u32>>),
}

/// How a node's problems ended.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Report {
    /// Sum of the objectives.
    pub objective: f64,
    /// Sum of the gaps.
    pub gap: f64,
    /// Largest number of passes.
    pub passes: f64,
    /// Problems that did not reach the tolerance.
    pub unfinished: usize,
}

impl Report {
    fn add(&mut self, ended: Outcome) {
        self.objective += ended.objective;
        self.gap += ended.gap;
        self.passes = self.passes.max(ended.passes);
        self.unfinished += usize::from(ended.ending != Ending::Converged);
    }

    /// Add another node's.
    pub fn merge(&mut self, other: &Self) {
        self.objective += other.objective;
        self.gap += other.gap;
        self.passes = self.passes.max(other.passes);
        self.unfinished += other.unfinished;
    }
}

/// A node's rows over the features that they have.
struct Local<T> {
    starts: Vec<usize>,
    columns: Vec<i32>,
    values: Vec<T>,
    features: Vec<i32>,
}

/// Room for renumbering features: zero everywhere between uses.
pub(crate) struct Renumber(Vec<i32>);

impl Renumber {
    pub fn new(n_cols: usize) -> Self {
        Self(vec![0; n_cols])
    }

    fn local<T: Gather>(&mut self, x: &Csr<'_, T>, rows: &[u32]) -> Local<T> {
        let mut features = Vec::new();
        let mut n_stored = 0;
        for &i in rows {
            let columns = x.row(i as usize).0;
            n_stored += columns.len();
            for &c in columns {
                if let Some(place) = self.0.get_mut(c as usize)
                    && *place == 0
                {
                    *place = 1;
                    features.push(c);
                }
            }
        }
        features.sort_unstable();
        for (local, &c) in features.iter().enumerate() {
            self.0[c as usize] = local as i32;
        }
        let mut starts = Vec::with_capacity(rows.len() + 1);
        starts.push(0);
        let (mut columns, mut values) = (Vec::with_capacity(n_stored), Vec::with_capacity(n_stored));
        for &i in rows {
            let (from, of) = x.row(i as usize);
            for (&c, &v) in from.iter().zip(of) {
                if let Some(&local) = self.0.get(c as usize) {
                    columns.push(local);
                    values.push(v);
                }
            }
            starts.push(columns.len());
        }
        for &c in &features {
            self.0[c as usize] = 0;
        }
        Local { starts, columns, values, features }
    }
}

/// What all nodes have in common.
#[derive(Debug, Clone, Copy)]
pub struct NodeSettings {
    /// How they learn.
    pub kind: NodeKind,
    /// Tolerance, budget, intercept and seed; the loss follows from `kind`.
    pub solve: Settings,
    /// Share of the norm that pruning may drop.
    pub prune: f64,
    /// Threads to use.
    pub n_threads: usize,
}

/// A node's rows, their U_i, and what is to be learned from them.
struct Node<'a, T> {
    x: Csr<'a, T>,
    upper: Vec<f64>,
    n_children: usize,
    settings: &'a NodeSettings,
    stop: &'a Interrupt,
}

/// Weights over the features of the node, the intercepts, and how it went.
type Answer<T> = (Kept<T>, Vec<f64>, Report);

/// One child's weights with their features, its intercept, and how it went.
type Column<T> = (Vec<(u32, T)>, f64, Report);

/// Solve the node that `rows` of `x` teach; `upper` are the U_i of all rows of `x`.
pub(crate) fn fit<T: VectorExp + Gather>(
    x: &Csr<'_, T>,
    (renumber, rows): (&mut Renumber, &[u32]),
    upper: &[f64],
    n_children: usize,
    targets: &Targets,
    settings: &NodeSettings,
    stop: &Interrupt,
) -> Result<(NodeWeights<T>, Report), KernelError> {
    let local = renumber.local(x, rows);
    let node = Node {
        x: Csr::new(&local.starts, &local.columns, &local.values, local.features.len())?,
        upper: rows.iter().map(|&i| upper[i as usize]).collect(),
        n_children,
        settings,
        stop,
    };
    let (kept, intercepts, report) = match (targets, settings.kind) {
        (Targets::One(_), _) if n_children == 1 => (Kept::default(), vec![0.0], Report::default()),
        (Targets::One(children), NodeKind::Perceptron) => node.perceptron(children)?,
        (Targets::One(children), _) if n_children == 2 => node.second(children)?,
        (Targets::One(children), NodeKind::Logistic) => node.softmax(children)?,
        (Targets::One(children), NodeKind::Svm) => node.one_by_one(&lists(children, n_children))?,
        (Targets::Several(lists), _) => node.one_by_one(lists)?,
    };
    Ok((kept.numbered(&local.features, intercepts), report))
}

/// For each child its rows.
fn lists(children: &[u32], n_children: usize) -> Vec<Vec<u32>> {
    let mut lists = vec![Vec::new(); n_children];
    for (row, &child) in children.iter().enumerate() {
        lists[child as usize].push(row as u32);
    }
    lists
}

impl<T: VectorExp + Gather> Node<'_, T> {
    fn softmax(&self, children: &[u32]) -> Result<Answer<T>, KernelError> {
        let labels: Vec<i64> = children.iter().map(|&c| i64::from(c)).collect();
        let Settings { intercept, seed, .. } = self.settings.solve;
        let (k, loss) = (self.n_children, ClassLoss::Softmax);
        let mut state =
            DualMulticlass::new(&self.x, &labels, &self.upper, k, &loss, intercept, seed, 1, None)?;
        let ended = descend(&self.x, &mut state, &self.settings.solve, self.stop)?;
        let mut report = Report::default();
        report.add(ended);
        let mut weights = state.weights();
        drop(state);
        let intercepts = match intercept {
            Intercept::None => vec![0.0; k],
            _ => weights.split_off(self.x.n_cols() * k).iter().map(|b| b.to_f64()).collect(),
        };
        Ok((Kept::dense(&weights, k, self.settings.prune), intercepts, report))
    }

    /// Two children: the score of the second, against zero for the first.
    fn second(&self, children: &[u32]) -> Result<Answer<T>, KernelError> {
        let rows: Vec<u32> = (0..children.len() as u32).filter(|&i| children[i as usize] == 1).collect();
        let (column, intercept, report) = self.column(&rows)?;
        Ok((Kept::columns(vec![Vec::new(), column], self.x.n_cols()), vec![0.0, intercept], report))
    }

    /// A two-class problem for each child; each is solved by one thread.
    fn one_by_one(&self, lists: &[Vec<u32>]) -> Result<Answer<T>, KernelError> {
        let solved: Vec<Column<T>> = try_each(self.settings.n_threads, lists, |rows| self.column(rows))?;
        let mut report = Report::default();
        let (mut columns, mut intercepts) = (Vec::new(), Vec::new());
        for (column, intercept, one) in solved {
            columns.push(column);
            intercepts.push(intercept);
            report.merge(&one);
        }
        Ok((Kept::columns(columns, self.x.n_cols()), intercepts, report))
    }

    /// The weights that tell `positive` rows from the others, pruned.
    fn column(&self, positive: &[u32]) -> Result<Column<T>, KernelError> {
        self.stop.check()?;
        let n = self.x.n_rows();
        let mut report = Report::default();
        if positive.is_empty() || positive.len() == n {
            return Ok((Vec::new(), self.one_sided(positive.is_empty()), report));
        }
        let mut weights: Vec<T>;
        let intercept;
        if self.settings.kind == NodeKind::Perceptron {
            let mut targets = vec![0u32; n];
            positive.iter().for_each(|&i| targets[i as usize] = 1);
            let mut intercepts;
            (weights, intercepts, report) = self.online(&targets, 2)?;
            intercept = intercepts.pop().unwrap_or(0.0);
        } else {
            let mut signs = vec![-1.0; n];
            positive.iter().for_each(|&i| signs[i as usize] = 1.0);
            let loss = match self.settings.kind {
                NodeKind::Svm => MarginLoss::SquaredHinge,
                _ => MarginLoss::Logistic,
            };
            let Settings { intercept: kind, seed, .. } = self.settings.solve;
            let x = Subset::all(&self.x);
            let mut state = DualBinary::new(&x, &signs, &self.upper, loss, kind, seed, 1, None)?;
            report.add(descend(&x, &mut state, &self.settings.solve, self.stop)?);
            intercept = state.intercept();
            weights = state.weights();
            weights.truncate(self.x.n_cols());
        }
        Ok((sparse(&weights, self.settings.prune), intercept, report))
    }

    /// The score where all rows are on one side: the log-odds with half a row added to either.
    fn one_sided(&self, negative: bool) -> f64 {
        let size = (2.0 * self.x.n_rows() as f64 + 1.0).ln();
        if negative { -size } else { size }
    }

    fn perceptron(&self, children: &[u32]) -> Result<Answer<T>, KernelError> {
        let (weights, mut intercepts, report) = self.online(children, self.n_children)?;
        if self.n_children > 2 {
            return Ok((Kept::dense(&weights, self.n_children, self.settings.prune), intercepts, report));
        }
        let column = sparse(&weights, self.settings.prune);
        intercepts.insert(0, 0.0);
        Ok((Kept::columns(vec![Vec::new(), column], self.x.n_cols()), intercepts, report))
    }

    /// Averaged perceptron weights: a score for each of `n_classes`, or one where there are two.
    fn online(&self, targets: &[u32], n_classes: usize) -> Result<(Vec<T>, Vec<f64>, Report), KernelError> {
        let (k, d) = (n_scores(n_classes), self.x.n_cols());
        let with_intercept = self.settings.solve.intercept != Intercept::None;
        let start = zeros((d + usize::from(with_intercept)) * k)?;
        let rule = Rule::Perceptron { rate: 1.0 };
        let seed = Some(self.settings.solve.seed);
        let mut learner =
            Online::new(rule, Keep::Average, n_classes, with_intercept, start, Vec::new(), 0, seed)?;
        let mut report = Report::default();
        for _ in 0..self.settings.solve.max_passes.max(1.0) as usize {
            let examples = Examples { targets, row_weights: &self.upper };
            let mistakes = learner.run_epoch(&self.x, examples, self.stop)?;
            report.passes += 1.0;
            if mistakes == 0 {
                break;
            }
        }
        let [mut weights, _] = learner.finish();
        let intercepts = weights.split_off(d * k).iter().map(|b| b.to_f64()).collect::<Vec<_>>();
        let intercepts = if with_intercept { intercepts } else { vec![0.0; k] };
        Ok((weights, intercepts, report))
    }
}
