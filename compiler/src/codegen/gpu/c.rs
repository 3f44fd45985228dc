//! The kernel as C: what the PTX does, for people to read and to embed. It is CUDA C, and plain C where there is no GPU.
//!
//! Methods are functions from the state of a strand to its status. Compiled so that products and sums are not contracted
//! (`nvcc -fmad=false`, `cc -ffp-contract=off`), it gives the bits of the kernel.

mod create;
mod reduce;

use super::{
    header::Header,
    kernel::{Cell, Kernel, PARAMETER_CELLS},
};
use crate::{
    device::{Arithmetic, Device, Op, Table, Ty, Width},
    ir::{Simple, status, weights::weights},
    low::{self, Dynamic},
    ssa::{Block, Function, Inst, Kind, Value},
};
use runtime::world::fate;
use std::fmt::Write;

/// What all kernels begin with, after the types of numbers.
const PRELUDE: &str = include_str!("prelude.c");

/// The text of a kernel.
pub(super) fn print(kernel: &Kernel) -> String {
    let mut printer = CPrinter {
        kernel,
        tables: Vec::new(),
        text: String::new(),
        depth: 1,
        makes_strands: false,
    };
    let mut methods = String::new();
    for function in kernel.methods.iter().flatten() {
        printer.method(function);
        methods += &std::mem::take(&mut printer.text);
    }
    if let Some(creation) = &kernel.creation {
        printer.creation(creation);
        methods += &std::mem::take(&mut printer.text);
    }
    for (number, body) in &kernel.reductions {
        printer.reduction(*number, body);
        methods += &std::mem::take(&mut printer.text);
    }
    let Kernel { lanes, .. } = kernel;
    let real = if lanes.double { "double" } else { "float" };
    let (int, unsigned) = if lanes.long_int {
        ("long long", "unsigned long long")
    } else {
        ("int", "unsigned")
    };
    let mut text = format!(
        "// Compile with -fmad=false (nvcc) or -ffp-contract=off (cc).\n\
         typedef {real} Real;\ntypedef {int} Int;\ntypedef {unsigned} Unsigned;\n{PRELUDE}\n"
    );
    for table in &printer.tables {
        let taps = weights(table.kernel, table.order, lanes.double).concat();
        let numbers: Vec<String> = taps.iter().map(|&x| printer.real(x)).collect();
        let _ = writeln!(
            text,
            "__constant__ static const Real {}[] = {{{}}};",
            table.name(),
            numbers.join(", ")
        );
    }
    text += &(printer.structures() + &methods + &printer.frame());
    if kernel.creation.is_some() {
        text += &printer.maker(kernel.methods[0].is_some());
    }
    if !kernel.reductions.is_empty() {
        text += &printer.reducer();
    }
    text
}

/// The type of a value in C.
fn c_type(ty: Ty) -> &'static str {
    match ty {
        Ty::Scalar(low::Ty::Real) => "Real",
        Ty::Scalar(low::Ty::Int | low::Ty::Str) => "Int",
        Ty::Scalar(low::Ty::Bool) => "bool",
        Ty::Double => "double",
    }
}

fn name(value: Value) -> String {
    format!("v{}", value.0)
}

struct CPrinter<'a> {
    kernel: &'a Kernel,
    tables: Vec<Table>,
    text: String,
    depth: usize,
    /// Whether the function in work makes strands. Its arguments are values of iterators then.
    makes_strands: bool,
}

