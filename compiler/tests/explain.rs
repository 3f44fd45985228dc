//! Explanations: exactly of the compiled operators, in the notation of the language, with true counts.

use compiler::{
    explain::{Explanation, Part, Unexplained, explain},
    front::{CheckOptions, check, source::Source, tree::VarId},
    high::{self, High, Op},
    ir::{Simple, tensor::Base},
    low,
    pipeline::{Options, Session, lower},
    ssa::{Function, Kind, Role, Value, number_values, remove_dead},
};
use ein_ir::{
    Param, Region, Type,
    ops::special,
    rational,
    region::{Def, ValueId},
    surface::{Expr, Layout, Line},
};
use std::{collections::BTreeMap, fs, path::Path};

fn source(name: &str, text: &str) -> Source {
    Source::new(name, text)
}

/// The programs of the gallery.
fn gallery() -> Vec<Source> {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../programs/methods"));
    let mut programs = Vec::new();
    for entry in fs::read_dir(folder).expect("the methods") {
        let path = entry.expect("a file").path();
        if path
            .extension()
            .is_some_and(|extension| extension == "diderot")
        {
            let text = fs::read_to_string(&path).expect("a program");
            programs.push(Source::new(path, text));
        }
    }
    programs.sort_by(|a, b| a.path.cmp(&b.path));
    assert!(programs.len() >= 15);
    programs
}

fn explained(source: &Source, name: Option<&str>) -> Explanation {
    explain(source, &Options::default(), name).unwrap_or_else(|why| panic!("{why:?}"))
}

/// A program whose update is `body`, with a scalar field F, a vector field V, and vectors a, b, c, d, x.
fn program(fields: &str, body: &str) -> Source {
    let text = format!(
        "#version 2.0
        input image(3)[] vol; input image(3)[3] flow;
        input vec3 a; input vec3 b; input vec3 c; input vec3 d;
        field#4(3)[] F = c4hexic ⊛ vol;
        field#4(3)[3] V = c4hexic ⊛ flow;
        {fields}
        strand s (int i) {{
            vec3 x = a + i*b;
            output vec3 v = [0, 0, 0]; output real r = 0;
            update {{ {body} stabilize; }}
        }}
        create_array {{ s(i) | i in 0..3 }}"
    );
    source("p.diderot", &text)
}

fn text(lines: &[Line]) -> Vec<String> {
    lines.iter().map(|line| line.text()).collect()
}

#[test]
fn the_gallery_is_explained_on_short_lines_and_every_equation_is_true() {
    for program in gallery() {
        let name = program.path.display();
        let explanation = explained(&program, None);
        let text = explanation.text(false);
        let longest = text
            .lines()
            .map(|line| line.chars().count())
            .max()
            .unwrap_or(0);
        assert!(
            longest <= 160,
            "{name} has a line of {longest} characters:\n{text}"
        );
        for part in &explanation.parts {
            assert!(part.derivation.is_complete(), "{name}: {:?}", part.wanted);
            assert!(
                part.worst < 1e-6,
                "{name}: {:?} {:e}",
                part.wanted,
                part.worst
            );
        }
        // The details have room for more, but are there.
        assert!(explanation.text(true).len() >= text.len());
    }
}

#[test]
fn crest_fits_on_two_pages_in_the_words_of_its_author() {
    let crest = gallery()
        .into_iter()
        .find(|program| program.path.ends_with("crest.diderot"));
    let text = explained(&crest.expect("crest"), None).text(false);
    assert!(text.lines().count() < 130, "{}", text.lines().count());
    for wanted in [
        "F = c4hexic ⊛ vol",
        "N = -∇F/|∇F|",
        "P = identity[3] - N⊗N",
        "G = -(P•(∇⊗∇F)•P)/|∇F|",
        "K = (trace(G) + sqrt(2*(G:G) - trace(G)^2))/2",
        "y = from + hi*dir",
        "product-rule",
        "∂(a·b) = ∂a·b + a·∂b",
    ] {
        assert!(text.contains(wanted), "{wanted} is missing in\n{text}");
    }
}

