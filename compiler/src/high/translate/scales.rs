//! Images that are smoothed: the function that computes their scales before anything else runs.

use super::{Plan, Statics, Translator, define_globals, statics::ImageValue};
use crate::{
    front::tree::{self, Expr},
    high::High,
    ir::{interface::Blur, tensor::Ty},
    ssa::{Function, Role},
};

impl Translator<'_> {
    /// `blur(image, scale)`: an image of its own, which is made when its scale is known.
    pub(super) fn blurred(&mut self, image: &Expr, scale: &Expr, e: &Expr) -> ImageValue {
        let source = self.image(image);
        let value = self.statics.register(None, &e.ty, e.span);
        let number = value.image as usize;
        if self.statics.images[number].blur.is_none() {
            let global = self.unnamed_global("a scale".to_owned(), Ty::of(&scale.ty));
            self.statics.images[number].blur = Some(Blur {
                of: source.image,
                border: source.border.clone(),
                scale: global,
            });
            self.statics.scales.push((number, scale.clone()));
        }
        value.with_border(source.border)
    }
}

/// The function that yields the scales of all images, if some are smoothed.
pub(super) fn scales(
    program: &tree::Program,
    plan: &Plan,
    statics: &mut Statics,
) -> Option<Function<High>> {
    let mut scales = statics.scales.clone();
    scales.sort_by_key(|(image, _)| *image);
    if scales.is_empty() {
        return None;
    }
    let mut t = Translator::new(program, plan, statics, Role::Scales);
    define_globals(&mut t);
    let yields = scales.iter().map(|(_, scale)| t.expr(scale)).collect();
    Some(t.finish(yields))
}
