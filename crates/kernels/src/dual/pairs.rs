//! All pairs of small classes: two-class problems through the inner products of their rows.
//!
//! Problem: that of [`crate::dual::columns`] where every column has two classes.
//! Invariant: as there; the weights "w" of a [`DualBinary`] on a [`PairGram`] are the scores of its rows.
//! Source: [`crate::dual::pair_gram`] for the products. Threads take all pairs of a class, whose products with the
//! classes after it are computed together. Returns the answers in the order of the columns.

use crate::data::csr::Csr;
use crate::data::rows::Rows;
use crate::dual::binary::DualBinary;
use crate::dual::columns::{Code, Column, Settings, run, solve, support};
use crate::dual::pair_gram::{PairGram, Postings, cost};
use crate::error::{KernelError, check_length, zeros};
use crate::interrupt::Interrupt;
use crate::real::Real;
use crate::simd::{Gather, Task, dispatch};
use crate::threads::{each, try_each};

/// Passes that a column takes, roughly: what the inner products of all rows have to beat.
const PASSES: usize = 20;
/// Factor on the passes within which the gap has to halve: a pass over inner products costs next to nothing.
const PATIENCE: f64 = 5.0;
/// Rows of two classes beyond which their inner products are too many.
const MOST_ROWS: usize = 2048;
/// How many times longer a row of products may be than a row of the data: it is added in lanes.
const LONGER: usize = 8;
/// Values that the products of one class with all others may fill.
const MOST_VALUES: usize = 1 << 25;

/// [`solve`] for sparse rows: through the inner products where all columns are pairs of small classes.
pub fn solve_sparse<T: Gather>(
    x: &Csr<'_, T>,
    code: &Code<'_>,
    settings: &Settings,
    n_threads: usize,
    stop: &Interrupt,
) -> Result<Vec<Column<T>>, KernelError> {
    check_length("y", code.classes.len(), x.n_rows())?;
    match pairs(code) {
        Some(pairs) if products_pay(x, code, &pairs)? => {
            on_products(x, code, settings, &pairs, n_threads, stop)
        }
        _ => solve(x, code, settings, n_threads, stop),
    }
}

/// The two classes of each column, or nothing if some column has more.
fn pairs(code: &Code<'_>) -> Option<Vec<(usize, usize)>> {
    let pair = |column| {
        let mut parts = code.parts(column);
        match (parts.next(), parts.next(), parts.next()) {
            (Some(first), Some(second), None) => Some((first, second)),
            _ => None,
        }
    };
    (0..code.n_columns).map(pair).collect()
}

fn products_pay<T: Gather>(
    x: &Csr<'_, T>,
    code: &Code<'_>,
    pairs: &[(usize, usize)],
) -> Result<bool, KernelError> {
    let size = |k| code.by_class.range(k).len();
    let largest = pairs.iter().map(|&(i, j)| size(i) + size(j)).max().unwrap_or(0);
    let widest = (0..code.n_classes()).map(size).max().unwrap_or(0) * code.by_class.rows.len();
    let stored = x.n_stored() / x.n_rows().max(1);
    // A class without rows is an error, which the rows will tell.
    if pairs.iter().any(|&(i, j)| size(i) == 0 || size(j) == 0) {
        return Ok(false);
    }
    // A step adds a row of products in the place of a row of `x`.
    if largest > MOST_ROWS.min(LONGER * stored) || widest > MOST_VALUES {
        return Ok(false);
    }
    let visits: usize = pairs.iter().map(|&(i, j)| size(i) + size(j)).sum();
    Ok(cost(x, &code.by_class)? < PASSES * visits * stored)
}

