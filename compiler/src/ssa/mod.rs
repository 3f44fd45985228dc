//! One container for all intermediate representations: structured control flow over values that are defined once.
//!
//! What differs between the IRs — operations, types and their meaning — is a [`Dialect`]; printer, parser, verifier,
//! evaluator, value numbering and the removal of dead code are written once, here.
//!
//! There is no jump. An early exit of a method (`stabilize`, `die`, `continue`) or function (`return`) is a *status* that
//! the enclosing blocks yield; what follows it stands under an `if` on that status. A method thus is a function from
//! state to status and state, and a program for many lanes needs nothing beyond masks for `if` and `for`.

mod eval;
mod parse;
mod print;
mod program;
mod remove_dead;
mod value_number;
mod verify;
mod walk;

pub use eval::{Datum, Evaluate, Interrupt, evaluate};
pub use parse::parse_function;
pub use program::{Program, Role};
pub use remove_dead::remove_dead;
pub use value_number::{number_values, number_values_mapped};
pub use verify::verify;

use smallvec::{SmallVec, smallvec};
use std::{fmt, str::FromStr};

/// The arguments or results of an operation. Most have few, and those need no memory of their own.
pub type Values = SmallVec<[Value; 4]>;

/// The types of an operation's results. Most have one.
pub type Types<Ty> = SmallVec<[Ty; 1]>;

/// A value: defined once, used within the block that defines it and the blocks inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Value(pub u32);

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "v{}", self.0)
    }
}

/// What makes one IR differ from another: its operations. Their meaning is [`Evaluate`].
pub trait Dialect: Sized + Clone + fmt::Debug + PartialEq + 'static {
    /// The name in dumps.
    const NAME: &'static str;
    /// An operation with its static attributes.
    type Op: fmt::Display
        + FromStr<Err = String>
        + Clone
        + fmt::Debug
        + PartialEq
        + Eq
        + std::hash::Hash;
    /// The type of a value.
    type Ty: fmt::Display + FromStr<Err = String> + Clone + fmt::Debug + PartialEq;

    /// The type of conditions.
    const BOOL: Self::Ty;
    /// The type of loop counters.
    const INT: Self::Ty;

    /// The types of an operation's results, or why its arguments do not fit.
    fn type_of(op: &Self::Op, args: &[&Self::Ty]) -> Result<Types<Self::Ty>, String>;
    /// Whether the operation must happen exactly as often and in the order written.
    fn has_effect(op: &Self::Op) -> bool;
    /// Whether the operation gives the same for its arguments in any order.
    fn commutes(op: &Self::Op) -> bool;
}

/// A sequence of instructions and the values it gives to the construct that contains it.
#[derive(Clone, Debug, PartialEq)]
pub struct Block<D: Dialect> {
    /// Instructions in execution order.
    pub insts: Vec<Inst<D>>,
    /// The block's results.
    pub yields: Vec<Value>,
}

impl<D: Dialect> Default for Block<D> {
    fn default() -> Self {
        Block {
            insts: Vec::new(),
            yields: Vec::new(),
        }
    }
}

/// An instruction: defines its results.
#[derive(Clone, Debug, PartialEq)]
pub struct Inst<D: Dialect> {
    /// The values it defines.
    pub results: Values,
    /// The operation, branch or loop.
    pub kind: Kind<D>,
}

/// What an instruction does.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind<D: Dialect> {
    /// An operation of the dialect.
    Op(D::Op, Values),
    /// Runs one of two blocks; the results are its yields.
    If {
        /// A boolean.
        condition: Value,
        /// Run where it holds.
        then: Block<D>,
        /// Run where it does not.
        otherwise: Block<D>,
    },
    /// Runs the body for `index` = `low` … `high`, both included. The body yields the next values of `carried`; their last
    /// values are the results.
    For {
        /// The counter.
        index: Value,
        /// Its first value.
        low: Value,
        /// Its last value.
        high: Value,
        /// Whether the loop also ends as soon as the first carried value, a boolean, is false.
        breaks: bool,
        /// The values that an iteration hands to the next.
        carried: Vec<Value>,
        /// Their values before the first iteration.
        init: Vec<Value>,
        /// The code of one iteration.
        body: Block<D>,
    },
}

