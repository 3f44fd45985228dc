//! The addresses that generated code refers to: primitives of the runtime, tables, and the functions it calls back.

use super::{
    StateMap,
    abi::{
        Fem, FemCall, FemOp, HostCall, Lanes, Operate, Print, PrintStatement, Report, StatePlane,
    },
    host,
};
use crate::{
    ir::{
        Orders,
        fem::FemProbe,
        leaf::{Convolution, KernelRef, TimeKernel},
        print_piece::Piece,
        weights::{probe_kernel, real},
    },
    low::{Dynamic, Low, Op},
    ssa::Program,
};
use ein_ir::Elementary;
use runtime::probe::{self, ProbeKernel};
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// Collects what a program's code refers to; keeps it alive as long as the code.
#[derive(Debug)]
pub struct Linker {
    /// Bytes from one block of the state to the next.
    pub(super) state_stride: usize,
    /// Bytes from one block of published copies to the next.
    pub(super) published_stride: usize,
    fields: Vec<Arc<Convolution>>,
    strings: Vec<Arc<str>>,
    fem_probes: Vec<Arc<FemProbe>>,
    /// Where strands keep hints, for each mesh.
    hints: Vec<usize>,
    /// Data that code refers to by address: functions that are compiled at the same time add to it.
    made: Mutex<Made>,
}

/// Data that code refers to by address, so it must not move.
#[derive(Debug, Default)]
struct Made {
    kernels: HashMap<TableKey, Box<ProbeKernel>>,
    statements: Vec<Arc<PrintStatement>>,
    calls: Vec<Arc<HostCall>>,
    fem_calls: Vec<Arc<FemCall>>,
}

/// What a table of weights is made for: kernels, components and frames, orders, strands per call, and whether reals have 64 bits.
type TableKey = (Vec<KernelRef>, [usize; 2], Orders, usize, bool);

impl Linker {
    /// For the code of a program. Numbers stay the same when parts of the code are left out for some images.
    pub(super) fn new(program: &Program<Low>, state: &StateMap) -> Linker {
        let mut linker = Linker {
            state_stride: state.layout.stride(),
            published_stride: state.layout.published_stride(),
            fields: Vec::new(),
            strings: Vec::new(),
            fem_probes: Vec::new(),
            hints: state.hints.clone(),
            made: Mutex::default(),
        };
        for (_, function) in &program.functions {
            function.each_op(&mut |op, _, _| linker.number(op));
        }
        linker
    }

    fn made(&self) -> MutexGuard<'_, Made> {
        self.made.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives a number to what an operation refers to by one.
    fn number(&mut self, op: &Op) {
        match op {
            Op::Str(text) if !self.strings.contains(text) => self.strings.push(text.clone()),
            Op::Probe(field, _)
            | Op::Frame(field)
            | Op::Extremes(field)
            | Op::Ask(field, _)
            | Op::Decide(_, field)
                if self.find(field).is_none() =>
            {
                self.fields.push(field.clone());
            }
            Op::FemProbe(probe) if !self.fem_probes.contains(probe) => {
                self.fem_probes.push(probe.clone());
            }
            _ => {}
        }
    }

    /// The place of the decisions of a comparison in the frame's table: after the fields.
    pub(super) fn decision_index(&self, comparison: u32) -> usize {
        self.fields.len() + comparison as usize
    }

    /// The primitive that decides.
    pub(super) fn decide(&self, lanes: Lanes) -> usize {
        let primitive = probe::lookup_decide(real(lanes.double), lanes.width);
        primitive.unwrap_or_else(|why| panic!("{why}")) as usize
    }

    /// The primitive that finds the extremes of samples.
    pub(super) fn extremes(&self, lanes: Lanes) -> usize {
        let primitive = probe::lookup_extremes(real(lanes.double), lanes.width);
        primitive.unwrap_or_else(|why| panic!("{why}")) as usize
    }

    /// The primitive that takes notice of coordinates along an axis.
    pub(super) fn ask(&self, lanes: Lanes, axis: u8) -> usize {
        probe::lookup_ask(real(lanes.double), axis) as usize
    }

    /// Fields of one image and border share their place.
    fn find(&self, field: &Convolution) -> Option<usize> {
        let same = |f: &Arc<Convolution>| f.image == field.image && f.border == field.border;
        self.fields.iter().position(same)
    }

    /// The leaf fields that the code probes, in the order of the frame's table.
    pub fn fields(&self) -> &[Arc<Convolution>] {
        &self.fields
    }

