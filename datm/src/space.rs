//! The space of typed trees: exact counts, random access by rank, uniform and stratified draws.
//!
//! For each number of steps and each result type the productions are listed once, by dynamic programming; a
//! rank is then resolved top down. Walking the whole space is never needed.

use crate::random::Stream;
use crate::step::{Step, StepList, steps};
use crate::tree::{Rules, Tree};
use crate::types::{ArgumentKinds, Type, argument_types, is_storable};
use std::collections::BTreeMap;

/// Where computed arguments may stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Only the first argument is computed: the combs of the original.
    Left,
    /// Only the second argument of binary steps is computed.
    Right,
    /// Both arguments, with sizes that differ by at most one.
    Balanced,
    /// Any sizes of the first two arguments.
    Any,
}

/// Which results must fit a data file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Storable {
    /// All of them.
    Always,
    /// Those of a single step on arguments.
    Innermost,
    /// None.
    Never,
}

/// What a space contains.
#[derive(Clone, Debug)]
pub struct SpaceOptions {
    /// The steps.
    pub list: StepList,
    /// The statement of the typing rules.
    pub rules: Rules,
    /// Names of steps that are left out.
    pub excluded: Vec<&'static str>,
    /// Which results must fit a data file.
    pub storable: Storable,
    /// The shape of trees.
    pub form: Form,
    /// The kinds of arguments.
    pub arguments: ArgumentKinds,
    /// Continuity of field arguments.
    pub continuity: u8,
    /// The number of steps in each tree.
    pub steps: usize,
}

/// One way to build trees of a type: a step, and for each argument its type and number of steps.
#[derive(Clone, Debug)]
struct Production {
    step: usize,
    arguments: Vec<(usize, Type)>,
    /// The number of trees it builds.
    count: u128,
}

/// The productions for one number of steps, by result type.
type Layer = BTreeMap<Type, Vec<Production>>;

/// All typed trees with a given number of steps.
#[derive(Debug)]
pub struct TreeSpace {
    steps: Vec<Step>,
    arguments: Vec<Type>,
    size: usize,
    layers: Vec<Layer>,
    /// Per number of steps, the number of trees of each type.
    counts: Vec<BTreeMap<Type, u128>>,
}

impl SpaceOptions {
    /// The frame whose counts are published: 34 operators, storable results, left-deep trees.
    pub fn published(steps: usize) -> SpaceOptions {
        SpaceOptions {
            list: StepList::Published,
            rules: Rules::Published,
            excluded: Vec::new(),
            storable: Storable::Always,
            form: Form::Left,
            arguments: ArgumentKinds::All,
            continuity: 4,
            steps,
        }
    }

    /// Every step at every type of the language.
    pub fn full(steps: usize, form: Form) -> SpaceOptions {
        SpaceOptions {
            list: StepList::All,
            rules: Rules::Language,
            storable: Storable::Never,
            form,
            ..SpaceOptions::published(steps)
        }
    }
}

/// The sizes of the first two arguments that a form allows, when together they have `total` steps.
fn splits(form: Form, total: usize) -> Vec<(usize, usize)> {
    let all = (0..=total).map(|left| (left, total - left));
    all.filter(|&(left, right)| match form {
        Form::Left => right == 0,
        Form::Right => left == 0,
        Form::Balanced => left.abs_diff(right) <= 1,
        Form::Any => true,
    })
    .collect()
}

impl TreeSpace {
    /// Lists the productions of a space.
    pub fn new(options: &SpaceOptions) -> TreeSpace {
        let arguments = argument_types(options.continuity, options.arguments);
        let mut space = TreeSpace {
            steps: steps(options.list)
                .into_iter()
                .filter(|step| !options.excluded.contains(&step.name))
                .collect(),
            counts: vec![arguments.iter().map(|&ty| (ty, 1)).collect()],
            layers: vec![Layer::new()],
            arguments,
            size: options.steps,
        };
        for size in 1..=options.steps {
            let layer = space.next_layer(options, size);
            let total = |productions: &Vec<Production>| productions.iter().map(|p| p.count).sum();
            space.counts.push(
                layer
                    .iter()
                    .map(|(&ty, productions)| (ty, total(productions)))
                    .collect(),
            );
            space.layers.push(layer);
        }
        space
    }

