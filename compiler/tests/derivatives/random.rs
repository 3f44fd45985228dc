//! Derivatives of random programs against central differences of the same programs.

use crate::INTEGRATE;
use crate::stages::Case;
use compiler::{front::source::Source, pipeline::Options};
use std::fmt::Write;

/// The definitions that all programs can use.
const COMMON: &str = "field#4(2)[2] V(z) = [sin(z[0])*z[1], cos(z[1]) + 0.5*z[0]*z[0]];
field#4(2)[] F(z) = exp(-z[0]*z[0]) + z[1]*sin(z[0]);
function real quotient (real a, real b) { real below = 1.0 + b*b; return a/below; }
function vec2 turned (vec2 v, real a) = [cos(a)*v[0] - sin(a)*v[1], sin(a)*v[0] + cos(a)*v[1]];
function real iterated (real a, real b) {
    real s = a;
    real t = b;
    foreach (int k in 1..4) {
        s = sin(s) + 0.3*t;
        if (k % 2 == 0) t = 0.5*t + 0.1*real(k)*s;
    }
    return s*t;
}
function vec2 drifted (vec2 v, real h) {
    vec2 p = v;
    foreach (int k in 0..20) { p += 0.01*h*V(p); }
    return p;
}
function real nested (real a, real b) {
    real s = a;
    foreach (int i in 1..3) {
        foreach (int j in 1..i) { s = quotient(s, b) + 0.2*iterated(s, b); }
        if (s > 0.3) { s = 0.5*s + sum {quotient(s, t*b) | t in {0.5, -0.25}}; }
        else { real q = s*s*b; s = s + 0.1*∂q/∂s; }
        if (s > 2.0) return 0.5*s*b;
    }
    return s;
}
function vec2 carried (vec2 v, real h) {
    vec2 p = v;
    foreach (int k in 1..4) {
        p = rk4Step2(V, p, 0.1*h);
        if (p[0] > 0.2) { p = turned(p, 0.3*h); }
        real[] l = {p[0]*t | t in {h, 0.5}};
        l = l@p[1];
        p = p + 0.1*[l[0]*l[2], mean(l)];
    }
    return p;
}
";

/// Pseudo-random numbers that only depend on the seed.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        ((self.0 >> 33) as usize) % n
    }

    fn real(&mut self) -> f64 {
        self.below(1600) as f64 / 1000.0 - 0.8
    }

    fn of<'s>(&mut self, all: &'s [String]) -> &'s str {
        &all[self.below(all.len())]
    }
}

/// A program that is being made: its definitions, and the variables of each type.
struct Program {
    random: Random,
    lines: Vec<String>,
    scalars: Vec<String>,
    vectors: Vec<String>,
    matrices: Vec<String>,
}

impl Program {
    fn scalar(&mut self) -> String {
        let r = &mut self.random;
        let (a, b) = (
            r.of(&self.scalars).to_owned(),
            r.of(&self.scalars).to_owned(),
        );
        let (v, w) = (
            r.of(&self.vectors).to_owned(),
            r.of(&self.vectors).to_owned(),
        );
        let (m, n) = (
            r.of(&self.matrices).to_owned(),
            r.of(&self.matrices).to_owned(),
        );
        let c = r.real();
        match r.below(27) {
            0 => format!("{a} + {c}*{b}"),
            1 => format!("{a} - {b}*{b}*{c}"),
            2 => format!("{a}*{b}"),
            3 => format!("quotient({a}, {b})"),
            4 => format!("sin({a}) + cos({b})"),
            5 => format!("exp(-{a}*{a})"),
            6 => format!("sqrt(1.0 + {a}*{a})"),
            7 => format!("atan({a} + {c})"),
            8 => format!("{a}^3 - {b}^2"),
            9 => format!("{v}•{w}"),
            10 => format!("sqrt(0.5 + {v}•{v})"),
            11 => format!("sum[p]({v}[p]*{w}[p]*real(p + 1))"),
            12 => format!("product[p]({v}[p] + {c})"),
            13 => format!("max[p]({v}[p] + {w}[1-p])"),
            14 => format!("min[p,q]({m}[p,q])"),
            15 => format!("mean[p]({m}[p,p])"),
            16 => format!("{m}:{n}"),
            17 => format!("trace({m}) + {c}*det({n})"),
            18 => format!("F({v})"),
            19 => format!("∇F({v})[0] + {a}"),
            20 => format!("sum[p](∂[p] V[p]({v}))*{c}"),
            21 => format!("{a} if {b} < {c} else {v}[1]"),
            22 => format!("max({a}, {b}) + min({c}, {a})"),
            23 => format!("iterated({a}, {b})"),
            24 | 25 => format!("nested({a}, {b})"),
            _ => format!("{m}[0,1]*{v}[0]"),
        }
    }

