//! All nestings of control flow to depth 3 around all kinds of assignments, each as a function and, where it is less deep, as code of
//! `update`. The truth is an evaluation of the same tree with dual numbers.

use crate::{INTEGRATE, stages::Case};
use compiler::{front::source::Source, pipeline::Options};
use std::ops::{Add, Mul, Neg};

/// A number and its derivative by `x`.
#[derive(Clone, Copy, Debug)]
struct Dual(f64, f64);

impl Add for Dual {
    type Output = Dual;
    fn add(self, other: Dual) -> Dual {
        Dual(self.0 + other.0, self.1 + other.1)
    }
}

impl Mul for Dual {
    type Output = Dual;
    fn mul(self, other: Dual) -> Dual {
        Dual(self.0 * other.0, self.0 * other.1 + self.1 * other.0)
    }
}

impl Neg for Dual {
    type Output = Dual;
    fn neg(self) -> Dual {
        Dual(-self.0, -self.1)
    }
}

impl Dual {
    fn sin(self) -> Dual {
        Dual(self.0.sin(), self.0.cos() * self.1)
    }

    fn cos(self) -> Dual {
        Dual(self.0.cos(), -self.0.sin() * self.1)
    }

    fn over(self, below: f64) -> Dual {
        Dual(self.0 / below, self.1 / below)
    }
}

fn number(x: f64) -> Dual {
    Dual(x, 0.0)
}

/// Statements around others.
#[derive(Clone, Copy, Debug)]
enum Around {
    If,
    IfElse,
    IfCommon,
    LoopFixed,
    LoopCommon,
    LoopVarying,
    LoopOverSequence,
    Call,
}

const AROUND: [Around; 8] = [
    Around::If,
    Around::IfElse,
    Around::IfCommon,
    Around::LoopFixed,
    Around::LoopCommon,
    Around::LoopVarying,
    Around::LoopOverSequence,
    Around::Call,
];

/// Assignments to `y`.
#[derive(Clone, Copy, Debug)]
enum Assign {
    Product,
    Call,
    Elementary,
    Conditional,
    Reduction,
    List,
    Steps,
    Field,
    Vector,
    Matrix,
    Integrated,
    Return,
    Derivative,
}

const ASSIGN: [Assign; 13] = [
    Assign::Product,
    Assign::Call,
    Assign::Elementary,
    Assign::Conditional,
    Assign::Reduction,
    Assign::List,
    Assign::Steps,
    Assign::Field,
    Assign::Vector,
    Assign::Matrix,
    Assign::Integrated,
    Assign::Return,
    Assign::Derivative,
];

/// The definitions that all programs have.
const COMMON: &str = "input bool on = true;
input int rounds = 3;
input real[2] weights = {0.5, -0.25};
field#4(2)[2] V(z) = [sin(z[0])*z[1], cos(z[1]) + 0.5*z[0]*z[0]];
field#4(2)[] F(z) = z[0]*z[0]*0.3 + z[1]*sin(z[0]);
function real sq (real q) = q*q;
function real bent (real q, real r) { if (q > 0.5) { return 0.5*q*q + r; } return q - r*q; }
";

/// The flow of the programs.
fn flow([a, b]: [Dual; 2]) -> [Dual; 2] {
    [a.sin() * b, b.cos() + number(0.5) * a * a]
}

fn rk4([a, b]: [Dual; 2], h: f64) -> [Dual; 2] {
    let moved = |k: [Dual; 2], h: f64| [a + number(h) * k[0], b + number(h) * k[1]];
    let k1 = flow([a, b]);
    let k2 = flow(moved(k1, 0.5 * h));
    let k3 = flow(moved(k2, 0.5 * h));
    let k4 = flow(moved(k3, h));
    let two = number(2.0);
    let sum = [0, 1].map(|n| (k1[n] + two * k2[n] + two * k3[n] + k4[n]).over(6.0));
    moved(sum, h)
}

