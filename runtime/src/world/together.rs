//! Super-steps that the ranks of a cluster share: every rank has all strands and runs some of their blocks, then it gets the blocks
//! of the others. After that all ranks have the same strands in the same places, so that everything between super-steps (deaths,
//! births, neighbours, global code) is done by each of them in the same way.

use super::complete::groups;
use super::core::Core;
use super::exchange::Reach;
use super::shares::Shares;
use super::step::context::StepContext;
use crate::cluster::Lost;
use crate::strands::roster::LaneSets;

impl Core {
    /// Calls `run` for every block with active lanes, on this rank or another.
    ///
    /// # Errors
    /// A rank has left.
    pub(crate) fn sweep_together(
        &mut self,
        run: impl Fn(&mut StepContext<'_>, *mut u8, &mut LaneSets) + Sync,
    ) -> Result<(), Lost> {
        let Some(team) = self.team.clone() else {
            self.sweep(run);
            return Ok(());
        };
        let shares = Shares::of_blocks(&self.roster.lanes, team.size());
        self.sweep_some(|block| shares.has(team.rank(), block), run);
        self.exchange(&team, &shares, Reach::All, 0)?;
        Ok(())
    }

    /// Lets `run` take the strands of whole groups to their ends, those of this rank; gives the largest number of super-steps that
    /// any strand took on any rank. The states are then in the world of rank 0 alone.
    ///
    /// # Errors
    /// A rank has left.
    pub(crate) fn complete_together(
        &mut self,
        run: impl FnOnce(&mut Core, &(dyn Fn(usize) -> bool + Sync)) -> u64,
    ) -> Result<u64, Lost> {
        let Some(team) = self.team.clone() else {
            return Ok(run(self, &|_| true));
        };
        let shares = Shares::of_groups(&self.roster.lanes, groups(self), team.size());
        let taken = run(self, &|block| shares.has(team.rank(), block));
        self.exchange(&team, &shares, Reach::Root, taken)
    }
}