    fn next_layer(&self, options: &SpaceOptions, size: usize) -> Layer {
        let mut layer = Layer::new();
        for (number, step) in self.steps.iter().enumerate() {
            let sizes = if step.arity < 2 {
                vec![(size - 1, 0)]
            } else {
                splits(options.form, size - 1)
            };
            for (left, right) in sizes {
                let mut sizes = vec![0; step.arity];
                sizes[0] = left;
                if let Some(second) = sizes.get_mut(1) {
                    *second = right;
                }
                self.productions(options, number, &sizes, &mut Vec::new(), &mut layer);
            }
        }
        layer
    }

    /// Tries every combination of argument types of the given sizes.
    fn productions(
        &self,
        options: &SpaceOptions,
        step: usize,
        sizes: &[usize],
        chosen: &mut Vec<Type>,
        layer: &mut Layer,
    ) {
        let Some(&size) = sizes.get(chosen.len()) else {
            let Some(result) = self.steps[step].result(chosen, options.rules) else {
                return;
            };
            let limited = match options.storable {
                Storable::Always => true,
                Storable::Innermost => sizes.iter().all(|&size| size == 0),
                Storable::Never => false,
            };
            if limited && !is_storable(result.shape) {
                return;
            }
            let arguments: Vec<(usize, Type)> =
                sizes.iter().copied().zip(chosen.iter().copied()).collect();
            let count = arguments
                .iter()
                .map(|&(size, ty)| self.count_of(size, ty))
                .product();
            layer.entry(result).or_default().push(Production {
                step,
                arguments,
                count,
            });
            return;
        };
        let types: Vec<Type> = self.counts[size].keys().copied().collect();
        for ty in types {
            chosen.push(ty);
            self.productions(options, step, sizes, chosen, layer);
            chosen.pop();
        }
    }

    fn count_of(&self, size: usize, ty: Type) -> u128 {
        self.counts[size].get(&ty).copied().unwrap_or(0)
    }

    /// The number of trees.
    pub fn len(&self) -> u128 {
        self.counts[self.size].values().sum()
    }