    fn vector(&mut self) -> String {
        let r = &mut self.random;
        let (a, b) = (
            r.of(&self.scalars).to_owned(),
            r.of(&self.scalars).to_owned(),
        );
        let (v, w) = (
            r.of(&self.vectors).to_owned(),
            r.of(&self.vectors).to_owned(),
        );
        let m = r.of(&self.matrices).to_owned();
        let c = r.real();
        match r.below(13) {
            0 => format!("[{a}, {b}]"),
            1 => format!("{v} + {c}*{w}"),
            2 => format!("{a}*{v}"),
            3 => format!("{m}•{v}"),
            4 => format!("V({v})"),
            5 => format!("∇F({v} - {w})"),
            6 => format!("turned({v}, {a})"),
            7 => format!("{v}/sqrt(1.0 + {w}•{w})"),
            8 => format!("{v} if {a} < {c} else {w}"),
            9 => format!("{m}[:,1]"),
            10 => format!("drifted({v}, {a})"),
            11 => format!("carried({v}, {a})"),
            _ => format!("lerp({v}, {w}, {c})"),
        }
    }

    fn matrix(&mut self) -> String {
        let r = &mut self.random;
        let a = r.of(&self.scalars).to_owned();
        let (v, w) = (
            r.of(&self.vectors).to_owned(),
            r.of(&self.vectors).to_owned(),
        );
        let (m, n) = (
            r.of(&self.matrices).to_owned(),
            r.of(&self.matrices).to_owned(),
        );
        match r.below(7) {
            0 => format!("{v}⊗{w}"),
            1 => format!("{m}•{n}"),
            2 => format!("transpose({m}) + {n}"),
            3 => format!("{a}*{m}"),
            4 => format!("∇⊗V({v})"),
            5 => format!("[{v}, {w}]"),
            _ => format!("{m} + {a}*identity[2]"),
        }
    }

    /// A definition that takes more than an expression: by index, by clauses, or by statements of a branch.
    fn definition(&mut self, n: usize) {
        let (a, v, m) = (self.scalar(), self.vector(), self.matrix());
        let c = self.random.real();
        match self.random.below(6) {
            0 => {
                self.lines.push(format!(
                    "vec2 v{n}[i] = ({v})[i] + real(i)*({a}) + {c}*sum[k](({m})[k,i]);"
                ));
                self.vectors.push(format!("v{n}"));
            }
            1 => {
                self.lines.push(format!(
                    "mat2 m{n}[i,j] = ({v})[i]*({v})[j] + δ[i,j]*({a}) + {c}*({m})[j,i];"
                ));
                self.matrices.push(format!("m{n}"));
            }
            2 => {
                self.lines.push(format!("real p{n} = {a};"));
                self.lines.push(format!(
                    "real[6] c{n} {{ c{n}[0] = p{n}; c{n}[1] = {c}; c{n}[t in 2..5] {{ real last = c{n}[t-1]; \
                     return 0.5*last*c{n}[t-2] + 0.25*sin(last + real(t)); }} }}"
                ));
                self.lines.push(format!("real a{n} = c{n}[5] + c{n}[3];"));
                self.scalars.push(format!("a{n}"));
            }
            // Many steps, which become a loop.
            3 => {
                self.lines.push(format!("vec2 p{n} = {v};"));
                self.lines.push(format!("real q{n} = {a};"));
                self.lines.push(format!(
                    "vec2[90] c{n} {{ c{n}[0] = p{n}; c{n}[t in 1..89] = c{n}[t-1] + 0.005*q{n}*V(c{n}[t-1]); }}"
                ));
                self.lines.push(format!("vec2 v{n} = c{n}[89];"));
                self.vectors.push(format!("v{n}"));
            }
            4 => {
                self.lines.push(format!("real p{n} = {a};"));
                self.lines.push(format!(
                    "real[40,2] c{n} {{ c{n}[0,0] = p{n}; c{n}[0,1] = {c}; c{n}[t in 1..39,0] = c{n}[t-1,1]; \
                     c{n}[t in 1..39,1] = 0.5*c{n}[t,0] + 0.4*sin(c{n}[t-1,0]) + 0.1*p{n}; }}"
                ));
                self.lines
                    .push(format!("real a{n} = c{n}[39,1] - c{n}[38,0];"));
                self.scalars.push(format!("a{n}"));
            }
            _ => {
                self.lines.push(format!("real p{n} = {a};"));
                self.lines
                    .push(format!("real[3] s{n} = {{p{n}*p{n}, {c}, sin(p{n})}};"));
                self.lines.push(format!(
                    "real a{n} = sum[k](s{n}[k]*real(k + 1)) + s{n}[argmax(s{n})];"
                ));
                self.scalars.push(format!("a{n}"));
            }
        }
    }
}

