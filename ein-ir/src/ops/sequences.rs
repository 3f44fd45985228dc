//! Rows of sequences, reductions and strands.

use super::{Builtin, Level, OpDef, Reduction, StrandSet, Syntax, builtin_row, spelling};
use Builtin::{Count, Reduce, ReduceAtPoints};
use Level::{Atom, Range, Suffix, Sum};
use Syntax::{Call, Form, Infix};

const JOIN: &[Syntax] = &[Infix("@", Sum)];
const ELEMENT: &[Syntax] = &[Form(spelling::ELEMENT, "s[i]", Suffix)];

#[rustfmt::skip]
pub(super) const ROWS: &[OpDef] = &[
    builtin_row("range", &[Infix("..", Range)], "int int -> int{}", Builtin::Range, "the integers from one to another, inclusive"),
    builtin_row("sequence", &[Form(spelling::SEQUENCE, "{a, b, …}", Atom)], "n×η -> η{n}", Builtin::Sequence, "a sequence of given elements"),
    builtin_row("prepend", JOIN, "η η{} -> η{}", Builtin::Prepend, "a sequence with an element before it"),
    builtin_row("append", JOIN, "η{} η -> η{}", Builtin::Append, "a sequence with an element after it"),
    builtin_row("concatenate", JOIN, "η{} η{} -> η{}", Builtin::Concatenate, "two sequences, one after the other"),
    builtin_row("length", &[Call("length")], "τ{} -> int", Builtin::Length, "number of elements"),
    builtin_row("element_fixed", ELEMENT, "τ{n} int -> τ", Builtin::Element, "an element, counted from 0"),
    builtin_row("element", ELEMENT, "τ{} int -> τ", Builtin::Element, "an element, counted from 0"),
    builtin_row("all", &[Call("all")], "bool{} -> bool", Reduce(Reduction::All), "whether all elements hold; true if there is none"),
    builtin_row("exists", &[Call("exists")], "bool{} -> bool", Reduce(Reduction::Exists), "whether an element holds; false if there is none"),
    builtin_row("sum_int", &[Call("sum")], "int{} -> int", Reduce(Reduction::Sum), "sum of the elements; 0 if there is none"),
    builtin_row("sum", &[Call("sum")], "[α]{} -> [α]", Reduce(Reduction::Sum), "sum of the elements; 0 if there is none"),
    builtin_row("product_int", &[Call("product")], "int{} -> int", Reduce(Reduction::Product), "product of the elements; 1 if there is none"),
    builtin_row("product", &[Call("product")], "[]{} -> []", Reduce(Reduction::Product), "product of the elements; 1 if there is none"),
    builtin_row("least_int", &[Call("min")], "int{} -> int", Reduce(Reduction::Min), "the least element; the largest integer if there is none"),
    builtin_row("least", &[Call("min")], "[]{} -> []", Reduce(Reduction::Min), "the least element; ∞ if there is none"),
    builtin_row("greatest_int", &[Call("max")], "int{} -> int", Reduce(Reduction::Max), "the greatest element; the smallest integer if there is none"),
    builtin_row("greatest", &[Call("max")], "[]{} -> []", Reduce(Reduction::Max), "the greatest element; −∞ if there is none"),
    builtin_row("mean", &[Call("mean")], "[α]{} -> [α]", Reduce(Reduction::Mean), "sum divided by the number of elements; NaN if there is none"),
    builtin_row("variance", &[Call("variance")], "[α]{} -> [α]", Reduce(Reduction::Variance), "mean squared difference from the mean, component by component; NaN if there is no element"),
    builtin_row("argmin_int", &[Call("argmin")], "int{} -> int", Reduce(Reduction::ArgMin), "index of the least element, the first of equals; −1 if there is none"),
    builtin_row("argmin", &[Call("argmin")], "[]{} -> int", Reduce(Reduction::ArgMin), "index of the least element, the first of equals; −1 if there is none"),
    builtin_row("argmax_int", &[Call("argmax")], "int{} -> int", Reduce(Reduction::ArgMax), "index of the greatest element, the first of equals; −1 if there is none"),
    builtin_row("argmax", &[Call("argmax")], "[]{} -> int", Reduce(Reduction::ArgMax), "index of the greatest element, the first of equals; −1 if there is none"),
    builtin_row("sum_at_points", &[Call("SUM")], "field(d)[α] [d]{} -> [α]", ReduceAtPoints(Reduction::Sum), "SUM(F, s): the sum of `F` over the points of a sequence"),
    builtin_row("least_at_points", &[Call("MIN")], "field(d)[] [d]{} -> []", ReduceAtPoints(Reduction::Min), "MIN(F, s): the least value of `F` at the points of a sequence"),
    builtin_row("greatest_at_points", &[Call("MAX")], "field(d)[] [d]{} -> []", ReduceAtPoints(Reduction::Max), "MAX(F, s): the greatest value of `F` at the points of a sequence"),
    builtin_row("load_sequence", &[Call("load_sequence"), Call("load")], "string -> η{}", Builtin::LoadSequence, "a sequence from a file; `load` in version 1.0"),
    builtin_row("sphere", &[Call("sphere")], "[] -> strand{}", Builtin::Sphere, "the other strands closer than a radius"),
    builtin_row("sphere_at", &[Call("sphere")], "[α] [] -> strand{}", Builtin::Sphere, "sphere(c, r): the other strands closer to `c` than `r`"),
    builtin_row("num_active", &[Call("numActive")], "-> int", Count(StrandSet::Active), "number of active strands"),
    builtin_row("num_stable", &[Call("numStable")], "-> int", Count(StrandSet::Stable), "number of stable strands"),
    builtin_row("num_strands", &[Call("numStrands")], "-> int", Count(StrandSet::All), "number of active and stable strands"),
    builtin_row("print_ir", &[Call("printIR")], "τ -> int", Builtin::Nothing, "0; older programs use it for debugging"),
    builtin_row("print_ir_to", &[Call("printIR")], "τ string -> int", Builtin::Nothing, "0; older programs use it for debugging"),
];
