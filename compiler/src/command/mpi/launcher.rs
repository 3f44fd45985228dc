//! The launcher of an MPI program tells processes their number in variables of the environment, whether or not they use MPI, and whether or
//! not it is the launcher of the MPI that they use.

use std::env;

/// The variables with the number of processes and with the number of this one, by launcher.
const LAUNCHERS: [(&str, &str, &str); 4] = [
    ("Open MPI", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"),
    ("MPICH", "PMI_SIZE", "PMI_RANK"),
    ("PMIx", "PMIX_SIZE", "PMIX_RANK"),
    ("Slurm", "SLURM_STEP_NUM_TASKS", "SLURM_PROCID"),
];

/// Several processes that were started together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Launched {
    /// The launcher.
    pub(super) by: &'static str,
    /// How many processes it says there are, more than one.
    pub(super) size: usize,
    /// The number of this one.
    pub(super) rank: usize,
}

/// The launcher of this process, if it has started several.
pub(super) fn launched() -> Option<Launched> {
    launched_in(|name| env::var(name).ok()?.parse().ok())
}

fn launched_in(number: impl Fn(&str) -> Option<usize>) -> Option<Launched> {
    let mut launchers = LAUNCHERS.into_iter();
    launchers.find_map(|(by, size, rank)| {
        let (size, rank) = (number(size)?, number(rank)?);
        (size > 1).then_some(Launched { by, size, rank })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_launcher_of_several_processes_is_noticed() {
        let of = |variables: &'static [(&str, usize)]| {
            launched_in(move |name| {
                let found = variables.iter().find(|(variable, _)| *variable == name);
                found.map(|(_, value)| *value)
            })
        };
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[("PMI_SIZE", 1), ("PMI_RANK", 0)]), None);
        // In a script of Slurm that starts nothing there is no number of tasks of a step.
        assert_eq!(of(&[("SLURM_PROCID", 0)]), None);
        let found = of(&[("PMI_SIZE", 4), ("PMI_RANK", 3)]);
        let expected = Launched {
            by: "MPICH",
            size: 4,
            rank: 3,
        };
        assert_eq!(found, Some(expected));
    }
}
