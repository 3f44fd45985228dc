//! One example for every row of the tables of operators and kernels. The page has the expressions for operators; rows and values are written
//! from the tables and by the compiler.

use crate::{current, page::Page};
use ein_ir::{
    KERNELS, Kernel,
    ops::{self, OPERATORS},
};
use std::{collections::BTreeMap, fmt::Write, fs, process::Command};

/// What expressions may use.
const BEFORE: &str = "\
field#4(2)[] F(x) = x[0]^2*x[1];
field#4(2)[2] V(x) = [-x[1], x[0]];
field#4(3)[3] W(x) = [x[1]*x[2], x[0], x[2]^2];
field#4(2,time#4)[] U(x, t) = x[0]*t^2;
image(2,time)[] film = load_image(\"data/check-series.nrrd\");
image(1)[3] grey = load_image(\"std:grey\");
image(1)[] impulse = load_image(\"data/check-impulse.nrrd\");
field#0(1)[] peak = tent ⊛ impulse;
image(1)[] smooth = blur(impulse, 1);
image(2)[] photo = load_image(\"data/check-oriented.nrrd\");
image(2)[] smeared = blur(photo, [0, 0.5]);
real[] numbers = load_sequence(\"data/check-numbers.txt\");
mesh(2) m = load_mesh(\"data/check-mesh.vtu\");
fem#1(2)[] g = load_fem(m, \"poly\");
fem#1(2)[] h = load_fem(\"data/check-mesh.vtu\", \"poly\");
fem#1(2)[] poly = load_fem(\"data/check-mesh.vtu\");
fem#1(2,time)[] plate = load_fem(\"data/check-plate.xdmf\", \"caloric\");
real[3] s = {4, 1, 9};
";

const HEAD: &str = "\
# Operators by example

This page has one expression for every row of [the tables of operators, functions and kernels](operators.md), and its value as `print` shows it. (To add an example for a new operator, write its row here with an expression in
the third column; the test of the book generates the rest.) The expressions use these definitions:

";

/// Rows whose place something else takes when a program is typed.
const FORMS: &[&str] = &[
    "a[0,:]",
    "real",
    "KRNS",
    "load_image",
    "load_sequence",
    "load_fem",
    "load_mesh",
    "blur",
    "SUM",
    "MIN",
    "MAX",
    "printIR",
];

const KERNELS_HEAD: &str = "
## Kernels

The samples of `impulse` are 0 except for a 1 at position 4, so the field is the kernel itself. The table has its value in the middle, which is 1 for an interpolating kernel,
then its value and its derivative half a sample further.

| kernel | example | value | example | value | example | value |
|---|---|---|---|---|---|---|
";

/// Where a kernel is probed, and how often it is differentiated before.
const PROBES: [(&str, u32); 3] = [("4.0", 0), ("4.5", 0), ("4.5", 1)];

/// The examples of a kernel: as many as it has derivatives for.
fn probes(kernel: &Kernel) -> Vec<String> {
    let has = PROBES.iter().filter(|probe| probe.1 <= kernel.continuity);
    let probe = |&(at, order): &(&str, u32)| {
        let derivative = if order > 0 { "∇" } else { "" };
        format!("{derivative}({} ⊛ impulse)({at})", kernel.name)
    };
    has.map(probe).collect()
}

const HEADER: &str = "| written | types | example | value |\n|---|---|---|---|\n";

/// The cells of the rows of all tables in a page.
fn cells(page: &str) -> Vec<Vec<String>> {
    let rows = page.lines().filter(|line| line.starts_with("| `"));
    let split = |line: &str| {
        let line = line.replace("\\|", "\u{1}");
        let cells = line.trim_matches('|').split('|').map(|cell| {
            let cell = cell.trim().replace('\u{1}', "|");
            cell.trim_matches('`').to_owned()
        });
        cells.collect()
    };
    rows.map(split).collect()
}

/// How a row is written first.
fn first(written: &str) -> &str {
    written.split("`, `").next().unwrap_or(written)
}

#[test]
fn every_operator_and_kernel_has_an_example_with_its_value() {
    let page = Page::read("examples");
    let mut known: BTreeMap<(String, String), String> = BTreeMap::new();
    for row in cells(&page.text) {
        known.insert((row[0].clone(), row[1].clone()), row[2].clone());
    }
    let manual = ops::manual();
    let table = manual.split("## Kernels").next().unwrap_or_default();
    let rows: Vec<(String, String, String)> = cells(table)
        .iter()
        .map(|row| {
            let (written, types) = (first(&row[0]).to_owned(), row[1].clone());
            let example = known.get(&(written.clone(), types.clone()));
            let example = example.unwrap_or_else(|| {
                panic!(
                    "`{written}`, `{types}` has no example in {}",
                    page.path.display()
                )
            });
            (written, types, example.clone())
        })
        .collect();
    assert_eq!(rows.len(), OPERATORS.len());

    let expressions = rows.iter().map(|row| row.2.clone());
    let prints = expressions
        .chain(KERNELS.iter().flat_map(probes))
        .map(|expression| format!("            print({expression}, \"\\n\");\n"));
    let program = format!(
        "#version 2.0\n{BEFORE}strand S (int i) {{\n    output real pos = i;\n    update {{\n        if (i == 0) {{\n{}        }}\n        stabilize;\n    }}\n}}\ncreate_collection {{ S(i) | i in 0..3 }}\n",
        prints.collect::<String>()
    );
    fs::write(page.folder.join("examples.diderot"), program).expect("the program");
    let diderotc = |words: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_diderotc"))
            .args(words)
            .current_dir(&page.folder)
            .output()
            .expect("the command");
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).expect("text")
    };
    let values = diderotc(&["examples.diderot", "-o", "pos.txt"]);
    let typed = diderotc(&["emit", "--stage", "typed", "examples.diderot"]);
    let typed = typed
        .lines()
        .filter(|line| line.trim_start().starts_with("print("));

    let mut out = format!("{HEAD}```diderot\n{BEFORE}```\n\n{HEADER}");
    let code = |text: &str| format!("`{}`", text.replace('|', "\\|"));
    for ((row, value), typed) in rows.iter().zip(values.lines()).zip(typed) {
        let (written, types, example) = row;
        // The expression is an example of this row and not of another of the same spelling.
        let fits = |op: &&ops::OpDef| {
            let is_written_so = match op.syntax[0] {
                ops::Syntax::Form(_, example, _) => example == written,
                other => written.contains(other.spelling()),
            };
            op.sig == types && is_written_so
        };
        let names: Vec<&str> = OPERATORS.iter().filter(fits).map(|op| op.name).collect();
        let is_form = FORMS.contains(&written.as_str());
        let used = names.iter().any(|name| typed.contains(&format!("{name}(")));
        assert!(
            used || is_form,
            "`{example}` is not an example of {names:?}: {typed}"
        );
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} |",
            code(written),
            code(types),
            code(example),
            code(value)
        );
    }
    out += KERNELS_HEAD;
    let mut values = values.lines().skip(rows.len());
    for kernel in KERNELS {
        let _ = write!(out, "| {} |", code(kernel.name));
        let mut shown = 0;
        for (example, value) in probes(kernel).iter().zip(values.by_ref()) {
            let _ = write!(out, " {} | {} |", code(example), code(value));
            shown += 1;
        }
        out += &"  |  |".repeat(PROBES.len() - shown);
        out.push('\n');
    }
    current(&page.path, &out);
}
