//! The kernel as PTX: registers and control flow. The frame around the methods is in `ptx/frame.rs`, what operations
//! become in `operations.rs`.
//!
//! Every operation on numbers says how it rounds (`.rn`), because the assembler would contract products and sums that do
//! not; no operation flushes subnormal numbers.

mod contact;
mod create;
mod events;
mod facts;
mod frame;
mod heap;
mod mesh;
mod near;
mod pack;
mod reduce;
mod sequences;
mod sphere;

use super::{
    header::Header,
    kernel::{Cell, Kernel, Near, PARAMETER_CELLS},
    pack::Pack,
};
use crate::{
    codegen::{
        abi::{Lanes, StatePlane},
        ends::Ends,
    },
    device::{Device, Op, Table, Ty},
    ir::{leaf::ImageInfo, weights::weights},
    low,
    ssa::{Block, Function, Inst, Kind, Value},
};
use std::{
    collections::{BTreeMap, HashMap},
    fmt::Write,
};

use facts::Bounds;
use runtime::fem::tables::Table as MeshTable;

/// The text of a kernel and its cells, with at most this number of registers for a thread that runs strands.
pub(super) fn print(kernel: &Kernel, registers: Option<u32>) -> (String, Vec<Cell>) {
    let mut printer = PtxPrinter::new(kernel, registers);
    let text = printer.kernel(&kernel.methods);
    (text, printer.cells)
}

/// A class of registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Class {
    /// Reals of the program.
    Real,
    /// Doubles.
    Double,
    /// Integers and the numbers of strings.
    Int,
    /// Truth values.
    Truth,
    /// Words of 32 bits: counters of the frame.
    Word,
    /// Addresses, and bits of doubles.
    Wide,
}

impl Class {
    pub(super) fn of(ty: Ty) -> Class {
        match ty {
            Ty::Scalar(low::Ty::Real) => Class::Real,
            Ty::Scalar(low::Ty::Int | low::Ty::Str) => Class::Int,
            Ty::Scalar(low::Ty::Bool) => Class::Truth,
            Ty::Double => Class::Double,
        }
    }

    fn prefix(self) -> &'static str {
        match self {
            Class::Real => "%f",
            Class::Double => "%d",
            Class::Int => "%i",
            Class::Truth => "%p",
            Class::Word => "%w",
            Class::Wide => "%a",
        }
    }
}

/// Addresses that are known in a block: offset, image and component of a row of samples, tap and table of weights, number and
/// image of an interval of time.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) enum KnownAddress {
    Samples(Value, u32, u32),
    Weights(Value, Table),
    Interval(Value, u32),
    /// An entry of a table of a mesh.
    Entry(Value, u32, MeshTable),
    /// Not an address, but a number of an entry, by its place behind the first.
    Number(Value, u32, MeshTable, u32),
    /// State of another strand, in an array of the header.
    Strand(Value, usize),
}

/// A kernel in the making.
pub(super) struct PtxPrinter<'a> {
    pub(super) lanes: Lanes,
    kernel: &'a Kernel,
    /// The limit of the registers of a thread that runs strands.
    most: Option<u32>,
    planes: &'a [StatePlane],
    stride: usize,
    body: String,
    /// How many registers of each class there are.
    registers: BTreeMap<Class, usize>,
    labels: usize,
    /// The operand of every value of the method in work.
    pub(super) values: HashMap<Value, String>,
    /// The registers of the state.
    pub(super) state: Vec<String>,
    /// The arguments of the function in work, if it has any.
    pub(super) given: Vec<String>,
    pub(super) places: HashMap<KnownAddress, String>,
    /// The operations of the method in work, by their results.
    definitions: HashMap<Value, (Op, Vec<Value>)>,
    /// Bounds of values that follow from conditions, where these hold.
    bounds: Bounds,
    /// The globals that are ends of images.
    pub(super) ends: &'a Ends,
    pub(super) tables: Vec<Table>,
    pub(super) cells: Vec<Cell>,
    packs: &'a [Pack],
    /// The registers of one load, by offset, image, samples ahead and the number of the load at a sample.
    vectors: HashMap<(Value, u32, u32, usize), Vec<String>>,
    /// The addresses of the samples that are read.
    bases: HashMap<(u32, u32), String>,
    pub(super) truths: [String; 2],
    hints: Vec<mesh::Hint>,
    contacts: Vec<contact::Contact>,
    more: String,
    near: Option<Near>,
    /// The offsets of state slots in a neighbour record.
    seen: &'a BTreeMap<u32, usize>,
    sorts: Option<sphere::Sorts>,
    /// The slot of the strand, and how many numbers of others it keeps.
    slot: String,
    kept: String,
    heap: heap::HeapRegisters,
    /// The names of the finished entry points, and their text from the brace on.
    entries: Vec<(String, String)>,
}