/// Solve pairs through the inner products of their rows, a class at a time.
fn on_products<T: Gather>(
    x: &Csr<'_, T>,
    code: &Code<'_>,
    settings: &Settings,
    pairs: &[(usize, usize)],
    n_threads: usize,
    stop: &Interrupt,
) -> Result<Vec<Column<T>>, KernelError> {
    let settings = &Settings { patience: settings.patience * PATIENCE, ..*settings };
    let by_class = &code.by_class;
    let postings = Postings::new(x, by_class)?;
    let mut of_class: Vec<Vec<usize>> = vec![Vec::new(); code.n_classes()];
    for (column, &(first, _)) in pairs.iter().enumerate() {
        of_class[first].push(column);
    }
    // The products of each class with itself serve all its pairs.
    let own = |k: usize| postings.strip(by_class.range(k), by_class.range(k).end);
    let one_class = |first: usize, blocks: &[Vec<f64>]| {
        let columns = &of_class[first];
        let Some(last) = columns.iter().map(|&column| pairs[column].1).max() else {
            return Ok(Vec::new());
        };
        stop.check()?;
        let range = by_class.range(first);
        let strip = postings.strip(range.clone(), by_class.range(last).end);
        let mut gram = PairGram::default();
        let mut solve = |&column: &usize| {
            let second = pairs[column].1;
            let other = by_class.range(second);
            gram.fill(&strip, range.len(), other.start - range.start, &blocks[second], other.len());
            let rows: Vec<u32> = [by_class.class(first), by_class.class(second)].concat();
            on_gram(x, &gram, &rows, code, settings, column, stop).map(|answer| (column, answer))
        };
        columns.iter().map(&mut solve).collect::<Result<Vec<_>, KernelError>>()
    };
    let classes = 0..code.n_classes();
    let blocks = each(n_threads, classes.clone(), own);
    let found = try_each(n_threads, classes, |first| one_class(first, &blocks))?;
    let mut found: Vec<(usize, Column<T>)> = found.into_iter().flatten().collect();
    found.sort_unstable_by_key(|(column, _)| *column);
    Ok(found.into_iter().map(|(_, answer)| answer).collect())
}

fn on_gram<T: Gather>(
    x: &Csr<'_, T>,
    gram: &PairGram,
    rows: &[u32],
    code: &Code<'_>,
    settings: &Settings,
    column: usize,
    stop: &Interrupt,
) -> Result<Column<T>, KernelError> {
    let (signs, upper) = code.targets(rows, column)?;
    let Settings { loss, intercept, seed, .. } = *settings;
    let mut state = DualBinary::new(gram, &signs, &upper, loss, intercept, seed, 1, None)?;
    let answer = run(gram, &mut state, settings, stop)?;
    let (rows, duals) = support(rows, &signs, state.duals());
    let mut weights = zeros(if settings.keep_weights { x.n_cols() } else { 0 })?;
    if settings.keep_weights {
        dispatch(Combine { x, rows: &rows, duals: &duals, weights: &mut weights });
    }
    let Column { intercept, objective, gap, passes, ending, .. } = answer;
    Ok(Column { rows, duals, weights, intercept, objective, gap, passes, ending })
}

/// w += sum of the signed duals times their rows.
struct Combine<'a, T, X> {
    x: &'a X,
    rows: &'a [u32],
    duals: &'a [f64],
    weights: &'a mut [T],
}

