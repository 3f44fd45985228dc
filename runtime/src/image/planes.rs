//! From samples in the order of a file to planes: one component after the other, each contiguous over the grid.
//!
//! Memory for all planes and their padding is taken once. Samples are put in place as they come, wherever the components
//! stand among the axes.

use super::components::Expansion;
use super::normalize::Plan;
use super::place::Turn;
use super::role::Role;
use super::runs::{Run, Runs};
use super::{ROW_LOAD, Real};
use crate::nrrd::Header;

/// The place of a sample: its frame, the number among those of a sample, and the offset in a plane.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    frame: usize,
    stored: usize,
    offset: usize,
}

/// Planes that are being filled.
pub(super) struct Planes<'a, T> {
    samples: Vec<T>,
    /// Samples of one plane.
    plane: usize,
    /// Planes of one frame, and the number of frames.
    components: usize,
    frames: usize,
    runs: Vec<Run>,
    /// The place of the next sample in the file, along each run.
    at: Vec<usize>,
    first: usize,
    expansion: &'a Expansion,
    /// How many samples have a mask of 0.
    masked: usize,
}

impl<'a, T: Copy + Default + PartialEq> Planes<'a, T> {
    /// Planes of zeros, which `zeros` makes, for an array that becomes an image by a plan, or `None` if there is no memory for them.
    pub(super) fn new(
        header: &Header,
        plan: &'a Plan,
        components: usize,
        zeros: impl FnOnce(usize) -> Option<Vec<T>>,
    ) -> Option<Self> {
        let Runs { runs, plane } = Runs::of(header, plan)?;
        let frames = plan.frames.count();
        let count = plane.checked_mul(components)?.checked_mul(frames)?;
        let count = count.checked_add(ROW_LOAD - 1)?;
        Some(Planes {
            samples: zeros(count)?,
            plane,
            components,
            frames,
            at: vec![0; runs.len()],
            runs,
            first: plan.roles.first,
            expansion: &plan.roles.expansion,
            masked: 0,
        })
    }

    /// Puts the next samples of the file in place.
    pub(super) fn put(&mut self, mut piece: &[T]) {
        while !piece.is_empty() {
            let taken = match self.runs.first() {
                // An array of one sample.
                None => {
                    self.put_run(1, &piece[..1]);
                    piece.len()
                }
                Some(&Run {
                    size,
                    role: Role::Domain,
                    stride,
                }) => {
                    let run = piece.len().min(size - self.at[0]);
                    self.put_run(stride, &piece[..run]);
                    run
                }
                Some(&run) => self.put_samples(run, piece),
            };
            self.advance(taken);
            piece = &piece[taken..];
        }
    }

    /// Puts neighbours along the fastest axis, which is one of the grid.
    fn put_run(&mut self, stride: usize, values: &[T]) {
        let Some(place) = self.place(1) else {
            return;
        };
        self.put_at(place, stride, values.iter());
    }

    /// Puts samples whose numbers stand together: the fastest axis is none of the grid. Gives how many were taken.
    fn put_samples(&mut self, run: Run, piece: &[T]) -> usize {
        let whole = self.at[0] == 0 && piece.len() >= run.size;
        let Some(place) = self.place(1) else {
            return piece.len().min(run.size - self.at[0]);
        };
        // Samples that follow one another along the next axis are put together, number by number.
        let along = self.runs.get(1).filter(|next| next.role == Role::Domain);
        let left = along.map_or(1, |next| next.size - self.at[1]);
        let stride = along.map_or(1, |next| next.stride);
        let count = if whole {
            left.min(piece.len() / run.size)
        } else {
            0
        };
        let taken = if whole { count * run.size } else { 1 };
        let numbers = if whole {
            0..run.size
        } else {
            self.at[0]..self.at[0] + 1
        };
        for number in numbers.clone() {
            let mut place = place;
            match run.role {
                Role::Fixed(index) if index != number => continue,
                Role::Fixed(_) => {}
                Role::Component | Role::Domain => place.stored += number * run.stride,
                Role::Time(span) => match span.place(number) {
                    Some(frame) => place.frame = frame,
                    None => continue,
                },
            }
            let values = piece[number - numbers.start..taken]
                .iter()
                .step_by(run.size);
            self.put_at(place, stride, values);
        }
        taken
    }

