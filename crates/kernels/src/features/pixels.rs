//! Shape of what is drawn on a grid of pixels.
//!
//! Problem: for every image of height x width values, with the pixels above a threshold on, count the on
//! pixels, their connected components and the loops (holes), and measure the bounding box.
//! Invariant: a frame of off pixels is put around the image; what the off pixels of the frame reach is
//! outside, every other component of off pixels is a hole. On pixels join over corners exactly when off
//! pixels do not, so that a closed curve separates inside from outside (Rosenfeld 1970).
//! Source: flood fill with an explicit stack.
//! Returned: (n, 5) counts: on pixels, components, loops, height and width of the bounding box.

use crate::data::dense::Dense;
use crate::data::rows::Rows;
use crate::error::{KernelError, check_length, filled};
use crate::interrupt::Interrupt;
use crate::real::Real;
use crate::threads::{WORTH_THREADS, try_each};

/// Counts per image.
pub const COUNTS: usize = 5;
/// Images per task.
const BLOCK: usize = 32;

const OFF: u8 = 0;
const ON: u8 = 1;
const SEEN: u8 = 2;

/// A framed grid and the stack of its flood fills.
struct Grid {
    width: usize,
    cells: Vec<u8>,
    stack: Vec<usize>,
}

impl Grid {
    fn new(height: usize, width: usize) -> Self {
        Self { width, cells: vec![OFF; (height + 2) * (width + 2)], stack: Vec::new() }
    }

    /// Mark everything of kind `kind` that is connected with cell `start`.
    fn fill(&mut self, start: usize, kind: u8, corners: bool) {
        let stride = (self.width + 2) as isize;
        let around = [-1, 1, -stride, stride, -stride - 1, -stride + 1, stride - 1, stride + 1];
        let around = &around[..if corners { 8 } else { 4 }];
        self.cells[start] = SEEN;
        self.stack.push(start);
        while let Some(cell) = self.stack.pop() {
            for &step in around {
                // Beyond the frame there is nothing; stepping over its side lands on the frame again.
                let Some(next) = cell.checked_add_signed(step) else { continue };
                if self.cells.get(next) == Some(&kind) {
                    self.cells[next] = SEEN;
                    self.stack.push(next);
                }
            }
        }
    }

    /// Mark every component of `kind`; returns how many there are.
    fn components(&mut self, kind: u8, corners: bool) -> u32 {
        let mut n = 0;
        for cell in 0..self.cells.len() {
            if self.cells[cell] == kind {
                self.fill(cell, kind, corners);
                n += 1;
            }
        }
        n
    }

    fn measure<T: Real>(&mut self, image: &[T], threshold: T, corners: bool, out: &mut [u32]) {
        self.cells.fill(OFF);
        let (mut top, mut bottom, mut left, mut right) = (usize::MAX, 0, usize::MAX, 0);
        let mut on = 0;
        for (y, row) in image.chunks_exact(self.width).enumerate() {
            for (x, &value) in row.iter().enumerate() {
                if value > threshold {
                    self.cells[(y + 1) * (self.width + 2) + x + 1] = ON;
                    (top, bottom, left, right) = (top.min(y), bottom.max(y), left.min(x), right.max(x));
                    on += 1;
                }
            }
        }
        self.fill(0, OFF, !corners);
        let (tall, broad) = if on == 0 { (0, 0) } else { (bottom - top + 1, right - left + 1) };
        let (loops, components) = (self.components(OFF, !corners), self.components(ON, corners));
        out.copy_from_slice(&[on, components, loops, tall as u32, broad as u32]);
    }
}

/// Counts of every image; `corners`: on pixels that touch at a corner are connected.
pub fn measure<T: Real>(
    images: &Dense<'_, T>,
    height: usize,
    width: usize,
    threshold: T,
    corners: bool,
    n_threads: usize,
    stop: &Interrupt,
) -> Result<Vec<u32>, KernelError> {
    if height == 0 || width == 0 || u32::try_from(images.n_cols()).is_err() {
        return Err(KernelError::Argument(format!("a grid of {height} x {width} pixels cannot be used")));
    }
    check_length("an image", images.n_cols(), height.saturating_mul(width))?;
    let mut out = filled(0, images.n_rows().saturating_mul(COUNTS))?;
    let block = |(b, out): (usize, &mut [u32])| {
        stop.check()?;
        let mut grid = Grid::new(height, width);
        for (r, out) in out.chunks_exact_mut(COUNTS).enumerate() {
            grid.measure(images.row(b * BLOCK + r), threshold, corners, out);
        }
        Ok(())
    };
    let n_threads = if images.n_stored() < WORTH_THREADS { 1 } else { n_threads };
    try_each(n_threads, out.chunks_mut(BLOCK * COUNTS).enumerate(), block)?;
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(rows: &[&str], corners: bool) -> Vec<u32> {
        let width = rows[0].len();
        let image: Vec<f64> = rows.iter().flat_map(|r| r.bytes()).map(|b| f64::from(b == b'#')).collect();
        let view = Dense::new(&image, 1, image.len()).unwrap();
        measure(&view, rows.len(), width, 0.5, corners, 1, &Interrupt::new()).unwrap()
    }

    #[test]
    fn digits_have_their_loops() {
        let eight = ["###", "# #", "###", "# #", "###"];
        assert_eq!(counts(&eight, true), [13, 1, 2, 5, 3]);
        let one = ["...", ".#.", ".#."];
        assert_eq!(counts(&one, true), [2, 1, 0, 2, 1]);
        assert_eq!(counts(&["...", "..."], true), [0; 5]);
        assert_eq!(counts(&["##", "##"], false), [4, 1, 0, 2, 2]);
    }

    #[test]
    fn corners_join_either_the_ink_or_the_paper() {
        let ring = [".#.", "#.#", ".#."];
        assert_eq!(counts(&ring, true), [4, 1, 1, 3, 3]);
        assert_eq!(counts(&ring, false), [4, 4, 0, 3, 3]);
    }

    #[test]
    fn a_grid_of_another_size_is_refused() {
        let image = [0.0; 6];
        let view = Dense::new(&image, 1, 6).unwrap();
        assert!(measure(&view, 2, 2, 0.5, true, 1, &Interrupt::new()).is_err());
        assert!(measure(&view, 0, 6, 0.5, true, 1, &Interrupt::new()).is_err());
    }
}
