//! Transformations of typed programs, after the check and before translation. Each is a function from tree to tree.

mod fuse;

use super::typed::tree::Program;

/// The program after all transformations.
pub(super) fn elaborated(program: Program) -> Program {
    fuse::fused(program)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::front::{CheckOptions, check_parsed, source::Source, syntax, typed::print};

    /// The texts of a program with these statements before and after all transformations.
    fn stages(statements: &str) -> [String; 2] {
        let text = format!(
            "#version 2.0\ninput real a = 0.5;\nstrand S (int i) {{\noutput real y = 0;\nupdate {{ {statements} stabilize; }}\n}}\n\
             create_array {{ S(i) | i in 0..9 }}\n"
        );
        let source = Source::new("test.diderot", text);
        let (ast, errors) = syntax::parse(&source);
        let checked = check_parsed(&source, ast, errors, &CheckOptions::default());
        let program = checked.program.expect("a program without errors");
        [print(&program), print(&elaborated(program))]
    }

    #[test]
    fn a_reduction_is_computed_by_the_steps_of_its_sequence() {
        let [before, after] =
            stages("real[99] x { x[0] = a; x[t in 1..98] = a*x[t-1]; } y = sum[t](x[t]);");
        assert!(before.contains("(steps step") && before.contains("(let total"));
        assert!(after.contains("(steps also total") && !after.contains("(let total"));
    }

    #[test]
    fn code_without_sequences_in_steps_stays_as_it_is() {
        let [before, after] = stages("foreach (int k in 0..i) { y += a*real(k); }");
        assert_eq!(before, after);
    }
}
