//! Steps: what the enumeration applies, as ordinary trees with holes.
//!
//! A step is an operator, or a small tree around its arguments: `acos` is applied as `acos(0.01·a)`, and
//! `zeros[2,2] + a` is a step of its own. The generated tree shows all of it.

use crate::label::Term;
use crate::operator::{OPERATORS, Operator, operator};
use crate::tree::{Constant, Rules, Tree, result_type};
use crate::types::Type;

/// A tree with numbered holes.
#[derive(Clone, Debug, PartialEq)]
enum Template {
    Argument(usize),
    Constant(Constant),
    Apply(&'static Operator, Vec<Template>),
}

/// One unit of the enumeration.
#[derive(Clone, Debug)]
pub struct Step {
    /// The name in reports of the enumeration.
    pub name: &'static str,
    /// The number of arguments.
    pub arity: usize,
    template: Template,
    /// The operator whose own rule the arguments must meet: a template may accept more than the operator it adjusts.
    strict: Option<&'static Operator>,
}

/// Which steps are enumerated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepList {
    /// The 34 operators behind the published counts.
    Published,
    /// Every operator, and the steps of several.
    All,
    /// The operators that commute with rotations.
    Isotropic,
}

/// Steps of several operators. Those with a constant are here because a wrong rewrite of `zeros`, of a constant row of the
/// identity, or of its trace goes unseen without them; the powers because an exponent that is known has a derivative of its
/// own; the interpolations because all of their arguments may be fields.
const COMPOSITE: &[(&str, &str)] = &[
    ("zeros_add", "add(zeros[2,2],$0)"),
    ("zeros_sub", "sub(zeros[3],$0)"),
    ("sub_zeros", "sub($0,zeros[2,2])"),
    ("zeros_scale", "mul($0,zeros[3,3])"),
    ("zeros_outer", "outer(zeros[2],$0)"),
    ("identity_inner", "inner(identity[3],$0)"),
    ("inner_identity", "inner($0,identity[2])"),
    ("identity_colon", "colon(identity[3],$0)"),
    ("identity_row", "modulate(slice[0,:](identity[3]),$0)"),
    ("trace_identity", "mul(trace(identity[3]),$0)"),
    ("cross_constant", "cross(concat3(9,7,8),$0)"),
    ("root", "power($0,0.5)"),
    ("power_constant", "power(norm($0),-1.5)"),
    ("exponential", "pow(1.5,$0)"),
    (
        "lerp_of_powers",
        "lerp5($0,$1,$2,power[2]($2),power[3]($2))",
    ),
    (
        "clerp_of_powers",
        "clerp5($0,$1,power[2]($2),$2,power[3]($2))",
    ),
];

/// How operators with more than three arguments are applied.
const WIDE: &[(&str, &str)] = &[
    ("lerp5", "lerp5($0,$1,-1,$2,2)"),
    ("clerp5", "clerp5($0,$1,-1,$2,2)"),
    ("concat4", "concat4($0,$1,$2,mul(3,$0))"),
];

impl Template {
    fn parse(text: &str) -> Result<Template, String> {
        Template::of(&Term::parse(text)?)
    }

    fn of(term: &Term) -> Result<Template, String> {
        if let Some(arguments) = &term.arguments {
            let arguments: Result<Vec<Template>, String> =
                arguments.iter().map(Template::of).collect();
            return Ok(Template::Apply(operator(&term.head)?, arguments?));
        }
        if let Some(number) = term
            .head
            .strip_prefix('$')
            .and_then(|number| number.parse().ok())
        {
            return Ok(Template::Argument(number));
        }
        term.constant()
            .map(Template::Constant)
            .ok_or_else(|| format!("found `{}` in a template", term.head))
    }

    fn holes(&self) -> usize {
        match self {
            Template::Argument(number) => number + 1,
            Template::Constant(_) => 0,
            Template::Apply(_, parts) => parts.iter().map(Template::holes).max().unwrap_or(0),
        }
    }

