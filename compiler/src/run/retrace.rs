//! Where strands ask for images and meshes that no probe was inside of.
//!
//! Only a warning needs these positions, so strands take no notice of all of them: not of those for which `inside` does not hold, and on GPUs
//! of none. If the warning is due, the strands run once more, on the CPU, with code that does.

use super::Run;
use runtime::world::RunEnd;
use std::{io, sync::mpsc, thread, time::Duration};

/// The time that it may take.
const PATIENCE: Duration = Duration::from_secs(1);

impl Run {
    /// Lets the strands run again as far as they have come, for some time at most; gives whether they came as far.
    pub(super) fn retrace(&self) -> bool {
        let program = self.program.asking(self.images.zeros());
        let workers = self.workers.alone();
        let Ok(mut again) = Run::with_values(&program, &self.values, &self.images, &workers) else {
            return false;
        };
        let limit = self.keeps().then(|| self.steps());
        let control = again.control().clone();
        let (over, is_over) = mpsc::channel();
        let end = thread::scope(|scope| {
            scope.spawn(move || {
                if is_over.recv_timeout(PATIENCE).is_err() {
                    control.cancel();
                }
            });
            let end = again.run(limit, &mut io::sink(), &mut []);
            // The other thread has given up waiting otherwise.
            let _ = over.send(());
            end
        });
        end.is_ok_and(|end| end != RunEnd::Cancelled)
    }
}
