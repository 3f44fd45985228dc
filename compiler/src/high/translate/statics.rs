//! Compile-time objects: images and kernels, which convolution turns into leaf fields, meshes and values on them,
//! names of definitions, and global variables that the source does not name.

use super::{High, Names, Request, Translator, operators::Operators};
use crate::{
    front::{
        source::Span,
        tree::{Constant, Expr, ExprKind, Global, InputDefault, VarId},
    },
    ir::{
        Bits,
        fem::FemField,
        interface,
        leaf::{BorderControl, Convolution, KernelRef, Leaf, TimeKernel},
        tensor::Ty,
    },
    ssa::{Function, Role, Value},
};
use ein_ir::{
    Kernel, Shape, Type,
    ops::{Border, Builtin},
};
use runtime::file_reference::mesh_and_array;
use std::{collections::BTreeMap, path::Path, sync::Arc};

/// An image and its border, which repeats the nearest samples by default.
#[derive(Clone, Debug)]
pub(super) struct ImageValue {
    pub(super) image: u32,
    pub(super) border: BorderControl,
    shape: Shape,
    dim: usize,
    timed: bool,
}

impl ImageValue {
    /// The same with another border.
    pub(super) fn with_border(self, border: BorderControl) -> ImageValue {
        ImageValue { border, ..self }
    }
}

/// The images, kernels and definitions met so far.
#[derive(Default)]
pub(super) struct Statics {
    /// The images that must be loaded, by their numbers.
    pub(super) images: Vec<interface::Image>,
    /// The numbers of the images that are inputs.
    input_images: BTreeMap<VarId, u32>,
    /// What variables of image type stand for.
    image_of: BTreeMap<VarId, ImageValue>,
    /// What variables of kernel type stand for.
    kernels_of: BTreeMap<VarId, Vec<KernelRef>>,
    /// The meshes that must be loaded, by their numbers.
    pub(super) meshes: Vec<interface::Mesh>,
    /// The values on them.
    pub(super) fems: Vec<interface::Fem>,
    /// What variables that are meshes stand for.
    mesh_of: BTreeMap<VarId, u32>,
    /// What variables of values on meshes stand for.
    fem_of: BTreeMap<VarId, Arc<FemField>>,
    /// Where the values of inputs of these types go.
    input_targets: BTreeMap<VarId, interface::InputTarget>,
    /// For each function the variables that values were given to.
    pub(super) names: Vec<(Role, Names)>,
    /// The bodies of reductions over strands, by their numbers.
    pub(super) reductions: Vec<Function<High>>,
    /// Global variables that the source does not name: after those that it does.
    pub(super) unnamed_globals: Vec<interface::Variable>,
    /// Those of them that are read from files.
    pub(super) loads: Vec<interface::Load>,
    /// The expressions of the scales at which images are smoothed, by the numbers of the images.
    pub(super) scales: Vec<(usize, Expr)>,
    /// Those of them that are facts about inputs and data.
    pub(super) facts: Vec<interface::KnownFact>,
    /// Those of them that the creation of strands iterates over.
    pub(super) sources: Vec<u32>,
    /// The operators that were applied.
    pub(super) operators: Operators,
    /// The derivatives that are asked for, by their numbers.
    pub(super) requests: Vec<Request>,
    /// The variables that derivatives are taken by, each with the call that it is of, by their numbers.
    pub(super) variables: Vec<(VarId, u32)>,
    /// How many calls were put in place.
    pub(super) calls: u32,
}

impl Statics {
    /// The images that must be loaded.
    pub(super) fn images(&self) -> Vec<interface::Image> {
        self.images.clone()
    }

    /// Where the value of an input that is loaded goes.
    pub(super) fn of_input(&self, var: VarId) -> Option<interface::InputTarget> {
        let image = self.input_images.get(&var).copied();
        let image = image.map(interface::InputTarget::Image);
        image.or_else(|| self.input_targets.get(&var).copied())
    }

    pub(super) fn define_mesh(&mut self, var: VarId, mesh: u32) {
        self.mesh_of.insert(var, mesh);
    }

    pub(super) fn define_fem(&mut self, var: VarId, fem: Arc<FemField>) {
        self.fem_of.insert(var, fem);
    }

    /// The number of the mesh of a file, or of the mesh named at this place.
    fn mesh(&mut self, file: Option<String>, dim: usize, span: Span, is_input: bool) -> u32 {
        let same = |mesh: &interface::Mesh| match is_input {
            true => mesh.span == span,
            // Two that load the same file share the mesh.
            false => mesh.file == file && mesh.dim == dim,
        };
        let known = self.meshes.iter().position(same);
        known.unwrap_or_else(|| {
            self.meshes.push(interface::Mesh { file, dim, span });
            self.meshes.len() - 1
        }) as u32
    }