impl<D: Dialect> Kind<D> {
    /// The values that are read here, nested blocks left aside.
    pub fn operands(&self) -> Values {
        match self {
            Kind::Op(_, args) => args.clone(),
            Kind::If { condition, .. } => smallvec![*condition],
            Kind::For {
                low, high, init, ..
            } => [*low, *high]
                .into_iter()
                .chain(init.iter().copied())
                .collect(),
        }
    }

    /// The same with every nested block rewritten.
    pub fn map_blocks(self, mut change: impl FnMut(Block<D>) -> Block<D>) -> Kind<D> {
        match self {
            kind @ Kind::Op(..) => kind,
            Kind::If {
                condition,
                then,
                otherwise,
            } => Kind::If {
                condition,
                then: change(then),
                otherwise: change(otherwise),
            },
            Kind::For {
                index,
                low,
                high,
                breaks,
                carried,
                init,
                body,
            } => Kind::For {
                index,
                low,
                high,
                breaks,
                carried,
                init,
                body: change(body),
            },
        }
    }

    /// The nested blocks.
    pub fn blocks(&self) -> SmallVec<[&Block<D>; 2]> {
        match self {
            Kind::Op(..) => smallvec![],
            Kind::If {
                then, otherwise, ..
            } => smallvec![then, otherwise],
            Kind::For { body, .. } => smallvec![body],
        }
    }
}

/// A function without parameters: it reads its arguments by operations of the dialect.
#[derive(Clone, Debug, PartialEq)]
pub struct Function<D: Dialect> {
    /// The name in dumps.
    pub name: String,
    /// The type of every value, by number.
    pub types: Vec<D::Ty>,
    /// Its code; the yields are its results.
    pub body: Block<D>,
}

impl<D: Dialect> Function<D> {
    /// An empty function.
    pub fn new(name: impl Into<String>) -> Self {
        Function {
            name: name.into(),
            types: Vec::new(),
            body: Block::default(),
        }
    }

    /// The type of a value.
    pub fn type_of(&self, value: Value) -> &D::Ty {
        &self.types[value.0 as usize]
    }

    /// A new value of this type.
    pub fn fresh(&mut self, ty: D::Ty) -> Value {
        self.types.push(ty);
        Value(self.types.len() as u32 - 1)
    }
}

/// A loop whose body is being built.
#[derive(Debug)]
pub struct Loop {
    /// The counter.
    pub index: Value,
    /// The values that an iteration hands to the next.
    pub carried: Vec<Value>,
    low: Value,
    high: Value,
    breaks: bool,
    init: Vec<Value>,
}

/// Builds a function from the inside: instructions go to the innermost open block.
#[derive(Debug)]
pub struct Builder<D: Dialect> {
    /// The types of the values so far.
    pub types: Vec<D::Ty>,
    open: Vec<Vec<Inst<D>>>,
    /// Where each value was defined: how many blocks were open around that one, and the place in it.
    places: Vec<(usize, usize)>,
}

impl<D: Dialect> Default for Builder<D> {
    fn default() -> Self {
        Builder {
            types: Vec::new(),
            open: vec![Vec::new()],
            places: Vec::new(),
        }
    }
}

impl<D: Dialect> Builder<D> {
    /// A new value of this type.
    pub fn fresh(&mut self, ty: D::Ty) -> Value {
        self.types.push(ty);
        Value(self.types.len() as u32 - 1)
    }

    /// The type of a value.
    pub fn type_of(&self, value: Value) -> &D::Ty {
        &self.types[value.0 as usize]
    }

    /// Appends an operation and gives its results.
    ///
    /// # Panics
    /// If the arguments do not fit: every caller builds well-typed code.
    pub fn op(&mut self, op: D::Op, args: &[Value]) -> Vec<Value> {
        let (first, count) = self.append(op, args);
        (first..first + count).map(Value).collect()
    }

    /// Appends an operation with one result.
    pub fn op1(&mut self, op: D::Op, args: &[Value]) -> Value {
        let (result, count) = self.append(op, args);
        assert_eq!(count, 1, "operation with {count} results");
        Value(result)
    }

