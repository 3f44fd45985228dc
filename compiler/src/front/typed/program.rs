//! The whole program: constants, inputs, globals and functions in textual order, then the strand, the creation of the
//! initial strands and the global code.

use super::{
    CheckOptions,
    context::{Cx, Place},
    flow::Flow,
    items::item,
    stmt::block,
    strand::{GlobalStabilize, create, strand},
    tree::{Block, Create, Function, Global, Program, Strand, VarKind},
};
use crate::front::{
    codes,
    diag::Diagnostic,
    elaborate::notation::{Rest, Unplaced},
    facts::Facts,
    source::Span,
    syntax::ast,
};
use std::collections::BTreeSet;

/// A program after the check.
#[derive(Debug)]
pub(crate) struct Typed {
    /// The typed program, if there are no errors at all.
    pub(crate) program: Option<Program>,
    /// Index notation that was checked and is not in it.
    pub(crate) rest: Rest,
    /// Errors and warnings.
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// The meanings of names and the types of expressions.
    pub(crate) facts: Facts,
}

/// Checks a program. `errors` are those of its syntax; the messages of the check are added to them.
pub(crate) fn check(
    program: &ast::Program,
    options: &CheckOptions,
    errors: Vec<Diagnostic>,
) -> Typed {
    let mut cx = Cx::new(program.version, options, errors);
    let globals = program
        .items
        .iter()
        .flat_map(|written| item(&mut cx, written))
        .collect::<Vec<_>>();
    unknown_given(&mut cx);
    let initialize = program
        .initialize
        .as_ref()
        .map(|body| global_block(&mut cx, body, Place::GlobalInitialize));
    let stabilized = GlobalStabilize {
        before_steps: program.start.as_ref().is_some_and(stabilizes),
        between_steps: program.update.as_ref().is_some_and(stabilizes),
    };
    let strand = program
        .strand
        .as_ref()
        .map(|written| strand(&mut cx, written, stabilized));
    let create = program
        .create
        .as_ref()
        .and_then(|written| create(&mut cx, written));
    let start = program
        .start
        .as_ref()
        .map(|body| global_block(&mut cx, body, Place::GlobalStart));
    let update = program
        .update
        .as_ref()
        .map(|body| global_block(&mut cx, body, Place::GlobalUpdate));
    require_parts(&mut cx, program);
    grid_conflicts(&mut cx, program);
    if !cx.has_errors() {
        warn_of_endless_strands(&mut cx, program);
        warn_of_unused(&mut cx);
    }
    let parts = (!cx.has_errors()).then_some(()).and(strand.zip(create));
    let diagnostics = std::mem::take(&mut cx.diagnostics);
    let facts = std::mem::take(&mut cx.facts).sorted();
    let rest = rest(&mut cx, parts.is_some());
    let program = parts.and_then(|(strand, create)| {
        assemble(cx, globals, initialize, strand, create, start, update)
    });
    Typed {
        program,
        rest,
        diagnostics,
        facts,
    }
}

/// Index notation that is not in the tree: without a tree all of it, else that of statements which are never reached.
fn rest(cx: &mut Cx<'_>, has_tree: bool) -> Rest {
    let complete = std::mem::take(&mut cx.indices.complete).into_iter();
    let parts = complete.filter(|(_, is_reachable)| !(has_tree && *is_reachable));
    let parts: Vec<Unplaced> = parts.map(|(part, _)| part).collect();
    let vars = match parts.is_empty() {
        true => Vec::new(),
        false => cx.tree_vars(),
    };
    Rest { parts, vars }
}

/// The typed program; everything in it has a type because nothing was reported. Variables without one are in no expression.
fn assemble(
    cx: Cx<'_>,
    globals: Vec<Global>,
    initialize: Option<Block>,
    strand: Strand,
    create: Create,
    start: Option<Block>,
    update: Option<Block>,
) -> Option<Program> {
    let vars = cx.tree_vars();
    let functions: Option<Vec<Function>> = cx
        .functions
        .into_iter()
        .map(|function| {
            Some(Function {
                name: function.name,
                params: function.params,
                result: function.result?,
                body: function.body,
                span: function.span,
            })
        })
        .collect();
    Some(Program {
        version: cx.version,
        vars,
        functions: functions?,
        globals,
        initialize,
        strand,
        start,
        update,
        create,
    })
}