#[test]
fn what_is_explained_is_what_is_compiled() {
    for program in gallery() {
        let checked = check(&program, &CheckOptions::default());
        let typed = checked.program.expect("a program without errors");
        let translated = high::translate(&typed, false).program;
        let (translated, _) = high::derive::derive(translated);
        let options = Options::default().normalization;
        for (role, function) in &translated.functions {
            let compiled = high::normalize(function.clone(), &options);
            let numbered = remove_dead(number_values(function.clone()));
            let (explained, regions) = high::explain(numbered, &options);
            let name = program.path.display();
            assert_eq!(explained, compiled, "{name} {role:?}");
            for region in regions {
                let ops = region
                    .explained
                    .normalized
                    .region
                    .defs
                    .into_iter()
                    .map(|def| def.op);
                let mut there = Vec::new();
                compiled.each_op(&mut |op, _, _| {
                    if let Op::Ein(operator) = op {
                        there.push(operator.ein.clone());
                    }
                });
                for op in ops {
                    assert!(there.contains(&op), "{name} {role:?}: {op} is not compiled");
                }
            }
        }
    }
}

#[test]
fn cross_products_that_are_cheapest_as_written_stay_so() {
    let explanation = explained(&program("", "r = (a×b)•(c×d);"), None);
    let part = explanation
        .parts
        .iter()
        .find(|part| part.role == Role::Update);
    let part = part.expect("a region of the update");
    assert_eq!(text(&part.before), ["r = (a×b)•(c×d)"]);
    assert_eq!(text(&part.after), ["r = (a×b)•(c×d)"]);
    assert!(part.is_unchanged() && part.derivation.is_complete());
    assert_eq!(part.cost_before.as_ref(), Some(&part.cost_after));
}

#[test]
fn the_curl_of_a_gradient_vanishes_for_a_reason() {
    let explanation = explained(&program("field#2(3)[3] C = ∇×∇F;", "v = C(x);"), Some("C"));
    let [part] = &explanation.parts[..] else {
        panic!("{:?}", explanation.parts)
    };
    assert_eq!(text(&part.before), ["C = ∇×∇F", "v = C(x)"]);
    assert_eq!(text(&part.after), ["v = zeros[3]"]);
    assert!(part.derivation.laws().contains_key("antisymmetry"));
    assert!(!part.derivation.equations.is_empty() && part.worst == 0.0);
    assert_eq!(part.cost_after.probes, 0);
    let text = explanation.text(false);
    assert!(
        text.contains("antisymmetry") && text.contains("exchanging two summed indices"),
        "{text}"
    );
}

#[test]
fn inverses_and_numbers_have_their_laws() {
    let fields = "input tensor[3,3] A; input tensor[3,3] B; field#3(3)[3,3] I = inv(∇⊗V);";
    let body = "tensor[3,3] C = inv(inv(A))•B + A•inv(A) + 0*A; v = C•I(x)•a + b•∇⊗I(x)•c;";
    let explanation = explained(&program(fields, body), Some("C"));
    let [part] = &explanation.parts[..] else {
        panic!("{:?}", explanation.parts)
    };
    assert_eq!(text(&part.before)[0], "C = inv(inv(A))•B + A•inv(A) + 0*A");
    let after = text(&part.after).join("\n");
    assert!(!after.contains("inv(") && after.contains('A'), "{after}");
    let laws = part.derivation.laws();
    for law in [
        "simplify-inverse",
        "cancel-inverse",
        "cofactors",
        "derivative-of-inverse",
        "zero",
    ] {
        assert!(laws.contains_key(law), "{law} is missing among {laws:?}");
    }
    assert!(part.derivation.is_complete() && part.worst < 1e-6);
}

#[test]
fn derivatives_of_derivatives_are_those_of_the_image() {
    let explanation = explained(&program("field#2(3)[3] C = ∇×∇×V;", "v = C(x);"), Some("C"));
    let [part] = &explanation.parts[..] else {
        panic!("{:?}", explanation.parts)
    };
    assert_eq!(text(&part.before), ["C = ∇×∇×V", "v = C(x)"]);
    let after = text(&part.after).join("\n");
    assert!(after.contains("∇⊗∇⊗V(x)"), "{after}");
    assert!(part.derivation.laws().contains_key("product-rule"));
    let before = part.cost_before.as_ref().expect("the cost before");
    assert!(part.cost_after.operations < before.operations);
    assert_eq!(part.cost_after.orders, BTreeMap::from([(2, 18)]));
}

#[test]
fn a_variable_with_another_value_gets_a_prime() {
    let explanation = explained(&program("", "v = v + a×b; v = v×c + ∇F(x);"), None);
    let part = explanation
        .parts
        .iter()
        .find(|part| part.role == Role::Update);
    let before = text(&part.expect("a region").before);
    assert_eq!(before, ["v' = v + a×b", "v'' = v'×c + ∇F(x)"]);
}

