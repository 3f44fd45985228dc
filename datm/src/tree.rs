//! Expression trees: operators applied to variables and constants.
//!
//! Variables are numbered in the order of their first occurrence; a variable that occurs twice is a
//! shared leaf. A [`Tree`] is well typed when [`Tree::type_of`] gives a type.

use crate::operator::Operator;
use crate::types::{Shape, Type};
use std::fmt;

/// Which statement of the typing rules applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rules {
    /// Those of the language.
    Language,
    /// The narrower ones behind the published counts.
    Published,
}

/// A constant that a program writes in the expression itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Constant {
    /// `digits`·10^−`places`.
    Decimal {
        /// All digits as one integer.
        digits: i64,
        /// How many of them are after the point.
        places: u32,
    },
    /// `zeros[σ]`.
    Zeros(Shape),
    /// `identity[n]`.
    Identity(u8),
}

/// Which arguments of an operator are fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kinds {
    /// None of them.
    Tensors,
    /// Some of them.
    Mixed,
    /// All of them.
    Fields,
}

/// The way an operator is used in an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Use {
    /// The name of the operator.
    pub operator: &'static str,
    /// Whether it is lifted to fields.
    pub kinds: Kinds,
    /// Whether a derivative is taken of an expression that contains it.
    pub differentiated: bool,
}

impl fmt::Display for Use {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.operator)?;
        f.write_str(match self.kinds {
            Kinds::Tensors => " of tensors",
            Kinds::Mixed => " of fields and tensors",
            Kinds::Fields => " of fields",
        })?;
        f.write_str(if self.differentiated {
            ", differentiated"
        } else {
            ""
        })
    }
}

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub enum Tree {
    /// A field or tensor argument.
    Variable {
        /// Its type.
        ty: Type,
        /// Its number, by first occurrence.
        number: usize,
    },
    /// A constant.
    Constant(Constant),
    /// An operator and its arguments.
    Apply(&'static Operator, Vec<Tree>),
}

impl Constant {
    /// The type of the constant.
    pub fn type_of(&self) -> Option<Type> {
        Some(Type::tensor(match *self {
            Constant::Decimal { .. } => Shape::SCALAR,
            Constant::Zeros(shape) => shape,
            Constant::Identity(n) => Shape::new(&[n, n])?,
        }))
    }
}

impl fmt::Display for Constant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Constant::Decimal { digits, places: 0 } => write!(f, "{digits}"),
            Constant::Decimal { digits, places } => {
                let unit = 10i64.pow(places);
                let sign = if digits < 0 { "-" } else { "" };
                let (whole, rest) = (digits.abs() / unit, digits.abs() % unit);
                write!(f, "{sign}{whole}.{rest:0width$}", width = places as usize)
            }
            Constant::Zeros(shape) => write!(f, "zeros{shape}"),
            Constant::Identity(n) => write!(f, "identity[{n}]"),
        }
    }
}

/// The result type of an operator under a statement of the rules. To the operator, values of fields are plain tensors.
pub(crate) fn result_type(operator: &Operator, arguments: &[Type], rules: Rules) -> Option<Type> {
    if let Some(&Type { dim, .. }) = arguments.iter().find(|ty| ty.probed) {
        let at_one_position = |ty: &Type| !ty.is_field() && (!ty.varies() || ty.dim == dim);
        if !arguments.iter().all(at_one_position) {
            return None;
        }
        let tensors: Vec<Type> = arguments.iter().map(|ty| Type::tensor(ty.shape)).collect();
        let result = (operator.rule)(&tensors)?;
        return Some(Type::probed(dim, result.shape));
    }
    let result = (operator.rule)(arguments)?;
    let generated = match rules {
        Rules::Language => true,
        Rules::Published => operator.published.is_none_or(|at| at(arguments)),
    };
    generated.then_some(result)
}

impl Tree {
    /// A variable.
    pub fn variable(ty: Type, number: usize) -> Tree {
        Tree::Variable { ty, number }
    }

    /// The type of the tree, if it has one.
    pub fn type_of(&self, rules: Rules) -> Option<Type> {
        match self {
            Tree::Variable { ty, .. } => Some(*ty),
            Tree::Constant(constant) => constant.type_of(),
            Tree::Apply(operator, arguments) => {
                let types: Option<Vec<Type>> = arguments
                    .iter()
                    .map(|argument| argument.type_of(rules))
                    .collect();
                result_type(operator, &types?, rules)
            }
        }
    }

