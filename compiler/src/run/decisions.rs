//! The decisions of a run: tables of what comparisons give, from bounds of the images and the values of globals.

use super::images::Images;
use crate::{
    codegen::{Compiled, abi},
    ir::{
        leaf::{Convolution, ImageInfo},
        weights::{pieces, real},
    },
    low::{
        Low, Op, Ty,
        interval::{Facts, Followed, Known, Reals},
    },
    ssa::{Function, Role},
};
use ein_ir::ops::Border;
use runtime::{
    memory::{self, Claim},
    probe::{Decisions, EDGE, Judge, KernelPieces, LineBounds, ProbeImage, Range, Spread, Verdict},
};
use std::{
    ffi::c_void,
    sync::{Arc, PoisonError, RwLock},
};

/// The tables of a run, and the places of all tables that its code reads.
pub(super) struct Deciders {
    /// What the places after those of the fields point to.
    tables: Vec<Option<Box<Decisions<'static>>>>,
    /// The addresses of the fields and of the tables.
    places: Vec<*const c_void>,
    known: Arc<Context>,
    /// Keeps the images that the tables are about; dropped after them.
    _images: Images,
    _claim: Claim,
}

// SAFETY: the pointers lead to images and tables that are kept here, and tables may be used by many threads.
unsafe impl Send for Deciders {}
// SAFETY: as above.
unsafe impl Sync for Deciders {}

/// The values that comparisons read.
struct Context {
    double: bool,
    /// The slots of the globals, and their contents.
    slots: Vec<u32>,
    globals: RwLock<Vec<u64>>,
    /// The properties of the images.
    cells: Vec<u64>,
    /// Bounds of the fields of one dimension.
    lines: Vec<(Arc<Convolution>, LineBounds)>,
}

impl Deciders {
    /// Tables for the comparisons of a program, without verdicts.
    pub(super) fn new(program: &Compiled, images: &Images) -> Deciders {
        let comparisons = program.comparisons();
        let mut places = images.fields().to_vec();
        let image_of = |field: &Convolution| {
            let index = program.code.linker().field_index(field);
            // SAFETY: the addresses of fields are those of probe images, which live as long as the images that are kept beside the
            // tables.
            unsafe { &*images.fields()[index].cast::<ProbeImage<'static>>() }
        };
        let spread = |field: &Convolution| {
            let kernels: Vec<KernelPieces> = field.kernels.iter().map(|k| pieces(*k)).collect();
            Spread::new(&kernels, real(program.lanes.double))
        };
        let (mut slots, mut lines) = (Vec::new(), Vec::new());
        for (_, function) in comparisons.iter().flatten() {
            function.each_op(&mut |op, _, _| match op {
                Op::Global(slot, _) if !slots.contains(slot) => slots.push(*slot),
                Op::Probe(field, _) if field.dim() == 1 && field.time.is_none() => {
                    if let Some(spread) = spread(field) {
                        let support = field.kernels[0].0.support;
                        let line = LineBounds::new(image_of(field), spread, support);
                        lines.push((field.clone(), line));
                    }
                }
                _ => {}
            });
        }
        let known = Arc::new(Context {
            double: program.lanes.double,
            globals: RwLock::new(vec![0; slots.len()]),
            slots,
            cells: images.cells().to_vec(),
            lines,
        });
        // A number for each brick; without memory for them nothing is decided.
        let bytes = |(field, _): &(Arc<Convolution>, _)| -> u64 {
            let sizes = images.grid(field.image as usize).sizes.iter();
            let bricks: u64 = sizes
                .map(|size| size.div_ceil(EDGE as usize) as u64)
                .product();
            bricks * if program.lanes.double { 8 } else { 4 }
        };
        let claim = memory::claim(comparisons.iter().flatten().map(bytes).sum());
        let is_claimed = claim.is_ok();
        let tables: Vec<Option<Box<Decisions<'static>>>> = comparisons
            .into_iter()
            .map(|comparison| {
                let (field, function) = comparison?;
                let mut support = [1; 3];
                for (slot, s) in support.iter_mut().zip(field.supports()) {
                    *slot = usize::from(s);
                }
                let spread = spread(&field).filter(|_| is_claimed);
                let judge = judge(function, known.clone());
                Some(Box::new(Decisions::new(
                    image_of(&field),
                    support,
                    spread,
                    judge,
                )))
            })
            .collect();
        let address = |table: &Option<Box<Decisions<'static>>>| match table {
            Some(table) => std::ptr::from_ref(&**table).cast(),
            None => std::ptr::null(),
        };
        places.extend(tables.iter().map(address));
        Deciders {
            tables,
            places,
            known,
            _images: images.clone(),
            _claim: claim.unwrap_or_default(),
        }
    }

