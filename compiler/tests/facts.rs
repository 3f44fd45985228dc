//! The meanings of names and the types of expressions by their places, as editors ask for them: in the sample programs, in the same
//! programs with an error in the middle, and in programs that end too early.

use compiler::front::{
    CheckOptions, Checked, check,
    facts::{DefinitionKind, Facts, Referent},
    files::Buffers,
    source::{Source, Span},
    syntax::{
        ast::{Block, ClauseBody, Expr, ExprKind, FunctionBody, ItemKind, Program, Stmt, StmtKind},
        vocabulary,
    },
};
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

fn checked(source: &Source) -> Checked {
    check(source, &CheckOptions::default())
}

fn files_under(folder: &Path, suffix: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("the folder can be read");
    let mut found: Vec<PathBuf> = entries
        .map(|entry| entry.expect("the entry can be read").path())
        .flat_map(|path| match path.is_dir() {
            true => files_under(&path, suffix),
            false => vec![path],
        })
        .filter(|path| path.extension().is_some_and(|end| end == suffix))
        .collect();
    found.sort();
    found
}

/// The sample programs, the programs of the tests of index notation, and the complete programs of the book.
fn programs() -> Vec<(Source, Checked)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut sources = Vec::new();
    for folder in ["../programs", "tests/index"] {
        for path in files_under(&root.join(folder), "diderot") {
            let text = fs::read_to_string(&path).expect("the program is UTF-8 text");
            sources.push(Source::new(path, text));
        }
    }
    for page in files_under(&root.join("../docs/book/src"), "md") {
        let text = fs::read_to_string(&page).expect("the page is UTF-8 text");
        for block in text.split("```diderot").skip(1) {
            let (_, block) = block.split_once('\n').unwrap_or_default();
            let program = block.split("```").next().unwrap_or_default();
            sources.push(Source::new(page.clone(), program));
        }
    }
    let sound = sources.into_iter().filter_map(|source| {
        let checked = checked(&source);
        checked.program.is_some().then_some((source, checked))
    });
    sound.collect()
}

/// The identifiers of a text: comments, texts, numbers, words with a backslash and reserved words are left out.
fn identifiers(text: &str) -> Vec<(Span, &str)> {
    let version = if text.starts_with("#version 2") { 2 } else { 1 };
    let reserved: BTreeSet<&str> = vocabulary::words()
        .into_iter()
        .filter(|word| word.reserved)
        .filter(|word| {
            word.only_in
                .is_none_or(|only| only.to_string().starts_with(&version.to_string()))
        })
        .map(|word| word.text)
        .collect();
    let is_letter = |c: char| c.is_alphabetic() || c == '_';
    let mut found = Vec::new();
    let mut at = match text.starts_with("#version") {
        true => text.find('\n').unwrap_or(text.len()),
        false => 0,
    };
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let length_of = |end: Option<usize>, more: usize| end.map_or(rest.len(), |n| n + more);
        at += if rest.starts_with("//") {
            length_of(rest.find('\n'), 0)
        } else if rest.starts_with("/*") {
            length_of(rest.find("*/"), 2)
        } else if first == '"' {
            let mut escaped = false;
            let end = rest[1..].find(|c| {
                let ends = c == '"' && !escaped;
                escaped = c == '\\' && !escaped;
                ends
            });
            length_of(end, 2)
        } else if first == '\\' || first.is_ascii_digit() {
            length_of(rest[1..].find(|c: char| !c.is_alphanumeric()), 1)
        } else if is_letter(first) {
            let end = rest.find(|c: char| !is_letter(c) && !c.is_ascii_digit() && c != '\'');
            let word = &rest[..end.unwrap_or(rest.len())];
            if !reserved.contains(word) {
                found.push((Span::new(at, at + word.len()), word));
            }
            word.len()
        } else {
            first.len_utf8()
        };
    }
    found
}

/// Words that have their meaning in one place only, and are names elsewhere.
fn is_contextual(word: &str) -> bool {
    matches!(word, "axis" | "import")
}

