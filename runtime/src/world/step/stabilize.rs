//! The end of all active strands by a global block.

use super::global::GlobalContext;
use super::methods::stabilize_block;
use crate::world::exchange::Reach;
use crate::world::program::StrandProgram;

impl GlobalContext<'_> {
    /// Stabilizes all active strands at once, running their `stabilize` methods.
    pub fn stabilize_all<P: StrandProgram>(&mut self, program: &P) {
        let abilities = self.core.abilities;
        // Methods may look around: at where strands are now.
        let look = abilities.stabilizes && abilities.communicates;
        self.core
            .bring_back(program.executor(), |_, sets| look || sets.active != 0);
        if abilities.stabilizes
            && let Err(lost) = self.core.complete(Reach::All)
        {
            self.core.note_lost(lost);
            return;
        }
        if look {
            self.core.publish();
            self.core.know_all();
            self.core.update_index();
        }
        self.core
            .sweep(|cx, block, sets| stabilize_block(program, abilities, cx, block, sets));
        let printed = self.core.printed();
        self.text.push_str(&printed);
        self.core.publish();
        self.core.recount();
    }
}
