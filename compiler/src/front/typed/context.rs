//! The state of the checker while it walks a program: variables, constants, functions, the names in scope, the current
//! place, and the messages.

use super::{
    CheckOptions,
    flow::{Exits, Flow, KnownLoop},
    ids::{ConstId, FunctionId, VarId},
    indices::{Indices, Labels},
    scope::{Entity, Scopes},
    tree::{Block, Constant, Var, VarKind},
};
use crate::front::{
    codes,
    diag::{Diagnostic, Severity},
    facts::{DefinitionKind, Facts},
    source::Span,
    syntax::ast::{self, MethodKind, Version},
};
use ein_ir::{Kernel, Type};
use std::collections::{BTreeSet, HashMap};

/// A variable as far as it is known. A variable whose declaration is wrong has no type; uses of it are not reported
/// again.
pub(super) struct VarInfo {
    pub(super) name: String,
    pub(super) ty: Option<Type>,
    pub(super) kind: VarKind,
    pub(super) span: Span,
    /// Whether its value is read anywhere.
    pub(super) read: bool,
    /// Whether it was reported that it may lack a value.
    pub(super) reported: bool,
    /// What a variable of kernel type is bound to, as far as that is known here.
    pub(super) kernels: Option<Vec<&'static Kernel>>,
    /// Globals without a value that a field function reads when it is probed.
    pub(super) needs: BTreeSet<VarId>,
    /// The labels of the axes that it was declared with.
    pub(super) labels: Labels,
}

/// A constant; without a value if its declaration is wrong.
pub(super) struct ConstInfo {
    pub(super) name: String,
    pub(super) span: Span,
    pub(super) value: Option<(Type, Constant)>,
    pub(super) read: bool,
    /// Whether it is the extent of an axis with this name.
    pub(super) is_axis: bool,
}

/// A user function. Its body is empty if it is wrong; then no tree is made of the program.
pub(super) struct FunctionInfo {
    pub(super) name: String,
    pub(super) params: Vec<VarId>,
    pub(super) result: Option<Type>,
    pub(super) body: Block,
    pub(super) span: Span,
    /// Globals without a value that a call reads.
    pub(super) needs: BTreeSet<VarId>,
}

/// The properties of the strand, for checking its methods, the creation clause and global code.
pub(super) struct StrandInfo<'a> {
    pub(super) name: &'a str,
    /// Where its name stands in the definition.
    pub(super) span: Span,
    pub(super) params: Vec<VarId>,
    /// Its state variables by name.
    pub(super) state: HashMap<&'a str, VarId>,
    /// The state variable `pos`.
    pub(super) position: Option<VarId>,
}

/// The kind of code that is being checked; it decides which statements and queries are allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// The value of a constant, input or global, or a dimension in a type.
    Item,
    /// The body of a field function.
    FieldFunction,
    /// The body of a function.
    Function,
    /// The global `initialize` block.
    GlobalInitialize,
    /// The value of a state variable.
    StateValue,
    /// The strand's `initialize` block.
    StrandInitialize,
    /// A method of the strand.
    Method(MethodKind),
    /// The creation of the initial strands.
    Create,
    /// The global `start` block.
    GlobalStart,
    /// The global `update` block.
    GlobalUpdate,
}

impl Place {
    /// How messages call it.
    pub(super) fn describe(self) -> &'static str {
        match self {
            Place::Item => "a definition at the top level",
            Place::FieldFunction => "a field function",
            Place::Function => "a function",
            Place::GlobalInitialize => "the global `initialize` block",
            Place::StateValue => "the initial value of a state variable",
            Place::StrandInitialize => "the strand's `initialize` block",
            Place::Method(MethodKind::Start) => "the `start` method",
            Place::Method(MethodKind::Update) => "the `update` method",
            Place::Method(MethodKind::Stabilize) => "the `stabilize` method",
            Place::Create => "the creation of the initial strands",
            Place::GlobalStart => "the global `start` block",
            Place::GlobalUpdate => "the global `update` block",
        }
    }

    /// Whether this is global code between super-steps.
    pub(super) fn is_between_steps(self) -> bool {
        matches!(self, Place::GlobalStart | Place::GlobalUpdate)
    }

    /// Whether this is a method that runs during a super-step.
    pub(super) fn is_stepping(self) -> bool {
        matches!(self, Place::Method(MethodKind::Start | MethodKind::Update))
    }

    /// Whether globals and inputs may be assigned here.
    pub(super) fn may_assign_globals(self) -> bool {
        self == Place::GlobalInitialize || self.is_between_steps()
    }

    /// Whether state variables may be assigned here.
    pub(super) fn may_assign_state(self) -> bool {
        matches!(self, Place::StrandInitialize | Place::Method(_))
    }
}

/// What a definition by index defines.
pub(super) struct Target<'a> {
    pub(super) name: &'a str,
    /// Where its name stands.
    pub(super) span: Span,
    pub(super) labels: Labels,
}

