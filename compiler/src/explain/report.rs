//! Explanations as text and as LaTeX.

use super::{Counts, Explanation, Part};
use ein_ir::surface::{Expr, Layout, Line};
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write,
};

/// Lines are broken after this many characters.
const WIDTH: usize = 110;
/// This many definitions get a line each.
const FEW: usize = 10;
/// Differences up to this are rounding.
const TOLERANCE: f64 = 1e-5;

impl Explanation {
    /// The explanation as text; with `details` also the operators in index notation and the equations.
    pub fn text(&self, details: bool) -> String {
        let mut out = String::new();
        for (name, definition) in &self.leaves {
            let _ = writeln!(out, "{name} = {definition}");
        }
        for (name, order) in &self.meshes {
            let _ = match order {
                0 => writeln!(out, "{name} is on a mesh, and probed without derivatives"),
                _ => writeln!(
                    out,
                    "{name} is on a mesh, and probed with derivatives to order {order}: in every cell those of its own polynomial"
                ),
            };
        }
        let mut plain = 0;
        let mut laws: BTreeSet<&str> = BTreeSet::new();
        let mut role = None;
        for part in &self.parts {
            if (part.is_unchanged() || part.costs_nothing()) && !part.has_fields && !details {
                plain += 1;
                continue;
            }
            if role != Some((part.role, part.is_compiled)) {
                role = Some((part.role, part.is_compiled));
                let _ = match part.is_compiled {
                    true => writeln!(out, "\n{}", part.role.name()),
                    false => writeln!(out, "\nnever probed, so not compiled; probed at x"),
                };
            }
            part.write(&mut out, details);
            laws.extend(part.derivation.laws().keys());
        }
        if !laws.is_empty() {
            let _ = writeln!(out, "\nlaws");
            for law in rewrite::laws().filter(|law| laws.contains(law.name)) {
                let _ = writeln!(out, "  {:24} {}", law.name, law.statement);
            }
        }
        if !self.decided.is_empty() {
            let _ = writeln!(
                out,
                "\ndecided by bounds of images, where these tell, without a probe"
            );
            for (role, comparison) in &self.decided {
                wrapped(&mut out, 2, &format!("{}: {comparison}", role.name()));
            }
        }
        if plain > 0 {
            let _ = writeln!(
                out,
                "\n{plain} more: tensor arithmetic without fields, compiled as written or nothing to compute (--details)"
            );
        }
        out
    }

    /// The results in a few lines: the definitions after normalization, and their cost.
    pub fn summary(&self) -> String {
        let mut out = String::new();
        for (name, definition) in &self.leaves {
            let _ = writeln!(out, "{name} = {definition}");
        }
        for part in &self.parts {
            let lines = part.after.iter().map(Line::text);
            let lines: Vec<String> = lines.filter(|_| !part.is_unchanged()).collect();
            for line in lines.iter().take(FEW) {
                let _ = writeln!(out, "{line}");
            }
            if lines.len() > FEW {
                let _ = writeln!(out, "… and {} more", lines.len() - FEW);
            }
            let _ = writeln!(out, "// {}", part.cost_after);
        }
        out
    }

    /// The definitions after normalization as LaTeX, for mathematics mode; none if they are as written.
    pub fn summary_latex(&self) -> Option<String> {
        let parts = self.parts.iter().filter(|part| !part.is_unchanged());
        let lines = parts.flat_map(|part| part.after.iter().take(FEW));
        let lines: Vec<String> = lines.map(Line::latex).collect();
        let lines = lines.join(" \\\\\n");
        (!lines.is_empty()).then(|| format!("\\begin{{aligned}}\n{lines}\n\\end{{aligned}}"))
    }

    /// The definitions as LaTeX, for mathematics mode.
    pub fn latex(&self) -> String {
        let mut out = String::new();
        for part in self.parts.iter().filter(|part| !part.is_unchanged()) {
            let unnamed = part.unnamed().map(|expr| format!("&{}", expr.latex()));
            let before = part.before.iter().map(Line::latex).chain(unnamed);
            let blocks = [
                before.collect(),
                part.after.iter().map(Line::latex).collect(),
            ];
            for (title, lines) in ["before", "after"].into_iter().zip(blocks) {
                let lines: Vec<String> = lines;
                let _ = writeln!(out, "% {} {title}", part.role.name());
                let _ = writeln!(out, "\\begin{{align*}}");
                let _ = writeln!(out, "  {}", lines.join(" \\\\\n  "));
                let _ = writeln!(out, "\\end{{align*}}");
            }
        }
        out
    }
}

