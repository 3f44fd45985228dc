//! Overload resolution: tests whether a row accepts argument types; gives the result type, or the reason why not.

use super::signature::{Bindings, Pattern, Signature, Slot};
use super::{Builtin, Form, Lift, Meaning, Mismatch, OpDef, Rejection, candidates, special};
use crate::{Continuity, Ein, Elementary, Param, Shape, Type, mutants, parse};

/// A row at concrete types.
#[derive(Clone, Debug)]
pub struct Instance {
    /// The row.
    pub row: &'static OpDef,
    /// The types of the arguments after coercion.
    pub args: Vec<Type>,
    /// The type of the result.
    pub result: Type,
    /// What the program fixes besides the types.
    pub fixed: Fixed,
    bindings: Bindings,
}

/// What a program fixes about an operator besides the types of its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fixed {
    /// Nothing.
    Nothing,
    /// The indices of a slice: `Some` selects along an axis, `None` keeps it.
    Mask(Vec<Option<usize>>),
    /// The exponent of a power, which is then no argument.
    Exponent(i32),
}

/// The operator that a spelling means for these arguments: every row is tried without coercions, then with them.
pub fn resolve(spelling: &str, args: &[Type]) -> Result<Instance, Rejection> {
    resolve_as(spelling, args, None)
}

/// The same where the surroundings would like a type. It counts only if no row fits without it.
pub fn resolve_as(
    spelling: &str,
    args: &[Type],
    result: Option<&Type>,
) -> Result<Instance, Rejection> {
    let mut reasons = Vec::new();
    if let Some(instance) = candidates(spelling).find_map(|row| row.accept(args, false).ok()) {
        return Ok(instance);
    }
    for row in candidates(spelling) {
        match row.accept(args, true) {
            Ok(instance) => return Ok(instance),
            Err(mismatch) => reasons.push((row, mismatch)),
        }
    }
    let mut rows = candidates(spelling).filter(|_| result.is_some());
    rows.find_map(|row| row.accept_as(args, true, result).ok())
        .ok_or(Rejection { reasons })
}

impl OpDef {
    /// This operator at arguments of these types, with or without the implicit coercions of the language.
    pub fn accept(&'static self, args: &[Type], coerce: bool) -> Result<Instance, Mismatch> {
        self.accept_as(args, coerce, None)
    }

    /// The same where the type of the result may be known from the context, which some rows need.
    pub fn accept_as(
        &'static self,
        args: &[Type],
        coerce: bool,
        result: Option<&Type>,
    ) -> Result<Instance, Mismatch> {
        if mutants::refuses(self.name, args) {
            return Err(Mismatch::Undetermined);
        }
        let signature = self.signature();
        let Some(patterns) = signature.patterns(args.len()) else {
            return Err(Mismatch::Arity {
                found: args.len(),
                wanted: signature.args.len(),
            });
        };
        let (mut given, mut is_timed) = (Bindings::default(), false);
        if let Some(name) = signature.repeat {
            given
                .extents
                .insert(name, 1 + args.len() - signature.args.len());
        }
        if let Some(wanted) = result {
            // A result that does not fit binds nothing useful; the caller sees the type that comes out.
            let mut bound = Matching {
                row: self,
                coerce: false,
                dim: None,
                is_timed: false,
                bindings: given.clone(),
            };
            if bound.argument(&signature.result, wanted).is_ok() {
                is_timed = bound.is_timed;
                given = bound.bindings;
            }
        }
        // A type variable may stand for what any of the arguments suggests, the first that all agree with.
        let mut suggested: Vec<Type> = given.variable.iter().cloned().collect();
        if suggested.is_empty() {
            let of_args = patterns.iter().zip(args);
            for ty in of_args.filter_map(|(pattern, found)| suggestion(pattern, found)) {
                if !suggested.contains(&ty) {
                    suggested.push(ty);
                }
            }
        }
        let mut suggested: Vec<Option<Type>> = suggested.into_iter().map(Some).collect();
        if suggested.is_empty() {
            suggested.push(None);
        }
        let mut outcome = Err(Mismatch::Undetermined);
        for variable in suggested {
            let bindings = Bindings {
                variable,
                ..given.clone()
            };
            let matching = Matching {
                row: self,
                coerce,
                dim: None,
                is_timed,
                bindings,
            };
            let next = matching.instance(signature, &patterns, args);
            if next.is_ok() {
                return next;
            }
            outcome = match outcome {
                Err(Mismatch::Undetermined) => next,
                first => first,
            };
        }
        outcome
    }
}

