//! The checker accepts everything that is emitted, and finds every fault that is seeded.

use super::{Recorded, check};
use crate::codegen::vector::{
    Ends, Machine, Width, emit,
    fault::{self, FAULTS},
    live::Uses,
    prepare,
    target::{Avx2, Avx512, Target},
    tests::{each_function, repository},
    tree::Tree,
};
use crate::front::source::Source;
use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::OnceLock,
};

/// A function before registers are chosen.
struct Case {
    what: String,
    machine: Machine,
    tree: Tree,
    uses: Uses,
}

impl Case {
    /// The result of the checker for the emitted code; none if no code is emitted.
    fn verdict(&self) -> Option<Result<usize, String>> {
        let double = self.machine.lanes.double;
        match self.machine.width {
            Width::Zmm => self.verdict_for(Avx512::new(double)),
            Width::Ymm => self.verdict_for(Avx2::new(double)),
        }
    }

    fn verdict_for<T: Target>(&self, target: T) -> Option<Result<usize, String>> {
        let recorded = Recorded::new(target, true);
        let (recorded, _) = emit::emit(recorded, &self.tree, &self.uses).ok()?;
        let (_, record) = recorded.finish();
        Some(check(&self.tree, &record))
    }
}

/// The functions of a program on all machines.
fn cases(source: &Source, all: &mut Vec<Case>) {
    each_function(source, |found| {
        let (task, isa) = (&found.task, found.isa);
        let ends = Ends::default();
        let prepared = prepare(task, isa, found.planes, &ends, found.linker);
        let (tree, uses) = prepared.unwrap_or_else(|why| panic!("{}: {why}", found.what));
        all.push(Case {
            what: found.what.clone(),
            machine: Machine::new(isa, task.lanes).expect("a machine"),
            tree,
            uses,
        });
    });
}

/// A program to test the statements of `update`: strands with many variables of each kind.
fn program(update: &str) -> Source {
    endless(&format!("{update} if (age > last) {{ stabilize; }}"))
}

/// The same, with strands that end only through statements of `update`.
fn endless(update: &str) -> Source {
    let text = format!(
        "#version 2.0\ninput bool on = true;\ninput int most = 3;\n\
         strand s (int i) {{\n\
         output real a = 0.25*i; output real q = 0; real r = 1; real x = 0.5*i; output int n = i; int age = 0; real last = 3 + i % 3;\n\
         update {{ age += 1; {update} }}\n}}\n\
         create_array {{ s(i) | i in 0..30 }}\n"
    );
    Source::new("small.diderot", text)
}

/// Small programs, each with something that those of the repository may not have.
fn small() -> Vec<Source> {
    const SUMS: &str = "real s0 = a+1; real s1 = a*2; real s2 = a-3; real s3 = a/4; real s4 = a*a; real s5 = a+q; real s6 = q*3; \
         real s7 = q-a; real s8 = r*2; real s9 = x*q; real t0 = x+r; real t1 = x-q; real t2 = x*5; real t3 = r*r; real t4 = x*a; \
         real t5 = a*7; real t6 = a*8; real t7 = x*9; real t8 = q*11; real t9 = r*13;";
    const USES: &str = "q = s0*s1 + s2*s3 + s4*s5 + s6*s7 + s8*s9 + t0*t1 + t2*t3 + t4*t5 + t6*t7 + t8*t9; \
         r = s9 - s8 + s7 - s6 + s5 - s4 + s3 - s2 + s1 - s0 + t0 - t1 + t2 - t3 + t4 - t5 + t6 - t7 + t8 - t9;";
    let mut programs: Vec<Source> = [
        // A condition that is the same for all strands inside one that is not.
        "if (a > 0.5) { if (on) { q = q + a; } }",
        "if (a > 0.5) { if (on) { q = sin(q + a); } else { r = cos(a); } } else { q = r; }",
        "if (on) { if (a > 0.5) { q = sin(a); } else { q = cos(r); } }",
        "if (a > 0.5) { q = sin(a); r = q; if (x > 1) { q = exp(r); x = q + r; } } else { r = cos(a); }",
        // Loops of every kind, with values that change places.
        "foreach (int k in 0..most) { real t = q; q = r; r = t + k; }",
        "foreach (int k in 0..n) { if (x > k) { q = q + sin(x); } else { real t = q; q = r; r = t; } }",
        "foreach (int k in 0..n) { foreach (int l in k..most) { q = q + x*l; if (q > 9) { r = sqrt(q); } } }",
        "if (a > 0.5) { foreach (int k in 0..most) { if (on) { q = q + sin(x); } x = q/(1+k); } }",
        // Values that change places over super-steps.
        "real t = q; q = r; r = x; x = t;",
        // Calls that are rarely made.
        "n = n/(most + 1) + age % (most + 2); q = a*n;",
    ]
    .map(program)
    .into();
    // No lane ends, so nothing but the loop needs to know which lanes run.
    programs.push(endless("foreach (int k in 0..n) { q = q + sin(x*k); }"));
    // More values than registers, over calls, branches and loops.
    for middle in [
        "q = q + sin(x);",
        "if (a > 0.5) { q = sin(s0); } else { r = s1*s2; x = cos(t9); }",
        "foreach (int k in 0..n) { q = q + sin(x*k); if (q > t0) { x = s5 + t5; } }",
        "if (x > 1) { foreach (int k in 0..most) { r = r + s0*k; } } n = n/(most + 1);",
    ] {
        programs.push(program(&format!("{SUMS} {middle} {USES}")));
    }
    programs
}

/// All cases, those of small programs first.
fn all() -> &'static [Case] {
    static ALL: OnceLock<Vec<Case>> = OnceLock::new();
    ALL.get_or_init(|| {
        let mut all = Vec::new();
        for source in small().iter().chain(&repository()) {
            cases(source, &mut all);
        }
        all
    })
}

#[test]
fn everything_that_is_emitted_is_accepted() {
    let mut unseen = 0;
    let mut blamed = Vec::new();
    for case in all() {
        match case.verdict().expect("code") {
            Ok(blocks) => unseen += blocks,
            Err(why) => blamed.push(format!("{}: {why}", case.what)),
        }
    }
    assert!(
        blamed.is_empty(),
        "{} of {}:\n{}",
        blamed.len(),
        all().len(),
        blamed.join("\n")
    );
    assert!(all().len() > 500, "only {} functions", all().len());
    assert_eq!(unseen, 0, "blocks that no sample of the lanes enters");
}

#[test]
fn every_seeded_fault_is_found() {
    let mut missed = Vec::new();
    for &(seeded, _) in FAULTS.iter().filter(|(fault, _)| !fault.is_in_tree()) {
        // A fault may also confuse the emitter so that it finds out itself; then another function must show it.
        let is_found = |case: &&Case| {
            let verdict = catch_unwind(AssertUnwindSafe(|| fault::with(seeded, || case.verdict())));
            matches!(verdict, Ok(Some(Err(_))))
        };
        match all().iter().find(is_found) {
            Some(case) => println!("{seeded:?}: {}", case.what),
            None => missed.push(seeded),
        }
    }
    assert!(missed.is_empty(), "not found: {missed:?}");
}
