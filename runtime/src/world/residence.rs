//! Where the newest states of the strands are: in the world, or with an executor.

use super::errors::RunError;

/// The place of the newest states of all strands. Each block also has its own ([`Newest`](crate::strands::roster::Newest)).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Residence {
    /// Every block says where its own state is.
    #[default]
    ByBlock,
    /// The executor has the newest states of all blocks with active strands, no strand is fresh, and nothing has changed here
    /// since. The next super-step of the executor needs nothing from here.
    Settled,
    /// The executor had states that cannot be brought back.
    Lost,
}

impl Residence {
    /// The executor has all active strands, and nothing here has changed.
    pub(super) fn settle(&mut self) {
        if *self == Residence::ByBlock {
            *self = Residence::Settled;
        }
    }

    /// Something has changed here, or has been brought back.
    pub(super) fn note_change(&mut self) {
        if *self == Residence::Settled {
            *self = Residence::ByBlock;
        }
    }

    /// States are lost, for good.
    pub(super) fn lose(&mut self) {
        *self = Residence::Lost;
    }

    pub(super) fn is_settled(self) -> bool {
        self == Residence::Settled
    }

    pub(super) fn is_lost(self) -> bool {
        self == Residence::Lost
    }

    /// The error of a world whose states are lost.
    pub(super) fn check(self, step: u64) -> Result<(), RunError> {
        match self {
            Residence::Lost => Err(RunError::Lost { step }),
            Residence::ByBlock | Residence::Settled => Ok(()),
        }
    }
}