fn bent(q: Dual, r: Dual) -> Dual {
    match q.0 > 0.5 {
        true => number(0.5) * q * q + r,
        false => q + -(r * q),
    }
}

/// One nesting: an assignment and the statements around it, the outermost first.
#[derive(Clone, Debug)]
struct Nest {
    around: Vec<Around>,
    assign: Assign,
}

/// A strand: its parameter, and how often its loops of varying length run.
#[derive(Clone, Copy)]
struct Strand {
    x: Dual,
    varying: usize,
}

impl Nest {
    /// All nestings of a depth.
    fn all(depth: usize) -> Vec<Nest> {
        if depth == 0 {
            let around = Vec::new;
            return ASSIGN
                .map(|assign| Nest {
                    around: around(),
                    assign,
                })
                .to_vec();
        }
        let inner = Nest::all(depth - 1);
        let outer = AROUND.iter().flat_map(|&outer| {
            inner.iter().map(move |nest| Nest {
                around: [&[outer][..], &nest.around].concat(),
                assign: nest.assign,
            })
        });
        outer.collect()
    }

    /// The assignment as text.
    fn assignment(&self, is_in_function: bool) -> &'static str {
        match self.assign {
            Assign::Product => "y = 0.25*y*y + x;",
            Assign::Call => "y = sq(y) - 0.5*bent(x, y);",
            Assign::Elementary => "y = sin(y) + x*y;",
            Assign::Conditional => "y = (sq(y) if y > 0.3 else x*y);",
            Assign::Reduction => "y = x*sum {sq(y)*t | t in weights} + y;",
            Assign::List => {
                "real[] l = {sq(y)*t | t in weights}; l = l@x; y = 0.5*l[length(l) - 1] + l[0];"
            }
            Assign::Steps => {
                "real[30] c { c[0] = y; c[t in 1..29] = 0.5*sq(c[t-1]) + 0.1*x; } y = 0.5*c[29] + 0.25*y;"
            }
            Assign::Field => "y = F([y, x]) + ∇F([x, 0.5*y])[1];",
            Assign::Vector => "vec2 v = [y, x]; v = v + 0.5*y*v; y = v•[0.25, 0.5] + 0.1*|v|*|v|;",
            Assign::Matrix => "mat2 m = [[y, 1], [x, 0.5]]; y = 0.25*det(m) + trace(m•m)/8;",
            Assign::Integrated => "vec2 p = rk4Step2(V, [y, x], 0.25); y = 0.5*p[0] + 0.25*p[1];",
            Assign::Return if is_in_function => "y = y*x; if (y > 0.4) return y*y; y = y + 0.1;",
            Assign::Return => "y = y*x; y = y*y if y > 0.4 else y + 0.1;",
            Assign::Derivative => "real q = y*y*y*x; y = 0.2*∂q/∂y + 0.3*x;",
        }
    }

    /// The statements from a depth on. Called functions are added to `functions`.
    fn text(
        &self,
        depth: usize,
        name: &str,
        is_in_function: bool,
        functions: &mut String,
    ) -> String {
        let Some(around) = self.around.get(depth) else {
            return self.assignment(is_in_function).to_owned();
        };
        if matches!(around, Around::Call) {
            let inner = self.text(depth + 1, name, true, functions);
            let callee = format!("{name}_{depth}");
            *functions += &format!(
                "function real {callee} (real a, real x, int varying) {{ real y = a; {inner} return y; }}\n"
            );
            return format!("y = {callee}(y, x, varying);");
        }
        let inner = self.text(depth + 1, name, is_in_function, functions);
        let k = format!("k{depth}");
        match around {
            Around::If => format!("if (y > 0.35) {{ {inner} }}"),
            Around::IfElse => format!("if (y > 0.6) {{ y = 0.5*y; }} else {{ {inner} }}"),
            Around::IfCommon => format!("if (on) {{ {inner} }}"),
            Around::LoopFixed => format!("foreach (int {k} in 1..2) {{ {inner} }}"),
            Around::LoopCommon => format!("foreach (int {k} in 1..rounds) {{ {inner} }}"),
            Around::LoopVarying => format!("foreach (int {k} in 1..varying) {{ {inner} }}"),
            Around::LoopOverSequence => {
                format!("foreach (real {k} in weights) {{ y = y + 0.25*{k}*x; {inner} }}")
            }
            Around::Call => unreachable!("written above"),
        }
    }

    /// The value of `y` afterwards, as an error if the function has returned it.
    fn run(
        &self,
        depth: usize,
        y: Dual,
        strand: Strand,
        is_in_function: bool,
    ) -> Result<Dual, Dual> {
        let x = strand.x;
        let Some(around) = self.around.get(depth) else {
            return self.assigned(y, x, is_in_function);
        };
        let repeat = |count: usize| {
            (0..count).try_fold(y, |y, _| self.run(depth + 1, y, strand, is_in_function))
        };
        match around {
            Around::If if y.0 > 0.35 => repeat(1),
            Around::If => Ok(y),
            Around::IfElse if y.0 > 0.6 => Ok(number(0.5) * y),
            Around::IfElse | Around::IfCommon => repeat(1),
            Around::LoopFixed => repeat(2),
            Around::LoopCommon => repeat(3),
            Around::LoopVarying => repeat(strand.varying),
            Around::LoopOverSequence => [0.5, -0.25].iter().try_fold(y, |y, k| {
                let y = y + number(0.25 * k) * x;
                self.run(depth + 1, y, strand, is_in_function)
            }),
            // The caller continues with the result of the function.
            Around::Call => match self.run(depth + 1, y, strand, true) {
                Ok(y) | Err(y) => Ok(y),
            },
        }
    }

    fn assigned(&self, y: Dual, x: Dual, is_in_function: bool) -> Result<Dual, Dual> {
        let n = number;
        Ok(match self.assign {
            Assign::Product => n(0.25) * y * y + x,
            Assign::Call => y * y + -(n(0.5) * bent(x, y)),
            Assign::Elementary => y.sin() + x * y,
            Assign::Conditional => match y.0 > 0.3 {
                true => y * y,
                false => x * y,
            },
            Assign::Reduction => x * (y * y * n(0.5) + y * y * n(-0.25)) + y,
            Assign::List => n(0.5) * x + y * y * n(0.5),
            Assign::Steps => {
                let last = (0..29).fold(y, |c, _| n(0.5) * c * c + n(0.1) * x);
                n(0.5) * last + n(0.25) * y
            }
            Assign::Field => {
                let field = y * y * n(0.3) + x * y.sin();
                field + x.sin()
            }
            Assign::Vector => {
                let half = n(0.5) * y;
                let v = [y + half * y, x + half * x];
                v[0] * n(0.25) + v[1] * n(0.5) + n(0.1) * (v[0] * v[0] + v[1] * v[1])
            }
            Assign::Matrix => {
                let det = y * n(0.5) + -x;
                let trace = y * y + x + x + n(0.25);
                n(0.25) * det + trace.over(8.0)
            }
            Assign::Integrated => {
                let [a, b] = rk4([y, x], 0.25);
                n(0.5) * a + n(0.25) * b
            }
            Assign::Return => {
                let y = y * x;
                match y.0 > 0.4 {
                    true if is_in_function => return Err(y * y),
                    true => y * y,
                    false => y + n(0.1),
                }
            }
            Assign::Derivative => n(0.6) * y * y * x + n(0.3) * x,
        })
    }
}

