//! One region: as written, as compiled, and the derivation in between.

use super::{
    counts::{Counts, counts},
    scope::{Display, Scope},
};
use crate::{high::ExplainedRegion, ir::interface::Interface, ssa::Role};
use ein_ir::{
    Index, Param, Region, Term,
    region::ValueId,
    surface::{Expr, Layout, Line},
};
use rewrite::Derivation;
use std::collections::{BTreeMap, BTreeSet};

/// The longest line of a definition.
const WIDTH: usize = 96;
/// An expression without a name that is longer than this gets one.
const LABEL: usize = 28;

/// Forms with more operations than this are not written out to be counted.
const COUNTED: u64 = 200_000;

/// The explanation of a region.
#[derive(Clone, Debug)]
pub struct Part {
    /// The function that the region belongs to.
    pub role: Role,
    /// Whether it is compiled: a field that is never probed is not, and is shown as if it were probed.
    pub is_compiled: bool,
    /// Whether there is a field in it.
    pub has_fields: bool,
    /// All names that the source has in it.
    pub names: BTreeSet<String>,
    /// The roots of the region: names, or expressions without one.
    pub wanted: Vec<Expr>,
    /// The definitions as they were written.
    pub before: Vec<Line>,
    /// The compiled region.
    pub after: Vec<Line>,
    /// What the definitions would cost with nothing but derivatives and probes worked out; none if that is too much to
    /// be counted.
    pub cost_before: Option<Counts>,
    /// The cost of the compiled region.
    pub cost_after: Counts,
    /// The largest relative difference between two sides of an equation that leads from one to the other.
    pub worst: f64,
    /// The region as it was written, the one that is compiled, and what their inputs are called.
    pub regions: [Region; 2],
    /// What the inputs of the regions are called.
    pub inputs: Vec<Expr>,
    /// The equations that lead from one to the other.
    pub derivation: Derivation,
}

impl Part {
    /// Whether the region is compiled as it was written, but for the order of factors and the like.
    pub fn is_unchanged(&self) -> bool {
        let [before, after] = [&self.before, &self.after]
            .map(|lines| lines.iter().map(Line::text).collect::<Vec<_>>());
        self.derivation.laws().is_empty() || before == after
    }
}

/// The parts of a function, those that have to do with `name` if it is given.
pub(super) fn parts(
    role: Role,
    regions: &[ExplainedRegion],
    scope: &Scope,
    interface: &Interface,
    name: Option<&str>,
) -> Vec<Part> {
    let part = |explained: &ExplainedRegion| part(role, explained, scope, interface, name);
    regions.iter().filter_map(part).collect()
}

fn part(
    role: Role,
    explained: &ExplainedRegion,
    scope: &Scope,
    interface: &Interface,
    name: Option<&str>,
) -> Option<Part> {
    let ExplainedRegion {
        before,
        values,
        explained,
        ..
    } = explained;
    let has_name = |value: ValueId, name: &str| {
        scope
            .names(values[value.0])
            .iter()
            .any(|known| known == name)
    };
    let roots: Vec<usize> = (0..before.roots.len())
        .filter(|&k| {
            let cone = cone(before, &[before.roots[k]]);
            name.is_none_or(|name| cone.iter().any(|&value| has_name(value, name)))
        })
        .collect();
    if roots.is_empty() {
        return None;
    }
    let select = |region: &Region| {
        let mut selected = region.clone();
        selected.roots = roots.iter().map(|&k| region.roots[k]).collect();
        selected
    };
    let [before, mut after, composed] =
        [before, &explained.normalized.region, &explained.composed].map(select);
    let origins: Vec<ValueId> = after.roots.iter().map(|&v| origin(&after, v)).collect();
    after.roots = origins;

    let naming = Naming::new(scope, &before, values);
    let inputs: Vec<Expr> = (0..before.inputs.len())
        .map(|k| scope.expr(values[k], &naming.display))
        .collect();
    let taken = |name: &str| naming.taken.contains(name);
    let prefix = |candidates: &[&'static str]| {
        let is_free = |prefix: &&&str| !(1..1000).any(|n| taken(&format!("{prefix}{n}")));
        candidates.iter().find(is_free).copied().unwrap_or("_")
    };
    let (temporary, label) = (prefix(&["t", "u", "w"]), prefix(&["r", "q", "z"]));

    // Roots without a name are named by their expression, if that is short.
    let mut names = naming.names.clone();
    let mut layout = Layout {
        inputs: &inputs,
        names: &naming.names,
        symmetry: &[],
        temporaries: temporary,
        shares: false,
        width: WIDTH,
    };
    let first = layout.write(&before, &before.roots);
    let (mut wanted, mut labels) = (Vec::new(), 0);
    for (value, expr) in before.roots.iter().zip(&first.values) {
        wanted.push(match names.get(value) {
            Some(name) => Expr::Name(name.clone()),
            None if expr.to_string().chars().count() <= LABEL => expr.clone(),
            None => {
                labels += 1;
                let name = format!("{label}{labels}");
                names.insert(*value, name.clone());
                Expr::Name(name)
            }
        });
    }
    layout.names = &names;
    let written = layout.write(&before, &before.roots);

    let normalized = &explained.normalized;
    let familiar = familiar(&before, &naming.names, &explained.same);
    let after_lines = after_lines(&after, &inputs, &wanted, familiar, temporary, normalized);
    let input_values = &values[..before.inputs.len()];
    let cost_after = counts(&after, &normalized.symmetry, input_values, scope, interface);
    let cost_before = (normalized.stats.cost_before < COUNTED)
        .then(|| counts(&composed, &[], input_values, scope, interface));
    let all = cone(&before, &before.roots);
    let derivation = explained.derivation.of_roots(&roots);
    Some(Part {
        role,
        is_compiled: true,
        has_fields: before
            .inputs
            .iter()
            .any(|input| matches!(input, Param::Field { .. })),
        names: all
            .iter()
            .flat_map(|value| scope.names(values[value.0]).to_vec())
            .collect(),
        wanted,
        before: written.lines,
        after: after_lines,
        cost_before,
        cost_after,
        worst: derivation.replay(),
        regions: [before, after],
        inputs,
        derivation,
    })
}