impl CPrinter<'_> {
    fn line(&mut self, text: &str) {
        let _ = writeln!(self.text, "{}{text}", "    ".repeat(self.depth));
    }

    /// State and parameters.
    fn structures(&self) -> String {
        let mut text = String::from("\n// The state of a strand.\nstruct State {\n");
        for (slot, plane) in self.kernel.planes.iter().enumerate() {
            let _ = writeln!(text, "    {} s{slot};", c_type(Ty::Scalar(plane.ty)));
        }
        let cells = self.kernel.cells.len().clamp(1, PARAMETER_CELLS);
        text += "};\n\n// What every launch is given; cells beyond these are where `more` says.\nstruct Parameters {\n";
        for declaration in Header::IN_C {
            let _ = writeln!(text, "    {declaration};");
        }
        let _ = writeln!(text, "    union Cell cells[{cells}];\n}};");
        for (number, cell) in self.kernel.cells.iter().enumerate() {
            let about = match cell {
                Cell::Global(slot) => format!("global {slot}"),
                Cell::Image(image, info) => format!("image {image}: {info:?}"),
                Cell::SizeLess(image, axis, n) => {
                    format!("image {image}: size {axis} less {n}, as a real")
                }
                Cell::Samples(image, component) => {
                    format!("samples of image {image}, component {component}")
                }
                Cell::Intervals(image) => format!("intervals of time of image {image}"),
                Cell::Times(image) => format!("begin and rate of these, image {image}"),
                Cell::Mesh(mesh, cell) => format!("mesh {mesh}: {cell:?}"),
                Cell::Contact(image) => format!("probes of image {image}"),
                Cell::Count(set) => format!("strands, {set:?}"),
                Cell::Iterator(axis, what) => format!("iterator {axis}: {what:?}"),
                Cell::Captured(n) => format!("given to a reduction: {n}"),
            };
            let _ = writeln!(text, "// cell {number}: {about}");
        }
        text
    }

    /// A cell as a member of the union.
    fn cell(&self, cell: Cell, member: &str) -> String {
        let number = self.kernel.cells.iter().position(|known| *known == cell);
        let number = number.expect("a cell of the kernel");
        match number.checked_sub(PARAMETER_CELLS) {
            None => format!("P->cells[{number}].{member}"),
            Some(beyond) => format!("P->more[{beyond}].{member}"),
        }
    }

    fn method(&mut self, function: &Function<Device>) {
        let _ = writeln!(
            self.text,
            "\n__device__ static Int method_{}(const struct Parameters *P, struct State *S) {{",
            function.name.replace('-', "_")
        );
        self.line("(void)P;");
        self.block(function, &function.body);
        // State is read before any of it changes: a value may be that of another slot.
        for (slot, value) in function.body.yields[1..].iter().enumerate() {
            let line = format!("S->s{slot} = {};", name(*value));
            self.line(&line);
        }
        let line = format!("return {};\n}}", name(function.body.yields[0]));
        self.line(&line);
    }

    fn block(&mut self, function: &Function<Device>, block: &Block<Device>) {
        for inst in &block.insts {
            self.inst(function, inst);
        }
    }

    /// Declares values that are assigned later.
    fn declare(&mut self, function: &Function<Device>, values: &[Value]) {
        for value in values {
            let line = format!("{} {};", c_type(*function.type_of(*value)), name(*value));
            self.line(&line);
        }
    }

    fn assign(&mut self, to: &[Value], from: &[Value]) {
        for (to, from) in to.iter().zip(from) {
            let line = format!("{} = {};", name(*to), name(*from));
            self.line(&line);
        }
    }

    fn inst(&mut self, function: &Function<Device>, inst: &Inst<Device>) {
        match &inst.kind {
            Kind::Op(op, args) => {
                let given: Vec<String> = args.iter().map(|v| name(*v)).collect();
                if let Some(expression) = self.operation(op, &given) {
                    let result = inst.results[0];
                    let ty = c_type(*function.type_of(result));
                    let line = format!("const {ty} {} = {expression};", name(result));
                    self.line(&line);
                }
            }
            Kind::If {
                condition,
                then,
                otherwise,
            } => {
                self.declare(function, &inst.results);
                let line = format!("if ({}) {{", name(*condition));
                self.line(&line);
                for (block, end) in [(then, "} else {"), (otherwise, "}")] {
                    self.depth += 1;
                    self.block(function, block);
                    self.assign(&inst.results, &block.yields);
                    self.depth -= 1;
                    self.line(end);
                }
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
                self.declare(function, carried);
                self.assign(carried, init);
                let (i, low, high) = (name(*index), name(*low), name(*high));
                let line = format!("if ({low} <= {high}) for (Int {i} = {low};; ++{i}) {{");
                self.line(&line);
                self.depth += 1;
                if *breaks {
                    let line = format!("if (!{}) break;", name(carried[0]));
                    self.line(&line);
                }
                self.block(function, body);
                // A value that is carried on may be another's next one.
                for (to, from) in carried.iter().zip(&body.yields) {
                    let ty = c_type(*function.type_of(*to));
                    let line = format!("const {ty} n{} = {};", to.0, name(*from));
                    self.line(&line);
                }
                for to in carried {
                    let line = format!("{} = n{};", name(*to), to.0);
                    self.line(&line);
                }
                // The last number may be the largest there is.
                let line = format!("if ({i} == {high}) break;");
                self.line(&line);
                self.depth -= 1;
                self.line("}");
                self.declare(function, &inst.results);
                self.assign(&inst.results, carried);
            }
        }
    }

    fn real(&self, x: f64) -> String {
        if self.kernel.lanes.double {
            return double(x);
        }
        match x as f32 {
            x if x.is_nan() => "(Real)NAN".into(),
            x if x.is_infinite() => format!("({}INFINITY)", if x < 0.0 { "-" } else { "" }),
            x => format!("{x:?}f"),
        }
    }

    /// An operation as an expression; nothing if it gives nothing.
    fn operation(&mut self, op: &Op, given: &[String]) -> Option<String> {
        let at = |n: usize| given[n].as_str();
        Some(match op {
            Op::Low(op) => return self.scalar(op, given),
            Op::Arithmetic(arithmetic, width) => self.arithmetic(*arithmetic, *width, given),
            Op::Double(x) => double(x.get()),
            Op::SelectDouble => format!("{} ? {} : {}", at(0), at(1), at(2)),
            Op::BitAnd => format!("number(bits({}) & bits({}))", at(0), at(1)),
            Op::BitOr => format!("number(bits({}) | bits({}))", at(0), at(1)),
            Op::ShiftLeft(n) => format!("number(bits({}) << {n})", at(0)),
            Op::ShiftRight(n) => format!("number(bits({}) >> {n})", at(0)),
            Op::Widen => at(0).to_string(),
            Op::Narrow => format!("(Real){}", at(0)),
            Op::ToInt => format!("(Int){}", at(0)),
            Op::Load {
                image,
                component,
                ahead,
            } => {
                let packs = &self.kernel.packs;
                let pack = packs.iter().find(|pack| pack.image == *image);
                let first = pack.map_or(*component, |pack| pack.components[0]);
                let samples = self.cell(Cell::Samples(*image, first), "samples");
                let index = format!("((long long){} + {ahead})", at(0));
                match pack {
                    None => format!("{samples}[{index}]"),
                    Some(pack) => {
                        let (stride, place) = (pack.stride(), pack.place(*component));
                        format!("{samples}[{index}*{stride} + {place}]")
                    }
                }
            }
            Op::Coefficient(table, power) => {
                if !self.tables.contains(table) {
                    self.tables.push(*table);
                }
                let terms = weights(table.kernel, table.order, self.kernel.lanes.double)[0].len();
                format!("{}[{}*{terms} + {power}]", table.name(), at(0))
            }
            Op::Intervals(image) => self.cell(Cell::Intervals(*image), "integer"),
            Op::IntervalBegin(image) => {
                let times = self.cell(Cell::Times(*image), "samples");
                format!("{times}[2*{}]", at(0))
            }
            Op::IntervalRate(image) => {
                let times = self.cell(Cell::Times(*image), "samples");
                format!("{times}[2*{} + 1]", at(0))
            }
            Op::Mesh(op) => unreachable!("`{op}` in C"),
            // A kernel in C gives results only, no warnings.
            Op::Notice(_) => return None,
            Op::Leave => {
                let line = format!("if ({}) return LEAVE;", at(0));
                self.line(&line);
                return None;
            }
        })
    }

    fn arithmetic(&self, arithmetic: Arithmetic, width: Width, given: &[String]) -> String {
        let single = width == Width::Real && !self.kernel.lanes.double;
        let call = |function: &str| {
            let suffix = if single { "f" } else { "" };
            format!("{function}{suffix}({})", given.join(", "))
        };
        let between = |operator: &str| given.join(&format!(" {operator} "));
        match arithmetic {
            Arithmetic::Add => between("+"),
            Arithmetic::Sub => between("-"),
            Arithmetic::Mul => between("*"),
            Arithmetic::Div => between("/"),
            Arithmetic::Neg => format!("-{}", given[0]),
            Arithmetic::Fma => call("fma"),
            Arithmetic::Sqrt => call("sqrt"),
            Arithmetic::Floor => call("floor"),
            Arithmetic::Abs => call("fabs"),
            Arithmetic::CopySign => call("copysign"),
            Arithmetic::Min => format!("{} ? {} : {}", between("<"), given[0], given[1]),
            Arithmetic::Max => format!("{} ? {} : {}", between(">"), given[0], given[1]),
            Arithmetic::Less => between("<"),
            Arithmetic::LessEqual => between("<="),
            Arithmetic::Equal => between("=="),
        }
    }

    fn scalar(&mut self, op: &low::Op, given: &[String]) -> Option<String> {
        let at = |n: usize| given[n].as_str();
        let member = |ty: low::Ty| match ty {
            low::Ty::Real => "real",
            low::Ty::Int | low::Ty::Str => "integer",
            low::Ty::Bool => "truth",
        };
        Some(match op {
            low::Op::Real(x) => self.real(x.get()),
            low::Op::Int(n) => self.integer(*n),
            low::Op::Bool(b) => b.to_string(),
            low::Op::Str(text) => {
                let known = self.kernel.strings.iter().find(|(known, _)| known == text);
                self.integer(known.expect("a string of the kernel").1)
            }
            low::Op::State(slot, _) => format!("S->s{slot}"),
            low::Op::Arg(n, _) if self.makes_strands => format!("given[{n}]"),
            low::Op::Arg(n, ty) => self.cell(Cell::Captured(*n), member(*ty)),
            low::Op::Global(slot, ty) => {
                let cell = Cell::of_global(*slot, &self.kernel.ends);
                self.cell(cell, member(*ty))
            }
            low::Op::Image(image, info) => {
                let ty = match info.is_int() {
                    true => low::Ty::Int,
                    false => low::Ty::Real,
                };
                self.cell(Cell::Image(*image, *info), member(ty))
            }
            low::Op::Dynamic(Dynamic::Count(set)) => self.cell(Cell::Count(*set), "integer"),
            low::Op::Simple(simple) => operator(*simple, given),
            low::Op::Select(_) => format!("{} ? {} : {}", at(0), at(1), at(2)),
            low::Op::IntDiv(_) | low::Op::IntRem(_) => {
                let line = format!("if ({} == 0) return LEAVE;", at(1));
                self.line(&line);
                if matches!(op, low::Op::IntDiv(_)) {
                    format!("{1} == -1 ? SUB(0, {0}) : {0} / {1}", at(0), at(1))
                } else {
                    format!("{1} == -1 ? 0 : {0} % {1}", at(0), at(1))
                }
            }
            low::Op::CheckIndex(_) => {
                let line = format!("if ({0} < 0 || {0} >= {1}) return LEAVE;", at(0), at(1));
                self.line(&line);
                return None;
            }
            // Text and new strands have their order on the CPU.
            low::Op::Print(_) | low::Op::Dynamic(Dynamic::New(_)) => {
                self.line("return LEAVE;");
                return None;
            }
            other => unreachable!("`{other}` in a kernel"),
        })
    }

    fn integer(&self, n: i64) -> String {
        match n {
            i64::MIN if self.kernel.lanes.long_int => "(-9223372036854775807LL - 1)".into(),
            _ if self.kernel.lanes.long_int => format!("{n}LL"),
            _ if n as i32 == i32::MIN => "(-2147483647 - 1)".into(),
            _ => (n as i32).to_string(),
        }
    }

    /// What runs the methods of one strand.
    fn frame(&self) -> String {
        let Kernel {
            lanes,
            stride,
            methods,
            ..
        } = self.kernel;
        let [start, update, stabilize] = methods;
        let call = |method: &Option<Function<Device>>| {
            let name = |f: &Function<Device>| format!("method_{}", f.name.replace('-', "_"));
            method.as_ref().map(name)
        };
        let mut text = format!(
            "\n// Runs the strand of a thread.\n\
             __device__ static void run(const struct Parameters *P, unsigned slot) {{\n    \
             if (slot >= P->count) return;\n    \
             const unsigned told = P->fates[slot], before = told >> {bits};\n    \
             const unsigned kind = told & {mask};\n    \
             if (kind != {RUNNING} && kind != {FRESH}) return;\n    \
             char *block = P->state + (size_t)(slot / {width}) * {stride};\n    \
             const unsigned lane = slot % {width};\n    struct State strand, *S = &strand;\n",
            bits = fate::BITS,
            mask = (1 << fate::BITS) - 1,
            RUNNING = fate::RUNNING,
            FRESH = fate::FRESH,
            width = lanes.width,
        );
        text += &self.loads();
        let _ = writeln!(text, "    unsigned steps = 0;\n    Int status = 0;");
        if let Some(start) = call(start) {
            let _ = writeln!(
                text,
                "    if (kind == {fresh}) {{\n        status = {start}(P, S);\n        \
                 if (status == {} || status == {} || status == LEAVE) steps = 1;\n        else status = 0;\n    }}",
                status::STABILIZE,
                status::DIE,
                fresh = fate::FRESH,
            );
        }
        let update = call(update).expect("strands have an update method");
        let stable = call(stabilize).map_or(String::new(), |stabilize| {
            format!(" && {stabilize}(P, S) != LEAVE")
        });
        let ends = format!(
            "status == {} || status == {} || status == LEAVE",
            status::STABILIZE,
            status::DIE
        );
        let _ = writeln!(
            text,
            "    while (!({ends}) && steps < P->steps) {{\n        status = {update}(P, S);\n        if (status != LEAVE) ++steps;\n    }}\n    \
             unsigned fate = {RUNNING};\n    if (status == {STABILIZE}) {{\n        fate = {STABLE};\n        \
             if (!(true{stable})) fate = {LEFT};\n    }} else if (status == {DIE}) fate = {DEAD};\n    \
             else if (status == LEAVE) fate = {LEFT};\n    P->flags[fate == {RUNNING} ? {GOES_ON} : fate == {LEFT} ? {IS_LEFT} : {ENDED}] = 1;\n    if (fate != {LEFT}) {{",
            GOES_ON = Header::GOES_ON / 4,
            ENDED = Header::ENDED / 4,
            IS_LEFT = Header::LEFT / 4,
            RUNNING = fate::RUNNING,
            STABLE = fate::STABLE,
            DEAD = fate::DEAD,
            LEFT = fate::LEFT,
            STABILIZE = status::STABILIZE,
            DIE = status::DIE,
        );
        let _ = write!(
            text,
            "{}    }}\n    P->fates[slot] = (steps + before) << {} | fate;\n}}\n\n{}",
            self.stores("        "),
            fate::BITS,
            ENTRY
        );
        text
    }
}