const STRANDS: usize = 5;

fn strand(number: usize) -> Strand {
    Strand {
        x: Dual(0.2 + 0.17 * number as f64, 1.0),
        varying: number % 3,
    }
}

/// How many nestings one program has.
const TOGETHER: usize = 24;

/// Runs some nestings as one program; gives a message for each wrong result.
fn wrong(nests: &[Nest], is_function: bool) -> Vec<String> {
    let (mut functions, mut state, mut code) = (String::new(), String::new(), String::new());
    for (n, nest) in nests.iter().enumerate() {
        state += &format!("    output vec2 o{n} = [0, 0];\n");
        let body = nest.text(0, &format!("g{n}"), is_function, &mut functions);
        if is_function {
            functions += &format!(
                "function real f{n} (real x, int varying) {{ real y = 0.5*x; {body} return y; }}\n"
            );
            code += &format!("        {{ real y = f{n}(x, varying); o{n} = [y, ∂y/∂x]; }}\n");
        } else {
            code += &format!("        {{ real y = 0.5*x; {body} o{n} = [y, ∂y/∂x]; }}\n");
        }
    }
    let text = format!(
        "{INTEGRATE}{COMMON}{functions}strand P (int i) {{\n    real x = 0.2 + 0.17*i;\n    int varying = i % 3;\n{state}    update {{\n{code}        stabilize;\n    }}\n}}\ncreate_array {{ P(i) | i in 0..{} }}\n",
        STRANDS - 1
    );
    let case = Case::new(Source::new("nests.diderot", text));
    let options = Options {
        double: true,
        ..Options::default()
    };
    let outcome = case.run(&options, 1);
    let mut wrong = Vec::new();
    for (n, nest) in nests.iter().enumerate() {
        let name = format!("o{n}");
        let found = outcome.outputs.iter().find(|(output, _)| *output == name);
        let found = &found.expect("an output").1;
        for number in 0..STRANDS {
            let strand = strand(number);
            let y = Dual(0.5 * strand.x.0, 0.5);
            let (Ok(truth) | Err(truth)) = nest.run(0, y, strand, is_function);
            let got = [found[2 * number], found[2 * number + 1]];
            let near = |a: f64, b: f64| {
                let scale = truth.0.abs().max(truth.1.abs()).max(1.0);
                (a - b).abs() <= 1e-10 * scale || a == b || a.is_nan() && b.is_nan()
            };
            if !near(got[0], truth.0) || !near(got[1], truth.1) {
                let mut functions = String::new();
                let body = nest.text(0, "g", is_function, &mut functions);
                wrong.push(format!(
                    "{functions}{body}\n  strand {number}: {got:?}, not {truth:?}"
                ));
                break;
            }
        }
    }
    wrong
}

