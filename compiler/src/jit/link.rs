//! What generated code refers to: primitives of the runtime, tables it reads, and the functions it calls back.

use super::{
    dynamic_host::{self, HostCall},
    frame::{Frame, StatePlane},
    host,
    lanes::Lanes,
};
use crate::{
    image_ref::{FieldRef, KernelRef},
    low::{Dynamic, Orders},
    print_piece::Piece,
};
use ein_ir::{Elementary, mutants};
use runtime::{
    probe::{self, KernelPieces, ProbeKernel, ProbeSpec},
    simd::Real,
    strands::StateLayout,
};
use std::{collections::HashMap, sync::Arc};

/// Collects what a program's code refers to; keeps it alive as long as the code.
#[derive(Debug)]
pub struct Linker {
    /// Whether the functions that follow are methods of strands, rather than global code.
    pub(super) for_strands: bool,
    /// Bytes from one block of the state to the next.
    pub(super) state_stride: usize,
    /// Bytes from one block of published copies to the next.
    pub(super) published_stride: usize,
    fields: Vec<Arc<FieldRef>>,
    strings: Vec<Arc<str>>,
    kernels: HashMap<TableKey, Box<ProbeKernel>>,
    statements: Vec<Arc<PrintStatement>>,
    calls: Vec<Arc<HostCall>>,
    strands_print: bool,
}

/// What a table of weights is made for: kernels, components, orders, strands per call, and whether reals have 64 bits.
type TableKey = (Vec<KernelRef>, usize, Orders, usize, bool);

/// A `print` statement as generated code refers to it.
#[derive(Debug)]
pub(super) struct PrintStatement {
    pub(super) pieces: Arc<[Piece]>,
    pub(super) lanes: Lanes,
}

impl Linker {
    pub(super) fn new(layout: &StateLayout) -> Linker {
        Linker {
            for_strands: true,
            state_stride: layout.stride(),
            published_stride: layout.published_stride(),
            fields: Vec::new(),
            strings: Vec::new(),
            kernels: HashMap::new(),
            statements: Vec::new(),
            calls: Vec::new(),
            strands_print: false,
        }
    }

    /// The leaf fields that the code probes, in the order of the frame's table.
    pub fn fields(&self) -> &[Arc<FieldRef>] {
        &self.fields
    }

    /// Whether strand code prints.
    pub fn strands_print(&self) -> bool {
        self.strands_print
    }

    /// The strings of the program by their numbers.
    pub fn strings(&self) -> &[Arc<str>] {
        &self.strings
    }

    /// The number of a string.
    pub(super) fn intern(&mut self, text: &str) -> i64 {
        let known = self.strings.iter().position(|s| **s == *text);
        known.unwrap_or_else(|| {
            self.strings.push(text.into());
            self.strings.len() - 1
        }) as i64
    }

    /// The place of a field in the frame's table: fields of one image and border share it.
    pub(super) fn field_index(&mut self, field: &Arc<FieldRef>) -> usize {
        let same = |f: &Arc<FieldRef>| f.image == field.image && f.border == field.border;
        self.fields.iter().position(same).unwrap_or_else(|| {
            self.fields.push(field.clone());
            self.fields.len() - 1
        })
    }

    /// The primitive that probes a field, and the table of weights it takes.
    pub(super) fn probe(
        &mut self,
        field: &FieldRef,
        orders: Orders,
        lanes: Lanes,
    ) -> (usize, usize) {
        let pieces: Vec<KernelPieces> = field.kernels.iter().map(|k| pieces(*k)).collect();
        let mut support = [1; 3];
        for (slot, kernel) in support.iter_mut().zip(&pieces) {
            *slot = kernel.support();
        }
        let spec = ProbeSpec {
            real: real(lanes),
            width: lanes.width,
            dim: field.dim(),
            support,
            degree: pieces.iter().map(KernelPieces::degree).max().unwrap_or(0),
            orders: orders.0,
            components: field.shape.size(),
        };
        let key = (
            field.kernels.clone(),
            field.shape.size(),
            orders,
            lanes.width,
            lanes.double,
        );
        let table = self.kernels.entry(key).or_insert_with(|| {
            let axes: Vec<&KernelPieces> = pieces.iter().collect();
            Box::new(
                ProbeKernel::new(&spec, &axes)
                    .unwrap_or_else(|why| panic!("probe of {field}: {why}")),
            )
        });
        let primitive =
            probe::lookup(&spec).unwrap_or_else(|why| panic!("probe of {field}: {why}"));
        (
            primitive as usize,
            std::ptr::from_ref::<ProbeKernel>(table) as usize,
        )
    }

    /// The primitive `fn(args, out)` of an elementary function.
    pub(super) fn math(&self, function: Elementary, lanes: Lanes) -> usize {
        let found = runtime::math::lookup(function.def().primitive, real(lanes), lanes.width);
        found.unwrap_or_else(|why| panic!("{why}")) as usize
    }

    /// The primitive `fn(triangle, out)` of an eigensystem.
    pub(super) fn eigen(&self, n: u8, lanes: Lanes) -> usize {
        runtime::eigen::lookup(usize::from(n), real(lanes), lanes.width)
            .unwrap_or_else(|why| panic!("{why}")) as usize
    }

    /// What a `print` statement prints, by address.
    pub(super) fn pieces(&mut self, pieces: &Arc<[Piece]>, lanes: Lanes) -> usize {
        let statement = Arc::new(PrintStatement {
            pieces: pieces.clone(),
            lanes,
        });
        self.strands_print |= self.for_strands;
        let address = std::ptr::from_ref::<PrintStatement>(&statement) as usize;
        self.statements.push(statement);
        address
    }

    /// The function that prints.
    pub(super) fn print(&self) -> usize {
        type Print = unsafe extern "C" fn(*mut Frame, u32, *const PrintStatement, *const u8);
        let print: Print = if self.for_strands {
            host::print_strands
        } else {
            host::print_global
        };
        print as usize
    }

    /// An operation on sequences or strands, by address.
    pub(super) fn host_call(
        &mut self,
        op: &Dynamic,
        lanes: Lanes,
        state: &Arc<[StatePlane]>,
    ) -> usize {
        let call = Arc::new(HostCall {
            op: op.clone(),
            lanes,
            state: state.clone(),
        });
        let address = std::ptr::from_ref::<HostCall>(&call) as usize;
        self.calls.push(call);
        address
    }

    /// The function that does operations on sequences and strands.
    pub(super) fn dynamic(&self) -> usize {
        type Call = unsafe extern "C" fn(*mut Frame, u32, *const HostCall, *const u8, *mut u8);
        let call: Call = if self.for_strands {
            dynamic_host::call_strands
        } else {
            dynamic_host::call_global
        };
        call as usize
    }

    /// The function that reports a run-time error.
    pub(super) fn report(&self) -> usize {
        type Report = unsafe extern "C" fn(*mut Frame, u32, u32, u32, *const u8);
        let report: Report = if self.for_strands {
            host::report_strands
        } else {
            host::report_global
        };
        report as usize
    }
}

fn real(lanes: Lanes) -> Real {
    if lanes.double { Real::F64 } else { Real::F32 }
}

fn pieces(kernel: KernelRef) -> KernelPieces {
    let pieces = kernel.0.pieces().iter().map(|piece| {
        piece
            .iter()
            .map(|&(n, d)| mutants::coefficient(n.into(), d.into()))
            .collect()
    });
    KernelPieces {
        pieces: pieces.collect(),
    }
}