/// What a type variable in `pattern` should stand for so that an argument of this type fits as it is.
fn suggestion(pattern: &Pattern, found: &Type) -> Option<Type> {
    match (pattern, found) {
        (Pattern::Variable(_), _) => Some(found.clone()),
        (Pattern::Seq(pattern, _), Type::Seq(element, _)) => suggestion(pattern, element),
        _ => None,
    }
}

/// A row while its arguments are matched.
pub(super) struct Matching {
    pub(super) row: &'static OpDef,
    pub(super) coerce: bool,
    /// The dimension of the fields that the row is lifted to.
    pub(super) dim: Option<usize>,
    /// Whether an image is over time, or values on a mesh are.
    pub(super) is_timed: bool,
    pub(super) bindings: Bindings,
}

/// The number of continuous derivatives of a result.
#[derive(Clone, Copy)]
pub(super) struct Smoothness {
    /// By position.
    pub(super) space: Continuity,
    /// By time, if the result is over time.
    pub(super) time: Option<Continuity>,
}

impl Smoothness {
    /// That of a value that does not change.
    pub(super) const INFINITE: Smoothness = Smoothness {
        space: Continuity::Infinite,
        time: None,
    };
}

pub(super) enum Failure {
    Kind,
    Shape,
    Dimension(usize),
}

impl Matching {
    fn instance(
        mut self,
        signature: &Signature,
        patterns: &[&Pattern],
        args: &[Type],
    ) -> Result<Instance, Mismatch> {
        // Dimensions first: whether an axis of their extent exists at all depends on them.
        for (argument, (pattern, found)) in patterns.iter().zip(args).enumerate() {
            self.dimension(pattern, found)
                .map_err(|f| self.explain(f, argument, pattern, found))?;
        }
        let mut coerced = Vec::with_capacity(args.len());
        for (argument, (pattern, found)) in patterns.iter().zip(args).enumerate() {
            let fitted = self.argument(pattern, found);
            coerced.push(fitted.map_err(|f| self.explain(f, argument, pattern, found))?);
        }
        let smoothness = self.smoothness(&coerced)?;
        let result = match self.row.meaning {
            Meaning::Builtin(Builtin::AxisKernels) => {
                Type::Kernels(coerced.iter().flat_map(continuities).collect())
            }
            _ => self
                .result(&signature.result, smoothness)
                .ok_or(Mismatch::Undetermined)?,
        };
        Ok(Instance {
            row: self.row,
            args: coerced,
            result,
            fixed: Fixed::Nothing,
            bindings: self.bindings,
        })
    }

    /// Binds the dimension of a field, image or mesh. An argument of another kind is left to [`Matching::argument`].
    pub(super) fn dimension(&mut self, pattern: &Pattern, found: &Type) -> Result<(), Failure> {
        let slot = match (pattern, found) {
            (Pattern::Field { dim, .. }, Type::Field { dim: found, .. }) => Some((*dim, *found)),
            (Pattern::Image { dim, .. }, Type::Image { dim: found, .. })
            | (Pattern::Fem { dim, .. }, Type::Fem { dim: found, .. })
            | (Pattern::Mesh(dim), Type::Mesh(found)) => Some((*dim, *found)),
            (Pattern::Tensor(_), Type::Field { dim: found, .. }) => match self.row.lift {
                Lift::None => None,
                Lift::Derivative => Some((Slot::Extent('d'), *found)),
                Lift::Pointwise => {
                    let wanted = *self.dim.get_or_insert(*found);
                    return if wanted == *found {
                        Ok(())
                    } else {
                        Err(Failure::Dimension(wanted))
                    };
                }
            },
            _ => None,
        };
        match slot {
            Some((slot, found)) if !self.bindings.extent(slot, found) => Err(match slot {
                // The row is for another dimension altogether.
                Slot::Fixed(_) | Slot::Shape(_) => Failure::Kind,
                Slot::Extent(name) => Failure::Dimension(self.bindings.extents[&name]),
            }),
            _ => Ok(()),
        }
    }