#[test]
fn derivatives_of_all_nestings_to_depth_3_are_right() {
    let mut tried = 0;
    let mut all_wrong = Vec::new();
    for (depth, is_function) in [
        (0, true),
        (1, true),
        (2, true),
        (3, true),
        (0, false),
        (1, false),
        (2, false),
    ] {
        let nests = Nest::all(depth);
        tried += nests.len();
        let groups: Vec<&[Nest]> = nests.chunks(TOGETHER).collect();
        let halves = std::thread::scope(|scope| {
            let half = groups.len().div_ceil(2);
            let workers: Vec<_> = groups
                .chunks(half)
                .map(|part| {
                    scope.spawn(move || -> Vec<String> {
                        part.iter()
                            .flat_map(|nests| wrong(nests, is_function))
                            .collect()
                    })
                })
                .collect();
            let joined = workers.into_iter().map(|worker| worker.join());
            joined
                .map(|found| found.expect("no panic"))
                .collect::<Vec<_>>()
        });
        all_wrong.extend(halves.into_iter().flatten());
    }
    println!("{tried} nestings");
    let shown: Vec<&str> = all_wrong.iter().take(5).map(String::as_str).collect();
    assert!(
        all_wrong.is_empty(),
        "{} of {tried} are wrong:\n{}",
        all_wrong.len(),
        shown.join("\n\n")
    );
}
