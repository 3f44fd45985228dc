//! The reference evaluator: runs a function as written, one strand at a time.

use super::{Block, Dialect, Function, Inst, Kind, Value};
use std::fmt;

/// A value at run time, in a reference evaluator: what control flow needs of it.
pub trait Datum: Clone + fmt::Debug {
    /// A condition's value.
    fn as_bool(&self) -> bool;
    /// A counter's value.
    fn as_int(&self) -> i64;
    /// A counter.
    fn from_int(value: i64) -> Self;
}

/// The reference meaning of a dialect's operations. Implementations are in the room `interpret` and share no code with passes
/// or code generators.
pub trait Evaluate: Dialect {
    /// A value at run time.
    type Datum: Datum;
    /// What operations can see and change besides their arguments.
    type World;

    /// The results of an operation.
    ///
    /// # Errors
    /// A run-time error of the program.
    fn eval(
        op: &Self::Op,
        args: &[&Self::Datum],
        world: &mut Self::World,
    ) -> Result<Vec<Self::Datum>, Interrupt>;
}

/// Why an evaluation ended before its end.
#[derive(Clone, Debug, PartialEq)]
pub enum Interrupt {
    /// A run-time error of the program: what happened, and the code of its place in the source.
    Error {
        /// The message.
        message: String,
        /// Byte offset in the source.
        place: u32,
    },
}

/// Runs a function and gives its results.
///
/// # Errors
/// The run-time error that ended it.
pub fn evaluate<D: Evaluate>(
    function: &Function<D>,
    world: &mut D::World,
) -> Result<Vec<D::Datum>, Interrupt> {
    let mut frame = Frame {
        values: vec![None; function.types.len()],
        world,
    };
    frame.block(&function.body)
}

struct Frame<'a, D: Evaluate> {
    values: Vec<Option<D::Datum>>,
    world: &'a mut D::World,
}

impl<D: Evaluate> Frame<'_, D> {
    fn block(&mut self, block: &Block<D>) -> Result<Vec<D::Datum>, Interrupt> {
        for inst in &block.insts {
            self.inst(inst)?;
        }
        Ok(block.yields.iter().map(|&v| self.get(v).clone()).collect())
    }

    fn inst(&mut self, inst: &Inst<D>) -> Result<(), Interrupt> {
        let results = match &inst.kind {
            Kind::Op(op, args) => {
                let args: Vec<&D::Datum> = args
                    .iter()
                    .map(|v| {
                        self.values[v.0 as usize]
                            .as_ref()
                            .expect("defined before use")
                    })
                    .collect();
                D::eval(op, &args, self.world)?
            }
            Kind::If {
                condition,
                then,
                otherwise,
            } => {
                let chosen = if self.get(*condition).as_bool() {
                    then
                } else {
                    otherwise
                };
                self.block(chosen)?
            }
            Kind::For {
                index,
                low,
                high,
                breaks,
                carried,
                init,
                body,
            } => {
                let (low, high) = (self.get(*low).as_int(), self.get(*high).as_int());
                let mut state: Vec<D::Datum> = init.iter().map(|&v| self.get(v).clone()).collect();
                for i in low..=high {
                    if *breaks && !state[0].as_bool() {
                        break;
                    }
                    self.set(*index, D::Datum::from_int(i));
                    for (&param, value) in carried.iter().zip(state) {
                        self.set(param, value);
                    }
                    state = self.block(body)?;
                }
                state
            }
        };
        assert_eq!(
            results.len(),
            inst.results.len(),
            "wrong number of results of {:?}",
            inst.kind
        );
        for (&v, datum) in inst.results.iter().zip(results) {
            self.set(v, datum);
        }
        Ok(())
    }

    fn get(&self, v: Value) -> &D::Datum {
        self.values[v.0 as usize]
            .as_ref()
            .expect("defined before use")
    }

    fn set(&mut self, v: Value, datum: D::Datum) {
        self.values[v.0 as usize] = Some(datum);
    }
}
