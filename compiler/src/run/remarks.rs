//! Remarks after a run: images and meshes that the program never probed inside.

use super::{Images, Running};
use crate::{
    codegen::Compiled,
    ir::interface::{Input, Target},
};

impl Images {
    /// Warnings about runs of a program, each a sentence; `running` is the last run.
    pub fn warnings(&self, program: &Compiled, running: Option<&Running>) -> Vec<String> {
        let mut warnings = Vec::new();
        let interface = &program.interface;
        // What a GPU probes is not known here.
        let has_run_here = |running: &Running| running.steps() > 0 && running.phases().is_none();
        let sought = match running {
            Some(running) if has_run_here(running) => program.sought(&|slot| running.holds(slot)),
            _ => Vec::new(),
        };
        for (image, extents) in self.missed(&sought) {
            let of_input = |input: &&Input| input.target == Target::Image(image as u32);
            let name = match interface.inputs.iter().find(of_input) {
                Some(input) => format!("`{}`", input.name),
                None => interface.images[image].file.clone().unwrap_or_default(),
            };
            warnings.push(outside("image", &name, &extents));
        }
        for (name, extents) in self.missed_meshes() {
            warnings.push(outside("mesh", name, &extents));
        }
        for (name, count) in self.unresolved_meshes() {
            warnings.push(format!(
                "in {count} searches a curved cell of {name} may have contained a position, but it was not found there"
            ));
        }
        warnings
    }
}

fn outside(what: &str, name: &str, extents: &[(f64, f64)]) -> String {
    let sides = extents.iter().map(|(low, high)| format!("[{low}, {high}]"));
    let sides: Vec<String> = sides.collect();
    let sides = sides.join(" × ");
    format!("no probe was inside the {what} {name}; its world box is {sides}")
}