    /// Appends an operation; gives the number of its first result and how many it has.
    fn append(&mut self, op: D::Op, args: &[Value]) -> (u32, u32) {
        let types = {
            let types: SmallVec<[&D::Ty; 4]> = args.iter().map(|&a| self.type_of(a)).collect();
            D::type_of(&op, &types)
                .unwrap_or_else(|why| panic!("{} operation `{op}` on {types:?}: {why}", D::NAME))
        };
        let first = self.types.len() as u32;
        self.types.extend(types);
        let count = self.types.len() as u32 - first;
        self.push(Inst {
            results: (first..first + count).map(Value).collect(),
            kind: Kind::Op(op, args.into()),
        });
        (first, count)
    }

    /// The operation that defines a value in one of the open blocks, with its arguments.
    pub fn definition(&self, value: Value) -> Option<(D::Op, Values)> {
        let (op, args) = self.defining(value)?;
        Some((op.clone(), args.into()))
    }

    /// The same, to look at.
    pub fn defining(&self, value: Value) -> Option<(&D::Op, &[Value])> {
        let &(block, place) = self.places.get(value.0 as usize)?;
        // The block may have been closed, and another one been opened in its place.
        let inst = self.open.get(block)?.get(place)?;
        match &inst.kind {
            Kind::Op(op, args) if inst.results.contains(&value) => Some((op, args)),
            _ => None,
        }
    }

    /// Appends a finished instruction.
    pub fn push(&mut self, inst: Inst<D>) {
        let depth = self.open.len() - 1;
        let block = self.open.last_mut().expect("a block is open");
        self.places.resize(self.types.len(), (usize::MAX, 0));
        for value in &inst.results {
            self.places[value.0 as usize] = (depth, block.len());
        }
        block.push(inst);
    }

    /// Opens a nested block.
    pub fn open(&mut self) {
        self.open.push(Vec::new());
    }

    /// Closes the innermost block.
    pub fn close(&mut self, yields: Vec<Value>) -> Block<D> {
        Block {
            insts: self.open.pop().expect("a block is open"),
            yields,
        }
    }

    /// Appends an `if` over finished blocks and gives its results.
    pub fn if_(&mut self, condition: Value, then: Block<D>, otherwise: Block<D>) -> Vec<Value> {
        let results = self.like(&then.yields);
        self.push(Inst {
            results: results[..].into(),
            kind: Kind::If {
                condition,
                then,
                otherwise,
            },
        });
        results
    }

    /// New values of the types of these.
    fn like(&mut self, values: &[Value]) -> Vec<Value> {
        let types: Vec<D::Ty> = values.iter().map(|&v| self.type_of(v).clone()).collect();
        types.into_iter().map(|ty| self.fresh(ty)).collect()
    }

    /// Opens the body of a loop from `low` to `high`; [`Builder::for_`] closes it. With `breaks` the loop also ends as soon as
    /// the first carried value, a boolean, is false.
    pub fn begin_for(&mut self, low: Value, high: Value, breaks: bool, init: Vec<Value>) -> Loop {
        let (index, carried) = (self.fresh(D::INT), self.like(&init));
        self.open();
        Loop {
            index,
            low,
            high,
            breaks,
            carried,
            init,
        }
    }

    /// Closes the body of a loop, appends the loop and gives its results.
    pub fn for_(&mut self, open: Loop, next: Vec<Value>) -> Vec<Value> {
        let body = self.close(next);
        let results = self.like(&open.init);
        let Loop {
            index,
            low,
            high,
            breaks,
            carried,
            init,
        } = open;
        self.push(Inst {
            results: results[..].into(),
            kind: Kind::For {
                index,
                low,
                high,
                breaks,
                carried,
                init,
                body,
            },
        });
        results
    }

    /// The finished function.
    pub fn finish(mut self, name: impl Into<String>, yields: Vec<Value>) -> Function<D> {
        let body = self.close(yields);
        assert!(self.open.is_empty(), "a nested block is still open");
        Function {
            name: name.into(),
            types: self.types,
            body,
        }
    }
}
