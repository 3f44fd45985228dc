//! Liveness: the needed steps of a tree, and the uses of each value.
//!
//! Gives every step a place in the order of emission. Blocks under masks run one after the other, so a value is alive from
//! its definition to its last use in that order; only a loop keeps the values that it uses from outside alive to its end.

use super::tree::{Block, Finish, For, If, Kind, Node, Tree, Val};

/// The places at which values are used, ascending.
#[derive(Debug)]
pub(super) struct Uses {
    /// Where the uses of each value begin, and where all end.
    first: Vec<u32>,
    places: Vec<u32>,
    /// The place after the last step, where the results are used.
    pub(super) end: u32,
}

impl Uses {
    fn of(&self, v: Val) -> &[u32] {
        &self.places[self.first[v.index()] as usize..self.first[v.index() + 1] as usize]
    }

    /// The first use at a place or after it.
    pub(super) fn next(&self, v: Val, from: u32) -> Option<u32> {
        let uses = self.of(v);
        uses.get(uses.partition_point(|&p| p < from)).copied()
    }

    /// The last use.
    pub(super) fn last(&self, v: Val) -> Option<u32> {
        self.of(v).last().copied()
    }

    /// The uses after a place.
    pub(super) fn later(&self, v: Val, after: u32) -> &[u32] {
        let uses = self.of(v);
        &uses[uses.partition_point(|&p| p <= after)..]
    }
}

/// Removes steps and results that are not needed.
pub(super) fn remove_dead(tree: &mut Tree) {
    let mut live = vec![false; tree.values.len()];
    for v in results(&tree.finish) {
        live[v.index()] = true;
    }
    sweep(&mut tree.body, &mut live);
}

/// The values that a function's end needs.
fn results(finish: &Finish) -> Vec<Val> {
    match finish {
        Finish::State { ended, stores } => {
            let ended = ended.iter().flatten().copied();
            ended.chain(stores.iter().map(|s| s.value)).collect()
        }
        Finish::Results(values) => values.clone(),
    }
}

/// Goes through a block from its end, keeping the steps that are needed.
fn sweep(block: &mut Block, live: &mut [bool]) {
    let mut kept = Vec::with_capacity(block.nodes.len());
    for mut node in std::mem::take(&mut block.nodes).into_iter().rev() {
        if is_needed(&mut node.kind, live) {
            kept.push(node);
        }
    }
    kept.reverse();
    block.nodes = kept;
}

fn is_needed(kind: &mut Kind, live: &mut [bool]) -> bool {
    let needed = match kind {
        Kind::Op { result, .. } | Kind::Unpack { result, .. } => live[result.index()],
        Kind::Gather(gather) => live[gather.result.index()],
        Kind::Call(call) | Kind::Tent { call, .. } => {
            call.effect || call.results.iter().any(|v| live[v.index()])
        }
        Kind::Report(_) => true,
        Kind::If(branch) => return is_if_needed(branch, live),
        Kind::For(repeat) => {
            for variable in &repeat.variables {
                for v in [variable.value, variable.init, variable.next] {
                    live[v.index()] = true;
                }
            }
            sweep(&mut repeat.body, live);
            return true;
        }
    };
    if needed {
        for v in kind.reads() {
            live[v.index()] = true;
        }
    }
    needed
}

fn is_if_needed(branch: &mut If, live: &mut [bool]) -> bool {
    branch.merges.retain(|merge| live[merge.result.index()]);
    for merge in &branch.merges {
        for v in merge.yields.iter().flatten().chain(&merge.start) {
            live[v.index()] = true;
        }
    }
    for arm in branch.arms.iter_mut().rev() {
        sweep(&mut arm.block, live);
        live[arm.mask.index()] = true;
    }
    let has_steps = branch.arms.iter().any(|arm| !arm.block.nodes.is_empty());
    has_steps || !branch.merges.is_empty()
}