    /// The values on a mesh that are named at this place.
    fn fem(
        &mut self,
        mesh: u32,
        array: Option<String>,
        variable: &str,
        ty: &Type,
        span: Span,
    ) -> Arc<FemField> {
        let Type::Fem {
            dim, timed, shape, ..
        } = ty
        else {
            panic!("values on a mesh of type {ty}")
        };
        let same = |fem: &interface::Fem| fem.span == span && fem.mesh == mesh;
        let known = self.fems.iter().position(same);
        let fem = known.unwrap_or_else(|| {
            self.fems.push(interface::Fem {
                mesh,
                array,
                variable: variable.to_owned(),
                timed: *timed,
                shape: shape.clone(),
                span,
            });
            self.fems.len() - 1
        }) as u32;
        Arc::new(FemField {
            fem,
            mesh,
            dim: *dim,
            timed: *timed,
            shape: shape.clone(),
            outside: None,
        })
    }

    pub(super) fn define_image(&mut self, var: VarId, image: ImageValue) {
        self.image_of.insert(var, image);
    }

    pub(super) fn define_kernels(&mut self, var: VarId, kernels: Vec<KernelRef>) {
        self.kernels_of.insert(var, kernels);
    }

    /// The number of the image named at this place. Definitions are translated once per function that may use them, so a
    /// place can come up again.
    pub(super) fn register(&mut self, file: Option<String>, ty: &Type, span: Span) -> ImageValue {
        let Type::Image { dim, timed, shape } = ty else {
            panic!("an image of type {ty}")
        };
        let known = self
            .images
            .iter()
            .position(|image| image.span == span && image.file == file);
        let image = known.unwrap_or_else(|| {
            self.images.push(interface::Image {
                file,
                dim: *dim,
                timed: *timed,
                shape: shape.clone(),
                blur: None,
                span,
            });
            self.images.len() - 1
        }) as u32;
        ImageValue {
            image,
            border: Border::Clamp,
            shape: shape.clone(),
            dim: *dim,
            timed: *timed,
        }
    }
}