/// The state of a check.
pub(super) struct Cx<'a> {
    pub(super) version: Version,
    pub(super) options: &'a CheckOptions,
    pub(super) diagnostics: Vec<Diagnostic>,
    pub(super) facts: Facts,
    pub(super) vars: Vec<VarInfo>,
    pub(super) consts: Vec<ConstInfo>,
    pub(super) functions: Vec<FunctionInfo>,
    pub(super) scopes: Scopes<'a>,
    pub(super) strand: Option<StrandInfo<'a>>,
    pub(super) place: Place,
    pub(super) flow: Flow,
    pub(super) exits: Exits,
    /// Globals without a value that the function being checked reads.
    pub(super) needs: BTreeSet<VarId>,
    /// How many bodies of loops, comprehensions and reductions enclose the place.
    pub(super) loops: usize,
    /// The declared result of the function being checked.
    pub(super) result: Option<Type>,
    /// Where `new` and `die` are used.
    pub(super) births_and_deaths: Vec<(&'static str, Span)>,
    /// Whether any code stabilizes or kills strands.
    pub(super) ends_strands: bool,
    /// Whether parts of the program are missing because of syntax errors. Then nothing is reported that the missing
    /// parts could mend: names, values and methods that seem to be absent.
    pub(super) incomplete: bool,
    /// Whether the type that would be the hint for the expression being checked is wrong.
    pub(super) hint_lost: bool,
    /// The name that is being defined; it is not in scope before its definition ends.
    pub(super) defining: Option<&'a str>,
    /// With how many names unknown ones may still be compared.
    pub(super) comparisons_left: usize,
    /// The variable whose value is being checked.
    pub(super) target: Option<Target<'a>>,
    /// The index variables in scope, and the axes on which they stand.
    pub(super) indices: Indices,
    /// The loops over known ranges around the place, the outermost first.
    pub(super) known_loops: Vec<KnownLoop>,
}

/// Searching for a similar name compares with every visible one. A file that takes more comparisons has other problems.
const COMPARISONS: usize = 20_000;

impl<'a> Cx<'a> {
    pub(super) fn new(
        version: Version,
        options: &'a CheckOptions,
        diagnostics: Vec<Diagnostic>,
    ) -> Cx<'a> {
        let incomplete = diagnostics.iter().any(|d| d.severity == Severity::Error);
        Cx {
            version,
            options,
            diagnostics,
            facts: Facts::default(),
            vars: Vec::new(),
            consts: Vec::new(),
            functions: Vec::new(),
            scopes: Scopes::default(),
            strand: None,
            place: Place::Item,
            flow: Flow::default(),
            exits: Exits::default(),
            needs: BTreeSet::new(),
            loops: 0,
            result: None,
            births_and_deaths: Vec::new(),
            ends_strands: false,
            incomplete,
            hint_lost: false,
            defining: None,
            comparisons_left: COMPARISONS,
            target: None,
            indices: Indices::default(),
            known_loops: Vec::new(),
        }
    }

    /// The variables as the tree has them. One whose declaration is wrong is in no expression, so its type does not matter.
    pub(super) fn tree_vars(&self) -> Vec<Var> {
        let vars = self.vars.iter();
        vars.map(|var| Var {
            name: var.name.clone(),
            ty: var.ty.clone().unwrap_or(Type::Bool),
            kind: var.kind,
            span: var.span,
        })
        .collect()
    }

    /// A new variable that has no name in any scope.
    pub(super) fn fresh(
        &mut self,
        name: &str,
        ty: Option<Type>,
        kind: VarKind,
        span: Span,
    ) -> VarId {
        self.vars.push(VarInfo {
            name: name.to_owned(),
            ty,
            kind,
            span,
            read: false,
            reported: false,
            kernels: None,
            needs: BTreeSet::new(),
            labels: Labels::default(),
        });
        VarId(self.vars.len() - 1)
    }

    /// Declares a variable in the innermost scope.
    pub(super) fn declare(
        &mut self,
        name: &'a ast::Name,
        ty: Option<Type>,
        kind: VarKind,
    ) -> VarId {
        let role = match kind {
            VarKind::Input => DefinitionKind::Input,
            VarKind::Global => DefinitionKind::Global,
            VarKind::Param => DefinitionKind::Parameter,
            VarKind::State => DefinitionKind::State,
            VarKind::Local => DefinitionKind::Local,
        };
        self.define(name, role, ty.as_ref(), Vec::new());
        let var = self.fresh(&name.text, ty, kind, name.span);
        let earlier = self.scopes.declare(&name.text, Entity::Var(var), name.span);
        self.redefinition(name, earlier);
        var
    }

    /// Declares a constant in the innermost scope.
    pub(super) fn declare_constant(
        &mut self,
        name: &'a ast::Name,
        value: Option<(Type, Constant)>,
        is_axis: bool,
    ) {
        let kind = match is_axis {
            true => DefinitionKind::Axis,
            false => DefinitionKind::Constant,
        };
        let ty = value.as_ref().map(|(ty, _)| ty);
        self.define(name, kind, ty, Vec::new());
        let id = ConstId(self.consts.len());
        self.consts.push(ConstInfo {
            name: name.text.clone(),
            span: name.span,
            value,
            read: false,
            is_axis,
        });
        let earlier = self
            .scopes
            .declare(&name.text, Entity::Const(id), name.span);
        self.redefinition(name, earlier);
    }

    /// Reports that a name is taken.
    pub(super) fn redefinition(&mut self, name: &ast::Name, earlier: Option<Span>) {
        if let Some(earlier) = earlier {
            self.error(
                codes::REDEFINITION,
                name.span,
                format!("`{}` is already defined in this scope", name.text),
            )
            .label(earlier, "first defined here");
        }
    }

    pub(super) fn var(&self, var: VarId) -> &VarInfo {
        &self.vars[var.0]
    }

    pub(super) fn function(&self, function: FunctionId) -> &FunctionInfo {
        &self.functions[function.0]
    }
}
