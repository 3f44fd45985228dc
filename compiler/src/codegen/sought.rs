//! Which images strands look for: those with a probe where `inside` has told them to, and no input forbids it.
//!
//! If such an image was not probed in a whole run, no position was found inside. That is known without a look at any position
//! while strands run. A condition that is the same for all strands is a choice of the user, so only the side counts that
//! was chosen.

use super::ends::Ends;
use crate::{
    device::METHODS,
    ir::leaf::ImageInfo,
    low::{Low, Op, Ty, varying},
    ssa::{Block, Function, Kind, Program, Role, Value},
};
use rustc_hash::{FxHashMap, FxHashSet};

/// The images that strands look for, in ascending order; `ends` are those of the program's globals, and `holds` tells whether
/// the global in a slot is true.
pub(super) fn sought(program: &Program<Low>, ends: &Ends, holds: &dyn Fn(u32) -> bool) -> Vec<u32> {
    let mut found = Vec::new();
    let functions = program.functions.iter();
    let is_of_strands = |role: &Role| METHODS.contains(role) || *role == Role::Create;
    for (_, function) in functions.filter(|(role, _)| is_of_strands(role)) {
        let mut search = Search {
            function,
            ends,
            holds,
            varying: varying(function),
            definitions: FxHashMap::default(),
            found: &mut found,
        };
        search.define(&function.body);
        search.block(&function.body, &[]);
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// What a value is made of.
enum Definition<'a> {
    Op(&'a Op, &'a [Value]),
    /// The condition of an `if`, and the yields of its blocks.
    Choice([Value; 3]),
}

struct Search<'a> {
    function: &'a Function<Low>,
    ends: &'a Ends,
    holds: &'a dyn Fn(u32) -> bool,
    varying: Vec<bool>,
    definitions: FxHashMap<Value, Definition<'a>>,
    found: &'a mut Vec<u32>,
}

impl<'a> Search<'a> {
    /// Notes what the values of a block and of those in it are made of.
    fn define(&mut self, block: &'a Block<Low>) {
        for inst in &block.insts {
            for (n, &result) in inst.results.iter().enumerate() {
                let definition = match &inst.kind {
                    Kind::Op(op, args) => Definition::Op(op, args),
                    Kind::If {
                        condition,
                        then,
                        otherwise,
                    } => Definition::Choice([*condition, then.yields[n], otherwise.yields[n]]),
                    Kind::For { .. } => continue,
                };
                self.definitions.insert(result, definition);
            }
            for inner in inst.kind.blocks() {
                self.define(inner);
            }
        }
    }

    /// Looks for probes of images in a block that is reached depending on whether positions are inside those of `asked`.
    fn block(&mut self, block: &Block<Low>, asked: &[u32]) {
        for inst in &block.insts {
            match &inst.kind {
                Kind::Op(Op::Probe(field, _), _) if asked.contains(&field.image) => {
                    self.found.push(field.image);
                }
                Kind::Op(..) => {}
                Kind::If {
                    condition,
                    then,
                    otherwise,
                } if !self.varying[condition.0 as usize] => {
                    // Others than globals, which loops make, are not known.
                    if let Some(Definition::Op(Op::Global(slot, _), _)) =
                        self.definitions.get(condition)
                    {
                        let chosen = if (self.holds)(*slot) { then } else { otherwise };
                        self.block(chosen, asked);
                    }
                }
                Kind::If {
                    condition,
                    then,
                    otherwise,
                } => {
                    let mut asked = asked.to_vec();
                    self.images_of(*condition, &mut asked, &mut FxHashSet::default());
                    self.block(then, &asked);
                    self.block(otherwise, &asked);
                }
                Kind::For { body, .. } => self.block(body, asked),
            }
        }
    }

    /// Adds the images in which a condition looks for a position.
    fn images_of(&self, value: Value, images: &mut Vec<u32>, seen: &mut FxHashSet<Value>) {
        if !seen.insert(value) {
            return;
        }
        match self.definitions.get(&value) {
            Some(Definition::Op(Op::Global(slot, _), _)) => {
                images.extend(self.ends.get(*slot).map(|end| end.image));
            }
            Some(Definition::Op(Op::Image(image, ImageInfo::Size(_)), _)) => images.push(*image),
            // The sides of a comparison are looked at, but not how they were computed.
            Some(Definition::Op(op, args)) => {
                let is_end = |arg: &Value| match self.definitions.get(arg) {
                    Some(Definition::Op(Op::Global(..), _)) => true,
                    _ => *self.function.type_of(*arg) != Ty::Real,
                };
                let follows = !matches!(op, Op::Probe(..) | Op::Dynamic(_));
                for arg in args.iter().filter(|arg| follows && is_end(arg)) {
                    self.images_of(*arg, images, seen);
                }
            }
            Some(Definition::Choice(parts)) => {
                for part in parts {
                    self.images_of(*part, images, seen);
                }
            }
            None => {}
        }
    }
}
