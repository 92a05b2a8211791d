//! Messages on images of two labels with four neighbors: the fast form of [`crate::graph::loopy`].
//!
//! A message is one number, r = exp(m(1) - m(0)), and p the product of the ratios at its sender gives (c01 + c11 p) /
//! (1 + c10 p) with c the exponentials of the table relative to its first cell: no logarithm and no exponential, four
//! divisions per pixel, in `f32`. For maxima the sums become maxima. A sweep sends from all even rows, then from all odd
//! rows: what goes up and down is newest, what goes along a row comes from the row before its change. Damping mixes
//! ratios, so that it has the same fixed points as in the logarithmic domain. Tables may change the ratio by at most
//! e^8, so that no product overflows. Returned: messages as `loopy` takes them, to begin with.

use crate::error::{KernelError, check_length};
use crate::graph::loopy::check_start;
use crate::graph::schedule::{Ending, Options};
use crate::graph::scores::Scores;
use crate::graph::tuning::{LARGE, ROWS, TOGETHER};
use crate::interrupt::Interrupt;
use crate::primal::batch::threads_for;
use crate::real::Real;
use crate::simd::{Task, dispatch};
use crate::threads::{each, try_each};

/// Largest logarithm of what a table makes of a ratio.
pub const STRONGEST: f64 = 8.0;
/// Largest logarithm of the ratio at a node that is told apart.
const FARTHEST: f64 = 60.0;

/// Height and width of an image.
pub type Shape = (usize, usize);

/// Coefficients of the messages along one direction, forth and back.
#[derive(Debug, Clone, Copy)]
struct Direction {
    forth: [f32; 3],
    back: [f32; 3],
}

impl Direction {
    /// From the cells 00, 01, 10, 11 of a table.
    fn new(kind: usize, table: [f64; 4]) -> Result<Self, KernelError> {
        let [t00, t01, t10, t11] = table;
        if [t01 - t00, t11 - t10, t10 - t00, t11 - t01].iter().any(|s| s.abs() > STRONGEST) {
            return Err(KernelError::Argument(format!(
                "pair scores of kind {kind} differ by more than {STRONGEST} between neighboring cells, too much for \
                 the fast form of a grid"
            )));
        }
        let c = |x: f64| (x - t00).exp() as f32;
        Ok(Self { forth: [c(t01), c(t10), c(t11)], back: [c(t10), c(t01), c(t11)] })
    }
}

/// Fail unless a graph of the batch is the grid of a shape: pixels row by row, the edges along rows first, each from left
/// to right or from top to bottom, and one kind per direction. Returns the coefficients along rows and columns.
fn check_grid(scores: &Scores<'_>, graph: usize, shape: Shape) -> Result<[Direction; 2], KernelError> {
    let (wiring, (height, width)) = (scores.wiring, shape);
    let (nodes, edges) = (wiring.nodes(graph), wiring.edges(graph));
    if scores.k != 2 || scores.has_own() {
        let message = "the fast form of a grid is for two labels and scores that edges share";
        return Err(KernelError::Argument(message.into()));
    }
    check_length("grid", nodes.len(), height.saturating_mul(width))?;
    let along = height * width.saturating_sub(1);
    let across = height.saturating_sub(1) * width;
    check_length("edges of the grid", edges.len(), along + across)?;
    let mut found = [Direction { forth: [1.0; 3], back: [1.0; 3] }; 2];
    let mut kinds = [None; 2];
    for e in edges.clone() {
        let number = e - edges.start;
        let (way, from, step) = if number < along {
            let (y, x) = (number / (width - 1), number % (width - 1));
            (0, y * width + x, 1)
        } else {
            (1, number - along, width)
        };
        let from = nodes.start + from;
        let kind = *kinds[way].get_or_insert(wiring.kind(e));
        if wiring.from(e) != from || wiring.to(e) != from + step || wiring.kind(e) != kind {
            return Err(KernelError::Argument(format!(
                "edge {e} of graph {graph} does not stand where a grid of shape ({height}, {width}) has it"
            )));
        }
    }
    for (way, first) in [(0, edges.start), (1, edges.start + along)] {
        if let Some(kind) = kinds[way] {
            let pair = scores.pair(first);
            found[way] = Direction::new(kind, [pair.at(0, 0), pair.at(0, 1), pair.at(1, 0), pair.at(1, 1)])?;
        }
    }
    Ok(found)
}