    /// The type of an argument after coercion.
    pub(super) fn argument(&mut self, pattern: &Pattern, found: &Type) -> Result<Type, Failure> {
        let lifted = self.row.lift;
        match (pattern, found) {
            (Pattern::Bool, Type::Bool)
            | (Pattern::Int, Type::Int)
            | (Pattern::String, Type::String)
            | (Pattern::Kernel, Type::Kernel(_) | Type::Kernels(_)) => Ok(found.clone()),
            (Pattern::Strand, Type::Strand(_)) => {
                self.bindings.variable = Some(found.clone());
                Ok(found.clone())
            }
            (Pattern::Variable(variable), _) if variable.admits(found) => {
                match self.bindings.variable.get_or_insert_with(|| found.clone()) {
                    wanted if wanted == found => Ok(found.clone()),
                    wanted if self.coerce && found.coerces_to(wanted) => Ok(wanted.clone()),
                    _ => Err(Failure::Kind),
                }
            }
            (Pattern::Tensor(slots), Type::Tensor(shape)) if lifted != Lift::Derivative => {
                self.shape(slots, shape, found)
            }
            (Pattern::Tensor(slots), Type::Int) if self.coerce && lifted != Lift::Derivative => {
                self.shape(slots, &Shape::SCALAR, &Type::REAL)
            }
            (Pattern::Tensor(slots), Type::Field { shape, .. }) if lifted != Lift::None => {
                self.shape(slots, shape, found)
            }
            (Pattern::Field { timed, .. }, Type::Field { time, .. })
                if *timed != time.is_some() && !self.follows_time() =>
            {
                Err(Failure::Kind)
            }
            (Pattern::Image { timed: true, .. }, Type::Image { timed: false, .. })
            | (Pattern::Fem { timed: true, .. }, Type::Fem { timed: false, .. }) => {
                Err(Failure::Kind)
            }
            (
                Pattern::Field {
                    shape: slots, dim, ..
                },
                Type::Field { shape, dim: n, .. },
            )
            | (
                Pattern::Fem {
                    shape: slots, dim, ..
                },
                Type::Fem { shape, dim: n, .. },
            )
            | (
                Pattern::Image {
                    shape: slots, dim, ..
                },
                Type::Image { shape, dim: n, .. },
            ) => {
                self.is_timed |= matches!(
                    found,
                    Type::Image { timed: true, .. } | Type::Fem { timed: true, .. }
                );
                match self.bindings.extent(*dim, *n) {
                    true => self.shape(slots, shape, found),
                    false => Err(Failure::Shape),
                }
            }
            (Pattern::Mesh(dim), Type::Mesh(n)) if self.bindings.extent(*dim, *n) => {
                Ok(found.clone())
            }
            (Pattern::Seq(pattern, wanted), Type::Seq(element, length)) => {
                self.sequence(pattern, *wanted, element, *length)
            }
            _ => Err(Failure::Kind),
        }
    }

    fn shape(&mut self, slots: &[Slot], shape: &Shape, fitted: &Type) -> Result<Type, Failure> {
        match self.bindings.axes(slots, shape.dims()) {
            true => Ok(fitted.clone()),
            false => Err(Failure::Shape),
        }
    }

    /// Only a sequence of fixed length is converted, element by element; an empty one has no elements to convert.
    fn sequence(
        &mut self,
        pattern: &Pattern,
        wanted: Option<Slot>,
        element: &Type,
        length: Option<usize>,
    ) -> Result<Type, Failure> {
        let outer = self.coerce;
        let known = self.result(pattern, Smoothness::INFINITE);
        let element = match (element, known) {
            (_, Some(wanted)) if outer && length == Some(0) => wanted,
            _ => {
                self.coerce = outer && length.is_some();
                let fitted = self.argument(pattern, element);
                self.coerce = outer;
                fitted?
            }
        };
        if wanted.is_none() && element.is_dynamic() {
            return Err(Failure::Kind);
        }
        let element = Box::new(element);
        match (wanted, length) {
            (None, None) => Ok(Type::Seq(element, None)),
            (None, Some(_)) if self.coerce => Ok(Type::Seq(element, None)),
            (Some(slot), Some(n)) if self.bindings.extent(slot, n) => {
                Ok(Type::Seq(element, Some(n)))
            }
            (None, Some(_)) | (Some(_), _) => Err(Failure::Kind),
        }
    }

