//! What code for a GPU does not do with meshes, as far as it depends on the meshes that are loaded.

use crate::{
    device::METHODS,
    low::{self, Low},
    ssa::Program,
};
use runtime::fem::tables::Traits;

/// What strand code wants of a mesh.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MeshDemand {
    /// The mesh.
    pub mesh: u32,
    /// The highest order of derivatives.
    pub order: usize,
}

/// The highest order of derivatives in curved cells.
const HIGHEST_IN_CURVED: usize = 2;

/// What strand code wants of meshes.
pub fn mesh_demands(program: &Program<Low>) -> Vec<MeshDemand> {
    let mut demands = Vec::new();
    let strand_code = program.functions.iter();
    for (_, function) in strand_code.filter(|(role, _)| METHODS.contains(role)) {
        function.each_op(&mut |op, _, _| {
            let (mesh, order) = match op {
                low::Op::Locate(mesh, _) => (*mesh, 0),
                low::Op::FemProbe(probe) => {
                    let order = probe.results().map(|(_, order)| order).max();
                    (probe.mesh, order.unwrap_or(0))
                }
                _ => return,
            };
            demands.push(MeshDemand { mesh, order });
        });
    }
    demands
}

/// Why fields on a mesh like this cannot be probed by a kernel, in words; `has_collapsed` looks whether cells of it have collapsed.
pub fn refuse_meshes(
    demands: &[MeshDemand],
    mesh: u32,
    traits: &Traits,
    has_collapsed: impl FnOnce() -> bool,
) -> Option<String> {
    let own = demands.iter().filter(|demand| demand.mesh == mesh);
    let highest = own.map(|demand| demand.order).max()?;
    if !traits.are_curved() {
        return None;
    }
    if highest > HIGHEST_IN_CURVED {
        let reason = format!("derivatives of order {highest} are probed in curved cells");
        return Some(reason);
    }
    has_collapsed()
        .then(|| "a mesh has cells with corners at one place, as pyramids have".to_string())
}