impl<'a> PtxPrinter<'a> {
    fn new(kernel: &'a Kernel, most: Option<u32>) -> PtxPrinter<'a> {
        PtxPrinter {
            lanes: kernel.lanes,
            kernel,
            most,
            planes: &kernel.planes,
            stride: kernel.stride,
            body: String::new(),
            registers: BTreeMap::new(),
            labels: 0,
            values: HashMap::new(),
            state: Vec::new(),
            given: Vec::new(),
            places: HashMap::new(),
            definitions: HashMap::new(),
            bounds: Bounds::default(),
            ends: &kernel.ends,
            tables: Vec::new(),
            cells: Vec::new(),
            packs: &kernel.packs,
            vectors: HashMap::new(),
            bases: HashMap::new(),
            truths: Default::default(),
            hints: Vec::new(),
            contacts: Vec::new(),
            more: String::new(),
            near: kernel.near,
            seen: &kernel.seen,
            sorts: None,
            slot: String::new(),
            kept: String::new(),
            heap: heap::HeapRegisters::default(),
            entries: Vec::new(),
        }
    }

    /// The type of a class in instructions that compute.
    pub(super) fn ty(&self, class: Class) -> &'static str {
        match class {
            Class::Real if self.lanes.double => "f64",
            Class::Real => "f32",
            Class::Double => "f64",
            Class::Int if self.lanes.long_int => "s64",
            Class::Int => "s32",
            Class::Truth => "pred",
            Class::Word => "u32",
            Class::Wide => "u64",
        }
    }

    /// Appends an instruction.
    pub(super) fn line(&mut self, text: &str) {
        self.body.push_str("  ");
        self.body.push_str(text);
        self.body.push_str(";\n");
    }

    fn place_label(&mut self, label: &str) {
        let _ = writeln!(self.body, "{label}:");
    }

    fn label(&mut self) -> String {
        self.labels += 1;
        format!("L{}", self.labels)
    }

    /// A new register.
    pub(super) fn register(&mut self, class: Class) -> String {
        let number = self.registers.entry(class).or_default();
        *number += 1;
        format!("{}{}", class.prefix(), *number - 1)
    }

    /// Appends an instruction whose result is a new register.
    pub(super) fn compute(&mut self, class: Class, instruction: &str, operands: &[&str]) -> String {
        let register = self.register(class);
        let operands = operands.join(", ");
        self.line(&format!("{instruction} {register}, {operands}"));
        register
    }

    fn copy(&mut self, class: Class, to: &str, from: &str) {
        let ty = self.ty(class);
        self.line(&format!("mov.{ty} {to}, {from}"));
    }

    /// Copies several values at a time: a source may be another's target.
    fn copy_all(&mut self, moves: &[(Class, String, String)]) {
        let moves: Vec<_> = moves.iter().filter(|(_, to, from)| to != from).collect();
        let targets: Vec<&String> = moves.iter().map(|(_, to, _)| to).collect();
        let mut late = Vec::new();
        for (class, to, from) in &moves {
            if targets.contains(&from) {
                let kept = self.register(*class);
                self.copy(*class, &kept, from);
                late.push((*class, to, kept));
            } else {
                late.push((*class, to, from.clone()));
            }
        }
        for (class, to, from) in late {
            self.copy(class, to, &from);
        }
    }

    /// A real or double constant, by its bits.
    pub(super) fn number(&self, x: f64, class: Class) -> String {
        number(x, self.ty(class) == "f64")
    }