impl CPrinter<'_> {
    /// The place of a scalar of the state in memory.
    fn place(&self, slot: usize, ty: &str) -> String {
        let plane = &self.kernel.planes[slot];
        let (offset, stride) = (plane.offset, plane.stride);
        format!("*({ty} *)(block + {offset} + lane*{stride})")
    }

    /// The statements that load the state.
    fn loads(&self) -> String {
        let mut text = String::new();
        for (n, plane) in self.kernel.planes.iter().enumerate() {
            let loaded = match plane.ty {
                low::Ty::Real => self.place(n, "Real"),
                low::Ty::Bool => format!("{} != 0", self.place(n, "Int")),
                low::Ty::Int | low::Ty::Str => self.place(n, "Int"),
            };
            let _ = writeln!(text, "    S->s{n} = {loaded};");
        }
        text
    }

    /// The statements that store the state.
    fn stores(&self, indent: &str) -> String {
        let mut text = String::new();
        for (n, plane) in self.kernel.planes.iter().enumerate() {
            let wide = plane.stride == 8 && !self.kernel.lanes.long_int;
            let int = if wide { "long long" } else { "Int" };
            let (ty, value) = match plane.ty {
                low::Ty::Real => ("Real", format!("S->s{n}")),
                low::Ty::Bool => (int, format!("-({int})S->s{n}")),
                low::Ty::Int | low::Ty::Str => (int, format!("S->s{n}")),
            };
            let _ = writeln!(text, "{indent}{} = {value};", self.place(n, ty));
        }
        text
    }
}

