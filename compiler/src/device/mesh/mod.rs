//! Fields on meshes as arithmetic: the operations of the runtime's primitives (`runtime/src/fem`) for one position, in their order.
//!
//! What a mesh is like is known when it is loaded: then the operations on meshes, which Device-IR has from Low-IR until then, are
//! replaced by code for its kinds of cells, its degrees and the maps of its curved cells. Arithmetic is played back from recordings
//! of the primitives (`runtime/src/fem/recorded.rs`); control flow is repeated here. Rare and long work is left to the CPU.

mod curved;
mod evaluate;
mod fold;
mod index;
mod judge;
mod locate;
mod newton;
mod ops;
mod refuse;
mod times;

pub use ops::{Form, MeshOp};
pub use refuse::{MeshDemand, mesh_demands, refuse_meshes};

use super::{
    dialect::{Arithmetic, Device, Op, Width},
    expand::Expander,
};
use crate::{
    ir::Simple,
    low,
    ssa::{Block, Builder, Function, Inst, Kind, Value, number_values, remove_dead},
};
use runtime::{
    fem::tables::{Fact, Table, Traits},
    simd::trace::Tape,
};

/// What code for a mesh and the values on it depends on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MeshTraits {
    /// The properties of the mesh.
    pub mesh: Traits,
    /// The values on meshes that belong to cells as a whole, by their numbers in the program.
    pub constants: Vec<u32>,
    /// The values on meshes over time whose times do not follow each other evenly.
    pub irregular: Vec<u32>,
}

/// The same function with code for meshes like these, and for reals of 64 bits rather than 32 if `double`.
pub fn specialize(
    function: &Function<Device>,
    double: bool,
    meshes: &[MeshTraits],
) -> Function<Device> {
    let mut specializer = Specializer {
        e: Expander::new(double, function.types.len()),
        meshes,
    };
    let yields = specializer.block(&function.body);
    let specialized = specializer.e.b.finish(function.name.clone(), yields);
    remove_dead(number_values(specialized))
}

/// A function in the making.
struct Specializer<'a> {
    e: Expander,
    meshes: &'a [MeshTraits],
}

impl Specializer<'_> {
    fn block(&mut self, block: &Block<Device>) -> Vec<Value> {
        block.insts.iter().for_each(|inst| self.inst(inst));
        self.e.all(&block.yields)
    }

    fn inst(&mut self, inst: &Inst<Device>) {
        let results = match &inst.kind {
            Kind::Op(op, args) => {
                let args = self.e.all(args);
                self.op(op, &args)
            }
            Kind::If {
                condition,
                then,
                otherwise,
            } => {
                let [then, otherwise] = [then, otherwise].map(|block| {
                    self.e.b.open();
                    let yields = self.block(block);
                    self.e.b.close(yields)
                });
                let condition = self.e.get(*condition);
                self.e.b.if_(condition, then, otherwise)
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
                let (low, high) = (self.e.get(*low), self.e.get(*high));
                let init = self.e.all(init);
                let open = self.e.b.begin_for(low, high, *breaks, init);
                self.e.define(&[*index], vec![open.index]);
                self.e.define(carried, open.carried.clone());
                let next = self.block(body);
                self.e.b.for_(open, next)
            }
        };
        self.e.define(&inst.results, results);
    }

    fn op(&mut self, op: &Op, args: &[Value]) -> Vec<Value> {
        let of = |mesh: u32| OfMesh {
            number: mesh,
            traits: &self.meshes[mesh as usize],
        };
        match op {
            Op::Low(low::Op::Locate(mesh, _)) => self.e.locate_in(of(*mesh), args),
            Op::Low(low::Op::CellNumber(mesh)) => vec![self.e.number_of_cell(*mesh, args[0])],
            Op::Low(low::Op::FemProbe(probe)) => self.e.fem_probe(of(probe.mesh), probe, args),
            _ => self.e.b.op(op.clone(), args),
        }
    }
}

/// A mesh that code is for.
#[derive(Clone, Copy)]
struct OfMesh<'a> {
    number: u32,
    traits: &'a MeshTraits,
}

impl OfMesh<'_> {
    fn dim(&self) -> usize {
        self.traits.mesh.dim
    }
}

/// The rounds of a loop that ends by itself.
const WITHOUT_END: i64 = i32::MAX as i64;

impl Expander {
    fn new(double: bool, values: usize) -> Expander {
        Expander::with(Builder::default(), double, values)
    }