    /// The addresses of the fields of the program, and of the decisions of its comparisons.
    pub(super) fn places(&self) -> &[*const c_void] {
        &self.places
    }

    /// Takes over the values of globals, which have been computed. Verdicts that follow from others are forgotten.
    pub(super) fn learn(&self, global: impl Fn(usize) -> u64) {
        let slots = self.known.slots.iter();
        let now: Vec<u64> = slots.map(|&slot| global(slot as usize)).collect();
        let mut known = self
            .known
            .globals
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        if *known != now {
            *known = now;
            let tables = self.tables.iter().flatten();
            tables.for_each(|table| table.forget());
        }
    }
}

/// Follows a comparison.
fn judge(function: Function<Low>, known: Arc<Context>) -> Judge {
    let function = Followed::new(function);
    Box::new(move |values| {
        let globals = known.globals.read();
        let now = Now {
            context: &known,
            globals: &globals.unwrap_or_else(PoisonError::into_inner),
        };
        match function.follow(values, &now) {
            Known::Truth(true, false) => Verdict::True,
            Known::Truth(false, true) => Verdict::False,
            _ => Verdict::Open,
        }
    })
}

/// The values that comparisons read, at one time.
struct Now<'a> {
    context: &'a Context,
    globals: &'a [u64],
}

impl Context {
    fn real(&self, cell: u64) -> f64 {
        match self.double {
            true => f64::from_bits(cell),
            false => f32::from_bits(cell as u32).into(),
        }
    }
}

impl Facts for Now<'_> {
    fn is_double(&self) -> bool {
        self.context.double
    }

    fn global(&self, slot: u32, ty: Ty) -> Known {
        let Some(n) = self.context.slots.iter().position(|known| *known == slot) else {
            return Known::Any;
        };
        let cell = self.globals[n];
        match ty {
            Ty::Real => Known::Real(Reals::one(self.context.real(cell))),
            Ty::Bool => {
                let truth = cell as u8 != 0;
                Known::Truth(truth, !truth)
            }
            Ty::Int | Ty::Str => Known::Any,
        }
    }

    fn image(&self, image: u32, info: ImageInfo) -> f64 {
        let cell = self.context.cells[abi::images::cell(image, info)];
        self.context.real(cell)
    }

    fn line(&self, field: &Convolution, component: usize, at: Range) -> Option<Range> {
        let (_, line) = self
            .context
            .lines
            .iter()
            .find(|(known, _)| **known == *field)?;
        // Beyond such borders, values go on as they are at the border; others are repeated, and infinity has none.
        let endless = matches!(field.border, Border::Clamp | Border::Constant(_));
        line.of(component, at, endless)
    }
}

impl Compiled {
    /// The comparisons that bounds decide, and the fields that they are about; none for a number that no code uses.
    fn comparisons(&self) -> Vec<Option<(Arc<Convolution>, Function<Low>)>> {
        let program = self.low();
        let mut fields: Vec<Option<Arc<Convolution>>> = Vec::new();
        for (_, function) in &program.functions {
            function.each_op(&mut |op, _, _| {
                if let Op::Decide(number, field) = op {
                    let number = *number as usize;
                    fields.resize(fields.len().max(number + 1), None);
                    fields[number] = Some(field.clone());
                }
            });
        }
        let comparison = |(number, field): (u32, Option<Arc<Convolution>>)| {
            let function = program.function(Role::Decide(number));
            Some((field?, function?.clone()))
        };
        (0..).zip(fields).map(comparison).collect()
    }
}