    pub(super) fn string_number(&self, text: &str) -> i64 {
        let mut strings = self.kernel.strings.iter();
        let known = strings.find(|(known, _)| **known == *text);
        known.expect("a string of the kernel").1
    }

    /// Loads a cell: the type in memory, and the class of the register.
    pub(super) fn cell(&mut self, cell: Cell, ty: &str, class: Class) -> String {
        let number = self.cells.iter().position(|c| *c == cell);
        let number = number.unwrap_or_else(|| {
            self.cells.push(cell);
            self.cells.len() - 1
        });
        let register = self.register(class);
        if let Some(constant) = self.known(cell).filter(|_| number < PARAMETER_CELLS) {
            self.line(&format!("mov.{ty} {register}, {constant}"));
        } else if number < PARAMETER_CELLS {
            let at = size_of::<Header>() + 8 * number;
            self.line(&format!("ld.param.{ty} {register}, [P+{at}]"));
        } else {
            let (more, at) = (self.more.clone(), 8 * (number - PARAMETER_CELLS));
            self.line(&format!("ld.global.nc.{ty} {register}, [{more}+{at}]"));
        }
        register
    }

    /// The value of a cell that the sizes of the images decide.
    fn known(&self, cell: Cell) -> Option<String> {
        let sizes = self.kernel.sizes.as_ref()?;
        let size = |image: u32, axis: u8| sizes[image as usize][usize::from(axis)] as i64;
        match cell {
            Cell::Image(image, ImageInfo::Size(axis)) => Some(size(image, axis).to_string()),
            Cell::SizeLess(image, axis, less) => {
                Some(self.number((size(image, axis) - less) as f64, Class::Real))
            }
            _ => None,
        }
    }

    /// The address of the first sample of a component.
    pub(super) fn base(&self, image: u32, component: u32) -> String {
        self.bases[&(image, component)].clone()
    }

    /// A method: its body, and the changes of the state. Operations that are computed already are left out.
    fn method(&mut self, function: &Function<Device>, status: &str) {
        self.block(function, &function.body);
        let yields = &function.body.yields;
        let mut moves = vec![(
            Class::Int,
            status.to_string(),
            self.values[&yields[0]].clone(),
        )];
        for (slot, value) in yields[1..].iter().enumerate() {
            let class = Class::of(*function.type_of(*value));
            let (to, from) = (self.state[slot].clone(), self.values[value].clone());
            moves.push((class, to, from));
        }
        self.copy_all(&moves);
    }

    fn block(&mut self, function: &Function<Device>, block: &Block<Device>) {
        for inst in &block.insts {
            let computed = inst.results.first();
            if computed.is_none_or(|value| !self.values.contains_key(value)) {
                self.inst(function, inst);
            }
        }
    }

    /// A nested block; its values are not available after it.
    fn nested(&mut self, function: &Function<Device>, block: &Block<Device>) {
        let known = (self.places.clone(), self.vectors.clone());
        self.block(function, block);
        (self.places, self.vectors) = known;
    }

