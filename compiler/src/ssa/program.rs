//! A program in any IR: its interface to the world and its functions.

use super::{Dialect, Function, parse_function, verify};
use crate::ir::interface::Interface;
use std::{borrow::Cow, fmt, str::FromStr, sync::Arc};

/// What a function of the program is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Role {
    /// Yields the scales at which images are smoothed, in the order of the images.
    Scales,
    /// Yields the global variables, from those that are inputs.
    Globals,
    /// Yields further globals, which strand code reads; runs when the global variables have changed.
    Invariants,
    /// Yields the first and last value of each creation iterator, outermost first, and then the sequences that some of
    /// them index.
    Domain,
    /// Yields the state of a new strand, from the values of the iterators.
    Create,
    /// Yields status and state of a new strand after its first update, from the values of the iterators. It is made of the two functions
    /// when machine code is generated.
    FirstStep,
    /// Yields status and state.
    Start,
    /// Yields status and state.
    Update,
    /// Yields status and state; the status means nothing.
    Stabilize,
    /// Yields status and global variables.
    GlobalStart,
    /// Yields status and global variables.
    GlobalUpdate,
    /// Yields what a reduction over strands, by its number, is about: the value of a strand.
    Reduce(u32),
    /// Yields the truth of a comparison, by its number, from the components of a field at a position and whatever else it needs. It is not
    /// run: bounds of the field tell about it.
    Decide(u32),
}

impl Role {
    /// The function's name in dumps.
    pub fn name(self) -> Cow<'static, str> {
        let name = match self {
            Role::Reduce(n) => return format!("reduce-{n}").into(),
            Role::Decide(n) => return format!("decide-{n}").into(),
            Role::Scales => "scales",
            Role::Globals => "globals",
            Role::Invariants => "invariants",
            Role::Domain => "domain",
            Role::Create => "create",
            Role::FirstStep => "first-step",
            Role::Start => "start",
            Role::Update => "update",
            Role::Stabilize => "stabilize",
            Role::GlobalStart => "global-start",
            Role::GlobalUpdate => "global-update",
        };
        name.into()
    }

    /// Whether it runs for strands rather than once.
    pub fn is_strand_code(self) -> bool {
        matches!(
            self,
            Role::Create
                | Role::FirstStep
                | Role::Start
                | Role::Update
                | Role::Stabilize
                | Role::Reduce(_)
        )
    }

    /// Whether it runs in a super-step, rather than before or after.
    pub fn is_method(self) -> bool {
        self.is_strand_code() && !matches!(self, Role::Reduce(_))
    }
}

impl FromStr for Role {
    type Err = String;

    fn from_str(text: &str) -> Result<Role, String> {
        let plain = [
            Role::Scales,
            Role::Globals,
            Role::Invariants,
            Role::Domain,
            Role::Create,
            Role::FirstStep,
            Role::Start,
            Role::Update,
            Role::Stabilize,
            Role::GlobalStart,
            Role::GlobalUpdate,
        ];
        let numbered = |prefix| text.strip_prefix(prefix).and_then(|n| n.parse().ok());
        plain
            .into_iter()
            .find(|role| role.name() == text)
            .or(numbered("reduce-").map(Role::Reduce))
            .or(numbered("decide-").map(Role::Decide))
            .ok_or_else(|| format!("no function of a program is called `{text}`"))
    }
}

/// A program.
#[derive(Clone, Debug, PartialEq)]
pub struct Program<D: Dialect> {
    /// Its interface.
    pub interface: Arc<Interface>,
    /// Its functions, in the order of their roles.
    pub functions: Vec<(Role, Function<D>)>,
}

impl<D: Dialect> Program<D> {
    /// The function with this role.
    pub fn function(&self, role: Role) -> Option<&Function<D>> {
        self.functions
            .iter()
            .find(|(r, _)| *r == role)
            .map(|(_, f)| f)
    }

    /// The same program with every function rewritten, possibly into another IR.
    pub fn map<E: Dialect>(
        self,
        mut pass: impl FnMut(Role, Function<D>) -> Function<E>,
    ) -> Program<E> {
        Program {
            interface: self.interface,
            functions: self
                .functions
                .into_iter()
                .map(|(role, f)| (role, pass(role, f)))
                .collect(),
        }
    }

    /// Every violation in any function.
    pub fn verify(&self) -> Vec<String> {
        self.functions
            .iter()
            .flat_map(|(role, f)| {
                verify(f)
                    .into_iter()
                    .map(|v| format!("{}: {v}", role.name()))
            })
            .collect()
    }

    /// Panics with every violation and the program if a stage has broken it: that is a fault of the compiler.
    pub fn assert_valid(&self, stage: &str) {
        let violations = self.verify();
        assert!(
            violations.is_empty(),
            "stage `{stage}` broke the program:\n{}\n{self}",
            violations.join("\n")
        );
    }
}

/// The interface as JSON, one member a line, and then the functions.
impl<D: Dialect> fmt::Display for Program<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "program {} {{", D::NAME)?;
        let interface = serde_json::to_value(&*self.interface).map_err(|_| fmt::Error)?;
        let members = interface.as_object().into_iter().flatten();
        let lines: Vec<String> = members
            .map(|(name, value)| format!("  {name:?}: {value}"))
            .collect();
        writeln!(f, "{}\n}}", lines.join(",\n"))?;
        self.functions
            .iter()
            .try_for_each(|(_, function)| write!(f, "{function}"))
    }
}

/// Reads the printed form.
impl<D: Dialect> FromStr for Program<D> {
    type Err = String;

    fn from_str(text: &str) -> Result<Program<D>, String> {
        let head = format!("program {} ", D::NAME);
        let rest = text
            .strip_prefix(&head)
            .ok_or_else(|| format!("expected `{head}`"))?;
        let end = rest.find("\nfunction ").map_or(rest.len(), |at| at + 1);
        let interface: Interface =
            serde_json::from_str(&rest[..end]).map_err(|why| format!("interface: {why}"))?;
        let mut functions = Vec::new();
        for function in rest[end..].split_inclusive("\n}\n") {
            let function: Function<D> = parse_function(function)?;
            functions.push((function.name.parse()?, function));
        }
        Ok(Program {
            interface: Arc::new(interface),
            functions,
        })
    }
}