/// Reports values that were given for constants the program does not have.
fn unknown_given(cx: &mut Cx<'_>) {
    for (name, _) in &cx.options.constants {
        if !cx.incomplete && !cx.consts.iter().any(|constant| constant.name == *name) {
            let names: Vec<String> = cx
                .consts
                .iter()
                .map(|constant| constant.name.clone())
                .collect();
            let similar = cx.similar_name(name, names.iter().map(String::as_str));
            cx.error(
                codes::GIVEN_CONSTANT,
                Span::default(),
                format!("`--C{name}`: the program has no constant `{name}`"),
            )
            .hints(similar.map(|name| format!("did you mean `{name}`?")));
        }
    }
}

fn global_block<'a>(cx: &mut Cx<'a>, body: &'a ast::Block, place: Place) -> Block {
    cx.place = place;
    let checked = block(cx, body);
    let mut lacking = cx.flow.lacking();
    lacking.append(&mut cx.exits.continued);
    cx.flow = Flow::entering(lacking);
    checked
}

/// Whether a block says `stabilize;` anywhere.
fn stabilizes(block: &ast::Block) -> bool {
    fn anywhere(stmt: &ast::Stmt) -> bool {
        match &stmt.kind {
            ast::StmtKind::Stabilize => true,
            ast::StmtKind::Block(block) => stabilizes(block),
            ast::StmtKind::If {
                then, otherwise, ..
            } => anywhere(then) || otherwise.as_deref().is_some_and(anywhere),
            ast::StmtKind::Foreach { body, .. } => anywhere(body),
            ast::StmtKind::Decl { .. }
            | ast::StmtKind::Assign { .. }
            | ast::StmtKind::Print(_)
            | ast::StmtKind::New { .. }
            | ast::StmtKind::Die
            | ast::StmtKind::Continue
            | ast::StmtKind::Return(_)
            | ast::StmtKind::Error => false,
        }
    }
    block.stmts.iter().any(anywhere)
}

/// A program has a strand and creates some.
fn require_parts(cx: &mut Cx<'_>, program: &ast::Program) {
    if cx.incomplete {
        return;
    }
    if program.strand.is_none() {
        cx.error(
            codes::MISSING_PART,
            Span::default(),
            "the program has no strand",
        );
    }
    if program.create.is_none() {
        cx.error(
            codes::MISSING_PART,
            Span::default(),
            "the program creates no strands",
        );
    }
}

/// In a grid, strands neither come nor go.
fn grid_conflicts(cx: &mut Cx<'_>, program: &ast::Program) {
    let Some(created) = program.create.as_ref().filter(|create| create.grid) else {
        return;
    };
    let (grid, collection) = match program.version {
        ast::Version::V1 => ("initially [ … ]", "initially { … }"),
        ast::Version::V2 => ("create_array", "create_collection"),
    };
    for (statement, span) in std::mem::take(&mut cx.births_and_deaths) {
        cx.error(
            codes::GRID_CONFLICT,
            span,
            format!("`{statement}` conflicts with `{grid}`: the strands of a grid stay"),
        )
        .label(created.span, "the grid is created here")
        .hint(format!("use `{collection}`, or let the strand stabilize"));
    }
}

fn warn_of_endless_strands(cx: &mut Cx<'_>, program: &ast::Program) {
    let Some(strand) = program.strand.as_ref().filter(|_| !cx.ends_strands) else {
        return;
    };
    let message = format!("strand `{}` never stabilizes or dies", strand.name.text);
    cx.warning(codes::ENDLESS_STRAND, strand.name.span, message)
        .hint("end it with `stabilize;` or `die;`, or run the program with a limit on super-steps: `-l N`");
}

fn warn_of_unused(cx: &mut Cx<'_>) {
    let vars = cx
        .vars
        .iter()
        .filter(|var| !var.read && var.kind != VarKind::Input)
        .map(|var| {
            let what = match var.kind {
                VarKind::Param => "parameter",
                VarKind::State => "state variable",
                VarKind::Global | VarKind::Local | VarKind::Input => "variable",
            };
            (what, var.name.clone(), var.span)
        });
    let consts = cx.consts.iter().filter(|constant| !constant.read);
    let consts = consts.map(|constant| ("constant", constant.name.clone(), constant.span));
    // A loop that is checked for each value declares its variables once for every copy.
    let unused: BTreeSet<(Span, &str, String)> = vars
        .chain(consts)
        .map(|(what, name, span)| (span, what, name))
        .collect();
    for (span, what, name) in unused {
        cx.warning(
            codes::UNUSED,
            span,
            format!("{what} `{name}` is never used"),
        );
    }
}