#[test]
fn a_field_that_nobody_probes_is_explained_as_if() {
    let source = program("field#3(3)[] L = ∇•V;", "r = F(x);");
    let explanation = explained(&source, Some("L"));
    let [part] = &explanation.parts[..] else {
        panic!("{:?}", explanation.parts)
    };
    assert!(!part.is_compiled);
    assert_eq!(part.wanted[0].to_string(), "L(x)");
    assert_eq!(text(&part.after), ["L(x) = trace(∇⊗V(x))"]);
    assert!(explanation.text(false).contains("never probed"));
}

#[test]
fn names_that_are_not_there_are_told() {
    let outcome = explain(&program("", "r = F(x);"), &Options::default(), Some("Q"));
    let Err(Unexplained::NoSuchName(known)) = outcome else {
        panic!("{outcome:?}")
    };
    assert!(
        known.contains(&"F".to_string()) && known.contains(&"x".to_string()),
        "{known:?}"
    );
}

/// The printed text is bounded, also where values outside of regions are made of each other in many ways.
#[test]
fn every_program_is_explained_in_a_text_of_bounded_length() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders = ["../programs/gallery", "../programs/checks", "tests/index"];
    let mut count = 0;
    for folder in folders {
        let entries = fs::read_dir(root.join(folder)).expect("the folder");
        let paths = entries.map(|entry| entry.expect("an entry").path());
        for path in paths.filter(|path| path.extension().is_some_and(|e| e == "diderot")) {
            let program = fs::read_to_string(&path).expect("a program");
            let source = Source::new(&path, program);
            let explanation = explained(&source, None);
            let (text, latex) = (explanation.text(false), explanation.latex());
            for text in [text, latex] {
                assert!(
                    text.len() < 1_000_000,
                    "{}: {} bytes",
                    path.display(),
                    text.len()
                );
            }
            count += 1;
        }
    }
    assert!(count > 60, "{count} programs");
}

#[test]
fn values_outside_of_regions_are_written_in_part_if_they_are_long() {
    let body = "real[21] s { s[0] = r; s[1] = 2.0; s[t in 2..20] = s[t-1] + s[t-2]; }
        tensor[21] y[j] = s[j]; r = |y|;";
    let text = explained(&program("", body), None).text(true);
    assert!(text.contains("…") && text.len() < 100_000, "{}", text.len());
}

#[test]
fn names_are_given_by_equations_not_by_coincidence() {
    // N is an eigenvector of G: up to its sign it is one of those that are computed, but none of them is N or −N.
    let fields = "field#3(3)[3] N = ∇F/|∇F|;
        field#2(3)[3,3] G = (identity[3] - N⊗N)•(∇⊗∇F)•(identity[3] - N⊗N);";
    let body =
        "vec3 n = N(x); vec3 m = -n; vec3[3] e = evecs(G(x)); v = e[0] + e[1]×e[2] + n×a + m×b;";
    let explanation = explained(&program(fields, body), Some("G"));
    let mut after = explanation.parts.iter().flat_map(|part| &part.after);
    let is_wrong = |line: &Line| {
        let name = line.name.to_string();
        ["n", "m"].contains(&name.as_str()) && line.expr.to_string().contains('[')
    };
    assert!(!after.any(is_wrong), "{}", explanation.text(false));
}

#[test]
fn latex_is_well_formed() {
    for program in gallery() {
        let name = program.path.display().to_string();
        let latex = explained(&program, None).latex();
        let count = |what: &str| latex.matches(what).count();
        assert_eq!(count("\\left"), count("\\right"), "{name}\n{latex}");
        assert_eq!(count("\\begin{"), count("\\end{"), "{name}\n{latex}");
        for line in latex.lines().filter(|line| !line.starts_with('%')) {
            let mut depth = 0;
            for (k, c) in line.char_indices() {
                let is_escaped = line[..k].ends_with('\\') && !line[..k].ends_with("\\\\");
                depth += match c {
                    '{' if !is_escaped => 1,
                    '}' if !is_escaped => -1,
                    _ => 0,
                };
                assert!(depth >= 0, "{name}: {line}");
            }
            assert_eq!(depth, 0, "{name}: {line}");
            // A second index or exponent of the same thing is an error of LaTeX.
            let scripts = second_script(line);
            assert_eq!(scripts, None, "{name}: {line}");
            assert!(line.is_ascii(), "{name}: {line}");
        }
    }
}