/// The possible parameters of a program: the type, the indices of its axes, the number of the strand that moves a component
/// forth, and the number of components.
const PARAMETERS: [(&str, &str, &str, usize); 3] = [
    ("real", "", "1", 1),
    ("vec2", "[i]", "2*i + 1", 2),
    ("mat2", "[i,j]", "4*i + 2*j + 1", 4),
];

/// A random program: `y` for a parameter as it is, in strand 0, and moved along each component, forth and back, by `h` in the
/// next strands and by an eighth of that in those after them.
fn program(seed: u64) -> (String, usize) {
    let random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut made = Program {
        random,
        lines: Vec::new(),
        scalars: vec!["0.75".into(), "g".into()],
        vectors: vec!["u".into()],
        matrices: vec!["B".into()],
    };
    let (ty, left, moved, components) = PARAMETERS[made.random.below(3)];
    match components {
        1 => made.scalars.push("x".into()),
        2 => made.vectors.push("x".into()),
        _ => made.matrices.push("x".into()),
    }
    for n in 0..2 + made.random.below(5) {
        match made.random.below(5) {
            0 => {
                let value = made.scalar();
                made.lines.push(format!("real a{n} = {value};"));
                made.scalars.push(format!("a{n}"));
            }
            1 => {
                let value = made.vector();
                made.lines.push(format!("vec2 v{n} = {value};"));
                made.vectors.push(format!("v{n}"));
            }
            2 => {
                let value = made.matrix();
                made.lines.push(format!("mat2 m{n} = {value};"));
                made.matrices.push(format!("m{n}"));
            }
            _ => made.definition(n),
        }
    }
    let (result, value, order) = match made.random.below(3) {
        0 => ("real", made.scalar(), ""),
        1 => ("vec2", made.vector(), "2"),
        _ => ("mat2", made.matrix(), "2,2"),
    };
    // The result of every program depends on the parameter and on every definition.
    let scalars = made.scalars.iter().map(|a| format!("0.1*sin({a})"));
    let vectors = made.vectors.iter().map(|v| format!("0.1*sin({v}•u)"));
    let matrices = made.matrices.iter().map(|m| format!("0.1*sin({m}:B)"));
    let all: Vec<String> = scalars.chain(vectors).chain(matrices).collect();
    let all = all.join(" + ");
    let joined = match result {
        "real" => format!("{value} + {all}"),
        "vec2" => format!("{value} + ({all})*u"),
        _ => format!("{value} + ({all})*B"),
    };
    let by = ["", "2", "2,2"][components / 2];
    let axes = [order, by].into_iter().filter(|axes| !axes.is_empty());
    let axes = axes.collect::<Vec<_>>().join(",");
    let base = |r: &mut Random| match components {
        1 => format!("{}", r.real()),
        2 => format!("[{}, {}]", r.real(), r.real()),
        _ => format!(
            "[[{}, {}], [{}, {}]]",
            r.real(),
            r.real(),
            r.real(),
            r.real()
        ),
    };
    let base = base(&mut made.random);
    let strands = 4 * components;
    let mut text = format!("{INTEGRATE}{COMMON}");
    let lines = made.lines.join("\n    ");
    let origin = format!("base{left}");
    let write = write!(
        text,
        "input real h = 0.0001;
input {ty} base = {base};
input real g = 0.4;
input vec2 u = [0.3, -0.6];
input mat2 B = [[0.5, -0.2], [0.1, 0.7]];
strand P (int number) {{
    int which = number if number <= {half} else number - {half};
    real far = h if number <= {half} else h/8.0;
    {ty} x{left} = {origin} + (far if which == {moved} else (-far if which == {moved} + 1 else 0.0));
    {lines}
    output {result} y = {joined};
    output tensor[{axes}] dy = ∂y/∂x;
    update {{ stabilize; }}
}}
create_array {{ P(number) | number in 0..{strands} }}
",
        half = 2 * components,
    );
    write.expect("text");
    (text, components)
}