    /// Whether fields over time may stand for fields, because the result is over time then.
    fn follows_time(&self) -> bool {
        matches!(self.row.signature().result, Pattern::Field { .. })
    }

    /// The continuity of the result; infinite if no argument has one.
    fn smoothness(&self, args: &[Type]) -> Result<Smoothness, Mismatch> {
        let mut least = Smoothness::INFINITE;
        for (argument, found) in args.iter().enumerate() {
            let (space, time) = match found {
                Type::Field {
                    continuity, time, ..
                } => (*continuity, *time),
                // Values on a mesh are linear from frame to frame.
                Type::Fem {
                    continuity, timed, ..
                } => (*continuity, timed.then_some(Continuity::Finite(0))),
                Type::Kernel(_) | Type::Kernels(_) => {
                    let (space, time) = of_kernels(&continuities(found), self.is_timed);
                    (space, time)
                }
                _ => continue,
            };
            let rough = || Mismatch::NoDerivative {
                argument,
                found: found.clone(),
            };
            let space = space.after(self.row.derivatives).ok_or_else(rough)?;
            let time = match time {
                Some(time) => Some(time.after(self.row.time_derivatives).ok_or_else(rough)?),
                None => None,
            };
            least.space = least.space.min(space);
            least.time = match (least.time, time) {
                (Some(a), Some(b)) => Some(a.min(b)),
                (a, b) => a.or(b),
            };
        }
        Ok(least)
    }

    /// The type that a pattern stands for, if all its names are bound.
    pub(super) fn result(&self, pattern: &Pattern, smoothness: Smoothness) -> Option<Type> {
        let Smoothness {
            space: continuity,
            time,
        } = smoothness;
        let lifted = match self.row.lift {
            Lift::None => None,
            Lift::Pointwise => self.dim,
            Lift::Derivative => self.bindings.extents.get(&'d').copied(),
        };
        Some(match pattern {
            Pattern::Bool => Type::Bool,
            Pattern::Int => Type::Int,
            Pattern::String => Type::String,
            Pattern::Kernel => Type::Kernel(continuity),
            Pattern::Strand | Pattern::Variable(_) => self.bindings.variable.clone()?,
            Pattern::Tensor(slots) => {
                let shape = self.bindings.shape_of(slots)?;
                match lifted {
                    None => Type::Tensor(shape),
                    Some(dim) => Type::Field {
                        continuity,
                        dim,
                        time,
                        shape,
                    },
                }
            }
            Pattern::Field { dim, timed, shape } => Type::Field {
                continuity,
                dim: self.bindings.extent_of(*dim)?,
                time: time.or(timed.then_some(Continuity::Infinite)),
                shape: self.bindings.shape_of(shape)?,
            },
            Pattern::Fem { dim, timed, shape } => Type::Fem {
                continuity,
                dim: self.bindings.extent_of(*dim)?,
                timed: *timed || self.is_timed,
                shape: self.bindings.shape_of(shape)?,
            },
            Pattern::Mesh(dim) => Type::Mesh(self.bindings.extent_of(*dim)?),
            Pattern::Image { dim, timed, shape } => Type::Image {
                dim: self.bindings.extent_of(*dim)?,
                timed: *timed || self.is_timed,
                shape: self.bindings.shape_of(shape)?,
            },
            Pattern::Seq(pattern, length) => {
                let element = self.result(pattern, smoothness)?;
                if length.is_none() && element.is_dynamic() {
                    return None;
                }
                let length = match length {
                    Some(slot) => Some(self.bindings.extent_of(*slot)?),
                    None => None,
                };
                Type::Seq(Box::new(element), length)
            }
        })
    }