    /// The strings of the program by their numbers.
    pub fn strings(&self) -> &[Arc<str>] {
        &self.strings
    }

    /// The number of a string.
    pub(super) fn string(&self, text: &str) -> i64 {
        let known = self.strings.iter().position(|s| **s == *text);
        known.expect("a string of the program") as i64
    }

    /// The place of a field in the frame's table.
    pub fn field_index(&self, field: &Convolution) -> usize {
        self.find(field).expect("a field of the program")
    }

    /// The primitive that probes a field, and the table of weights it takes.
    pub(super) fn probe(
        &self,
        field: &Convolution,
        orders: Orders,
        lanes: Lanes,
    ) -> (usize, usize) {
        let key = (
            field.kernels.clone(),
            [field.shape.size(), field.time.map_or(0, TimeKernel::taps)],
            orders,
            lanes.width,
            lanes.double,
        );
        let make = || Box::new(probe_kernel(field, orders, lanes.double, lanes.width));
        let mut made = self.made();
        let table = made.kernels.entry(key).or_insert_with(make);
        let primitive = probe::lookup(table.spec());
        let primitive = primitive.unwrap_or_else(|why| panic!("probe of {field}: {why}"));
        (
            primitive as usize,
            std::ptr::from_ref::<ProbeKernel>(table) as usize,
        )
    }

    /// The primitive that finds the place of a time among frames.
    pub(super) fn frame(&self, lanes: Lanes) -> usize {
        let primitive = probe::lookup_time(real(lanes.double), lanes.width);
        primitive.unwrap_or_else(|why| panic!("{why}")) as usize
    }

    /// The primitive `fn(args, out)` of an elementary function.
    pub(super) fn math(&self, function: Elementary, lanes: Lanes) -> usize {
        let found =
            runtime::math::lookup(function.def().primitive, real(lanes.double), lanes.width);
        found.unwrap_or_else(|why| panic!("{why}")) as usize
    }

    /// The primitive `fn(triangle, out)` of an eigensystem.
    pub(super) fn eigen(&self, n: u8, lanes: Lanes) -> usize {
        runtime::eigen::lookup(usize::from(n), real(lanes.double), lanes.width)
            .unwrap_or_else(|why| panic!("{why}")) as usize
    }

    /// What a `print` statement prints, by address.
    pub(super) fn pieces(&self, pieces: &Arc<[Piece]>, lanes: Lanes) -> usize {
        let statement = Arc::new(PrintStatement {
            pieces: pieces.clone(),
            lanes,
        });
        let address = std::ptr::from_ref::<PrintStatement>(&statement) as usize;
        self.made().statements.push(statement);
        address
    }

    /// The function that prints.
    pub(super) fn print(&self) -> usize {
        host::print as Print as usize
    }

    /// An operation on sequences or strands, by address.
    pub(super) fn host_call(&self, op: &Dynamic, lanes: Lanes, state: &Arc<[StatePlane]>) -> usize {
        let call = Arc::new(HostCall {
            op: op.clone(),
            lanes,
            state: state.clone(),
        });
        let address = std::ptr::from_ref::<HostCall>(&call) as usize;
        self.made().calls.push(call);
        address
    }

    /// The function that does operations on sequences and strands.
    pub(super) fn operate(&self) -> usize {
        host::operate as Operate as usize
    }

    /// The probes of meshes in the code, by the numbers of the calls.
    pub fn fem_probes(&self) -> &[Arc<FemProbe>] {
        &self.fem_probes
    }

    /// The address of the description of an operation on a mesh; `None` for other operations.
    pub(super) fn fem_call(&self, op: &Op, lanes: Lanes) -> Option<usize> {
        let op = match op {
            Op::Locate(mesh, _) => FemOp::Locate {
                mesh: *mesh,
                hints: self.hints[*mesh as usize],
            },
            Op::CellNumber(mesh) => FemOp::Number { mesh: *mesh },
            Op::FemProbe(probe) => {
                let known = self.fem_probes.iter().position(|known| known == probe);
                FemOp::Probe {
                    mesh: probe.mesh,
                    wanted: known.expect("a probe of the program"),
                }
            }
            _ => return None,
        };
        let call = Arc::new(FemCall { op, lanes });
        let address = std::ptr::from_ref::<FemCall>(&call) as usize;
        self.made().fem_calls.push(call);
        Some(address)
    }

    /// The function that does it.
    pub(super) fn fem(&self) -> usize {
        host::fem as Fem as usize
    }

    /// The function that reports a run-time error.
    pub(super) fn report(&self) -> usize {
        host::report as Report as usize
    }
}