    /// Arithmetic on doubles.
    fn wide(&mut self, arithmetic: Arithmetic, args: &[Value]) -> Value {
        self.b.op1(Op::arithmetic(arithmetic, Width::Double), args)
    }

    /// A double constant.
    fn wide_number(&mut self, x: f64) -> Value {
        self.b.op1(Op::Double(x.into()), &[])
    }

    fn truth(&mut self, truth: bool) -> Value {
        self.b.op1(Op::Low(low::Op::Bool(truth)), &[])
    }

    fn mesh_op(&mut self, op: MeshOp, args: &[Value]) -> Value {
        self.b.op1(Op::Mesh(op), args)
    }

    fn fact(&mut self, mesh: u32, fact: Fact) -> Value {
        self.mesh_op(MeshOp::Fact(mesh, fact), &[])
    }

    /// Loads from an entry of a table.
    fn load(&mut self, form: Form, (mesh, table): (u32, Table), entry: Value, ahead: u32) -> Value {
        let load = MeshOp::Load {
            mesh,
            table,
            form,
            ahead,
        };
        self.mesh_op(load, &[entry])
    }

    /// Numbers that follow each other in an entry of a table.
    fn loads(&mut self, from: (u32, Table), entry: Value, ahead: u32, count: usize) -> Vec<Value> {
        let all = ahead..ahead + count as u32;
        all.map(|n| self.load(Form::Double, from, entry, n))
            .collect()
    }

    /// Three numbers; the third is zero in the plane.
    fn padded(&mut self, mut numbers: Vec<Value>) -> Vec<Value> {
        let zero = self.wide_number(0.0);
        numbers.resize(3, zero);
        numbers
    }

    /// Plays back a recording on doubles.
    fn repeat(&mut self, tape: &Tape, args: &[&[Value]]) -> Vec<Value> {
        self.play(&fold::folded(tape), Width::Double, &args.concat())
    }

    /// What one of two ways gives.
    fn choose(
        &mut self,
        condition: Value,
        then: impl FnOnce(&mut Expander) -> Vec<Value>,
        otherwise: impl FnOnce(&mut Expander) -> Vec<Value>,
    ) -> Vec<Value> {
        self.b.open();
        let yields = then(self);
        let then = self.b.close(yields);
        self.b.open();
        let yields = otherwise(self);
        let otherwise = self.b.close(yields);
        self.b.if_(condition, then, otherwise)
    }

    fn both(&mut self, a: Value, b: Value) -> Value {
        self.simple(Simple::And, &[a, b])
    }

    fn not(&mut self, a: Value) -> Value {
        self.simple(Simple::Not, &[a])
    }

    /// Whether an integer is negative.
    fn is_negative(&mut self, n: Value) -> Value {
        let zero = self.int(0);
        self.simple(Simple::IntLess, &[n, zero])
    }

    /// What code for one of several blocks of cells gives, by the number of the block.
    fn by_case(
        &mut self,
        number: Value,
        cases: &[i64],
        code: &mut dyn FnMut(&mut Expander, usize) -> Vec<Value>,
    ) -> Vec<Value> {
        self.by_case_from(number, cases, 0, code)
    }

    fn by_case_from(
        &mut self,
        number: Value,
        cases: &[i64],
        at: usize,
        code: &mut dyn FnMut(&mut Expander, usize) -> Vec<Value>,
    ) -> Vec<Value> {
        if at + 1 == cases.len() {
            return code(self, at);
        }
        let own = self.int(cases[at]);
        let is_own = self.simple(Simple::IntEqual, &[number, own]);
        self.b.open();
        let yields = code(self, at);
        let then = self.b.close(yields);
        self.b.open();
        let yields = self.by_case_from(number, cases, at + 1, code);
        let otherwise = self.b.close(yields);
        self.b.if_(is_own, then, otherwise)
    }

    /// The number of a cell in its file; a negative one for none.
    fn number_of_cell(&mut self, mesh: u32, cell: Value) -> Value {
        let count = self.mesh_op(MeshOp::Cells(mesh), &[]);
        let zero = self.int(0);
        let after = self.simple(Simple::IntLessEqual, &[zero, cell]);
        let before = self.simple(Simple::IntLess, &[cell, count]);
        let is_one = self.both(after, before);
        let number = self.choose(
            is_one,
            |e| vec![e.load(Form::Int, (mesh, Table::Numbers), cell, 0)],
            |e| vec![e.int(-1)],
        );
        number[0]
    }
}
