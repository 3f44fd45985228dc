//! The axes of a file in the order in which its samples are stored, and whether that is the order of an image.

use super::normalize::Plan;
use super::role::{Role, Span};
use crate::nrrd::Header;

/// An axis of the file, or several that count as one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    pub(super) size: usize,
    pub(super) role: Role,
    /// How far one step goes: samples of a plane for the grid, stored numbers for components, frames for time.
    pub(super) stride: usize,
}

impl Run {
    /// Whether another run begins where this one ends.
    fn continues(&self, next: Run) -> bool {
        self.role == next.role
            && !matches!(next.role, Role::Fixed(_) | Role::Time(_))
            && next.stride == self.stride * self.size
    }
}

/// The axes of a file, the fastest first.
pub(super) struct Runs {
    pub(super) runs: Vec<Run>,
    /// Samples of one plane.
    pub(super) plane: usize,
}

impl Runs {
    /// Those of an array that becomes an image by a plan; `None` if it has more samples than can be counted.
    pub(super) fn of(header: &Header, plan: &Plan) -> Option<Runs> {
        let (all, plane) = Runs::axes(header, plan)?;
        // Axes that follow one another in the file and in a plane count as one.
        let mut runs: Vec<Run> = Vec::new();
        for next in all.into_iter().filter(|run| run.size > 1) {
            match runs.last_mut() {
                Some(run) if run.continues(next) => run.size *= next.size,
                _ => runs.push(next),
            }
        }
        Some(Runs { runs, plane })
    }

    /// All axes of such an array one by one, and the samples of one plane.
    pub(super) fn axes(header: &Header, plan: &Plan) -> Option<(Vec<Run>, usize)> {
        let mut all: Vec<Run> = Vec::new();
        let (mut plane, mut stored) = (1_usize, 1_usize);
        for (axis, &role) in header.axes.iter().zip(&plan.roles.roles) {
            let size = axis.size;
            let stride = match role {
                Role::Domain => {
                    let stride = plane;
                    plane = plane.checked_mul(size)?;
                    stride
                }
                Role::Component => {
                    let stride = stored;
                    stored = stored.checked_mul(size)?;
                    stride
                }
                Role::Fixed(_) => 0,
                Role::Time(_) => 1,
            };
            all.push(Run { size, role, stride });
        }
        if let Some(first) = plan.reversed_from {
            all[first..].reverse();
        }
        Some((all, plane))
    }

    /// The sample of the file with which an image of this many components begins, if all of its samples follow from there on as
    /// they do in the image.
    pub(super) fn start(&self, plan: &Plan, components: usize) -> Option<usize> {
        if !is_plain(plan, components) {
            return None;
        }
        // Samples of the file, and those of the image among them, that the axes so far have.
        let (mut stored, mut wanted, mut start) = (1_usize, 1_usize, 0);
        for run in &self.runs {
            let (first, count, stride) = match run.role {
                Role::Domain => (0, run.size, run.stride),
                // Of several stored numbers those from the first on count.
                Role::Component if run.stride == 1 => {
                    let rest = run.size.checked_sub(plan.roles.first)?;
                    (plan.roles.first, rest.min(components), self.plane)
                }
                Role::Component => return None,
                Role::Fixed(index) => (index, 1, wanted),
                Role::Time(Span { first, last }) => {
                    (first, last - first + 1, self.plane * components)
                }
            };
            // A part of an axis ends the samples that follow one another.
            if count > 1 && (stride != wanted || stored != wanted) {
                return None;
            }
            start += first * stored;
            stored = stored.checked_mul(run.size)?;
            wanted = wanted.checked_mul(count)?;
        }
        let all = self.plane.checked_mul(components)?;
        (Some(wanted) == all.checked_mul(plan.frames.count())).then_some(start)
    }
}

/// Whether the stored numbers of a sample are its components as they are.
pub(super) fn is_plain(plan: &Plan, components: usize) -> bool {
    let expansion = &plan.roles.expansion;
    let mut numbers = expansion.component.iter().enumerate();
    plan.turn.is_none()
        && expansion.mask.is_none()
        && expansion.copies.is_empty()
        && expansion.component.len() == components
        && numbers.all(|(n, &component)| component == Some(n))
}
