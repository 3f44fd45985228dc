//! Random programs: arithmetic, fields, sequences, conditionals, loops and exits in any nesting, on values whose size stays
//! bounded.

use crate::stages::Case;
use compiler::front::source::Source;

/// A generator of pseudo-random numbers (xorshift).
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 33) as usize % n
    }

    fn one_of<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices[self.below(choices.len())]
    }
}

/// The types of expressions.
#[derive(Clone, Copy)]
enum Ty {
    Real,
    Int,
    Bool,
    Vec3,
}

/// Variables that can be assigned, by type; `g` and `m` are inputs, `i` and `j` parameters.
const REALS: &[&str] = &["a", "b", "c"];
const INTS: &[&str] = &["p", "q"];
const VECTORS: &[&str] = &["u", "v"];

/// The program of a seed; a failing one is printed by the test that runs it.
pub(crate) fn program(seed: u64) -> Case {
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15 ^ (seed + 1).wrapping_mul(0x2545_f491_4f6c_dd1d));
    for _ in 0..8 {
        dice.below(2);
    }
    let mut text = String::from(
        "#version 2.0
input real g = 0.75;
input int m = 3;
real h = g*g + 1;
function real f (real x, int n) {
    if (x > 1.5) return 1.5;
    foreach (int k in 0..2) {
        if (k == n) return x*0.5;
    }
    return -x;
}
field#2(2)[] F = bspln3 ⊛ clamp(load_image(\"data/check-oriented.nrrd\"));
field#2(2)[] G(x) = F(x)*0.05 if x[0] > 10.5 else 0.05*F(x) + x[1]/8;
field#0(2)[] H(x) = f(0.05*F(x), 1) if inside(x, F) else 0.25;
strand s (int i, int j) {
    output real a = 0.25*i;
    output real b = 0.125*j - 1;
    real c = 0.5;
    output int p = i - j;
    int q = 2*j;
    output vec3 u = [i, j, 1]/8.0;
    vec3 v = [0.5, -0.25, 1];
    vec2 w = [0.25*i, 0.5*j - 0.5];
    real[3] s3 = {0.5, 0.25*i, -1};
    output real[] d = {0.125*j};
    int age = 0;
    update {
        age += 1;
",
    );
    for _ in 0..3 + dice.below(5) {
        text.push_str(&statement(&mut dice, 3));
    }
    text.push_str("        if (age > 3 + i % 3) stabilize;\n    }\n");
    if dice.below(2) == 0 {
        text.push_str("    stabilize {\n        a = 2*a - b;\n    }\n");
    }
    // The strands of a grid cannot die.
    let create = if text.contains("die;") {
        "create_collection"
    } else {
        "create_array"
    };
    text.push_str("}\n");
    text.push_str(create);
    text.push_str(" { s(i, j) | i in 0..4, j in 0..3 }\n");
    let mut case = Case::new(Source::new(format!("random-{seed}.diderot"), text));
    case.limit = 10;
    case
}

fn statement(dice: &mut Dice, depth: usize) -> String {
    let choices = if depth == 0 { 6 } else { 11 };
    match dice.below(choices) {
        // Sines, remainders and divisions keep values small however often they are fed back.
        0 | 1 => format!(
            "{} = sin({});\n",
            dice.one_of(REALS),
            expression(dice, Ty::Real, 4)
        ),
        2 => format!(
            "{} = ({}) % 17;\n",
            dice.one_of(INTS),
            expression(dice, Ty::Int, 3)
        ),
        3 => {
            let e = expression(dice, Ty::Vec3, 3);
            format!("{} = ({e})/(1 + |{e}|);\n", dice.one_of(VECTORS))
        }
        4 => format!(
            "w = [sin({}), sin({})];\n",
            expression(dice, Ty::Real, 2),
            expression(dice, Ty::Real, 2)
        ),
        5 => match dice.below(3) {
            0 => format!("d = d @ cos({});\n", expression(dice, Ty::Real, 2)),
            1 => "d = {d[0]};\n".into(),
            _ => format!(
                "s3 = {{s3[1], sin({}), s3[0]}};\n",
                expression(dice, Ty::Real, 2)
            ),
        },
        6 | 7 => {
            let condition = expression(dice, Ty::Bool, 3);
            let then = block(dice, depth - 1);
            match dice.below(3) {
                0 => format!("if ({condition}) {then}"),
                _ => format!("if ({condition}) {then} else {}", block(dice, depth - 1)),
            }
        }
        8 => format!(
            "foreach (int k{depth} in 0..{}) {}",
            dice.one_of(&["m", "2", "q % 4", "i"]),
            block(dice, depth - 1)
        ),
        9 => {
            let exit = dice.one_of(&["stabilize;", "die;", "continue;"]);
            format!("if ({} && age > 2) {exit}\n", expression(dice, Ty::Bool, 2))
        }
        _ => format!(
            "{} += 0.5*f({}, {});\n",
            dice.one_of(REALS),
            expression(dice, Ty::Real, 1),
            expression(dice, Ty::Int, 1)
        ),
    }
}

fn block(dice: &mut Dice, depth: usize) -> String {
    let statements: String = (0..1 + dice.below(3))
        .map(|_| statement(dice, depth))
        .collect();
    format!("{{\n{statements}}}\n")
}

fn expression(dice: &mut Dice, ty: Ty, depth: usize) -> String {
    let sub = |dice: &mut Dice, ty: Ty| expression(dice, ty, depth - 1);
    match ty {
        Ty::Real if depth == 0 => dice
            .one_of(&["a", "b", "c", "g", "h", "0.5", "1", "-0.75", "u[1]", "v[2]"])
            .into(),
        Ty::Real => match dice.below(13) {
            0 | 1 => format!("({} + {})", sub(dice, ty), sub(dice, ty)),
            2 => format!("({} - {})", sub(dice, ty), sub(dice, ty)),
            3 | 4 => format!("({} * {})", sub(dice, ty), sub(dice, ty)),
            5 => format!("({}/(1 + |{}|))", sub(dice, ty), sub(dice, Ty::Vec3)),
            6 => format!("({} • {})", sub(dice, Ty::Vec3), sub(dice, Ty::Vec3)),
            7 => format!(
                "({} if {} else {})",
                sub(dice, ty),
                sub(dice, Ty::Bool),
                sub(dice, ty)
            ),
            8 => format!(
                "{}(w)",
                dice.one_of(&["G", "0.05*F", "0.05*∇F", "0.125*∇G"])
            )
            .replace("∇F(w)", "∇F(w)[0]")
            .replace("∇G(w)", "|∇G(w)|"),
            9 => format!(
                "H([0.37*{} + 0.11, {}])",
                sub(dice, ty),
                dice.one_of(&["a", "0.5", "w[0]"])
            ),
            10 => dice
                .one_of(&[
                    "sum {f(t, 1)/8 | t in d}/(1 + length(d))",
                    "max {f(t, i) | t in s3}",
                    "s3[abs(q) % 3]",
                    "sum {t/(1 + t*t) | t in d}/(1 + length(d))",
                    "d[0]",
                ])
                .into(),
            11 => format!(
                "{}({}, {})",
                dice.one_of(&["max", "min"]),
                sub(dice, ty),
                sub(dice, ty)
            ),
            _ => format!(
                "{}({})",
                dice.one_of(&["cos", "abs", "atan"]),
                sub(dice, ty)
            ),
        },
        Ty::Int if depth == 0 => dice.one_of(&["p", "q", "i", "j", "m", "2", "age"]).into(),
        Ty::Int => match dice.below(4) {
            0 => format!("({} + {})", sub(dice, ty), sub(dice, ty)),
            1 => format!("({} - {})", sub(dice, ty), sub(dice, ty)),
            2 => format!("({} * {})", sub(dice, ty), sub(dice, ty)),
            _ => format!("({}/(3 + i))", sub(dice, ty)),
        },
        Ty::Bool if depth == 0 => dice
            .one_of(&["i > j", "m > 2", "p == q", "age % 2 == 0", "g < 1", "true"])
            .into(),
        Ty::Bool => match dice.below(5) {
            // Reals are compared where no rounding decides.
            0 => format!("({} > 10.5)", sub(dice, Ty::Real)),
            1 => format!("({} <= {})", sub(dice, Ty::Int), sub(dice, Ty::Int)),
            2 => format!("({} && {})", sub(dice, ty), sub(dice, ty)),
            3 => format!("({} || {})", sub(dice, ty), sub(dice, ty)),
            _ => format!("!({})", sub(dice, ty)),
        },
        Ty::Vec3 if depth == 0 => dice.one_of(&["u", "v", "[1, g, 0.5]", "[a, b, c]"]).into(),
        Ty::Vec3 => match dice.below(5) {
            0 => format!("({} + {})", sub(dice, ty), sub(dice, ty)),
            1 => format!("({} × {})", sub(dice, ty), sub(dice, ty)),
            2 => format!("({} * {})", sub(dice, Ty::Real), sub(dice, ty)),
            3 => format!("(-{})", sub(dice, ty)),
            _ => format!("[{}, 1, {}]", sub(dice, Ty::Real), sub(dice, Ty::Real)),
        },
    }
}