/// Compares the derivatives of a program with differences. The result is none if the program cannot be judged: `y` is too large, or
/// differences of two sizes disagree because `y` has a kink or a jump nearby.
fn judged(seed: u64) -> Option<()> {
    let (text, components) = program(seed);
    let case = Case::new(Source::new(format!("random-{seed}.diderot"), text.clone()));
    let options = Options {
        double: true,
        ..Options::default()
    };
    let outcome = case.run(&options, 1);
    let numbers = |name: &str| {
        let found = outcome.outputs.iter().find(|(output, _)| output == name);
        &found.expect("an output").1
    };
    let (y, dy) = (numbers("y"), numbers("dy"));
    let size = y.len() / (4 * components + 1);
    assert_eq!(dy.len(), y.len() * components, "{text}");
    let scale = y.iter().fold(1.0f64, |most, value| most.max(value.abs()));
    if !scale.is_finite() || scale > 1e6 {
        return None;
    }
    let difference = |from: usize, component: usize, entry: usize, h: f64| {
        let at = |strand: usize| y[(from + strand) * size + entry];
        (at(2 * component + 1) - at(2 * component + 2)) / (2.0 * h)
    };
    // At the place itself, such as where the least of several numbers is there twice, differences to both sides disagree for all sizes.
    let has_kink = |component: usize, entry: usize| {
        let jump = |from: usize, h: f64| {
            let at = |strand: usize| y[strand * size + entry];
            let (forth, back) = (from + 2 * component + 1, from + 2 * component + 2);
            ((at(forth) - at(0)) - (at(0) - at(back))).abs() / h
        };
        let (wide, narrow) = (jump(0, 1e-4), jump(2 * components, 1e-4 / 8.0));
        narrow > 1e-3 * scale && narrow > 0.5 * wide
    };
    for entry in 0..size {
        for component in 0..components {
            let wide = difference(0, component, entry, 1e-4);
            let narrow = difference(2 * components, component, entry, 1e-4 / 8.0);
            let found = dy[entry * components + component];
            let tolerance = 1e-5 * scale.max(found.abs());
            let is_clear = (wide - narrow).abs() <= tolerance;
            if !is_clear || has_kink(component, entry) {
                return None;
            }
            let near = (narrow - found).abs() <= tolerance;
            assert!(
                near,
                "seed {seed}: ∂y[{entry}]/∂x[{component}] is {found}, differences say {narrow}\n{text}"
            );
        }
    }
    Some(())
}

/// At least nine of ten programs can be judged. `DIDEROT_CASES` is the number of programs, and `DIDEROT_SEED` the first seed. Without a
/// given seed every run has other programs.
#[test]
fn derivatives_of_random_programs_agree_with_differences() {
    let given = |name: &str| std::env::var(name).ok()?.parse::<u64>().ok();
    let now = || {
        std::time::UNIX_EPOCH
            .elapsed()
            .map_or(0, |since| since.as_secs())
    };
    let first = given("DIDEROT_SEED").unwrap_or_else(now);
    let count = given("DIDEROT_CASES").unwrap_or(1000);
    println!("DIDEROT_SEED={first}, {count} programs");
    let jobs = std::thread::available_parallelism().map_or(1, usize::from) as u64;
    let judged: usize = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..jobs)
            .map(|job| {
                let seeds = (first + job..first + count).step_by(jobs as usize);
                scope.spawn(move || seeds.filter_map(judged).count())
            })
            .collect();
        let joined = workers.into_iter().map(|worker| worker.join());
        joined.map(|count| count.expect("agreement")).sum()
    });
    println!("{judged} derivatives agree with differences, the others cannot be judged");
    assert!(judged as u64 >= count * 9 / 10, "only {judged}");
}