#[test]
fn every_identifier_has_a_meaning_and_the_type_of_its_definition() {
    let mut count = 0;
    for (source, checked) in programs() {
        let facts = &checked.facts;
        let names: BTreeMap<Span, Referent> = facts.names().collect();
        for (place, word) in identifiers(&source.text) {
            let at = || format!("{}, `{word}`", source.line_of(place.start));
            let Some(meaning) = names.get(&place) else {
                assert!(is_contextual(word), "{}", at());
                continue;
            };
            count += 1;
            let Referent::Defined(defined) = meaning else {
                continue;
            };
            let definition = facts.definition(*defined);
            let definition = definition.unwrap_or_else(|| panic!("{}", at()));
            assert_eq!(definition.name, word, "{}", at());
            let ty = facts.type_of(place);
            assert!(ty.is_none() || ty == definition.ty.as_ref(), "{}", at());
        }
        let program = checked.program.expect("a sound program");
        for var in program.vars {
            if names.contains_key(&var.span) && text_at(&source, var.span) == var.name {
                let known = facts.definition(var.span).and_then(|d| d.ty.clone());
                assert_eq!(known, Some(var.ty), "{}", source.line_of(var.span.start));
            }
        }
    }
    assert!(count > 5000, "only {count} identifiers");
}

fn text_at(source: &Source, span: Span) -> &str {
    &source.text[span.start as usize..span.end as usize]
}

/// The parts of statements that are broken one at a time: the values of definitions, and whole statements of other kinds.
fn breakable(program: &Program) -> Vec<Span> {
    fn of_statement(stmt: &Stmt, found: &mut Vec<Span>) {
        match &stmt.kind {
            StmtKind::Block(block) => of_block(block, found),
            StmtKind::If {
                then, otherwise, ..
            } => {
                of_branch(then, found);
                otherwise.iter().for_each(|stmt| of_branch(stmt, found));
            }
            StmtKind::Foreach { body, .. } => of_branch(body, found),
            StmtKind::Decl { value, .. } => found.extend(value.iter().filter_map(value_of)),
            StmtKind::Assign { .. } | StmtKind::Print(_) => found.push(stmt.span),
            _ => {}
        }
    }
    /// Without braces, the whole statement is unreadable where one of its branches is.
    fn of_branch(stmt: &Stmt, found: &mut Vec<Span>) {
        if let StmtKind::Block(_) | StmtKind::If { .. } = &stmt.kind {
            of_statement(stmt, found);
        }
    }
    fn of_block(block: &Block, found: &mut Vec<Span>) {
        block
            .stmts
            .iter()
            .for_each(|stmt| of_statement(stmt, found));
    }
    fn value_of(value: &Expr) -> Option<Span> {
        match &value.kind {
            ExprKind::Indexed { body, .. } => Some(body.span),
            ExprKind::Clauses(clauses) => match &clauses.last()?.body {
                ClauseBody::Expr(value) => Some(value.span),
                ClauseBody::Block(_) => None,
            },
            _ => Some(value.span),
        }
    }
    let mut found = Vec::new();
    for item in &program.items {
        match &item.kind {
            ItemKind::Global { value, .. } => found.extend(value.iter().filter_map(value_of)),
            ItemKind::Function { body, .. } => match body {
                FunctionBody::Expr(value) => found.push(value.span),
                FunctionBody::Block(block) => of_block(block, &mut found),
            },
            _ => {}
        }
    }
    let globals = [&program.initialize, &program.start, &program.update];
    for block in globals.into_iter().flatten() {
        of_block(block, &mut found);
    }
    if let Some(strand) = &program.strand {
        for state in &strand.state {
            found.extend(state.value.iter().filter_map(value_of));
        }
        let methods = strand.methods.iter().map(|method| &method.body);
        for block in strand.initialize.iter().chain(methods) {
            of_block(block, &mut found);
        }
    }
    found
}

