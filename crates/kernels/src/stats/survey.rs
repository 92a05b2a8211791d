//! A look at the columns before they are counted: what values they hold.
//!
//! For every column the lowest and the highest value, whether all values are 0 or 1, and whether all are whole
//! numbers; missing values (NaN) are passed over, and the zeros that sparse rows leave out are values. All four
//! are the same in any order, so the result does not depend on the number of threads.

use crate::data::csr::Csr;
use crate::data::dense::Dense;
use crate::error::KernelError;
use crate::interrupt::Interrupt;
use crate::real::Real;
use crate::simd::{Gather, Task, dispatch};
use crate::stats::count::{Countable, infinite};
use crate::stats::tuning::SURVEY_BLOCK;
use crate::threads::{MOST, WORTH_THREADS, try_each};

/// What the columns hold.
#[derive(Debug, Clone, PartialEq)]
pub struct Survey {
    /// Lowest value; infinite where all are missing.
    pub lowest: Vec<f64>,
    /// Highest value; minus infinity where all are missing.
    pub highest: Vec<f64>,
    /// 1 where every value is 0 or 1.
    pub binary: Vec<u8>,
    /// 1 where every value is a whole number.
    pub whole: Vec<u8>,
}

impl Survey {
    fn new(d: usize) -> Self {
        Self {
            lowest: vec![f64::INFINITY; d],
            highest: vec![f64::NEG_INFINITY; d],
            binary: vec![1; d],
            whole: vec![1; d],
        }
    }

    fn absorb(&mut self, other: &Self) {
        for j in 0..self.lowest.len() {
            self.lowest[j] = self.lowest[j].min(other.lowest[j]);
            self.highest[j] = self.highest[j].max(other.highest[j]);
            self.binary[j] &= other.binary[j];
            self.whole[j] &= other.whole[j];
        }
    }
}

/// Rows that can be looked at.
pub trait Surveyed<T: Real>: Countable<T> {
    /// Add row `i`.
    fn look(&self, i: usize, survey: &mut Survey) -> Result<(), KernelError>;
}

impl<T: Real> Surveyed<T> for Dense<'_, T> {
    #[inline(always)]
    fn look(&self, i: usize, survey: &mut Survey) -> Result<(), KernelError> {
        let row = self.row(i);
        let ends = survey.lowest.iter_mut().zip(&mut survey.highest);
        let marks = survey.binary.iter_mut().zip(&mut survey.whole);
        let mut strange = false;
        for ((&x, (lowest, highest)), (binary, whole)) in row.iter().zip(ends).zip(marks) {
            let x = x.to_f64();
            // Comparisons with NaN are false, so that missing values change nothing.
            *lowest = if x < *lowest { x } else { *lowest };
            *highest = if x > *highest { x } else { *highest };
            *binary &= u8::from((x == 0.0) | (x == 1.0) | x.is_nan());
            *whole &= u8::from((x.trunc() == x) | x.is_nan());
            strange |= x.is_infinite();
        }
        match row.iter().position(|x| strange && x.to_f64().is_infinite()) {
            Some(column) => Err(infinite(i, column)),
            None => Ok(()),
        }
    }
}

impl<T: Gather> Surveyed<T> for Csr<'_, T> {
    #[inline(always)]
    fn look(&self, i: usize, survey: &mut Survey) -> Result<(), KernelError> {
        let (columns, values) = self.row(i);
        for (&c, &v) in columns.iter().zip(values) {
            let (j, x) = (c as isize as usize, v.to_f64());
            let Some(lowest) = survey.lowest.get_mut(j) else {
                return self.kept(i, false).map(|_| ());
            };
            if x.is_infinite() {
                return Err(infinite(i, j));
            }
            *lowest = lowest.min(x);
            survey.highest[j] = survey.highest[j].max(x);
            survey.binary[j] &= u8::from((x == 0.0) | (x == 1.0) | x.is_nan());
            survey.whole[j] &= u8::from((x.trunc() == x) | x.is_nan());
        }
        Ok(())
    }
}

struct Looking<'a, T, X> {
    x: &'a X,
    first: usize,
    end: usize,
    stop: &'a Interrupt,
    precision: std::marker::PhantomData<T>,
}

impl<T: Real, X: Surveyed<T>> Task for Looking<'_, T, X> {
    type Output = Result<Survey, KernelError>;

    #[inline(always)]
    fn run<const FMA: bool>(self) -> Self::Output {
        let mut survey = Survey::new(self.x.n_cols());
        for i in self.first..self.end {
            if i % SURVEY_BLOCK == 0 {
                self.stop.check()?;
            }
            self.x.look(i, &mut survey)?;
        }
        Ok(survey)
    }
}

/// Look at all rows.
pub fn survey<T: Real, X: Surveyed<T>>(
    x: &X,
    n_threads: usize,
    stop: &Interrupt,
) -> Result<Survey, KernelError> {
    let n = x.n_rows();
    let parts = if x.n_stored() < WORTH_THREADS { 1 } else { n_threads.clamp(1, MOST) };
    let per = n.div_ceil(parts).max(1);
    let task = |p: usize| {
        let (first, end) = ((p * per).min(n), ((p + 1) * per).min(n));
        dispatch(Looking { x, first, end, stop, precision: std::marker::PhantomData })
    };
    let mut all = Survey::new(x.n_cols());
    for part in try_each(parts, 0..parts, task)? {
        all.absorb(&part);
    }
    if X::SPARSE {
        // A column with fewer stored values than rows holds zeros; one without is not worth telling apart.
        for (lowest, highest) in all.lowest.iter_mut().zip(&mut all.highest) {
            (*lowest, *highest) = (lowest.min(0.0), highest.max(0.0));
        }
    }
    Ok(all)
}