    /// Whether there is no tree at all.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The names of the steps.
    pub fn step_names(&self) -> Vec<&'static str> {
        self.steps.iter().map(|step| step.name).collect()
    }

    /// The argument types.
    pub fn argument_types(&self) -> &[Type] {
        &self.arguments
    }

    /// The tree of a rank below [`TreeSpace::len`].
    pub fn unrank(&self, mut rank: u128) -> Option<Tree> {
        for (&ty, &count) in &self.counts[self.size] {
            if rank < count {
                return self
                    .unrank_type(self.size, ty, rank)
                    .map(|tree| tree.numbered());
            }
            rank -= count;
        }
        None
    }

    fn unrank_type(&self, size: usize, ty: Type, mut rank: u128) -> Option<Tree> {
        if size == 0 {
            return Some(Tree::variable(ty, 0));
        }
        for production in self.layers[size].get(&ty)? {
            if rank < production.count {
                return self.unrank_production(production, rank);
            }
            rank -= production.count;
        }
        None
    }

    fn unrank_production(&self, production: &Production, mut rank: u128) -> Option<Tree> {
        let mut arguments = Vec::new();
        for &(size, ty) in &production.arguments {
            let count = self.count_of(size, ty);
            arguments.push(self.unrank_type(size, ty, rank % count)?);
            rank /= count;
        }
        Some(self.steps[production.step].apply(&apart(arguments)))
    }

    /// The rank of a tree, if it is in the space.
    pub fn rank(&self, tree: &Tree) -> Option<u128> {
        let mut before = 0;
        for (&ty, &count) in &self.counts[self.size] {
            if let Some(rank) = self.rank_type(self.size, ty, tree) {
                return Some(before + rank);
            }
            before += count;
        }
        None
    }

    fn rank_type(&self, size: usize, ty: Type, tree: &Tree) -> Option<u128> {
        if size == 0 {
            return matches!(tree, Tree::Variable { ty: found, .. } if *found == ty).then_some(0);
        }
        let mut before = 0;
        for production in self.layers[size].get(&ty)? {
            if let Some(rank) = self.rank_production(production, tree) {
                return Some(before + rank);
            }
            before += production.count;
        }
        None
    }

    fn rank_production(&self, production: &Production, tree: &Tree) -> Option<u128> {
        let arguments = self.steps[production.step].arguments(tree)?;
        let (mut rank, mut unit) = (0, 1);
        for (&(size, ty), argument) in production.arguments.iter().zip(arguments) {
            rank += unit * self.rank_type(size, ty, argument)?;
            unit *= self.count_of(size, ty);
        }
        Some(rank)
    }

    /// A tree drawn with equal chance for every tree.
    pub fn draw_uniform(&self, stream: &mut Stream) -> Option<Tree> {
        let total = self.len();
        if total == 0 {
            None
        } else {
            self.unrank(stream.below_wide(total))
        }
    }

    /// A tree drawn with equal chance for every step at each place, so that rare operators and pairs are not
    /// drowned by operators with many argument types.
    pub fn draw_stratified(&self, stream: &mut Stream) -> Option<Tree> {
        let productions: Vec<&Production> = self.layers[self.size].values().flatten().collect();
        self.draw(&productions, stream).map(|tree| tree.numbered())
    }

    fn draw(&self, productions: &[&Production], stream: &mut Stream) -> Option<Tree> {
        let mut present: Vec<usize> = productions
            .iter()
            .map(|production| production.step)
            .collect();
        present.sort_unstable();
        present.dedup();
        if present.is_empty() {
            return None;
        }
        let step = *stream.choose(&present);
        let of_step: Vec<&Production> = productions
            .iter()
            .filter(|p| p.step == step)
            .copied()
            .collect();
        let production = *stream.choose(&of_step);
        let mut arguments = Vec::new();
        for &(size, ty) in &production.arguments {
            arguments.push(if size == 0 {
                Tree::variable(ty, 0)
            } else {
                let below: Vec<&Production> = self.layers[size].get(&ty)?.iter().collect();
                self.draw(&below, stream)?
            });
        }
        Some(self.steps[step].apply(&apart(arguments)))
    }
}

/// Renumbers variables so that no two arguments share one.
fn apart(arguments: Vec<Tree>) -> Vec<Tree> {
    let mut used = 0;
    let mut next = |argument: &Tree| {
        let (argument, first) = (argument.numbered(), used);
        used += argument.variables().len();
        argument.map_variables(&mut |ty, number| Tree::variable(ty, first + number))
    };
    arguments.iter().map(&mut next).collect()
}