impl<T: Real, X: Rows<T>> Task for Combine<'_, T, X> {
    type Output = ();

    #[inline(always)]
    fn run<const FMA: bool>(self) {
        for (&i, &a) in self.rows.iter().zip(self.duals) {
            self.x.add_to::<FMA>(i as usize, T::from_f64(a), self.weights);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{on_products, pairs, solve_sparse};
    use crate::data::csr::OwnedCsr;
    use crate::dual::columns::{Code, Column, Ending, Settings, feature_major, solve};
    use crate::dual::intercept::Intercept;
    use crate::interrupt::Interrupt;
    use crate::loss::dual::MarginLoss;
    use crate::random::Random;

    const LOSSES: [MarginLoss; 3] = [MarginLoss::Hinge, MarginLoss::SquaredHinge, MarginLoss::Logistic];

    fn example(n: usize, d: usize, n_classes: usize) -> (OwnedCsr<f64>, Vec<i64>) {
        let mut random = Random::new(3);
        let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        let mut classes = Vec::new();
        for i in 0..n {
            let class = i % n_classes;
            classes.push(class as i64);
            for c in 0..d {
                if c == class || random.below(4) == 0 {
                    columns.push(c as i32);
                    values.push(0.2 + random.below(100) as f64 / 100.0);
                }
            }
            starts.push(columns.len());
        }
        (OwnedCsr::new(&starts, &columns, &values, d).unwrap(), classes)
    }

    fn settings(loss: MarginLoss, intercept: Intercept) -> Settings {
        Settings {
            loss,
            intercept,
            seed: 1,
            tol: 1e-9,
            max_passes: 5000.0,
            patience: f64::INFINITY,
            keep_weights: true,
        }
    }

    /// Pairs of four classes, with weights of their own.
    fn table() -> Vec<f64> {
        let mut table = vec![0.0; 4 * 6];
        let mut column = 0;
        for i in 0..4 {
            for j in i + 1..4 {
                table[i * 6 + column] = 1.0;
                table[j * 6 + column] = -1.5;
                column += 1;
            }
        }
        table
    }

    fn close(a: &[Column<f64>], b: &[Column<f64>], tol: f64) {
        assert_eq!(a.len(), b.len());
        for (a, b) in a.iter().zip(b) {
            assert_eq!((a.ending, b.ending), (Ending::Converged, Ending::Converged));
            assert!((a.objective - b.objective).abs() <= tol * a.objective.abs().max(1.0));
            assert!((a.intercept - b.intercept).abs() < 1e-2);
            for (v, w) in a.weights.iter().zip(&b.weights) {
                assert!((v - w).abs() < 1e-3, "{v} {w}");
            }
        }
    }

    #[test]
    fn products_and_rows_give_the_same_pairs() {
        let (x, classes) = example(80, 30, 4);
        let (table, mut upper) = (table(), vec![1.0; 80]);
        upper[7] = 0.0;
        let code = Code::new(&classes, &table, 4, &upper).unwrap();
        let stop = Interrupt::new();
        for loss in LOSSES {
            for intercept in [Intercept::None, Intercept::Penalized, Intercept::Free] {
                let settings = settings(loss, intercept);
                let by_rows = solve(&x.rows(), &code, &settings, 1, &stop).unwrap();
                let pairs = pairs(&code).unwrap();
                let by_products = on_products(&x.rows(), &code, &settings, &pairs, 1, &stop).unwrap();
                close(&by_rows, &by_products, 1e-7);
            }
        }
    }

    #[test]
    fn threads_change_nothing() {
        let (x, classes) = example(90, 30, 4);
        let (table, upper) = (table(), vec![1.0; 90]);
        let code = Code::new(&classes, &table, 4, &upper).unwrap();
        let stop = Interrupt::new();
        let settings = settings(MarginLoss::SquaredHinge, Intercept::Free);
        let one = solve_sparse(&x.rows(), &code, &settings, 1, &stop).unwrap();
        let three = solve_sparse(&x.rows(), &code, &settings, 3, &stop).unwrap();
        assert_eq!(feature_major(&one, 30, 1), feature_major(&three, 30, 3));
    }

    #[test]
    fn bad_codes_are_named() {
        let (x, classes) = example(8, 5, 4);
        let upper = [1.0; 8];
        assert!(Code::new(&classes, &[1.0, 1.0, -1.0], 3, &upper).is_err());
        assert!(Code::new(&classes, &[1.0, 1.0, -1.0, f64::NAN], 4, &upper).is_err());
        let constant = Code::new(&classes, &[1.0, 1.0, 0.0, 1.0], 4, &upper).unwrap();
        let settings = settings(MarginLoss::Hinge, Intercept::Free);
        let empty = Code::new(&classes, &[1.0, -1.0, 0.0, 0.0], 4, &[1.0, 0.0, 1.0, 1.0, 1.0, 0.0, 1.0, 1.0])
            .unwrap();
        assert!(solve_sparse(&x.rows(), &empty, &settings, 1, &Interrupt::new()).is_err());
        assert!(solve::<f64, _>(&x.rows(), &constant, &settings, 1, &Interrupt::new()).is_err());
    }
}