    /// The place at which the file stands, seen from run `from` on, if it counts.
    fn place(&self, from: usize) -> Option<Place> {
        let mut place = Place::default();
        for (i, (run, &at)) in self.runs.iter().zip(&self.at).enumerate() {
            match run.role {
                Role::Domain => place.offset += at * run.stride,
                Role::Component if i >= from => place.stored += at * run.stride,
                Role::Fixed(index) if i >= from && at != index => return None,
                Role::Time(span) if i >= from => place.frame = span.place(at)?,
                Role::Component | Role::Fixed(_) | Role::Time(_) => {}
            }
        }
        Some(place)
    }

    /// Puts values of one stored number, `stride` samples of a plane apart.
    fn put_at<'v>(&mut self, place: Place, stride: usize, values: impl Iterator<Item = &'v T>)
    where
        T: 'v,
    {
        let Some(number) = place.stored.checked_sub(self.first) else {
            return;
        };
        if self.expansion.mask == Some(number) {
            self.masked += values.filter(|v| **v == T::default()).count();
            return;
        }
        if let Some(&Some(component)) = self.expansion.component.get(number) {
            let start = (place.frame * self.components + component) * self.plane + place.offset;
            let places = self.samples[start..].iter_mut();
            let put = |(place, value): (&mut T, &T)| *place = *value;
            match stride {
                1 => places.zip(values).for_each(put),
                _ => places.step_by(stride).zip(values).for_each(put),
            }
        }
    }

    fn advance(&mut self, samples: usize) {
        let mut carry = samples;
        for (at, run) in self.at.iter_mut().zip(&self.runs) {
            let sum = *at + carry;
            (*at, carry) = (sum % run.size, sum / run.size);
        }
    }

    /// All planes and the padding, after the missing halves of symmetric matrices have been filled in; and the share of samples whose
    /// mask is 0, if there is a mask.
    pub(super) fn finish(mut self) -> (Vec<T>, Option<f64>) {
        self.complete();
        self.taken()
    }

    /// All planes as they are, and the share.
    fn taken(self) -> (Vec<T>, Option<f64>) {
        let share = self.masked as f64 / (self.frames * self.plane) as f64;
        (self.samples, self.expansion.mask.map(|_| share))
    }

    /// Fills in the missing halves of symmetric matrices.
    fn complete(&mut self) {
        for frame in 0..self.frames {
            let start = frame * self.components * self.plane;
            for &(from, to) in &self.expansion.copies {
                let from = start + from * self.plane;
                self.samples
                    .copy_within(from..from + self.plane, start + to * self.plane);
            }
        }
    }
}

impl<T: Real> Planes<'_, T> {
    /// All planes and the padding, as [`Planes::finish`] gives them, after all components have been turned to the world.
    pub(super) fn finish_turned(mut self, turn: Option<&Turn>) -> (Vec<T>, Option<f64>) {
        self.complete();
        if let Some(turn) = turn {
            self.turn(turn);
        }
        self.taken()
    }

    fn turn(&mut self, Turn { matrix }: &Turn) {
        let count = matrix.len().isqrt();
        let mut values = vec![0.0; count];
        let frames = self.samples.chunks_exact_mut(self.components * self.plane);
        for samples in frames.take(self.frames) {
            for at in 0..self.plane {
                for (c, value) in values.iter_mut().enumerate() {
                    *value = samples[c * self.plane + at].in_double();
                }
                for (c, row) in matrix.chunks(count).enumerate() {
                    let turned = row.iter().zip(&values).map(|(a, b)| a * b).sum();
                    samples[c * self.plane + at] = T::nearest(turned);
                }
            }
        }
    }
}