impl Part {
    fn write(&self, out: &mut String, details: bool) {
        if self.is_unchanged() && !details {
            let wanted: Vec<String> = self.wanted.iter().map(Expr::to_string).collect();
            let wanted = wanted.join(", ");
            wrapped(
                out,
                2,
                &format!("{wanted}: compiled as written, {}", self.cost_after),
            );
            return;
        }
        let _ = writeln!(out, "  before");
        block(out, &self.before);
        let unnamed: Vec<String> = self.unnamed().map(Expr::to_string).collect();
        if !unnamed.is_empty() {
            wrapped(out, 4, &unnamed.join("; "));
        }
        let _ = writeln!(out, "  after");
        block(out, &self.after);
        let laws: Vec<&str> = self.derivation.laws().into_keys().collect();
        if !laws.is_empty() {
            wrapped(out, 2, &format!("by {}", laws.join(", ")));
        }
        let verdict = match self.worst < TOLERANCE {
            true => "all true when evaluated",
            false => "NOT ALL TRUE WHEN EVALUATED",
        };
        let steps = self.derivation.equations.len();
        wrapped(out, 2, &format!("in {steps} equations, {verdict}"));
        let before = match &self.cost_before {
            Some(before) => before.to_string(),
            None => "too many operations to count".to_string(),
        };
        wrapped(out, 2, &format!("{before} → {}", self.cost_after));
        if details {
            self.write_details(out);
        }
    }

    /// Whether only constants are chosen or put together.
    fn costs_nothing(&self) -> bool {
        self.cost_after.operations == 0
            && self
                .cost_before
                .as_ref()
                .is_some_and(|before| before.operations == 0)
    }

    /// The values that are wanted and have no line of their own before.
    fn unnamed(&self) -> impl Iterator<Item = &Expr> {
        let has_line = |name: String| self.before.iter().any(|line| line.name.to_string() == name);
        self.wanted
            .iter()
            .filter(move |wanted| !has_line(wanted.to_string()))
    }

    fn write_details(&self, out: &mut String) {
        for (title, region) in ["before", "after"].into_iter().zip(&self.regions) {
            let _ = writeln!(out, "  {title}, as operators");
            for (k, input) in self.inputs.iter().enumerate() {
                let _ = writeln!(out, "    v{k}: {} is {input}", region.inputs[k]);
            }
            for line in region.to_string().lines().skip(region.inputs.len()) {
                let _ = writeln!(out, "    {line}");
            }
        }
        let derivation = &self.derivation;
        let sides = derivation.equations.iter().flat_map(|e| [e.left, e.right]);
        let layout = Layout {
            inputs: &self.inputs,
            names: &BTreeMap::new(),
            symmetry: &[],
            temporaries: "e",
            shares: true,
            width: WIDTH,
        };
        let written = layout.write(&derivation.region, &sides.collect::<Vec<_>>());
        let _ = writeln!(out, "  equations");
        written
            .lines
            .iter()
            .for_each(|line| wrapped(out, 4, &line.text()));
        for (equation, sides) in derivation.equations.iter().zip(written.values.chunks(2)) {
            let [left, right] = [0, 1].map(|k| sides[k].to_string());
            let laws = equation.laws.join(", ");
            match equation.laws.is_empty() {
                true if left == right => {}
                true => wrapped(out, 4, &format!("{left} = {right}")),
                false => wrapped(out, 4, &format!("{left} = {right}   by {laws}")),
            }
        }
    }
}

impl std::fmt::Display for Counts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let plural = |n: usize| if n == 1 { "" } else { "s" };
        write!(
            f,
            "{} operation{}",
            self.operations,
            plural(self.operations)
        )?;
        let among = [(self.divisions, "division"), (self.functions, "function")];
        let among = among.iter().filter(|(n, _)| *n > 0);
        let among: Vec<String> = among
            .map(|(n, what)| format!("{n} {what}{}", plural(*n)))
            .collect();
        if !among.is_empty() {
            write!(f, " ({})", among.join(", "))?;
        }
        if self.probes == 0 {
            return Ok(());
        }
        let orders: Vec<String> = self.orders.keys().map(usize::to_string).collect();
        let numbers: usize = self.orders.values().sum();
        write!(
            f,
            ", {} probe{} (order{} {}: {numbers} number{})",
            self.probes,
            plural(self.probes),
            plural(orders.len()),
            orders.join(", "),
            plural(numbers)
        )
    }
}

/// Definitions, one on a line if they are few, else as many as have room.
fn block(out: &mut String, lines: &[Line]) {
    if lines.len() <= FEW {
        return lines.iter().for_each(|line| wrapped(out, 4, &line.text()));
    }
    let mut row = String::new();
    for line in lines {
        let text = line.text();
        if !row.is_empty() && row.chars().count() + text.chars().count() + 2 > WIDTH - 4 {
            wrapped(out, 4, &row);
            row.clear();
        }
        row.push_str(if row.is_empty() { "" } else { "; " });
        row.push_str(&text);
    }
    if !row.is_empty() {
        wrapped(out, 4, &row);
    }
}

/// A line, broken at spaces if it is too long.
fn wrapped(out: &mut String, indent: usize, text: &str) {
    let mut width = 0;
    let _ = write!(out, "{:indent$}", "");
    for (k, word) in text.split(' ').enumerate() {
        let length = word.chars().count();
        if k > 0 && indent + width + 1 + length > WIDTH {
            let _ = write!(out, "\n{:1$}", "", indent + 4);
            width = 4;
        } else if k > 0 {
            out.push(' ');
            width += 1;
        }
        out.push_str(word);
        width += length;
    }
    out.push('\n');
}
