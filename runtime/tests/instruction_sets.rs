//! The instruction sets of this machine, which are those that tests of primitives and of generated code cover.

use runtime::simd::Isa;

/// `DIDEROT_REQUIRE_ISA=avx2,avx512` lists sets that must be covered.
#[test]
fn required_instruction_sets_are_covered() {
    let (covered, missing): (Vec<Isa>, Vec<Isa>) =
        Isa::ALL.into_iter().partition(|isa| isa.is_available());
    let names = |sets: &[Isa]| {
        let names: Vec<&str> = sets.iter().map(|isa| isa.name()).collect();
        names.join(", ")
    };
    println!("instruction sets covered: {}", names(&covered));
    if !missing.is_empty() {
        println!("not on this machine, and not covered: {}", names(&missing));
    }
    let required = std::env::var("DIDEROT_REQUIRE_ISA").unwrap_or_default();
    for name in required.split(',').filter(|name| !name.is_empty()) {
        let is_covered = covered.iter().any(|isa| isa.name() == name);
        assert!(is_covered, "`{name}` is required, and is not covered");
    }
}