/// Where an index follows an index, or an exponent an exponent, without a group around the first.
fn second_script(line: &str) -> Option<&str> {
    let mut last: Vec<Option<char>> = vec![None];
    let mut script = None;
    for (k, c) in line.char_indices() {
        match c {
            '_' | '^' if line[..k].ends_with('\\') => {}
            '_' | '^' => {
                if last.last() == Some(&Some(c)) {
                    return Some(&line[k..]);
                }
                script = Some(c);
            }
            '{' => last.push(script.take()),
            '}' => {
                // A script in braces ends here, and the next must not be of its kind. Any other group allows both kinds again.
                let kind = last.pop().flatten();
                if let Some(end) = last.last_mut() {
                    *end = kind;
                }
            }
            _ => {
                if let Some(end) = last.last_mut() {
                    *end = None;
                }
            }
        }
    }
    None
}

/// The counts of a region are those of the code that is made of it: here the region is all there is.
#[test]
fn counts_are_those_of_the_compiled_code() {
    let body = "v = ∇|∇F|(x)×V(x); r = |v|;";
    let source = program("", body);
    let explanation = explained(&source, None);
    let parts: Vec<&Part> = explanation
        .parts
        .iter()
        .filter(|part| part.role == Role::Update)
        .collect();
    let lowered = lower(&mut Session::default(), &source, &Options::default()).expect("no errors");
    let update = lowered
        .scalarized
        .function(Role::Update)
        .expect("an update");
    let counted: usize = parts.iter().map(|part| part.cost_after.operations).sum();
    assert_eq!(counted, operations(update));
    assert!(counted > 20);
    let [part] = parts[..] else {
        panic!("{parts:?}")
    };
    assert_eq!(part.cost_after.probes, 2);
    assert_eq!(
        part.cost_after.orders,
        BTreeMap::from([(0, 3), (1, 3), (2, 6)])
    );
}

fn operations(function: &Function<low::Low>) -> usize {
    let mut count = 0;
    function.each_op(&mut |op, _, _| {
        count += match op {
            low::Op::Simple(Simple::ToReal) => 0,
            low::Op::Simple(_) | low::Op::Math(_) | low::Op::Select(_) => 1,
            _ => 0,
        }
    });
    count
}

/// The compiled operators of the gallery, printed and read again: each line in the notation of programs means the same.
#[test]
fn lines_of_the_gallery_can_be_read_again() {
    let (mut all, mut read) = (0, 0);
    for program in gallery() {
        for part in explained(&program, None).parts {
            let (lines, checked) = read_again(&part);
            all += lines;
            read += checked;
        }
    }
    assert!(
        all > 200 && read * 10 > all * 8,
        "{read} of {all} lines are surface notation"
    );
}