impl Translator<'_> {
    /// A global variable that the source does not name, with a name for messages; gives its number.
    pub(super) fn unnamed_global(&mut self, name: String, ty: Ty) -> u32 {
        let unnamed = &mut self.statics.unnamed_globals;
        unnamed.push(interface::Variable { name, ty });
        (self.plan.globals.len() + unnamed.len()) as u32 - 1
    }

    /// The global variable with the sequence in a file.
    pub(super) fn load_sequence(&mut self, file: &Expr, ty: &Type, span: Span) -> u32 {
        let file = file_name(file);
        let known = self.statics.loads.iter().find(|load| load.span == span);
        if let Some(load) = known {
            return load.global;
        }
        let global = self.unnamed_global(file.to_owned(), Ty::of(ty));
        self.statics.loads.push(interface::Load {
            file: file.to_owned(),
            ty: ty.clone(),
            global,
            span,
        });
        global
    }

    /// Registers an input that is loaded: an image, a mesh, or values on one.
    pub(super) fn input_file(&mut self, var: VarId, global: &Global) {
        let source = &self.program.vars[var.0];
        let file = match global {
            Global::Input {
                default: Some(InputDefault::File(file)),
                ..
            } => Some(file.clone()),
            _ => None,
        };
        let span = source.span;
        let name = file.as_deref().map(|file| mesh_and_array(Path::new(file)));
        let file_of_mesh = name.map(|(file, _)| file.display().to_string());
        match source.ty {
            Type::Mesh(dim) => {
                let mesh = self.statics.mesh(file_of_mesh, dim, span, true);
                let target = interface::InputTarget::Mesh(mesh);
                self.statics.input_targets.insert(var, target);
                return self.statics.define_mesh(var, mesh);
            }
            Type::Fem { dim, .. } => {
                let mesh = self.statics.mesh(file_of_mesh, dim, span, true);
                let array = name.and_then(|(_, array)| array.map(str::to_owned));
                let fem = self
                    .statics
                    .fem(mesh, array, &source.name, &source.ty, span);
                let target = interface::InputTarget::Fem(fem.fem);
                self.statics.input_targets.insert(var, target);
                return self.statics.define_fem(var, fem);
            }
            _ => {}
        }
        let value = self.statics.register(file, &source.ty, source.span);
        self.statics.input_images.insert(var, value.image);
        self.statics.define_image(var, value);
    }

    /// What an expression of image type is.
    pub(super) fn image(&mut self, e: &Expr) -> ImageValue {
        match (&e.kind, e.builtin()) {
            (ExprKind::Var(var), _) => self.statics.image_of[var].clone(),
            (ExprKind::Coerce(inner), _) => self.image(inner),
            (_, Some((Builtin::LoadImage, [file]))) => {
                let file = file_name(file).to_owned();
                self.statics.register(Some(file), &e.ty, e.span)
            }
            (_, Some((Builtin::Blur, [image, scale]))) => self.blurred(image, scale, e),
            (_, Some((Builtin::Border(control), args))) => {
                let border = control.map(|()| {
                    let ExprKind::Constant(Constant::Tensor(_, values)) = &args[1].kind else {
                        panic!("other border values were reported before translation")
                    };
                    values.iter().map(|&x| Bits::from(x)).collect()
                });
                self.image(&args[0]).with_border(border)
            }
            other => panic!("{other:?} does not give an image"),
        }
    }

    /// The mesh that an expression of mesh type is.
    pub(super) fn mesh(&mut self, e: &Expr) -> u32 {
        match (&e.kind, e.builtin(), &e.ty) {
            (ExprKind::Var(var), ..) => self.statics.mesh_of[var],
            (_, Some((Builtin::LoadMesh, [file])), Type::Mesh(dim)) => {
                let file = Some(file_name(file).to_owned());
                self.statics.mesh(file, *dim, e.span, false)
            }
            other => panic!("{other:?} does not give a mesh"),
        }
    }

    /// The values on a mesh that an expression denotes; `variable` is the name of the variable that they define.
    pub(super) fn fem(&mut self, e: &Expr, variable: &str) -> Arc<FemField> {
        match (&e.kind, e.builtin()) {
            (ExprKind::Var(var), _) => self.statics.fem_of[var].clone(),
            (ExprKind::Coerce(inner), _) => self.fem(inner, variable),
            (_, Some((Builtin::LoadFem, [source, array @ ..]))) => {
                let Type::Fem { dim, .. } = e.ty else {
                    panic!("values on a mesh of type {}", e.ty)
                };
                let mesh = match source.ty {
                    Type::Mesh(_) => self.mesh(source),
                    _ => {
                        let file = Some(file_name(source).to_owned());
                        self.statics.mesh(file, dim, e.span, false)
                    }
                };
                let array = array.first().map(|array| file_name(array).to_owned());
                self.statics.fem(mesh, array, variable, &e.ty, e.span)
            }
            (_, Some((Builtin::Border(_), [inner, value]))) => {
                let ExprKind::Constant(Constant::Tensor(_, values)) = &value.kind else {
                    panic!("other border values were reported before translation")
                };
                let outside = values.iter().map(|&x| Bits::from(x)).collect();
                let inner = self.fem(inner, variable);
                Arc::new(FemField {
                    outside: Some(outside),
                    ..(*inner).clone()
                })
            }
            other => panic!("{other:?} does not give values on a mesh"),
        }
    }

    /// The field of values on a mesh: the last argument; the mesh may be said before.
    pub(super) fn field_of_fem(&mut self, args: &[Expr]) -> Value {
        let fem = self.fem(&args[args.len() - 1], "");
        let now = fem.timed.then(|| self.now());
        self.b
            .op1(super::super::Op::Field(Leaf::Fem(fem)), now.as_slice())
    }

    /// What an expression of kernel type is: one kernel for all axes, or one per axis.
    pub(super) fn kernels(&mut self, e: &Expr) -> Vec<KernelRef> {
        match &e.kind {
            ExprKind::Kernel(kernels) => kernels.iter().map(|&k| KernelRef(k)).collect(),
            ExprKind::Var(var) => self.statics.kernels_of[var].clone(),
            ExprKind::Coerce(inner) => self.kernels(inner),
            other => panic!("{other:?} does not give a kernel"),
        }
    }

    /// The leaf field of an image and a kernel, given in either order.
    pub(super) fn convolve(&mut self, args: &[Expr]) -> Value {
        let (kernel, image) = match args[0].ty {
            Type::Kernel(_) | Type::Kernels(_) => (&args[0], &args[1]),
            _ => (&args[1], &args[0]),
        };
        let image = self.image(image);
        let mut kernels = self.kernels(kernel);
        let time = image.timed.then(|| {
            // The last kernel is that of time, unless it is alone.
            let own = if kernels.len() > 1 {
                kernels.pop()
            } else {
                None
            };
            let linear = || Kernel::named("tent").map(KernelRef).expect("a kernel");
            TimeKernel {
                kernel: own.unwrap_or_else(linear),
                order: 0,
            }
        });
        if let [one] = kernels[..] {
            kernels = vec![one; image.dim];
        }
        let field = Convolution {
            image: image.image,
            border: image.border,
            kernels,
            time,
            shape: image.shape,
        };
        let now = time.map(|_| self.now());
        self.b.op1(
            super::super::Op::Field(Leaf::Convolution(Arc::new(field))),
            now.as_slice(),
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

/// The constant that names a file.
fn file_name(file: &Expr) -> &str {
    match &file.kind {
        ExprKind::Constant(Constant::String(name)) => name,
        other => panic!("{other:?} does not name a file"),
    }
}
