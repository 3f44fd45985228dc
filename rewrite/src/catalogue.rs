//! All laws by which a term may change, collected from the tables that have them.

use crate::{
    laws::{CONSTRUCTION, Law},
    rules::RULES,
    simplify::STEPS,
};

/// All laws: the rules of the e-graph, the steps of the simplifier, and the laws of construction.
pub fn laws() -> impl Iterator<Item = Law> {
    let law = |name, statement| Law { name, statement };
    let rules = RULES.iter().map(move |rule| law(rule.name, rule.law));
    let steps = STEPS.iter().map(move |step| law(step.name, step.law));
    rules.chain(steps).chain(CONSTRUCTION.iter().copied())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::laws::Construction;
    use std::collections::BTreeSet;

    #[test]
    fn every_law_has_a_name_of_its_own() {
        let names: BTreeSet<&str> = laws().map(|law| law.name).collect();
        assert_eq!(names.len(), laws().count());
        assert_eq!(CONSTRUCTION.len(), Construction::Zero as usize + 1);
    }
}
