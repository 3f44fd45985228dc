//! Transformations of typed programs, after the check and before translation. Each is a function from tree to tree.

mod fuse;
pub(crate) mod notation;
pub(crate) mod unroll;

use super::{diag::Diagnostic, tree::Program};

/// The program after all transformations, or the errors that they found. Loops are unrolled first, so that index notation has constants in the
/// place of their variables.
pub(super) fn elaborated(program: Program, long_int: bool) -> (Option<Program>, Vec<Diagnostic>) {
    let program = unroll::unrolled(program, long_int);
    let (program, found) = notation::lowered(program, long_int);
    match found.is_empty() {
        true => (Some(fuse::fused(program)), found),
        false => (None, found),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::front::{CheckOptions, check_parsed, source::Source, syntax, tree::print};

    /// The texts of a program with these statements before and after all transformations.
    fn stages(statements: &str) -> [String; 2] {
        let text = format!(
            "#version 2.0\ninput real a = 0.5;\nstrand S (int i) {{\noutput real y = 0;\nupdate {{ {statements} stabilize; }}\n}}\n\
             create_array {{ S(i) | i in 0..9 }}\n"
        );
        stages_of(&text)
    }

    fn stages_of(text: &str) -> [String; 2] {
        let source = Source::new("test.diderot", text.to_owned());
        let (ast, errors) = syntax::parse(&source);
        let checked = check_parsed(&source, ast, errors, &CheckOptions::default());
        let program = checked.program.expect("a program without errors");
        let before = print(&program);
        let (elaborated, found) = elaborated(program, false);
        assert!(found.is_empty(), "{found:#?}");
        let elaborated = elaborated.expect("a program without errors");
        [before, print(&elaborated)]
    }

    /// The statements of a method that have blocks around them alone, without these, and without the first and the last.
    fn statements(program: &str) -> String {
        let lines = program
            .lines()
            .skip_while(|line| !line.contains("update {"));
        let lines = lines.map(str::trim).filter(|line| line.ends_with(';'));
        let all: Vec<&str> = lines.collect();
        all[1..all.len() - 1].join(" ")
    }

    #[test]
    fn a_reduction_is_computed_by_the_steps_of_its_sequence() {
        let [before, after] =
            stages("real[99] x { x[0] = a; x[t in 1..98] = a*x[t-1]; } y = sum[t](x[t]);");
        assert!(
            before.contains("{ x.") && before.contains("sum[t."),
            "{before}"
        );
        assert!(after.contains("(steps also total") && !after.contains("(let total"));
    }

    #[test]
    fn index_notation_is_in_the_tree_until_operators_are_made_of_it() {
        let [before, after] = stages("vec3 v[i] = a*δ[i, 1]; y = max[i](v[i]) + sum[i:2](v[i+1]);");
        for written in [
            "([i.3 in 0..2] = scale_left(a.0, δ[i.3, 1]))",
            "max[i.5 in 0..2](v.4[i.5])",
            "sum[i.6 in 0..1](v.4[add_int(i.6, 1)])",
        ] {
            assert!(before.contains(written), "{written}: {before}");
        }
        let operator = "(λ(a:[3]) | a[1] + a[2])(v.4)";
        assert!(after.contains(operator), "{after}");
        assert!(
            !after.contains("δ[i.") && !after.contains("max[i."),
            "{after}"
        );
    }

    #[test]
    fn a_loop_is_unrolled_where_its_variable_is_an_index_of_a_tensor() {
        let [before, after] = stages(
            "vec4 v = [a, 1, 2, 3]; foreach (int k in 1..2) { real p = v[k]; foreach (int j in 1..k) { y += p^j*v[j+k-1]; } }",
        );
        for written in [
            "foreach (int k.4 in range(1, 2)) {",
            "real p.5 = v.3[k.4];",
            "foreach (int j.6 in range(1, k.4)) {",
            "power(p.5, j.6), v.3[sub_int(add_int(j.6, k.4), 1)]",
        ] {
            assert!(before.contains(written), "{written}: {before}");
        }
        let expected = "real p.8 = v.3[1]; y.2 = add(y.2, scale_left(power(p.8, 1), v.3[1])); \
                        real p.10 = v.3[2]; y.2 = add(y.2, scale_left(power(p.10, 1), v.3[2])); \
                        y.2 = add(y.2, scale_left(power(p.10, 2), v.3[3]));";
        assert_eq!(statements(&after), expected, "{after}");
    }

    #[test]
    fn a_part_by_a_range_is_its_components() {
        let [before, after] = stages("mat3 m = a*identity[3]; vec2 r = (2*m)[1,0:2]; y = r[0];");
        assert!(before.contains("scale_left(2.0, m.3)[1,0:2]"), "{before}");
        let expected = "(let whole.6 = scale_left(2.0, m.3) in concat(whole.6[1,0], whole.6[1,1]))";
        assert!(after.contains(expected), "{after}");
    }

    #[test]
    fn types_that_depend_on_the_variable_of_a_loop_are_those_of_its_values() {
        let [before, after] = stages(
            "vec3 v = [a, 1, 2]; foreach (int k in 2..3) { tensor[k] t = v[0:k]; y += v[k-1]*|t|; }",
        );
        for written in [
            "foreach (int k.4 in range(2, 3)) {",
            "k.4 = 2 {",
            "vec2 t.6 = v.3[0:2];",
            "k.4 = 3 {",
            "vec3 t.7 = v.3[0:3];",
        ] {
            assert!(before.contains(written), "{written}: {before}");
        }
        assert!(!after.contains("foreach"), "{after}");
    }

    #[test]
    fn a_sum_in_a_field_function_is_its_terms() {
        let text = "#version 2.0\nfield#1(1)[] F(x) = sum { x*real(k) | k in 1..3 };\nstrand S (int i) {\noutput real y = F(0.5);\n\
                    update { stabilize; }\n}\ncreate_array { S(i) | i in 0..9 }\n";
        let [before, after] = stages_of(text);
        assert!(before.contains("sum({ "), "{before}");
        assert!(
            !after.contains("sum(") && after.contains("(3 as real)"),
            "{after}"
        );
    }

    #[test]
    fn code_without_sequences_in_steps_stays_as_it_is() {
        let [before, after] = stages("foreach (int k in 0..i) { y += a*real(k); }");
        assert_eq!(before, after);
    }
}
