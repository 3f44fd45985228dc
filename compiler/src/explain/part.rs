//! One region: what was written, what is compiled, and how the one became the other.

use super::{
    counts::{Counts, counts},
    scope::{Display, Scope},
};
use crate::{high::Explained, ir::interface::Interface, ssa::Role};
use ein_ir::{
    Param, Region, Tensor,
    region::ValueId,
    surface::{Expr, Layout, Line},
};
use rewrite::Derivation;
use std::collections::{BTreeMap, BTreeSet};

/// The longest line of a definition.
const WIDTH: usize = 96;
/// An expression without a name that is longer than this gets one.
const LABEL: usize = 28;

/// The explanation of a region.
#[derive(Clone, Debug)]
pub struct Part {
    /// The function that the region belongs to.
    pub role: Role,
    /// Whether it is compiled: a field that nobody probes is not, and is shown as if it were probed.
    pub is_compiled: bool,
    /// Whether there is a field in it.
    pub has_fields: bool,
    /// All names that the source has in it.
    pub names: BTreeSet<String>,
    /// What is wanted of the region: names, or expressions that have none.
    pub wanted: Vec<String>,
    /// The definitions as they were written.
    pub before: Vec<Line>,
    /// What is compiled.
    pub after: Vec<Line>,
    /// What the definitions would cost with nothing but derivatives and probes worked out.
    pub cost_before: Counts,
    /// What is compiled costs this.
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
        self.derivation.laws().is_empty()
    }
}

/// The parts of a function, those that have to do with `name` if it is given.
pub(super) fn parts(
    role: Role,
    regions: &[Explained],
    scope: &Scope,
    interface: &Interface,
    name: Option<&str>,
) -> Vec<Part> {
    let part = |explained: &Explained| part(role, explained, scope, interface, name);
    regions.iter().filter_map(part).collect()
}

fn part(
    role: Role,
    explained: &Explained,
    scope: &Scope,
    interface: &Interface,
    name: Option<&str>,
) -> Option<Part> {
    let Explained {
        before,
        values,
        explained,
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
    let [before, after, composed] =
        [before, &explained.normalized.region, &explained.composed].map(select);

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

    // Values that are wanted but have no name are called by what they are, if that is short.
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
        let text = expr.to_string();
        wanted.push(match names.get(value) {
            Some(name) => name.clone(),
            None if text.chars().count() <= LABEL => text,
            None => {
                labels += 1;
                let name = format!("{label}{labels}");
                names.insert(*value, name.clone());
                name
            }
        });
    }
    layout.names = &names;
    let written = layout.write(&before, &before.roots);

    let familiar = familiar(&before, &naming.names, &after);
    let normalized = &explained.normalized;
    let after_lines = after_lines(&after, &inputs, &wanted, familiar, temporary, normalized);
    let input_values = &values[..before.inputs.len()];
    let symmetry = &explained.normalized.symmetry;
    let cost_after = counts(&after, symmetry, input_values, scope, interface);
    let cost_before = counts(&composed, &[], input_values, scope, interface);
    let all = cone(&before, &before.roots);
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
        worst: explained.derivation.replay(),
        regions: [before, after],
        inputs,
        derivation: explained.derivation.clone(),
    })
}

/// What is compiled, in lines; values that are wanted and have no name come last.
fn after_lines(
    after: &Region,
    inputs: &[Expr],
    wanted: &[String],
    familiar: BTreeMap<ValueId, String>,
    temporary: &str,
    normalized: &rewrite::Normalized,
) -> Vec<Line> {
    let mut names = familiar;
    for (&value, name) in after.roots.iter().zip(wanted) {
        if value.0 >= after.inputs.len() && is_identifier(name) {
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
        let text = expr.to_string();
        if text != *name && names.get(&value) != Some(name) {
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

/// The values of the normal form that have a name in what was written: those that are equal.
fn familiar(
    before: &Region,
    names: &BTreeMap<ValueId, String>,
    after: &Region,
) -> BTreeMap<ValueId, String> {
    const ROUNDING: f64 = 1e-9;
    let kinds = before.kinds();
    let named: Vec<(ValueId, &String)> = names
        .iter()
        .filter(|(value, _)| kinds[value.0].dim().is_none())
        .map(|(value, name)| (*value, name))
        .collect();
    let values: Vec<ValueId> = named.iter().map(|(value, _)| *value).collect();
    let known = rewrite::sample(before, &values);
    let new: Vec<ValueId> = (after.inputs.len()..after.inputs.len() + after.defs.len())
        .map(ValueId)
        .collect();
    let mut found = BTreeMap::new();
    for (value, tensor) in new.iter().zip(rewrite::sample(after, &new)) {
        let is_same = |known: &&Tensor<f64>| {
            let mut pairs = known.components().iter().zip(tensor.components());
            known.shape() == tensor.shape()
                && pairs.all(|(x, y)| (x - y).abs() <= ROUNDING * (x.abs() + y.abs()))
        };
        let is_free = |name: &&String| !found.values().any(|known| known == *name);
        let place = known.iter().position(|known| is_same(&known));
        if let Some(name) = place.map(|k| named[k].1).filter(is_free) {
            found.insert(*value, name.clone());
        }
    }
    found
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

fn is_identifier(name: &str) -> bool {
    name.chars()
        .all(|c| c.is_alphanumeric() || matches!(c, '_' | '\''))
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