    fn inst(&mut self, function: &Function<Device>, inst: &Inst<Device>) {
        match &inst.kind {
            Kind::Op(op, args) => self.operation(function, op, args, &inst.results),
            Kind::If {
                condition, then, ..
            } if self.holds(*condition) => {
                self.block(function, then);
                for (result, value) in inst.results.iter().zip(&then.yields) {
                    let register = self.values[value].clone();
                    self.values.insert(*result, register);
                }
            }
            Kind::If {
                condition: holds,
                then,
                otherwise,
            } => {
                let [no, end] = [0; 2].map(|_| self.label());
                let results: Vec<(Class, String)> = inst
                    .results
                    .iter()
                    .map(|value| {
                        let class = Class::of(*function.type_of(*value));
                        (class, self.register(class))
                    })
                    .collect();
                let condition = self.values[holds].clone();
                self.line(&format!("@!{condition} bra {no}"));
                for (block, after) in [(then, Some(&no)), (otherwise, None)] {
                    let bounds = self.bounds.clone();
                    if after.is_some() {
                        self.learn(*holds);
                    }
                    self.nested(function, block);
                    self.bounds = bounds;
                    for ((class, to), value) in results.iter().zip(&block.yields) {
                        let from = self.values[value].clone();
                        self.copy(*class, to, &from);
                    }
                    if let Some(label) = after {
                        self.line(&format!("bra {end}"));
                        self.place_label(label);
                    }
                }
                self.place_label(&end);
                let named = inst.results.iter().zip(results);
                self.values
                    .extend(named.map(|(value, (_, register))| (*value, register)));
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
                let [top, end] = [0; 2].map(|_| self.label());
                let int = self.ty(Class::Int);
                let counter = self.register(Class::Int);
                let (low, high) = (self.values[low].clone(), self.values[high].clone());
                self.copy(Class::Int, &counter, &low);
                self.values.insert(*index, counter.clone());
                let mut registers = Vec::new();
                for (value, first) in carried.iter().zip(init) {
                    let class = Class::of(*function.type_of(*value));
                    let register = self.register(class);
                    let first = self.values[first].clone();
                    self.copy(class, &register, &first);
                    self.values.insert(*value, register.clone());
                    registers.push((class, register));
                }
                let past =
                    self.compute(Class::Truth, &format!("setp.gt.{int}"), &[&counter, &high]);
                self.line(&format!("@{past} bra {end}"));
                self.place_label(&top);
                if *breaks {
                    self.line(&format!("@!{} bra {end}", registers[0].1));
                }
                self.nested(function, body);
                let moves: Vec<_> = registers
                    .iter()
                    .zip(&body.yields)
                    .map(|((class, to), value)| (*class, to.clone(), self.values[value].clone()))
                    .collect();
                self.copy_all(&moves);
                // The last number may be the largest there is.
                let over =
                    self.compute(Class::Truth, &format!("setp.ge.{int}"), &[&counter, &high]);
                self.line(&format!("@{over} bra {end}"));
                self.line(&format!("add.{int} {counter}, {counter}, 1"));
                self.line(&format!("bra {top}"));
                self.place_label(&end);
                let named = inst.results.iter().zip(registers);
                self.values
                    .extend(named.map(|(value, (_, register))| (*value, register)));
            }
        }
    }

    /// The finished text: tables, registers, body.
    fn text(&self) -> String {
        let mut text = String::from(".version 6.2\n.target sm_60\n.address_size 64\n\n");
        for table in &self.tables {
            let taps = weights(table.kernel, table.order, self.lanes.double);
            let numbers: Vec<String> = taps
                .concat()
                .iter()
                .map(|&x| self.number(x, Class::Real))
                .collect();
            let (ty, name) = (self.ty(Class::Real), table.name());
            let list = numbers.join(", ");
            let count = numbers.len();
            let _ = writeln!(text, ".const .align 8 .{ty} {name}[{count}] = {{{list}}};");
        }
        // All of them take the same parameters.
        let bytes = size_of::<Header>() + 8 * self.cells.len().min(PARAMETER_CELLS);
        let threads = Kernel::THREADS;
        for (name, body) in &self.entries {
            let _ = write!(
                text,
                "\n.visible .entry {name}(.param .align 8 .b8 P[{bytes}])\n.maxntid {threads}, 1, 1\n"
            );
            if let Some(most) = self.most.filter(|_| name == Kernel::STRANDS) {
                let _ = writeln!(text, ".maxnreg {most}");
            }
            text += body;
        }
        text
    }

    /// Ends an entry point: its registers and its body.
    fn finish(&mut self, name: &str) {
        let mut text = String::from("{\n");
        for (class, count) in std::mem::take(&mut self.registers) {
            let ty = match class {
                Class::Int | Class::Word | Class::Wide => self.ty(class).replace(['s', 'u'], "b"),
                _ => self.ty(class).to_string(),
            };
            let _ = writeln!(text, "  .reg .{ty} {}<{count}>;", class.prefix());
        }
        if !self.kept.is_empty() {
            self.kept.clear();
            text += &sphere::memory();
        }
        text += &std::mem::take(&mut self.body);
        self.entries.push((name.to_string(), text + "}\n"));
    }
}

/// A constant in single or double precision, by its bits.
fn number(x: f64, double: bool) -> String {
    match double {
        false => format!("0f{:08X}", (x as f32).to_bits()),
        true => format!("0d{:016X}", x.to_bits()),
    }
}