/// The definitions, state variables, and statements of bodies, in the order of the text.
fn units(program: &Program) -> Vec<Span> {
    let mut found: Vec<Span> = program.items.iter().map(|item| item.span).collect();
    let mut blocks: Vec<&Block> = [&program.initialize, &program.start, &program.update]
        .into_iter()
        .flatten()
        .collect();
    if let Some(strand) = &program.strand {
        found.extend(strand.state.iter().map(|state| state.span));
        blocks.extend(&strand.initialize);
        blocks.extend(strand.methods.iter().map(|method| &method.body));
    }
    let stmts = blocks.into_iter().flat_map(|block| &block.stmts);
    found.extend(stmts.map(|stmt| stmt.span));
    found.sort();
    found
}

/// The text with as many bytes of something else at a place. A whole statement keeps its semicolon.
fn broken(text: &str, place: Span, with: &str) -> Option<String> {
    let (start, mut end) = (place.start as usize, place.end as usize);
    if text[..end].ends_with(';') {
        end -= 1;
    }
    (end - start >= with.len())
        .then(|| format!("{}{with:<1$}{2}", &text[..start], end - start, &text[end..]))
}

/// Compares the facts outside of a place with those of the sound program.
fn are_kept(source: &Source, facts: &Facts, broken: &Facts, place: Span, until: u32) {
    let is_outside =
        |other: Span| other.end <= until && (other.end <= place.start || place.end <= other.start);
    let known: BTreeMap<Span, Referent> = broken.names().collect();
    for (name, meaning) in facts.names().filter(|(name, _)| is_outside(*name)) {
        let at = || {
            format!(
                "{}, `{}`, with an error in {}",
                source.line_of(name.start),
                text_at(source, name),
                source.line_of(place.start),
            )
        };
        match (meaning, known.get(&name)) {
            (Referent::Defined(defined), Some(Referent::Defined(found))) => {
                assert_eq!(defined, *found, "{}", at());
                let ty = |facts: &Facts| facts.definition(defined).and_then(|d| d.ty.clone());
                assert_eq!(ty(facts), ty(broken), "{}", at());
                assert_eq!(facts.type_of(name), broken.type_of(name), "{}", at());
            }
            (Referent::Defined(_), _) => panic!("{}", at()),
            (_, found) => assert!(found.is_some() || name.end - name.start < 4, "{}", at()),
        }
    }
}

#[test]
fn an_error_in_a_statement_leaves_all_other_facts() {
    let mut count = 0;
    for (source, sound) in programs() {
        // Texts with imports are put together again when one file changes.
        if source.paths().count() > 1 {
            continue;
        }
        let places = breakable(&sound.ast);
        for place in places.iter().step_by(places.len().div_ceil(5).max(1)) {
            for with in ["* *", "nothing", "true + 1"] {
                let Some(text) = broken(&source.text, *place, with) else {
                    continue;
                };
                let found = checked(&Source::new(source.path.clone(), text));
                assert!(found.program.is_none());
                are_kept(&source, &sound.facts, &found.facts, *place, u32::MAX);
                count += 1;
            }
        }
    }
    assert!(count > 500, "only {count} errors");
}

#[test]
fn a_program_that_ends_too_early_has_the_facts_before_its_end() {
    for (source, sound) in programs() {
        if source.paths().count() > 1 {
            continue;
        }
        let units = units(&sound.ast);
        for tenth in 1..10 {
            let end = source
                .text
                .floor_char_boundary(source.text.len() * tenth / 10);
            let text = &source.text[..end];
            let found = checked(&Source::new(source.path.clone(), text));
            // In the statement that is cut off anything may be wrong.
            let before = units.iter().filter(|place| place.end < end as u32);
            let until = before.map(|place| place.end).max().unwrap_or(0);
            let none = Span::new(end, end);
            are_kept(&source, &sound.facts, &found.facts, none, until);
        }
    }
}

const PROGRAM: &str = "#version 2.0
import \"rings.diderot\";
axis space = 3;
strand S (int i) {
    output real best = ring(i);
    update {
        vec3 v[j] = real(j);
        real most = max { x | x in {best, v[0]} };
        best = most;
        stabilize;
    }
}
create_array { S(i) | i in 0..9 }
";

