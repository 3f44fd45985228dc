//! What exists at compile time only: images and kernels, which convolution turns into leaf fields, and names of definitions.

use super::{High, Translator};
use crate::{
    front::{
        source::Span,
        typed::{
            constant_components,
            tree::{Expr, ExprKind, Global, InputDefault, VarId},
        },
    },
    ir::{
        interface,
        leaf::{Border, Convolution, KernelRef, Leaf},
        tensor::Ty,
    },
    ssa::{Function, Role, Value},
};
use ein_ir::{
    Shape, Type,
    ops::{self, Builtin, Meaning},
};
use std::{collections::BTreeMap, sync::Arc};

/// An image with a border control.
#[derive(Clone, Debug)]
pub(super) struct ImageValue {
    image: u32,
    border: Border,
    shape: Shape,
    dim: usize,
}

/// The images, kernels and definitions met so far.
#[derive(Default)]
pub(super) struct Statics {
    found: Vec<interface::Image>,
    inputs: BTreeMap<VarId, u32>,
    named: BTreeMap<VarId, ImageValue>,
    kernels: BTreeMap<VarId, Vec<KernelRef>>,
    /// For each function the values that variables were given.
    pub(super) names: Vec<(Role, Vec<(Value, VarId)>)>,
    /// The bodies of reductions over strands, by their numbers.
    pub(super) reductions: Vec<Function<High>>,
    /// Global variables that the source does not name: after those that it does.
    pub(super) hidden: Vec<interface::Variable>,
    /// The hidden ones that are read from files.
    pub(super) loads: Vec<interface::Load>,
    /// The hidden ones that the creation of strands iterates over.
    pub(super) sources: Vec<u32>,
}

impl Statics {
    /// The images that must be loaded.
    pub(super) fn images(&self) -> Vec<interface::Image> {
        self.found.clone()
    }

    /// The image of an input.
    pub(super) fn of_input(&self, var: VarId) -> Option<u32> {
        self.inputs.get(&var).copied()
    }

    pub(super) fn name(&mut self, var: VarId, image: ImageValue) {
        self.named.insert(var, image);
    }

    pub(super) fn name_kernels(&mut self, var: VarId, kernels: Vec<KernelRef>) {
        self.kernels.insert(var, kernels);
    }

    /// The number of the image named at this place. Definitions are translated once per function that may use them, so a
    /// place can come up again.
    fn register(&mut self, file: Option<String>, ty: &Type, span: Span) -> ImageValue {
        let Type::Image { dim, shape } = ty else {
            panic!("an image of type {ty}")
        };
        let known = self
            .found
            .iter()
            .position(|image| image.span == span && image.file == file);
        let image = known.unwrap_or_else(|| {
            self.found.push(interface::Image {
                file,
                dim: *dim,
                shape: shape.clone(),
                span,
            });
            self.found.len() - 1
        }) as u32;
        ImageValue {
            image,
            border: Border::None,
            shape: shape.clone(),
            dim: *dim,
        }
    }
}

impl Translator<'_> {
    /// A global variable that the source does not name; gives its number.
    pub(super) fn hide(&mut self, name: String, ty: Ty) -> u32 {
        self.statics.hidden.push(interface::Variable { name, ty });
        (self.plan.globals.len() + self.statics.hidden.len()) as u32 - 1
    }

    /// The hidden global variable with the sequence in a file.
    pub(super) fn load_sequence(&mut self, file: &str, ty: &Type, span: Span) -> u32 {
        let known = self.statics.loads.iter().find(|load| load.span == span);
        if let Some(load) = known {
            return load.global;
        }
        let global = self.hide(file.to_owned(), Ty::of(ty));
        self.statics.loads.push(interface::Load {
            file: file.to_owned(),
            ty: ty.clone(),
            global,
            span,
        });
        global
    }

    /// Registers an input of image type.
    pub(super) fn input_image(&mut self, var: VarId, global: &Global) {
        let source = &self.program.vars[var.0];
        let file = match global {
            Global::Input {
                default: Some(InputDefault::File(file)),
                ..
            } => Some(file.clone()),
            _ => None,
        };
        let value = self.statics.register(file, &source.ty, source.span);
        self.statics.inputs.insert(var, value.image);
        self.statics.name(var, value);
    }

    /// What an expression of image type is.
    pub(super) fn image(&mut self, e: &Expr) -> ImageValue {
        match &e.kind {
            ExprKind::Var(var) => self.statics.named[var].clone(),
            ExprKind::LoadImage(file) => self.statics.register(Some(file.clone()), &e.ty, e.span),
            ExprKind::Coerce(inner) => self.image(inner),
            ExprKind::Op { op, args } => {
                let Meaning::Builtin(Builtin::Border(control)) = op.row.meaning else {
                    panic!("`{}` does not give an image", op.row.name)
                };
                let image = self.image(&args[0]);
                let border = match control {
                    ops::Border::Clamp => Border::Clamp,
                    ops::Border::Wrap => Border::Wrap,
                    ops::Border::Mirror => Border::Mirror,
                    ops::Border::Constant => {
                        let values = constant_components(&args[1])
                            .expect("other border values were reported before translation");
                        Border::Constant(values.iter().map(|x| x.to_bits()).collect())
                    }
                };
                ImageValue { border, ..image }
            }
            other => panic!("{other:?} does not give an image"),
        }
    }

    /// What an expression of kernel type is: one kernel for all axes, or one per axis.
    pub(super) fn kernels(&mut self, e: &Expr) -> Vec<KernelRef> {
        match &e.kind {
            ExprKind::Kernel(kernels) => kernels.iter().map(|&k| KernelRef(k)).collect(),
            ExprKind::Var(var) => self.statics.kernels[var].clone(),
            ExprKind::Coerce(inner) => self.kernels(inner),
            ExprKind::Op { op, args }
                if op.row.meaning == Meaning::Builtin(Builtin::AxisKernels) =>
            {
                args.iter().flat_map(|arg| self.kernels(arg)).collect()
            }
            other => panic!("{other:?} does not give a kernel"),
        }
    }

    /// The leaf field of an image and a kernel, given in either order.
    pub(super) fn convolve(&mut self, args: &[Expr]) -> Value {
        let (kernel, image) = match args[0].ty {
            Type::Kernel(_) => (&args[0], &args[1]),
            _ => (&args[1], &args[0]),
        };
        let image = self.image(image);
        let mut kernels = self.kernels(kernel);
        if let [one] = kernels[..] {
            kernels = vec![one; image.dim];
        }
        let field = Convolution {
            image: image.image,
            border: image.border,
            kernels,
            shape: image.shape,
        };
        self.b.op1(
            super::super::Op::Field(Leaf::Convolution(Arc::new(field))),
            &[],
        )
    }

    /// The numbers of samples of an image, one value per axis.
    pub(super) fn image_sizes(&mut self, e: &Expr) -> Vec<Value> {
        let image = self.image(e);
        (0..image.dim)
            .map(|axis| {
                let info = crate::ir::leaf::ImageInfo::Size(axis as u8);
                self.base(crate::ir::tensor::Base::Image(image.image, info), &[])
            })
            .collect()
    }
}