/// Numbers the steps and finds the uses of values.
pub(super) fn number(tree: &mut Tree) -> Uses {
    let mut numbering = Numbering {
        place: 0,
        uses: Vec::new(),
        defined: vec![0; tree.values.len()],
        extended: vec![0; tree.values.len()],
    };
    numbering.block(&mut tree.body);
    numbering.place += 1;
    let end = numbering.place;
    for v in results(&tree.finish) {
        numbering.uses.push((v, end));
    }
    numbering.uses.push((Val::ACTIVE, end));
    numbering.sorted(tree.values.len(), end)
}

struct Numbering {
    place: u32,
    /// Uses in ascending order of places.
    uses: Vec<(Val, u32)>,
    /// Where values are defined; 0 for values that exist from the beginning.
    defined: Vec<u32>,
    /// The last loop to whose end a value was kept alive.
    extended: Vec<u32>,
}

impl Numbering {
    fn block(&mut self, block: &mut Block) {
        for node in &mut block.nodes {
            self.node(node);
        }
        self.place += 1;
        block.end = self.place;
    }

    fn used(&mut self, v: Val) {
        self.uses.push((v, self.place));
    }

    fn define(&mut self, v: Val) {
        self.defined[v.index()] = self.place;
    }

    fn node(&mut self, node: &mut Node) {
        self.place += 1;
        node.at = self.place;
        for v in node.kind.reads() {
            self.used(v);
        }
        match &mut node.kind {
            Kind::Op { result, .. } | Kind::Unpack { result, .. } => self.define(*result),
            Kind::Gather(gather) => self.define(gather.result),
            Kind::Call(call) | Kind::Tent { call, .. } => {
                call.results.iter().for_each(|&v| self.define(v));
            }
            Kind::Report(_) => {}
            Kind::If(branch) => self.branch(branch),
            Kind::For(repeat) => self.repeat(repeat),
        }
    }

    fn branch(&mut self, branch: &mut If) {
        for merge in &branch.merges {
            self.define(merge.result);
            if let Some(v) = merge.start {
                self.used(v);
            }
        }
        for (n, arm) in branch.arms.iter_mut().enumerate() {
            self.place += 1;
            arm.start = self.place;
            self.used(arm.mask);
            self.block(&mut arm.block);
            self.used(arm.mask);
            for merge in &branch.merges {
                if let Some(y) = merge.yields[n] {
                    self.used(y);
                    // What a result starts as may be where it ends up.
                    if let Some(v) = merge.start {
                        self.used(v);
                    }
                }
            }
        }
    }

    fn repeat(&mut self, repeat: &mut For) {
        let before = self.place;
        for variable in &repeat.variables {
            self.used(variable.init);
            self.define(variable.value);
        }
        self.place += 1;
        repeat.start = self.place;
        let first = self.uses.len();
        self.used(repeat.mask);
        self.block(&mut repeat.body);
        let end = self.place;
        for variable in &repeat.variables {
            self.used(variable.next);
            let is_read = |uses: &[(Val, u32)]| uses.iter().any(|(v, _)| *v == variable.value);
            if variable.kept {
                self.used(variable.value);
                self.used(repeat.mask);
            } else if !is_read(&self.uses[first..]) {
                // A value that is not read in the loop is read after it.
                self.used(variable.value);
            }
        }
        for n in first..self.uses.len() {
            let (v, _) = self.uses[n];
            let outside = self.defined[v.index()] < before;
            if outside && self.extended[v.index()] != end {
                self.extended[v.index()] = end;
                self.used(v);
            }
        }
        self.place += 1;
        for result in repeat.variables.iter().filter_map(|v| v.result) {
            self.define(result);
        }
    }

    fn sorted(self, values: usize, end: u32) -> Uses {
        let mut first = vec![0u32; values + 1];
        for (v, _) in &self.uses {
            first[v.index() + 1] += 1;
        }
        for n in 0..values {
            first[n + 1] += first[n];
        }
        let mut next = first.clone();
        let mut places = vec![0; self.uses.len()];
        for (v, place) in &self.uses {
            places[next[v.index()] as usize] = *place;
            next[v.index()] += 1;
        }
        Uses { first, places, end }
    }
}