/// Messages of an image. A row holds those to the right, left, down and up, each with a border.
struct Image {
    shape: Shape,
    ways: [Direction; 2],
    ratios: Vec<f32>,
    /// Even and odd rows.
    rows: [Vec<f32>; 2],
    /// What comes from outside: ones.
    outside: Vec<f32>,
}

/// Places of the four messages in a row.
const RIGHT: usize = 0;
const LEFT: usize = 1;
const DOWN: usize = 2;
const UP: usize = 3;

impl Image {
    fn new(
        scores: &Scores<'_>,
        graph: usize,
        shape: Shape,
        warm: Option<&[f64]>,
    ) -> Result<Self, KernelError> {
        let ways = check_grid(scores, graph, shape)?;
        // An image without pixels has no rows, however wide.
        let shape = if scores.wiring.nodes(graph).is_empty() { (0, 0) } else { shape };
        let (height, width) = shape;
        let ratio = |node: usize| {
            let u = scores.unary(node);
            (u[1] - u[0]).clamp(-FARTHEST, FARTHEST).exp() as f32
        };
        let ratios = scores.wiring.nodes(graph).map(ratio).collect();
        let long = 4 * (width + 2);
        let rows = [vec![1.0; height.div_ceil(2) * long], vec![1.0; height / 2 * long]];
        let mut image = Self { shape, ways, ratios, rows, outside: vec![1.0; long] };
        if let Some(warm) = warm {
            let first = scores.wiring.edges(graph).start;
            image.each_message(|number, place| {
                let at = 2 * (2 * first + number);
                *place = (warm[at + 1] - warm[at]).clamp(-STRONGEST, STRONGEST).exp() as f32;
            });
        }
        Ok(image)
    }

    /// Call `body` with the number of every message, from zero, and its place.
    fn each_message(&mut self, mut body: impl FnMut(usize, &mut f32)) {
        let (height, width) = self.shape;
        let along = height * width.saturating_sub(1);
        let place = |y: usize, kind: usize, x: usize| (y % 2, (y / 2 * 4 + kind) * (width + 2) + x + 1);
        for y in 0..height {
            for x in 0..width {
                let mut go = |message: usize, y: usize, kind: usize, x: usize| {
                    let (parity, at) = place(y, kind, x);
                    body(message, &mut self.rows[parity][at]);
                };
                if x + 1 < width {
                    let edge = y * (width - 1) + x;
                    go(2 * edge, y, RIGHT, x);
                    go(2 * edge + 1, y, LEFT, x + 1);
                }
                if y + 1 < height {
                    let edge = along + y * width + x;
                    go(2 * edge, y, DOWN, x);
                    go(2 * edge + 1, y + 1, UP, x);
                }
            }
        }
    }