/// The entry points: kernels, or functions for one thread. One puts the samples of an image's component among those of
/// others.
const ENTRY: &str = include_str!("entries.c");

/// An entry point: a kernel, or a function for one thread. `run` is the function of a thread.
fn entry(name: &str, run: &str) -> String {
    let threads = Kernel::THREADS;
    format!(
        "#ifdef __CUDACC__
extern \"C\" __global__ void __launch_bounds__({threads}) {name}(const struct Parameters P) {{
    {run}(&P, blockIdx.x*blockDim.x + threadIdx.x);
}}
#else
void {name}(const struct Parameters *P, unsigned thread) {{ {run}(P, thread); }}
#endif
"
    )
}

fn double(x: f64) -> String {
    match x {
        x if x.is_nan() => "(double)NAN".into(),
        x if x.is_infinite() => format!("({}(double)INFINITY)", if x < 0.0 { "-" } else { "" }),
        x => format!("{x:?}"),
    }
}

fn operator(simple: Simple, given: &[String]) -> String {
    let between = |operator: &str| given.join(&format!(" {operator} "));
    let wrapping = |function: &str| format!("{function}({})", given.join(", "));
    match simple {
        Simple::Add => between("+"),
        Simple::Sub => between("-"),
        Simple::Mul => between("*"),
        Simple::Div => between("/"),
        Simple::Neg => format!("-{}", given[0]),
        Simple::Less | Simple::IntLess => between("<"),
        Simple::LessEqual | Simple::IntLessEqual => between("<="),
        Simple::Equal | Simple::IntEqual | Simple::StrEqual => between("=="),
        Simple::IntAdd => wrapping("ADD"),
        Simple::IntSub => wrapping("SUB"),
        Simple::IntMul => wrapping("MUL"),
        Simple::IntNeg => format!("SUB(0, {})", given[0]),
        Simple::ToReal => format!("(Real){}", given[0]),
        Simple::And => between("&&"),
        Simple::Or => between("||"),
        Simple::Not => format!("!{}", given[0]),
    }
}