/// The compiled region in lines; roots without a name come last.
fn after_lines(
    after: &Region,
    inputs: &[Expr],
    wanted: &[Expr],
    familiar: BTreeMap<ValueId, String>,
    temporary: &str,
    normalized: &rewrite::Normalized,
) -> Vec<Line> {
    let mut names = familiar;
    for (&value, wanted) in after.roots.iter().zip(wanted) {
        if let Expr::Name(name) = wanted
            && value.0 >= after.inputs.len()
        {
            names.retain(|_, known| known != name);
            names.insert(value, name.clone());
        }
    }
    let layout = Layout {
        inputs,
        names: &names,
        symmetry: &normalized.symmetry,
        temporaries: temporary,
        shares: true,
        width: WIDTH,
    };
    let mut written = layout.write(after, &after.roots);
    for ((&value, name), expr) in after.roots.iter().zip(wanted).zip(written.values) {
        if expr.to_string() != name.to_string() {
            written.lines.push(Line {
                value,
                name: name.clone(),
                indices: 0,
                expr,
            });
        }
    }
    written.lines
}

/// The values of the normal form that have a name in the source: those that are equal to a tensor there.
fn familiar(
    before: &Region,
    names: &BTreeMap<ValueId, String>,
    same: &[Vec<ValueId>],
) -> BTreeMap<ValueId, String> {
    let kinds = before.kinds();
    let mut found: BTreeMap<ValueId, String> = BTreeMap::new();
    for (new, old) in (before.inputs.len()..).map(ValueId).zip(same) {
        let tensors = old.iter().filter(|value| kinds[value.0].dim().is_none());
        let mut free = tensors
            .filter_map(|value| names.get(value))
            .filter(|name| found.values().all(|known| known != *name));
        if let Some(name) = free.next() {
            found.insert(new, name.clone());
        }
    }
    found
}

/// The value that another one is only a copy of.
fn origin(region: &Region, value: ValueId) -> ValueId {
    let def = value.0.checked_sub(region.inputs.len());
    let Some(def) = def.map(|k| &region.defs[k]) else {
        return value;
    };
    let whole = (0..def.op.axes.len()).map(Index::Axis);
    match &def.op.body {
        Term::Access { indices, .. } if indices.iter().copied().eq(whole) => {
            origin(region, def.args[0])
        }
        _ => value,
    }
}

/// The names of the values of a region.
struct Naming {
    display: Display,
    names: BTreeMap<ValueId, String>,
    taken: BTreeSet<String>,
}

impl Naming {
    /// Each value by the first of its names that no other value has; a variable that is given another value within the
    /// region gets a prime.
    fn new(scope: &Scope, region: &Region, values: &[crate::ssa::Value]) -> Naming {
        let mut naming = Naming {
            display: Display::new(),
            names: BTreeMap::new(),
            taken: BTreeSet::new(),
        };
        for (k, value) in values.iter().enumerate() {
            let names = scope.names(*value);
            let Some(first) = names.first() else { continue };
            let free = names
                .iter()
                .find(|name| !naming.taken.contains(*name))
                .cloned();
            let name = free.unwrap_or_else(|| {
                let mut name = format!("{first}'");
                while naming.taken.contains(&name) {
                    name.push('\'');
                }
                name
            });
            naming.taken.insert(name.clone());
            naming.display.insert(*value, name.clone());
            if k >= region.inputs.len() {
                naming.names.insert(ValueId(k), name);
            }
        }
        naming
    }
}

/// Values and all that they are made of.
fn cone(region: &Region, roots: &[ValueId]) -> BTreeSet<ValueId> {
    let mut found = BTreeSet::new();
    let mut work = roots.to_vec();
    while let Some(value) = work.pop() {
        if found.insert(value)
            && let Some(k) = value.0.checked_sub(region.inputs.len())
        {
            work.extend(&region.defs[k].args);
        }
    }
    found
}