/// Checks the lines of a part's normal form; gives how many there are and how many were read.
fn read_again(part: &Part) -> (usize, usize) {
    let region = &part.regions[1];
    let inputs: Vec<Expr> = (0..region.inputs.len())
        .map(|k| Expr::Name(format!("in{k}")))
        .collect();
    let layout = Layout {
        inputs: &inputs,
        names: &BTreeMap::new(),
        symmetry: &[],
        temporaries: "t",
        shares: true,
        width: 90,
    };
    let written = layout.write(region, &region.roots);
    let kinds = region.kinds();
    let mut names: BTreeMap<String, ValueId> = (0..region.inputs.len())
        .map(|k| (format!("in{k}"), ValueId(k)))
        .collect();
    let mut declarations = String::new();
    let mut tests: Vec<(ValueId, String, String)> = Vec::new();
    for line in &written.lines {
        names.insert(line.name.to_string(), line.value);
        if line.is_surface() {
            tests.push((line.value, line.left(), line.expr.to_string()));
        }
    }
    let roots = region.roots.iter().zip(&written.values);
    let roots = roots.filter(|(_, expr)| expr.is_surface());
    tests.extend(roots.map(|(value, expr)| (*value, String::new(), expr.to_string())));
    for (name, value) in &names {
        declarations += &match &kinds[value.0] {
            Param::Tensor(shape) => format!("input {} {name};\n", Type::Tensor(shape.clone())),
            Param::Field { dim, shape } => format!(
                "input image({dim}){shape} im{name};\nfield#4({dim}){shape} {name} = c4hexic ⊛ im{name};\n"
            ),
        };
    }
    let mut body = String::new();
    for (k, (value, left, text)) in tests.iter().enumerate() {
        let ty = Type::Tensor(kinds[value.0].shape().clone());
        body += &format!("{ty} test{k}{left} = {text};\n");
    }
    let program = format!(
        "#version 2.0\n{declarations}strand s (int i) {{ output int o = 0; update {{ {body} stabilize; }} }}
        create_array {{ s(i) | i in 0..1 }}"
    );
    let again = source("again.diderot", &program);
    let checked = check(&again, &CheckOptions::default());
    let typed = checked
        .program
        .unwrap_or_else(|| panic!("{:?}\n{program}", checked.diagnostics));
    let translation = high::translate(&typed, false);
    let (translated, value_names) = (translation.program, translation.names);
    let update = translated.function(Role::Update).expect("an update");
    let name = |(value, var): &(Value, VarId)| (*value, typed.vars[var.0].name.as_str());
    let value_names: Vec<(Value, &str)> = value_names[&Role::Update].iter().map(name).collect();
    let mut reading = Reading {
        region: region.clone(),
        function: update,
        values: BTreeMap::new(),
    };
    for (value, name) in &value_names {
        if let Some(known) = names.get(*name) {
            reading.values.insert(*value, *known);
        }
    }
    for (k, (value, _, text)) in tests.iter().enumerate() {
        let name = format!("test{k}");
        let found = value_names
            .iter()
            .find(|(_, known)| *known == name)
            .expect("a definition");
        let found = reading.value(found.0);
        let both = rewrite_sample(&reading.region, &[*value, found]);
        let size = both[0].iter().fold(1e-6f64, |size, x| size.max(x.abs()));
        for (x, y) in both[0].iter().zip(&both[1]) {
            let undefined = !x.is_finite() && !y.is_finite();
            assert!(
                undefined || (x - y).abs() <= 1e-9 * size,
                "{text}: {x} and {y}\n{program}"
            );
        }
    }
    (written.lines.len() + region.roots.len(), tests.len())
}

fn rewrite_sample(region: &Region, values: &[ValueId]) -> Vec<Vec<f64>> {
    let values = rewrite::sample(region, values);
    values
        .iter()
        .map(|tensor| tensor.components().to_vec())
        .collect()
}

/// Definitions of a function added to a region.
struct Reading<'a> {
    region: Region,
    function: &'a Function<High>,
    values: BTreeMap<Value, ValueId>,
}

impl Reading<'_> {
    fn value(&mut self, value: Value) -> ValueId {
        if let Some(&known) = self.values.get(&value) {
            return known;
        }
        let inst = self
            .function
            .body
            .insts
            .iter()
            .find(|inst| inst.results[..] == [value]);
        let (op, args) = match &inst.expect("a definition").kind {
            Kind::Op(Op::Ein(operator), args) => {
                let args = args.iter().map(|&arg| self.value(arg)).collect();
                (operator.ein.clone(), args)
            }
            Kind::Op(Op::Base(Base::Tensor(shape, components)), _) => {
                let numbers = components.iter().map(|bits| rational::from_f64(bits.get()));
                let numbers: Option<Vec<_>> = numbers.collect();
                (special::literal(shape, &numbers.expect("numbers")), vec![])
            }
            other => panic!("{other:?} is not an operator on tensors"),
        };
        self.region.defs.push(Def { op, args });
        let new = ValueId(self.region.inputs.len() + self.region.defs.len() - 1);
        self.values.insert(value, new);
        new
    }
}

#[test]
fn meshes_are_named_with_the_order_of_their_derivatives() {
    let text = "#version 2.0
        fem#2(2)[] height = load_fem(\"a.vtu\"); fem#1(2)[2] flow = load_fem(\"a.vtu\", \"v\");
        field#2(2)[] F = toField(height); field#1(2)[2] V = toField(flow);
        strand s (int i) {
            vec2 x = [0.1*i, 0];
            output real r = 0;
            update { r = trace(∇⊗∇F(x)) + |V(x)|; stabilize; }
        }
        create_array { s(i) | i in 0..3 }";
    let explanation = explained(&source("meshes.diderot", text), None);
    let found: Vec<(&str, usize)> = (explanation.meshes.iter())
        .map(|(name, order)| (name.as_str(), *order))
        .collect();
    assert_eq!(found, [("flow", 0), ("height", 2)]);
    let text = explanation.text(false);
    assert!(
        text.contains("height is on a mesh, and probed with derivatives to order 2"),
        "{text}"
    );
    assert!(
        text.contains("flow is on a mesh, and probed without derivatives"),
        "{text}"
    );
}