/// The program with an unsaved file, its facts, and the place of a text in it.
fn example() -> (Source, Facts) {
    let rings = "#version 2.0\nfunction real ring (real r) = r*r;\n";
    let mut buffers = Buffers::default();
    buffers.set(Path::new("here/rings.diderot"), rings);
    let source = Source::with_files("here/main.diderot", PROGRAM, &buffers);
    let checked = checked(&source);
    assert!(checked.program.is_some(), "{:#?}", checked.diagnostics);
    (source, checked.facts)
}

/// The place of a byte of the program's own file, by a text that is unique in it.
fn byte(source: &Source, text: &str) -> u32 {
    let at = PROGRAM.find(text).expect("the text is there") as u32;
    let path = Path::new("here/main.diderot");
    source.byte_of(path, at).expect("a byte of the program")
}

#[test]
fn a_name_leads_to_its_definition_in_another_file() {
    let (source, facts) = example();
    let (_, meaning) = facts.name_at(byte(&source, "ring(i)")).expect("a name");
    let Referent::Defined(defined) = meaning else {
        panic!("{meaning:?}");
    };
    let (path, span) = source.file_of(defined);
    assert_eq!(
        (path, span),
        (Path::new("here/rings.diderot"), Span::new(27, 31))
    );
    let definition = facts.definition(defined).expect("a definition");
    assert_eq!(definition.kind, DefinitionKind::Function);
    assert_eq!(definition.parameters.len(), 1);
}

#[test]
fn an_import_leads_to_its_file() {
    let (source, _) = example();
    let at = PROGRAM.find("import").expect("an import");
    let place = Span::new(at, at + "import \"rings.diderot\";".len());
    let (main, rings) = (
        Path::new("here/main.diderot"),
        Path::new("here/rings.diderot"),
    );
    assert_eq!(source.imports().collect::<Vec<_>>(), [(main, place, rings)]);
}

#[test]
fn all_references_of_a_name_are_found() {
    let (source, facts) = example();
    let (_, meaning) = facts.name_at(byte(&source, "best = most")).expect("a name");
    let Referent::Defined(defined) = meaning else {
        panic!("{meaning:?}");
    };
    let places: Vec<u32> = facts.references(defined).map(|span| span.start).collect();
    let expected = ["best = ring", "best, v", "best = most"].map(|text| byte(&source, text));
    assert_eq!(places, expected);
}

#[test]
fn a_place_has_the_type_of_the_smallest_expression() {
    let (source, facts) = example();
    let type_at = |text| {
        facts
            .type_at(byte(&source, text))
            .map(|(_, ty)| ty.to_string())
    };
    assert_eq!(type_at("[0]}").as_deref(), Some("vec3"));
    assert_eq!(type_at("0]}").as_deref(), Some("int"));
    assert_eq!(type_at("{best").as_deref(), Some("real[2]"));
}

#[test]
fn a_place_has_the_names_in_scope() {
    let (source, facts) = example();
    let names = |text| -> Vec<String> {
        let found = facts.in_scope(byte(&source, text));
        found.into_iter().map(|(_, d)| d.name.clone()).collect()
    };
    assert_eq!(names("ring(i)"), ["S", "i", "ring", "space"]);
    assert_eq!(names("j);"), ["S", "best", "i", "j", "ring", "space"]);
    assert_eq!(names("x | "), ["S", "best", "i", "ring", "space", "v", "x"]);
    assert_eq!(
        names("stabilize"),
        ["S", "best", "i", "most", "ring", "space", "v"]
    );
    assert_eq!(names("S(i)"), ["S", "i", "ring", "space"]);
}

#[test]
fn a_program_without_its_import_still_has_facts() {
    let source = Source::with_files("here/main.diderot", PROGRAM, &Buffers::default());
    let found = checked(&source);
    assert_eq!(found.diagnostics.len(), 1, "{:#?}", found.diagnostics);
    let at = PROGRAM.find("most;").expect("the text is there") as u32;
    let (_, meaning) = found.facts.name_at(at).expect("a name");
    assert!(matches!(meaning, Referent::Defined(_)));
}
