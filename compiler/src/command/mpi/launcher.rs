//! The launcher of an MPI program tells processes their number in variables of the environment, whether or not they use MPI, and whether or
//! not it is the launcher of the MPI that they use.

use std::env;

/// A launcher, and its variables.
struct Launcher {
    name: &'static str,
    /// The number of processes.
    size: &'static str,
    /// The number of this one.
    rank: &'static str,
    /// Its number among those on the same machine, if the launcher tells it.
    on_machine: Option<&'static str>,
}

const LAUNCHERS: [Launcher; 5] = [
    Launcher {
        name: "Open MPI",
        size: "OMPI_COMM_WORLD_SIZE",
        rank: "OMPI_COMM_WORLD_RANK",
        on_machine: Some("OMPI_COMM_WORLD_LOCAL_RANK"),
    },
    Launcher {
        name: "MVAPICH",
        size: "MV2_COMM_WORLD_SIZE",
        rank: "MV2_COMM_WORLD_RANK",
        on_machine: Some("MV2_COMM_WORLD_LOCAL_RANK"),
    },
    // That of Intel MPI is the same.
    Launcher {
        name: "MPICH",
        size: "PMI_SIZE",
        rank: "PMI_RANK",
        on_machine: Some("MPI_LOCALRANKID"),
    },
    Launcher {
        name: "PMIx",
        size: "PMIX_SIZE",
        rank: "PMIX_RANK",
        on_machine: None,
    },
    Launcher {
        name: "Slurm",
        size: "SLURM_STEP_NUM_TASKS",
        rank: "SLURM_PROCID",
        on_machine: Some("SLURM_LOCALID"),
    },
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
    /// Its number among those on the same machine, if the launcher tells it.
    pub(super) on_machine: Option<usize>,
}

/// The launcher of this process, if it has started several.
pub(super) fn launched() -> Option<Launched> {
    launched_in(|name| env::var(name).ok()?.parse().ok())
}

fn launched_in(number: impl Fn(&str) -> Option<usize>) -> Option<Launched> {
    let mut launchers = LAUNCHERS.iter();
    launchers.find_map(|launcher| {
        let (size, rank) = (number(launcher.size)?, number(launcher.rank)?);
        (size > 1).then(|| Launched {
            by: launcher.name,
            size,
            rank,
            on_machine: launcher.on_machine.and_then(&number),
        })
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
            on_machine: None,
        };
        assert_eq!(found, Some(expected));
    }

    #[test]
    fn the_number_on_the_machine_is_that_of_the_launcher_that_started_the_process() {
        let mpich = ["PMI_SIZE", "PMI_RANK", "MPI_LOCALRANKID"];
        let slurm = ["SLURM_STEP_NUM_TASKS", "SLURM_PROCID", "SLURM_LOCALID"];
        let open = [
            "OMPI_COMM_WORLD_SIZE",
            "OMPI_COMM_WORLD_RANK",
            "OMPI_COMM_WORLD_LOCAL_RANK",
        ];
        let mvapich = [
            "MV2_COMM_WORLD_SIZE",
            "MV2_COMM_WORLD_RANK",
            "MV2_COMM_WORLD_LOCAL_RANK",
        ];
        for names in [mpich, slurm, open, mvapich] {
            let found = launched_in(|name| {
                let of_launcher = names.iter().position(|known| *known == name);
                of_launcher.map(|n| [8, 5, 2][n])
            });
            assert_eq!(found.and_then(|one| one.on_machine), Some(2), "{names:?}");
        }
        // Within a job of Slurm, `mpirun` starts processes that all have the variables of the job's script.
        let in_job = launched_in(|name| match name {
            "SLURM_PROCID" | "SLURM_LOCALID" => Some(0),
            _ => open
                .iter()
                .position(|known| *known == name)
                .map(|n| [8, 5, 3][n]),
        });
        assert_eq!(in_job.and_then(|one| one.on_machine), Some(3));
    }
}