    fn explain(
        &self,
        failure: Failure,
        argument: usize,
        pattern: &Pattern,
        found: &Type,
    ) -> Mismatch {
        let found = found.clone();
        let wanted = self.bindings.describe(pattern, self.row.lift);
        // Only arguments that are not lifted and have no continuity must have equal types.
        let is_exact = match pattern {
            Pattern::Tensor(_) => self.row.lift == Lift::None,
            Pattern::Kernel | Pattern::Field { .. } | Pattern::Fem { .. } => false,
            _ => true,
        };
        let exact = self
            .result(pattern, Smoothness::INFINITE)
            .filter(|_| is_exact)
            .map(Box::new);
        match failure {
            Failure::Kind => Mismatch::Kind {
                argument,
                found,
                wanted,
                exact,
            },
            Failure::Shape => Mismatch::Shape {
                argument,
                found,
                wanted,
                exact,
            },
            Failure::Dimension(wanted) => Mismatch::Dimension {
                argument,
                found,
                wanted,
            },
        }
    }
}

/// The continuity of each kernel.
fn continuities(kernels: &Type) -> Vec<Continuity> {
    match kernels {
        Type::Kernel(one) => vec![*one],
        Type::Kernels(all) => all.clone(),
        _ => Vec::new(),
    }
}

/// The continuity of the field that kernels make of an image: by position, and by time if the image is over time. A kernel that is
/// alone is that of space; then time is interpolated linearly.
fn of_kernels(all: &[Continuity], is_timed: bool) -> (Continuity, Option<Continuity>) {
    let least = |some: &[Continuity]| some.iter().copied().min().unwrap_or(Continuity::Infinite);
    match all {
        [space @ .., time] if is_timed && !space.is_empty() => (least(space), Some(*time)),
        _ => (least(all), is_timed.then_some(Continuity::Finite(0))),
    }
}

impl Instance {
    /// The part of a tensor or field where some indices are fixed; the mask has one entry per axis.
    pub fn slice(base: &Type, mask: Vec<Option<usize>>) -> Result<Instance, Mismatch> {
        let row = OpDef::named("slice").expect("a row");
        let param = Param::of(base).filter(|param| param.shape().order() == mask.len());
        let part = param.map(|param| special::slice(param, &mask).result().shape().clone());
        let instance = row.accept_as(
            std::slice::from_ref(base),
            false,
            part.map(Type::Tensor).as_ref(),
        )?;
        Ok(Instance {
            fixed: Fixed::Mask(mask),
            ..instance
        })
    }

    /// A power whose exponent is not an argument but fixed.
    pub fn with_exponent(mut self, exponent: i32) -> Instance {
        self.args.truncate(1);
        Instance {
            fixed: Fixed::Exponent(exponent),
            ..self
        }
    }

    /// The EIN operator at these types, with the arguments as its parameters in order; integers enter as reals.
    ///
    /// None if EIN cannot express it.
    pub fn ein(&self) -> Option<Ein> {
        let params: Option<Vec<Param>> = self.args.iter().map(Param::of).collect();
        self.ein_over(&params?)
    }

    /// The same operator where some tensor arguments are fields after all, as in the body of a field function.
    /// The parameters must have the shapes of the arguments.
    pub fn ein_over(&self, params: &[Param]) -> Option<Ein> {
        match (self.row.meaning, &self.fixed) {
            (Meaning::Ein(text), _) => Some(parse::template(text, params, &self.bindings)),
            (Meaning::Elementary(function), _) => Some(special::elementary(function, params)),
            (Meaning::Form(Form::Probe), _) => {
                Some(special::probe(params[0].clone(), params[1].clone()))
            }
            (Meaning::Form(Form::Concat), _) => Some(special::concat(params)),
            (Meaning::Form(Form::Swap), _) => Some(special::swap(params)),
            (Meaning::Form(Form::Slice), Fixed::Mask(mask)) => {
                Some(special::slice(params[0].clone(), mask))
            }
            (Meaning::Form(Form::Power), Fixed::Exponent(n)) => {
                Some(special::power(params[0].clone(), *n))
            }
            (Meaning::Form(Form::Power), _) => Some(special::elementary(Elementary::Pow, params)),
            (Meaning::Form(Form::Slice), _) | (Meaning::Builtin(_), _) => None,
        }
    }
}