    /// The types of the variables in the order of their numbers; the tree is numbered.
    pub fn variables(&self) -> Vec<Type> {
        let mut types = Vec::new();
        self.visit_variables(&mut |ty, number| {
            if number == types.len() {
                types.push(ty);
            }
        });
        types
    }

    /// How often each variable occurs; the tree is numbered.
    pub fn occurrences(&self) -> Vec<usize> {
        let mut counts = vec![0; self.variables().len()];
        self.visit_variables(&mut |_, number| counts[number] += 1);
        counts
    }

    fn visit_variables(&self, visit: &mut impl FnMut(Type, usize)) {
        match self {
            Tree::Variable { ty, number } => visit(*ty, *number),
            Tree::Constant(_) => {}
            Tree::Apply(_, arguments) => {
                for argument in arguments {
                    argument.visit_variables(visit);
                }
            }
        }
    }

    /// The same tree with variables numbered by first occurrence; equal numbers stay equal.
    pub fn numbered(&self) -> Tree {
        let mut known: Vec<usize> = Vec::new();
        self.map_variables(&mut |ty, number| {
            let place = known.iter().position(|&n| n == number).unwrap_or_else(|| {
                known.push(number);
                known.len() - 1
            });
            Tree::variable(ty, place)
        })
    }

    /// The same tree with each variable replaced, in the order of occurrence.
    pub fn map_variables(&self, replace: &mut impl FnMut(Type, usize) -> Tree) -> Tree {
        match self {
            Tree::Variable { ty, number } => replace(*ty, *number),
            Tree::Constant(constant) => Tree::Constant(*constant),
            Tree::Apply(operator, arguments) => Tree::Apply(
                operator,
                arguments
                    .iter()
                    .map(|argument| argument.map_variables(replace))
                    .collect(),
            ),
        }
    }

    /// The number of operator applications.
    pub fn operators(&self) -> usize {
        match self {
            Tree::Variable { .. } | Tree::Constant(_) => 0,
            Tree::Apply(_, arguments) => 1 + arguments.iter().map(Tree::operators).sum::<usize>(),
        }
    }

    /// Every application of an operator with its use, outermost first.
    pub fn uses(&self) -> Vec<(&Tree, Use)> {
        let mut found = Vec::new();
        self.collect_uses(false, &mut found);
        found
    }

    fn collect_uses<'a>(&'a self, differentiated: bool, found: &mut Vec<(&'a Tree, Use)>) {
        let Tree::Apply(operator, arguments) = self else {
            return;
        };
        let is_field = |tree: &&Tree| {
            let ty = tree.type_of(Rules::Language);
            ty.is_some_and(|ty| ty.is_field())
        };
        let fields = arguments.iter().filter(is_field).count();
        let kinds = match fields {
            0 => Kinds::Tensors,
            n if n == arguments.len() => Kinds::Fields,
            _ => Kinds::Mixed,
        };
        let operator_use = Use {
            operator: operator.name,
            kinds,
            differentiated,
        };
        found.push((self, operator_use));
        for argument in arguments {
            argument.collect_uses(differentiated || operator.lowers() > 0, found);
        }
    }

    /// The names of all operators, outermost first.
    pub fn operator_names(&self) -> Vec<&'static str> {
        match self {
            Tree::Variable { .. } | Tree::Constant(_) => Vec::new(),
            Tree::Apply(operator, arguments) => std::iter::once(operator.name)
                .chain(arguments.iter().flat_map(Tree::operator_names))
                .collect(),
        }
    }

    /// The pairs of operators in which the second is applied directly below the first.
    pub fn operator_pairs(&self) -> Vec<(&'static str, &'static str)> {
        let Tree::Apply(operator, arguments) = self else {
            return Vec::new();
        };
        let below = arguments.iter().filter_map(|argument| match argument {
            Tree::Apply(inner, _) => Some((operator.name, inner.name)),
            Tree::Variable { .. } | Tree::Constant(_) => None,
        });
        below
            .chain(arguments.iter().flat_map(Tree::operator_pairs))
            .collect()
    }

    /// The highest order of derivatives that any variable needs.
    pub fn derivative_order(&self) -> usize {
        match self {
            Tree::Variable { .. } | Tree::Constant(_) => 0,
            Tree::Apply(operator, arguments) => {
                operator.lowers()
                    + arguments
                        .iter()
                        .map(Tree::derivative_order)
                        .max()
                        .unwrap_or(0)
            }
        }
    }
}
