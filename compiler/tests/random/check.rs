//! Runs a program in many ways that must agree.
//!
//! The truth about a program in a precision is what the interpreter makes of its Device-IR, where everything is an operation of the machine:
//! portable code and code for vectors give the same bits. High-IR and Low-IR agree with it within rounding, in double precision.

use super::on_demand;
use super::program::{Dice, STEPS};
use super::stages::Case;
use compiler::{
    codegen::{self, Compiled},
    device,
    front::{
        diag::{Diagnostic, Severity},
        source::Source,
    },
    interpret::{LEFT, Numbers, Outcome, Runnable, interpret, primitives::EvalImage},
    low::{self, Bounds, Low, Zeros},
    pipeline::{self, Lowered, Options, Session, Stopped, WIDTHS},
    ssa::{Interrupt, Program},
};
use runtime::simd::Isa;
use std::{
    cell::RefCell,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Once},
};

/// Rounding in double precision, after it was fed back through all super-steps.
const ROUNDING: f64 = 1e-6;

/// The way in which nothing has run yet.
pub(crate) const COMPILING: &str = "compiling";

/// In which ways a program is run.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Ways {
    /// In some that follow from a number.
    Few(u64),
    /// In all.
    All,
}

/// A fault of a program, and the way in which it was run.
#[derive(Clone, Debug)]
pub(crate) struct Wrong {
    pub(crate) way: String,
    pub(crate) what: String,
}

impl Wrong {
    /// Whether roundings that differ may be the cause: normalization is not exact to the bit.
    pub(crate) fn is_rounding(&self) -> bool {
        self.way == HIGH_IR && !self.what.starts_with("panicked")
    }
}

/// The way of a program that is interpreted before normalization.
const HIGH_IR: &str = "High-IR";

/// One sort of machine code.
#[derive(Clone, Copy, Debug)]
struct Machine {
    isa: Isa,
    width: usize,
    double: bool,
    long_int: bool,
}

thread_local! {
    static PANIC: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Does something that may panic, which is wrong.
fn guarded<T>(way: &str, work: impl FnOnce() -> Result<T, String>) -> Result<T, Wrong> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            // Panics of the tests themselves are reported as usual.
            if PANIC.with_borrow(|text| text == "expected") {
                PANIC.set(info.to_string());
            } else {
                usual(info);
            }
        }));
    });
    PANIC.set("expected".into());
    let done = catch_unwind(AssertUnwindSafe(work));
    let panic = PANIC.take();
    let wrong = |what| Wrong {
        way: way.to_string(),
        what,
    };
    match done {
        Ok(done) => done.map_err(wrong),
        Err(_) => Err(wrong(panic)),
    }
}

/// Compiles a program and runs it; gives the first way that is wrong.
pub(crate) fn check(text: &str, ways: Ways) -> Result<(), Wrong> {
    let mut case = Case::new(Source::new("random.diderot", text));
    case.limit = STEPS;
    let mut dice = match ways {
        Ways::Few(seed) => Some(Dice::new(!seed)),
        Ways::All => None,
    };
    // What numbers have how many bits.
    let numbers = |double, long_int| Numbers { double, long_int };
    let all = [
        numbers(false, false),
        numbers(true, false),
        numbers(true, true),
    ];
    let sorts = match &mut dice {
        Some(dice) => vec![all[[0, 0, 0, 0, 1, 1, 1, 2][dice.below(8)]]],
        None => all.to_vec(),
    };
    for numbers in sorts {
        check_with(&mut case, numbers, dice.as_mut())?;
    }
    Ok(())
}

/// The same for one sort of numbers.
fn check_with(case: &mut Case, numbers: Numbers, mut dice: Option<&mut Dice>) -> Result<(), Wrong> {
    let Numbers { double, long_int } = numbers;
    case.long_int = long_int;
    let options = Options {
        long_int,
        // Machine code decides where it can; its truth, Device-IR, always probes.
        bounds: Bounds::All,
        ..Options::default()
    };
    let lowered = guarded(COMPILING, || {
        let lowered = pipeline::lower(&mut Session::default(), &case.source, &options);
        lowered.map_err(|stopped| match stopped {
            Stopped::Errors(messages) => {
                let is_error = |message: &&Diagnostic| message.severity == Severity::Error;
                let error = messages.iter().find(is_error);
                error.map_or_else(String::new, |error| error.message.clone())
            }
            Stopped::Asked => "stopped".into(),
        })
    })?;
    let images = guarded("loading images", || {
        Ok(case.eval_images(&lowered.hoisted.interface))
    })?;
    let mut wanted = precise(&lowered, &images, numbers)?;
    for (n, machine) in machines(numbers, dice.as_deref_mut())
        .into_iter()
        .enumerate()
    {
        let loads_on_demand = match &mut dice {
            Some(dice) => dice.once_in(3),
            None => n % 2 == 1,
        };
        case.on_demand = loads_on_demand.then(on_demand::folder);
        let way = match loads_on_demand {
            true => format!("{machine:?}, images on demand"),
            false => format!("{machine:?}"),
        };
        let found = guarded(&way, || {
            let compiled = generate(&lowered.bounded, machine);
            Ok(case.finish(case.begin(compiled, 1)))
        })?;
        match &wanted {
            Some(wanted) => same_bits(&way, &found, wanted)?,
            None => wanted = Some(found),
        }
    }
    let looks = dice.is_none_or(|dice| dice.once_in(3));
    if let (true, true, Some(wanted)) = (double, looks, &wanted) {
        for (way, found) in [
            (
                HIGH_IR,
                interpreted(HIGH_IR, &lowered.derived, &images, numbers)?,
            ),
            (
                "Low-IR",
                interpreted("Low-IR", &lowered.hoisted, &images, numbers)?,
            ),
        ] {
            close(way, &found, wanted)?;
        }
    }
    Ok(())
}