    /// Send from all even rows or from all odd rows; whether some message changed by more than `tol`, relatively.
    fn half_sweep(&mut self, parity: usize, maximum: bool, options: &Options, n_threads: usize) -> bool {
        let (height, width) = self.shape;
        let long = 4 * (width + 2);
        let [even, odd] = &mut self.rows;
        let (mine, others) = if parity == 0 { (even, &*odd) } else { (odd, &*even) };
        let row = |(number, row): (usize, &mut [f32])| {
            let y = 2 * number + parity;
            // The row above row 2 n is odd row n - 1, the one above row 2 n + 1 is even row n.
            let other = |y: usize| &others[y / 2 * long..(y / 2 + 1) * long];
            let above = if y > 0 { other(y - 1) } else { &self.outside };
            let below = if y + 1 < height { other(y + 1) } else { &self.outside };
            let send = SendRow {
                width,
                ratios: &self.ratios[y * width..(y + 1) * width],
                above: &above[DOWN * (width + 2) + 1..][..width],
                below: &below[UP * (width + 2) + 1..][..width],
                row,
                ways: self.ways,
                step: (1.0 - options.damping) as f32,
                tol: options.tol as f32,
            };
            if maximum { dispatch(Max(send)) } else { dispatch(Sum(send)) }
        };
        let some = |(block, rows): (usize, &mut [f32])| {
            let rows = rows.chunks_exact_mut(long).zip(block * ROWS..);
            rows.map(|(line, number)| row((number, line))).fold(false, |any, one| any | one)
        };
        let n_threads = if height * width < LARGE { 1 } else { n_threads };
        each(n_threads, mine.chunks_mut(ROWS * long).enumerate(), some).contains(&true)
    }
}

/// All messages out of one row.
struct SendRow<'a> {
    width: usize,
    ratios: &'a [f32],
    above: &'a [f32],
    below: &'a [f32],
    row: &'a mut [f32],
    ways: [Direction; 2],
    step: f32,
    tol: f32,
}

struct Sum<'a>(SendRow<'a>);
struct Max<'a>(SendRow<'a>);

impl Task for Sum<'_> {
    type Output = bool;

    #[inline(always)]
    fn run<const FMA: bool>(self) -> bool {
        self.0.run::<FMA, false>()
    }
}

impl Task for Max<'_> {
    type Output = bool;

    #[inline(always)]
    fn run<const FMA: bool>(self) -> bool {
        self.0.run::<FMA, true>()
    }
}

#[inline(always)]
fn load<const N: usize>(from: &[f32], at: usize) -> [f32; N] {
    let mut values = [0.0; N];
    values.copy_from_slice(&from[at..at + N]);
    values
}

/// The ratio that a message sends for the product of the ratios at its sender.
#[inline(always)]
fn ratio<const FMA: bool, const MAX: bool>(product: f32, c: [f32; 3]) -> f32 {
    const MOST: f32 = 1.142e26; // e^60
    const LEAST: f32 = 8.757e-27; // e^-60
    let p = if product < MOST { product } else { MOST };
    let p = if p > LEAST { p } else { LEAST };
    let [c01, c10, c11] = c;
    if MAX {
        let (one, zero) = (c11 * p, c10 * p);
        (if one > c01 { one } else { c01 }) / (if zero > 1.0 { zero } else { 1.0 })
    } else {
        c11.fma::<FMA>(p, c01) / c10.fma::<FMA>(p, 1.0)
    }
}

/// What of a row does not change while messages are sent.
struct Around<'a> {
    ratios: &'a [f32],
    above: &'a [f32],
    below: &'a [f32],
    ways: [Direction; 2],
    step: f32,
    tol: f32,
}

/// Send from `N` pixels from `x` on; `before` is the old message from the left, and becomes that of the next pixel. Notes in
/// `changed` where a message changed by more than `tol`, relatively.
#[inline(always)]
fn send<const N: usize, const FMA: bool, const MAX: bool>(
    around: &Around<'_>,
    lines: [&mut [f32]; 4],
    x: usize,
    before: &mut f32,
    changed: &mut [u32; N],
) {
    let [right, left, down, up] = lines;
    let mut from_left: [f32; N] = load(right, x);
    from_left[0] = *before;
    *before = right[x + N];
    // To the left a pixel reads the place after its own, which comes later.
    let from_right: [f32; N] = load(left, x + 2);
    let own: [f32; N] = load(around.ratios, x);
    let above: [f32; N] = load(around.above, x);
    let below: [f32; N] = load(around.below, x);
    let mut across = [0.0; N];
    let mut along = [0.0; N];
    for l in 0..N {
        across[l] = own[l] * (above[l] * below[l]);
        along[l] = own[l] * (from_left[l] * from_right[l]);
    }
    let sent = [
        (right, &across, &from_left, around.ways[0].forth),
        (left, &across, &from_right, around.ways[0].back),
        (down, &along, &above, around.ways[1].forth),
        (up, &along, &below, around.ways[1].back),
    ];
    for (line, most, rest, coefficients) in sent {
        let mut values: [f32; N] = load(line, x + 1);
        for l in 0..N {
            let change = ratio::<FMA, MAX>(most[l] * rest[l], coefficients) - values[l];
            changed[l] |= u32::from(change.abs() > around.tol * values[l]);
            values[l] = around.step.fma::<FMA>(change, values[l]);
        }
        line[x + 1..x + 1 + N].copy_from_slice(&values);
    }
}

