//! The variables that solvers see in place of the weights, and room for sums over the weights.

use crate::chain::encoded::Encoded;
use crate::error::{KernelError, check_length};
use crate::real::Real;

impl<T: Real> Encoded<T> {
    /// Number of weights that there are, paddings left out.
    pub fn n_variables(&self) -> usize {
        self.used.len()
    }

    /// Where the weight of variable `i` stands, and sqrt(k) where k attributes share it: the weight is so many times the
    /// variable, whose square is then the sum of the squares of the attributes' weights.
    #[inline(always)]
    pub fn variable(&self, i: usize) -> (usize, f64) {
        let at = self.used[i] as usize;
        (at, f64::from(self.multiplicity[at]).sqrt())
    }

    /// The weights that belong to the variables.
    pub fn weights_of(&self, variables: &[f64]) -> Result<Vec<T>, KernelError> {
        check_length("variables", variables.len(), self.n_variables())?;
        let mut weights = self.take_room();
        for (i, &v) in variables.iter().enumerate() {
            let (at, scale) = self.variable(i);
            weights[at] = T::from_f64(v * scale);
        }
        Ok(weights)
    }

    /// Zeros, one per weight.
    pub fn take_room(&self) -> Vec<T> {
        let room = self.spare.lock().ok().and_then(|mut spare| spare.pop());
        match room {
            Some(mut room) => {
                room.fill(T::ZERO);
                room
            }
            None => vec![T::ZERO; self.n_weights()],
        }
    }

    /// Keep what [`Encoded::take_room`] gave for the next pass.
    pub fn give_back(&self, room: Vec<T>) {
        if let (true, Ok(mut spare)) = (room.len() == self.n_weights(), self.spare.lock()) {
            spare.push(room);
        }
    }
}