/// What Device-IR gives. Meshes, images that are too small for it, and arguments that only a primitive serves have no such truth.
fn precise(
    lowered: &Lowered,
    images: &[Arc<EvalImage>],
    numbers: Numbers,
) -> Result<Option<Outcome>, Wrong> {
    let hoisted = &lowered.hoisted;
    let double = numbers.double;
    let demands = device::demands(hoisted, double);
    let is_small = demands.iter().any(|demand| {
        let size = images[demand.image as usize].sizes[demand.axis];
        !(demand.least..=demand.most).contains(&size)
    });
    if is_small || !hoisted.interface.meshes.is_empty() {
        return Ok(None);
    }
    guarded(&format!("Device-IR, {numbers:?}"), || {
        let expanded = hoisted.clone().map(|_, f| device::expand(&f, double));
        match interpret(&expanded, images, numbers, STEPS) {
            Ok(found) => Ok(Some(found)),
            Err(Interrupt::Error { message, .. }) if message == LEFT => Ok(None),
            Err(other) => Err(format!("{other:?}")),
        }
    })
}

fn interpreted<D: Runnable>(
    way: &str,
    program: &Program<D>,
    images: &[Arc<EvalImage>],
    numbers: Numbers,
) -> Result<Outcome, Wrong> {
    guarded(way, || {
        interpret(program, images, numbers, STEPS).map_err(|error| format!("{error:?}"))
    })
}

/// The sorts of machine code for a precision. Portable code takes longest to make, so that few programs have it if few ways are wanted.
fn machines(numbers: Numbers, dice: Option<&mut Dice>) -> Vec<Machine> {
    let Numbers { double, long_int } = numbers;
    let bytes = if double { 8 } else { 4 };
    let portable = |width| Machine {
        isa: Isa::Baseline,
        width,
        double,
        long_int,
    };
    let vectors = [(Isa::Avx2, 32), (Isa::Avx512, 64)];
    let vectors = vectors.into_iter().filter(|(isa, _)| isa.is_available());
    let vectors = vectors.map(|(isa, length)| Machine {
        isa,
        width: length / bytes,
        double,
        long_int,
    });
    let portable: Vec<Machine> = match dice {
        None => WIDTHS.map(portable).to_vec(),
        Some(dice) => match dice.once_in(4) {
            true => vec![portable(WIDTHS[dice.below(WIDTHS.len())])],
            false => vec![],
        },
    };
    portable.into_iter().chain(vectors).collect()
}

fn generate(program: &Program<Low>, machine: Machine) -> Compiled {
    let options = Options {
        double: machine.double,
        long_int: machine.long_int,
        width: Some(machine.width),
        ..Options::default()
    };
    let zeros = Zeros::aligned(&program.interface);
    codegen::generate(
        program.clone(),
        low::fit(program, zeros),
        options.lanes(),
        machine.isa,
        Vec::new(),
    )
}

/// Compares exactly, except for what kind of no number a NaN is.
fn same_bits(way: &str, found: &Outcome, wanted: &Outcome) -> Result<(), Wrong> {
    compare(way, found, wanted, |f, w| f.to_bits() == w.to_bits())?;
    match found.printed == wanted.printed {
        true => Ok(()),
        false => Err(Wrong {
            way: way.to_string(),
            what: format!("prints\n{}wanted\n{}", found.printed, wanted.printed),
        }),
    }
}

fn close(way: &str, found: &Outcome, wanted: &Outcome) -> Result<(), Wrong> {
    compare(way, found, wanted, |f, w| {
        f == w || (f - w).abs() <= ROUNDING * (1.0 + w.abs())
    })
}

fn compare(
    way: &str,
    found: &Outcome,
    wanted: &Outcome,
    agree: impl Fn(f64, f64) -> bool,
) -> Result<(), Wrong> {
    let wrong = |what: String| Wrong {
        way: way.to_string(),
        what,
    };
    if found.outputs.len() != wanted.outputs.len() {
        return Err(wrong("other outputs".into()));
    }
    for ((name, found), (_, wanted)) in found.outputs.iter().zip(&wanted.outputs) {
        if found.len() != wanted.len() {
            return Err(wrong(format!(
                "`{name}` has {} numbers, wanted {}",
                found.len(),
                wanted.len()
            )));
        }
        let pairs = found.iter().zip(wanted);
        let differs = |(&f, &w): (&f64, &f64)| !(f.is_nan() && w.is_nan() || agree(f, w));
        if let Some(n) = pairs.clone().position(differs) {
            let count = pairs.filter(|&pair| differs(pair)).count();
            return Err(wrong(format!(
                "`{name}`[{n}] is {:?}, wanted {:?}; {count} of {} numbers differ",
                found[n],
                wanted[n],
                found.len()
            )));
        }
    }
    Ok(())
}