impl SendRow<'_> {
    /// Whether some message changed by more than `tol`, relatively. Messages that leave the image change too, and are read
    /// by nobody.
    #[inline(always)]
    fn run<const FMA: bool, const MAX: bool>(self) -> bool {
        let Self { width, ratios, above, below, row, ways, step, tol } = self;
        let around = Around { ratios, above, below, ways, step, tol };
        let (right, rest) = row.split_at_mut(width + 2);
        let (left, rest) = rest.split_at_mut(width + 2);
        let (down, up) = rest.split_at_mut(width + 2);
        let mut before = 1.0f32;
        let (mut changed, mut last) = ([0u32; TOGETHER], [0u32; 1]);
        let whole = width / TOGETHER * TOGETHER;
        for x in (0..whole).step_by(TOGETHER) {
            let lines = [&mut *right, &mut *left, &mut *down, &mut *up];
            send::<TOGETHER, FMA, MAX>(&around, lines, x, &mut before, &mut changed);
        }
        for x in whole..width {
            let lines = [&mut *right, &mut *left, &mut *down, &mut *up];
            send::<1, FMA, MAX>(&around, lines, x, &mut before, &mut last);
        }
        changed.contains(&1) || last[0] == 1
    }
}

/// Messages of a batch of grids (2 n_edges x 2) and how every one ended; the residual is not measured, only whether it is above
/// `tol`, which cannot be told below 1e-6 in `f32`.
pub fn grid_messages(
    scores: Scores<'_>,
    shapes: &[Shape],
    maximum: bool,
    options: &Options,
    warm: Option<&[f64]>,
    n_threads: usize,
    stop: &Interrupt,
) -> Result<(Vec<f64>, Vec<Ending>), KernelError> {
    options.check()?;
    scores.check_finite()?;
    check_start(&scores, warm)?;
    check_length("shapes", shapes.len(), scores.wiring.n_graphs())?;
    let options = Options { tol: options.tol.max(1e-6), ..*options };
    let work = scores.wiring.n_nodes().saturating_mul(16).saturating_mul(options.max_iter);
    let n_threads = threads_for(work, n_threads);
    let one = |graph: usize| {
        let mut image = Image::new(&scores, graph, shapes[graph], warm)?;
        let mut ending = Ending { iterations: 0, residual: f64::INFINITY, converged: false };
        while ending.iterations < options.max_iter && !ending.converged {
            stop.check()?;
            let even = image.half_sweep(0, maximum, &options, n_threads);
            let odd = image.half_sweep(1, maximum, &options, n_threads);
            ending.iterations += 1;
            ending.converged = !(even || odd);
        }
        let mut messages = vec![0.0; 4 * scores.wiring.edges(graph).len()];
        image.each_message(|number, &mut ratio| {
            let log = f64::from(ratio).ln();
            messages[2 * number + usize::from(log <= 0.0)] = -log.abs();
        });
        Ok((messages, ending))
    };
    // One image alone stays among the threads from sweep to sweep.
    let all = try_each(n_threads, 0..shapes.len(), one)?;
    let endings = all.iter().map(|(_, ending)| *ending).collect();
    Ok((all.into_iter().flat_map(|(messages, _)| messages).collect(), endings))
}
