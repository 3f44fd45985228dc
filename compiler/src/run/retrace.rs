//! Where strands ask for images and meshes that no probe was inside of.
//!
//! Only a warning needs these positions, so strands take no notice of all of them: not of those for which `inside` does not hold, and on GPUs
//! of none. If the warning is due, the strands run once more, on the CPU, with code that does.

use super::Run;
use crate::{front::tree::InputDefault, ir::interface::InputTarget};
use runtime::{input::InputValue, nrrd::STANDARD_INPUT, world::RunEnd};
use std::{io, path::Path, sync::mpsc, thread, time::Duration};

/// The time that the strands may take.
const PATIENCE: Duration = Duration::from_secs(1);

impl Run {
    /// Lets the strands run again as far as they have come, for some time at most; gives whether they came as far.
    pub(super) fn retrace(&self) -> bool {
        if !self.sequences_can_be_read_again() {
            return false;
        }
        let program = self.program.asking(self.images.zeros());
        let workers = self.workers.alone();
        let Ok(mut again) = Run::with_values(&program, &self.values, &self.images, &workers) else {
            return false;
        };
        let limit = self.keeps().then(|| self.steps());
        let control = again.control().clone();
        let (over, is_over) = mpsc::channel();
        let end = thread::scope(|scope| {
            let watch = move || {
                if is_over.recv_timeout(PATIENCE).is_err() {
                    control.cancel();
                }
            };
            // Without a thread that ends it, it might take too long.
            thread::Builder::new().spawn_scoped(scope, watch).ok()?;
            let end = again.run(limit, &mut io::sink(), &mut []);
            // The other thread has given up waiting otherwise.
            let _ = over.send(());
            end.ok()
        });
        end.is_some_and(|end| end != RunEnd::Cancelled)
    }

    /// Whether no sequence comes from a stream.
    fn sequences_can_be_read_again(&self) -> bool {
        let interface = &self.program.interface;
        let inputs = interface.inputs.iter().enumerate();
        let sequences = inputs.filter(|(_, input)| matches!(input.target, InputTarget::Global(_)));
        let files =
            sequences.filter_map(|(n, input)| match (self.values.get(n)?, &input.default) {
                (Some(InputValue::File(file)), _) => Some(&**file),
                (None, Some(InputDefault::File(file))) => Some(Path::new(file)),
                _ => None,
            });
        let loaded = interface.loads.iter().map(|load| Path::new(&load.file));
        files
            .chain(loaded)
            .all(|file| file.as_os_str() != STANDARD_INPUT && file.is_file())
    }
}