    fn result(&self, arguments: &[Type], rules: Rules) -> Option<Type> {
        match self {
            Template::Argument(number) => arguments.get(*number).copied(),
            Template::Constant(constant) => constant.type_of(),
            Template::Apply(operator, parts) => {
                let mut types = Vec::with_capacity(parts.len());
                for part in parts {
                    types.push(part.result(arguments, rules)?);
                }
                result_type(operator, &types, rules)
            }
        }
    }

    fn fill(&self, arguments: &[Tree]) -> Tree {
        match self {
            Template::Argument(number) => arguments[*number].clone(),
            Template::Constant(constant) => Tree::Constant(*constant),
            Template::Apply(operator, parts) => Tree::Apply(
                operator,
                parts.iter().map(|part| part.fill(arguments)).collect(),
            ),
        }
    }

    fn matches<'a>(&self, tree: &'a Tree, found: &mut [Option<&'a Tree>]) -> bool {
        match (self, tree) {
            (Template::Argument(number), tree) => found[*number].get_or_insert(tree) == &tree,
            (Template::Constant(wanted), Tree::Constant(constant)) => wanted == constant,
            (Template::Apply(wanted, parts), Tree::Apply(operator, arguments)) => {
                wanted.name == operator.name
                    && parts.len() == arguments.len()
                    && parts
                        .iter()
                        .zip(arguments)
                        .all(|(part, argument)| part.matches(argument, found))
            }
            (Template::Constant(_) | Template::Apply(..), _) => false,
        }
    }
}

impl Step {
    fn parse(name: &'static str, text: &str) -> Option<Step> {
        // The texts are the tables of this crate; the tests below load every one.
        let template = Template::parse(text).ok()?;
        Some(Step {
            name,
            arity: template.holes(),
            template,
            strict: None,
        })
    }

    fn of(operator: &'static Operator) -> Option<Step> {
        if let Some((_, text)) = WIDE.iter().find(|(name, _)| *name == operator.name) {
            return Step::parse(operator.name, text);
        }
        if let Some(text) = operator.template {
            return Step::parse(operator.name, text).map(|step| Step {
                strict: Some(operator),
                ..step
            });
        }
        let holes = (0..operator.arity).map(Template::Argument).collect();
        let template = Template::Apply(operator, holes);
        Some(Step {
            name: operator.name,
            arity: operator.arity,
            template,
            strict: None,
        })
    }

    /// The result type at these argument types, if the step applies.
    pub fn result(&self, arguments: &[Type], rules: Rules) -> Option<Type> {
        if self
            .strict
            .is_some_and(|operator| result_type(operator, arguments, rules).is_none())
        {
            return None;
        }
        self.template.result(arguments, rules)
    }

    /// The step applied to arguments.
    pub fn apply(&self, arguments: &[Tree]) -> Tree {
        self.template.fill(arguments)
    }

    /// The arguments to which the step was applied, if the tree is such an application.
    pub fn arguments<'a>(&self, tree: &'a Tree) -> Option<Vec<&'a Tree>> {
        let mut found = vec![None; self.arity];
        if self.template.matches(tree, &mut found) {
            found.into_iter().collect()
        } else {
            None
        }
    }
}

/// The steps of a list, in the order of the operator table.
pub fn steps(list: StepList) -> Vec<Step> {
    let rows = OPERATORS.iter().filter(|row| match list {
        StepList::All => true,
        StepList::Published => row.published.is_some(),
        StepList::Isotropic => row.isotropic,
    });
    let composite = COMPOSITE.iter().filter(|_| list == StepList::All);
    rows.filter_map(Step::of)
        .chain(composite.filter_map(|(name, text)| Step::parse(name, text)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_template_is_read() {
        assert_eq!(
            steps(StepList::All).len(),
            OPERATORS.len() + COMPOSITE.len()
        );
        assert_eq!(steps(StepList::Published).len(), 34);
    }

    #[test]
    fn steps_find_their_own_arguments() {
        for step in steps(StepList::All) {
            let ty = "T[3]".parse().expect("a type");
            let arguments: Vec<Tree> = (0..step.arity)
                .map(|number| Tree::variable(ty, number))
                .collect();
            let tree = step.apply(&arguments);
            let found = step.arguments(&tree).expect(step.name);
            assert!(found.into_iter().eq(arguments.iter()), "{}", step.name);
        }
    }
}
