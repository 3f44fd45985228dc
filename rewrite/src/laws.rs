//! The laws that constructors apply by themselves, each with its name and a statement, and the count of laws that were taken.

use crate::{build::Context, simplify::STEPS};

/// A law by which normalization may change a term.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Law {
    /// The name, as statistics and derivations give it.
    pub name: &'static str,
    /// The law in index notation.
    pub statement: &'static str,
}

/// A law that a constructor applies, by its row in [`CONSTRUCTION`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Construction {
    Antisymmetry,
    LikeTerms,
    SumRule,
    ProductRule,
    ChainRule,
    CompositionRule,
    Branches,
    Eigensystem,
    Inverse,
    Constants,
    Probes,
    Positions,
    Decided,
    /// Also written down where a class turns out to vanish.
    Zero,
}

#[rustfmt::skip]
pub(crate) const CONSTRUCTION: &[Law] = &[
    Law { name: "antisymmetry", statement: "e = 0 where exchanging two summed indices turns e into −e" },
    Law { name: "like-terms", statement: "c·x + d·x = (c+d)·x" },
    Law { name: "sum-rule", statement: "∂(a + b) = ∂a + ∂b" },
    Law { name: "product-rule", statement: "∂(a·b) = ∂a·b + a·∂b, ∂xʳ = r·xʳ⁻¹·∂x" },
    Law { name: "chain-rule", statement: "∂f(x) = f′(x)·∂x" },
    Law { name: "composition-rule", statement: "∂ᵢ(F∘G) = Σⱼ ((∂ⱼF)∘G)·∂ᵢG[j]" },
    Law { name: "derivative-of-branches", statement: "∂(a if c else b) = ∂a if c else ∂b" },
    Law { name: "derivative-of-eigensystem", statement: "∂λₖ = eₖ•∂A•eₖ, ∂eₖ = Rₖ•∂A•eₖ, ∂Rₖ = Rₖ•∂A•Rₖ − ∂λₖ·Rₖ•Rₖ − (Rₖ•∂eₖ)⊗eₖ − eₖ⊗(Rₖ•∂eₖ), where Rₖ = Σⱼ eⱼ⊗eⱼ/(λₖ−λⱼ) for j ≠ k" },
    Law { name: "derivative-of-inverse", statement: "∂A⁻¹ = −A⁻¹•∂A•A⁻¹" },
    Law { name: "constant-derivative", statement: "∂c = 0, ∂ᵢx[j] = δ[i,j]" },
    Law { name: "probe-parts", statement: "(a ⊙ b)(x) = a(x) ⊙ b(x), c(x) = c" },
    Law { name: "probe-composition", statement: "(F∘G)(x) = F(G(x)), F∘identity = F" },
    Law { name: "decided-condition", statement: "(a if c else b) = a where c holds, (a if c else a) = a" },
    Law { name: "zero", statement: "0·e = 0, e + 0 = e, ∂0 = 0" },
];

/// The law of classes that turn out to vanish.
pub(crate) const ZERO: &str = CONSTRUCTION[Construction::Zero as usize].name;

const COUNTED: usize = STEPS.len() + CONSTRUCTION.len();

/// How often each step of the simplifier was taken, and each law of construction applied.
#[derive(Clone, Debug)]
pub(crate) struct Taken {
    counts: [usize; COUNTED],
    /// Products that the simplifier gave up on after many steps: equal to the original products, but maybe not simple. There are
    /// none unless the rows of its table work against each other.
    pub(crate) unfinished: usize,
}

impl Default for Taken {
    fn default() -> Taken {
        Taken {
            counts: [0; COUNTED],
            unfinished: 0,
        }
    }
}

impl Taken {
    /// One more step, by its number in the table.
    pub(crate) fn step(&mut self, number: usize) {
        self.counts[number] += 1;
    }

    /// Adds the counts of another run.
    pub(crate) fn add(&mut self, other: &Taken) {
        let counts = self.counts.iter_mut().zip(other.counts);
        counts.for_each(|(sum, n)| *sum += n);
        self.unfinished += other.unfinished;
    }

    /// Every law with how often it was applied, if it was.
    pub(crate) fn counts(&self) -> impl Iterator<Item = (&'static str, usize)> {
        let names = STEPS.iter().map(|step| step.name);
        let names = names.chain(CONSTRUCTION.iter().map(|law| law.name));
        names.zip(self.counts).filter(|(_, count)| *count > 0)
    }

    /// The laws that were applied since.
    pub(crate) fn since(&self, earlier: &Taken) -> Vec<&'static str> {
        let mut new = self.clone();
        let counts = new.counts.iter_mut().zip(earlier.counts);
        counts.for_each(|(n, before)| *n -= before);
        new.counts().map(|(name, _)| name).collect()
    }
}

/// Notes that a constructor applied a law.
pub(crate) fn note(context: &mut dyn Context, law: Construction) {
    context.taken().step(STEPS.len() + law as usize);
}
