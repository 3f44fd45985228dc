//! The corpus of known bugs: expressions on which earlier compilers went wrong, and traps in their rewrite rules.
//!
//! The first ones, up to the determinants of concatenations, are the bugs that the original generator found in the original
//! compiler; most of the others are weaknesses seen in its sources. Each expression is a case like any other; a campaign over
//! the corpus is quick and always worthwhile.

/// What went wrong, and an expression that shows it.
pub const CORPUS: &[(&str, &str)] = &[
    (
        "trace only of matrices as large as the dimension",
        "trace(F3#4[2,2])",
    ),
    (
        "transpose only of matrices as large as the dimension",
        "transpose(F1#4[3,3])",
    ),
    ("restricted indexing", "slice[:,0](F3#4[2,2])"),
    (
        "nested expression in place of a variable",
        "inner(transpose(F2#4[3,3]),normalize(F2#4[3]))",
    ),
    ("determinant of small matrices only", "det(F1#4[3,3])"),
    ("restricted modulate", "modulate(T[4],F2#4[4])"),
    ("cross product of tensor and field", "cross(T[3],F3#4[3])"),
    ("outer product of tensor and field", "outer(T[3],F1#4[2,2])"),
    (
        "permutation symbol with a constant index",
        "slice[1](cross(F3#4[3],F3#4[3]))",
    ),
    ("parameter of a vanished term", "grad(add(T[],F2#4[]))"),
    (
        "the same for a difference of vectors",
        "jacobian(sub(T[3],F3#4[3]))",
    ),
    (
        "summation lost by a rewrite",
        "divergence(mul(F3#4[],F3#4[3]))",
    ),
    (
        "dimension not checked in an optimization",
        "inner(F2#4[4],mul(F2#4[],F2#4[4]))",
    ),
    (
        "vector code without a variable index",
        "slice[0](normalize(F2#4[2]))",
    ),
    (
        "optimization not general enough",
        "outer(neg(F3#4[2]),div(F3#4[3],F3#4[]))",
    ),
    (
        "repeated index in one term",
        "trace(outer(modulate(neg(F2#4[2]),F2#4[2]),F2#4[2]))",
    ),
    (
        "shape and derivative index exchanged",
        "transpose(jacobian(F2#4[2]))",
    ),
    (
        "the same in three dimensions",
        "transpose(jacobian(F3#4[3]))",
    ),
    ("matrices addressed in reverse", "inner(F2#4[2,2],F2#4[2])"),
    ("the same for rows", "slice[1,:](F3#4[3,3])"),
    ("norm of a scalar", "norm(F3#4[])"),
    ("concatenation", "concat2(F2#4[2],F2#4[2])"),
    ("delta on a constant index", "det(concat2(F2#4[2],F2#4[2]))"),
    (
        "the same with three rows",
        "det(concat3(F3#4[3],F3#4[3],F3#4[3]))",
    ),
    (
        "min of max, with a comparison inside",
        "min(max(F2#4[],F2#4[]),F2#4[])",
    ),
    (
        "min with the comparison reversed",
        "min(neg(F1#4[]),F1#4[])",
    ),
    ("zeros minus a", "sub(zeros[3],F3#4[3])"),
    ("a minus zeros", "sub(F2#4[2,2],zeros[2,2])"),
    (
        "sum over a body without the index",
        "mul(trace(identity[3]),F3#4[])",
    ),
    (
        "trace of a scaled identity",
        "trace(mul(F3#4[],identity[3]))",
    ),
    (
        "delta with a free index",
        "modulate(slice[0,:](identity[3]),F3#4[3])",
    ),
    (
        "two permutation symbols with a shared free index",
        "modulate(cross(F3#4[3],F3#4[3]),cross(F3#4[3],F3#4[3]))",
    ),
    (
        "the same where equal components would cancel",
        "sub(slice[0](modulate(cross(F3#4[3]:a,F3#4[3]:b),cross(F3#4[3]:c,F3#4[3]:d))),slice[1](modulate(cross(F3#4[3]:a,F3#4[3]:b),cross(F3#4[3]:c,F3#4[3]:d))))",
    ),
    (
        "permutation symbol and a general matrix",
        "curl(inner(F3#4[3,3],F3#4[3]))",
    ),
    (
        "second derivative of a difference",
        "hessian(sub(F2#4[],F2#4[]))",
    ),
    (
        "second derivative of a quotient",
        "hessian(div(F2#4[],F2#4[]))",
    ),
    (
        "second derivative of a quotient by a tensor",
        "jacobian(grad(div(F3#4[],norm(T[3]))))",
    ),
    (
        "delta of constants beyond one",
        "slice[2](slice[0,:](transpose(mul(F3#4[],identity[3]))))",
    ),
    (
        "derivatives merged that differ",
        "sub(slice[0](grad(F2#4[]:a)),slice[1](grad(F2#4[]:a)))",
    ),
    (
        "sum pushed through a function",
        "sin(inner(F2#4[2],F2#4[2]))",
    ),
    (
        "sum pushed into a denominator",
        "div(F3#4[],inner(F3#4[3],F3#4[3]))",
    ),
    (
        "captured index",
        "inner(inner(F2#4[2,2]:a,F2#4[2,2]:a),inner(F2#4[2,2]:a,F2#4[2]))",
    ),
    (
        "two deltas with different constants",
        "outer(concat2(F2#4[],F2#4[]),concat2(F2#4[],F2#4[]))",
    ),
    (
        "delta beside an equal constant",
        "mul(slice[0](T[2]),concat2(F2#4[],F2#4[]))",
    ),
    (
        "the last of three parts",
        "slice[2](concat3(F1#4[],F1#4[],F1#4[]))",
    ),
    (
        "symmetric and general matrix",
        "add(hessian(F2#4[]),F2#4[2,2])",
    ),
    (
        "general and symmetric matrix",
        "add(F2#4[2,2],hessian(F2#4[]))",
    ),
    (
        "antisymmetric part of a matrix",
        "sub(F3#4[3,3]:a,transpose(F3#4[3,3]:a))",
    ),
    (
        "rotation of a flow, applied to a vector",
        "inner(sub(jacobian(F3#4[3]:a),transpose(jacobian(F3#4[3]:a))),F3#4[3])",
    ),
    ("power zero", "grad(power[0](F2#4[]))"),
    (
        "root times root",
        "mul(sqrt(norm(F2#4[]:a)),sqrt(norm(F2#4[]:a)))",
    ),
    (
        "product of permutation symbols",
        "inner(cross(F3#4[3],F3#4[3]),cross(F3#4[3],F3#4[3]))",
    ),
    ("Hessian of a determinant", "hessian(det(F3#4[3,3]))"),
    (
        "gradient of the norm of a gradient",
        "grad(norm(grad(F3#4[])))",
    ),
    ("chain rule", "grad(compose(F1#4[],F3#4[]))"),
    (
        "condition of a field function on another field",
        "grad(choice(F2#4[],T[],F2#4[]))",
    ),
    (
        "real power of a field with a field as exponent",
        "hessian(pow(F2#4[],F2#4[]))",
    ),
    (
        "angle of two fields in every quadrant",
        "grad(atan2(F2#4[],F2#4[]))",
    ),
    (
        "bounds with one field",
        "jacobian(clamp(T[],F2#4[],F2#4[2]))",
    ),
    (
        "interpolation by a field",
        "divergence(lerp(F2#4[2],T[2],F2#4[]))",
    ),
    (
        "chain rule twice",
        "hessian(compose(F2#4[],mul(0.1,F2#4[2])))",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::{Verdict, check};
    use crate::direct::DirectRunner;
    use crate::label::Case;
    use crate::number::Arithmetic;
    use crate::runner::RunOptions;

    #[test]
    fn no_case_of_the_corpus_is_vacuous() {
        for (name, label) in CORPUS {
            let case: Case = format!("{label}|pos=2").parse().expect(name);
            let verdict = check(
                &case,
                &DirectRunner,
                &RunOptions::default(),
                Arithmetic::Near,
            );
            assert!(
                matches!(verdict, Verdict::Pass { .. }),
                "{name}: {label}: {verdict:?}"
            );
        }
    }
}
