//! The choice of where strands run.

/// Where strands run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Target {
    /// On the CPU.
    #[default]
    Cpu,
    /// On a GPU where that is possible, else on the CPU.
    Cuda,
    /// On a GPU; what that cannot do is an error.
    CudaOnly,
}

impl Target {
    /// The targets by their names: those of the original compiler, after ours, are all the CPU here.
    pub const NAMES: [(&str, Target); 6] = [
        ("cpu", Target::Cpu),
        ("cuda", Target::Cuda),
        ("cuda-only", Target::CudaOnly),
        ("sequential", Target::Cpu),
        ("parallel", Target::Cpu),
        ("pthread", Target::Cpu),
    ];

    /// Our own names, for messages.
    pub fn own_names() -> String {
        let own = Target::NAMES.iter().filter(|(name, of)| of.name() == *name);
        let names: Vec<&str> = own.map(|(name, _)| *name).collect();
        names.join(", ")
    }

    /// The target of a name.
    pub fn named(name: &str) -> Option<Target> {
        let known = Target::NAMES.into_iter().find(|(known, _)| *known == name);
        known.map(|(_, target)| target)
    }

    /// The name.
    pub fn name(self) -> &'static str {
        let known = Target::NAMES
            .into_iter()
            .find(|(_, target)| *target == self);
        known.map_or("cpu", |(name, _)| name)
    }
}