/// Makes leaves of one type the same variable, each with even chance: many rewrite rules fire only on repeated terms.
pub fn share_leaves(tree: &Tree, stream: &mut Stream) -> Tree {
    let mut seen: Vec<(Type, usize)> = Vec::new();
    let mut next = 0;
    let shared = tree.map_variables(&mut |ty, _| {
        let alike: Vec<usize> = seen
            .iter()
            .filter(|(known, _)| *known == ty)
            .map(|(_, number)| *number)
            .collect();
        if !alike.is_empty() && stream.below(2) == 0 {
            return Tree::variable(ty, *stream.choose(&alike));
        }
        next += 1;
        seen.push((ty, next - 1));
        Tree::variable(ty, next - 1)
    });
    shared.numbered()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(change: impl Fn(&mut SpaceOptions), steps: usize) -> u128 {
        let mut options = SpaceOptions::published(steps);
        change(&mut options);
        TreeSpace::new(&options).len()
    }

    /// The counts are those of DATm's dissertation for one, two and three operators.
    #[test]
    fn published_frame_has_the_calibrated_counts() {
        assert_eq!(
            [1, 2, 3].map(|steps| count(|_| {}, steps)),
            [695, 18_907, 502_790]
        );
    }

    #[test]
    fn neighbouring_frames_have_their_counts_too() {
        let third_order =
            |options: &mut SpaceOptions| options.excluded = vec!["slice[:,1,:]", "slice[1,0,:]"];
        assert_eq!(
            [1, 2, 3].map(|steps| count(third_order, steps)),
            [695, 18_823, 497_792]
        );
        let all_shapes = |options: &mut SpaceOptions| options.storable = Storable::Innermost;
        assert_eq!(
            [1, 2, 3].map(|steps| count(all_shapes, steps)),
            [695, 21_945, 623_364]
        );
    }

    #[test]
    fn ranks_and_trees_correspond() {
        let forms = [Form::Left, Form::Right, Form::Balanced, Form::Any];
        let spaces = forms.map(|form| SpaceOptions {
            form,
            ..SpaceOptions::published(3)
        });
        let full = SpaceOptions::full(2, Form::Any);
        for options in spaces.iter().chain([&full]) {
            let space = TreeSpace::new(options);
            let mut stream = Stream::new(&["ranks"]);
            for _ in 0..300 {
                let rank = stream.below_wide(space.len());
                let tree = space.unrank(rank).expect("a rank in range");
                assert_eq!(space.rank(&tree), Some(rank), "{tree}");
                assert_eq!(tree.to_string().parse::<Tree>(), Ok(tree));
            }
            assert_eq!(space.unrank(space.len()), None);
        }
    }

    #[test]
    fn all_single_steps_are_distinct_and_typed() {
        let space = TreeSpace::new(&SpaceOptions::published(1));
        let labels: std::collections::BTreeSet<String> = (0..space.len())
            .filter_map(|rank| space.unrank(rank))
            .map(|tree| tree.to_string())
            .collect();
        // As many as the published count of the test above.
        assert_eq!(labels.len(), 695);
    }

    #[test]
    fn every_form_reaches_its_shape() {
        let right = TreeSpace::new(&SpaceOptions {
            form: Form::Right,
            ..SpaceOptions::full(2, Form::Any)
        });
        let nested: Tree = "sub(T[3],mul(F2#4[],F2#4[3]))".parse().expect("a tree");
        assert!(right.rank(&nested).is_some());
        let balanced = TreeSpace::new(&SpaceOptions::full(3, Form::Balanced));
        let quad: Tree = "inner(cross(F3#4[3],F3#4[3]),cross(F3#4[3],F3#4[3]))"
            .parse()
            .expect("a tree");
        assert!(balanced.rank(&quad).is_some());
        assert!(
            TreeSpace::new(&SpaceOptions::full(3, Form::Left))
                .rank(&quad)
                .is_none()
        );
    }

    #[test]
    fn stratified_draws_visit_every_step() {
        let space = TreeSpace::new(&SpaceOptions::full(2, Form::Left));
        let mut stream = Stream::new(&["strata"]);
        let mut seen = std::collections::BTreeSet::new();
        for _ in 0..3000 {
            seen.extend(
                space
                    .draw_stratified(&mut stream)
                    .expect("a tree")
                    .operator_names(),
            );
        }
        for row in crate::operator::OPERATORS {
            assert!(seen.contains(row.name), "{}", row.name);
        }
    }

    #[test]
    fn shared_leaves_keep_types_and_reduce_variables() {
        let tree: Tree = "add(add(T[3],T[3]),mul(T[],T[3]))".parse().expect("a tree");
        let mut stream = Stream::new(&["share"]);
        let shared: Vec<Tree> = (0..20).map(|_| share_leaves(&tree, &mut stream)).collect();
        assert!(
            shared
                .iter()
                .all(|t| t.type_of(Rules::Language) == tree.type_of(Rules::Language))
        );
        assert!(shared.iter().any(|t| t.variables().len() < 4));
        assert!(
            shared
                .iter()
                .all(|t| t.to_string().parse::<Tree>().as_ref() == Ok(t))
        );
    }
}
