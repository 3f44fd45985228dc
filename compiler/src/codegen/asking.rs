//! Programs that also take notice of the positions at which strands ask for an image.
//!
//! `inside` compares the coordinates of a position, in index space, with the ends of an image's axes. If no position of a whole run was
//! inside, such a program tells where they were. Others need not keep that in mind for every position.

use super::ends::Ends;
use crate::{
    device::METHODS,
    ir::{Simple, leaf::Convolution},
    low::{Low, Op},
    ssa::{Block, Inst, Kind, Program, Role, Value},
};
use rustc_hash::FxHashMap;
use smallvec::smallvec;
use std::sync::Arc;

/// The same program, in which strands take notice of the coordinates at which they probe an image, and of those that they compare with
/// its ends.
pub(super) fn asking(program: &Program<Low>, ends: &Ends) -> Program<Low> {
    let mut fields: Vec<Arc<Convolution>> = Vec::new();
    for (_, function) in &program.functions {
        function.each_op(&mut |op, _, _| {
            if let Op::Probe(field, _) = op
                && !fields.iter().any(|known| known.image == field.image)
            {
                fields.push(field.clone());
            }
        });
    }
    let mut asking = program.clone();
    let is_of_strands = |role: &Role| METHODS.contains(role) || *role == Role::Create;
    let functions = asking.functions.iter_mut();
    for (_, function) in functions.filter(|(role, _)| is_of_strands(role)) {
        let body = std::mem::take(&mut function.body);
        let asker = Asker::new(&fields, ends, &body);
        function.body = asker.block(body);
    }
    asking
}

struct Asker<'a> {
    /// A field of each image that is probed.
    fields: &'a [Arc<Convolution>],
    /// The image and axis of the values that are ends of images.
    ends: FxHashMap<Value, (u32, u8)>,
}

impl Asker<'_> {
    fn new<'a>(fields: &'a [Arc<Convolution>], ends: &Ends, body: &Block<Low>) -> Asker<'a> {
        let mut found = FxHashMap::default();
        body.walk(&mut |inst| {
            if let Kind::Op(Op::Global(slot, _), _) = &inst.kind
                && let Some(end) = ends.get(*slot)
            {
                found.insert(inst.results[0], (end.image, end.axis));
            }
        });
        Asker {
            fields,
            ends: found,
        }
    }

    fn block(&self, block: Block<Low>) -> Block<Low> {
        let insts = block.insts.into_iter().flat_map(|inst| {
            let notices = match &inst.kind {
                Kind::Op(op, args) => self.notices(op, args),
                Kind::If { .. } | Kind::For { .. } => Vec::new(),
            };
            let kind = inst.kind.map_blocks(|inner| self.block(inner));
            std::iter::once(Inst { kind, ..inst }).chain(notices)
        });
        Block {
            insts: insts.collect(),
            yields: block.yields,
        }
    }

    /// What an operation tells about places where an image is asked for.
    fn notices(&self, op: &Op, args: &[Value]) -> Vec<Inst<Low>> {
        let ask = |field: &Arc<Convolution>, axis: u8, coordinate: Value| Inst {
            results: smallvec![],
            kind: Kind::Op(Op::Ask(field.clone(), axis), smallvec![coordinate]),
        };
        match (op, args) {
            (Op::Probe(field, _), _) => {
                let axes = (0..field.dim() as u8).zip(args);
                axes.map(|(axis, &x)| ask(field, axis, x)).collect()
            }
            (Op::Simple(Simple::Less | Simple::LessEqual), &[x, end]) => {
                let end = self.ends.get(&end).and_then(|&(image, axis)| {
                    let field = self.fields.iter().find(|field| field.image == image);
                    Some(ask(field?, axis, x))
                });
                end.into_iter().collect()
            }
            _ => Vec::new(),
        }
    }
}
