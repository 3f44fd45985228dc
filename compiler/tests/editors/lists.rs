//! The lists of words and symbols, in the notation of each editor.

use compiler::front::syntax::{
    operators::{self, GREEK, INDEX_SYMBOLS, Level, Position},
    vocabulary::{Role, functions, symbol_words, words},
};
use ein_ir::KERNELS;
use std::collections::BTreeMap;

/// The levels of operators that the grammar of tree-sitter has lists for.
const LEVELS: [(&str, Level); 9] = [
    ("OR", Level::Or),
    ("AND", Level::And),
    ("COMPARISON", Level::Comparison),
    ("SUM", Level::Sum),
    ("PRODUCT", Level::Product),
    ("COMPOSITION", Level::Composition),
    ("UNARY", Level::Unary),
    ("POWER", Level::Power),
    ("DERIVATIVE", Level::Derivative),
];

/// Every way to write an operator of a level.
fn of_level(level: Level) -> Vec<&'static str> {
    let spellings = operators::spellings().filter(|s| s.level == level);
    spellings.map(|spelling| spelling.written).collect()
}

fn constants() -> Vec<&'static str> {
    let spellings = operators::spellings().filter(|s| s.position == Position::Constant);
    spellings.map(|spelling| spelling.written).collect()
}

/// The two ways to write the derivative along a coordinate, or the other symbols of index notation.
fn index_symbols(derivative: bool) -> Vec<String> {
    let symbols = INDEX_SYMBOLS
        .iter()
        .filter(|(symbol, _)| (*symbol == "∂") == derivative);
    symbols
        .flat_map(|(symbol, word)| [(*symbol).to_owned(), format!("\\{word}")])
        .collect()
}

fn letters() -> String {
    GREEK.iter().map(|row| row.0).collect()
}

/// The reserved words with a role; the others are recognized where they stand.
fn with_role(role: Role) -> Vec<&'static str> {
    let words = words().into_iter();
    let words = words.filter(|word| word.reserved && word.role == role);
    words.map(|word| word.text).collect()
}

fn all_functions() -> Vec<&'static str> {
    let mut all = with_role(Role::Function);
    all.extend(functions());
    all.sort_unstable();
    all
}

fn kernels() -> Vec<&'static str> {
    KERNELS.iter().map(|kernel| kernel.name).collect()
}

/// Lists of words by names that most editors use.
fn word_lists() -> [(&'static str, Vec<&'static str>); 7] {
    [
        ("definitions", with_role(Role::Definition)),
        ("parts", with_role(Role::Part)),
        ("statements", with_role(Role::Statement)),
        ("types", with_role(Role::Type)),
        ("literals", with_role(Role::Literal)),
        ("functions", all_functions()),
        ("kernels", kernels()),
    ]
}

/// Every operator but those for derivatives, which have their own colour, and those that each grammar has for itself; longest first.
fn plain_operators() -> Vec<&'static str> {
    let levels = LEVELS.iter().map(|row| row.1);
    let levels =
        levels.filter(|level| !matches!(level, Level::Or | Level::And | Level::Derivative));
    longest_first(levels.flat_map(of_level).collect())
}

fn derivatives() -> Vec<String> {
    let mut all: Vec<String> = index_symbols(true);
    all.extend(of_level(Level::Derivative).into_iter().map(str::to_owned));
    longest_first(all)
}

fn longest_first<T: AsRef<str> + Ord>(mut texts: Vec<T>) -> Vec<T> {
    texts.sort_unstable_by(|a, b| {
        let length = |text: &T| text.as_ref().chars().count();
        length(b).cmp(&length(a)).then_with(|| a.cmp(b))
    });
    texts.dedup();
    texts
}

/// Words in lines that are not too long.
fn wrapped(words: impl IntoIterator<Item = String>, indent: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in words {
        match lines.last_mut() {
            Some(line) if line.chars().count() + word.chars().count() < 130 => {
                line.push(' ');
                line.push_str(&word);
            }
            _ => lines.push(format!("{indent}{word}")),
        }
    }
    lines
}

fn json(text: &str) -> String {
    serde_json::to_string(text).expect("a string")
}

/// What the grammar of tree-sitter has as tokens of the tables.
pub(crate) fn tokens() -> Vec<String> {
    let operators = LEVELS.iter().flat_map(|row| of_level(row.1));
    let mut tokens: Vec<String> = operators.chain(constants()).map(str::to_owned).collect();
    tokens.extend(index_symbols(true));
    tokens.extend(index_symbols(false));
    let named = words().into_iter();
    let named = named.filter(|word| !(word.role == Role::Function && word.only_in.is_some()));
    tokens.extend(named.map(|word| word.text.to_owned()));
    tokens
}

pub(crate) fn javascript() -> Vec<String> {
    for spelling in operators::spellings() {
        let known = LEVELS.iter().any(|row| row.1 == spelling.level);
        let elsewhere = matches!(spelling.level, Level::Range | Level::Atom);
        assert!(known || elsewhere, "{spelling:?} has a level of its own");
    }
    let quote = |text: &str| format!("'{}'", text.replace('\\', "\\\\"));
    let constant = |name: &str, texts: Vec<String>| {
        let texts: Vec<String> = texts.iter().map(|text| quote(text)).collect();
        format!("const {name} = [{}];", texts.join(", "))
    };
    let owned = |texts: Vec<&str>| texts.into_iter().map(str::to_owned).collect::<Vec<_>>();
    let mut lines: Vec<String> = LEVELS
        .iter()
        .map(|(name, level)| constant(name, owned(of_level(*level))))
        .collect();
    lines.push(constant("CONSTANTS", owned(constants())));
    lines.push(constant("INDEX_SYMBOLS", index_symbols(false)));
    lines.push(constant("PARTIAL", index_symbols(true)));
    lines.push(format!("const GREEK_LETTERS = {};", quote(&letters())));
    let words = GREEK.iter().map(|row| row.1.to_owned());
    lines.push(constant("GREEK_WORDS", words.collect()));
    lines
}

pub(crate) fn query() -> Vec<String> {
    let names = |names: Vec<&str>| names.into_iter().map(json).collect::<Vec<_>>();
    let mut lines = vec![
        "([".to_owned(),
        "  (call function: (identifier) @function.builtin)".to_owned(),
        "  (reduction function: (identifier) @function.builtin)".to_owned(),
        "  (call function: (subscript base: (identifier) @function.builtin))".to_owned(),
        " ]".to_owned(),
        " (#any-of? @function.builtin".to_owned(),
    ];
    lines.extend(wrapped(names(all_functions()), "  "));
    lines.push(" ))".to_owned());
    lines.push("((identifier) @constant.builtin".to_owned());
    lines.push(format!(
        " (#any-of? @constant.builtin {}))",
        names(kernels()).join(" ")
    ));
    lines
}

/// A text in a regular expression.
fn escaped(text: &str) -> String {
    let special = |c: char| {
        c.is_ascii_punctuation() && !matches!(c, '_' | '<' | '=' | '!' | '@' | '%' | ':' | '-')
    };
    let mut pattern = String::new();
    for character in text.chars() {
        if special(character) {
            pattern.push('\\');
        }
        pattern.push(character);
    }
    // A word ends where its letters end.
    if text.starts_with('\\') {
        pattern.push_str("(?![A-Za-z])");
    }
    pattern
}

fn alternatives<T: AsRef<str>>(texts: &[T]) -> String {
    let texts: Vec<String> = texts.iter().map(|text| escaped(text.as_ref())).collect();
    texts.join("|")
}

pub(crate) fn textmate() -> Vec<String> {
    let scope = |list: &str| match list {
        "definitions" => "storage.type",
        "parts" => "keyword.control.part",
        "statements" => "keyword.control",
        "types" => "support.type",
        "literals" => "constant.language",
        "functions" => "support.function",
        "kernels" => "support.constant.kernel",
        other => panic!("{other} has no scope"),
    };
    let row = |list: &str, scope: &str, pattern: &str| {
        let pattern = json(pattern);
        format!("    \"table-{list}\": {{ \"name\": \"{scope}.diderot\", \"match\": {pattern} }}")
    };
    let whole = |pattern: &str| format!("(?<![\\w'\\\\])(?:{pattern})(?![\\w'])");
    let mut rows: Vec<String> = word_lists()
        .iter()
        .map(|(list, words)| row(list, scope(list), &whole(&words.join("|"))))
        .collect();
    let (words, symbols): (Vec<&str>, Vec<&str>) = constants()
        .into_iter()
        .partition(|text| text.chars().all(char::is_alphabetic));
    let constants = format!("{}|{}", whole(&words.join("|")), alternatives(&symbols));
    rows.push(row("constants", "constant.language", &constants));
    let derivatives = alternatives(&derivatives());
    rows.push(row(
        "derivatives",
        "keyword.operator.derivative",
        &derivatives,
    ));
    let indexed = alternatives(&index_symbols(false));
    rows.push(row("index-symbols", "constant.language", &indexed));
    let operators = alternatives(&plain_operators());
    rows.push(row("operators", "keyword.operator", &operators));
    let last = rows.len() - 1;
    for row in &mut rows[..last] {
        row.push(',');
    }
    rows
}

pub(crate) fn word_pattern() -> String {
    let letters = letters();
    let pattern = format!("\\\\?[A-Za-z{letters}][A-Za-z0-9_'{letters}]*|[0-9]+(?:\\.[0-9]+)?");
    format!("  \"wordPattern\": {},", json(&pattern))
}

pub(crate) fn symbol_snippets() -> String {
    let rows = symbol_words().into_iter().map(|(word, symbol)| {
        let word = json(&format!("\\{word}"));
        let symbol = json(&symbol);
        format!("  {word}: {{ \"prefix\": {word}, \"body\": {symbol}, \"description\": {symbol} }}")
    });
    let rows: Vec<String> = rows.collect();
    format!("{{\n{}\n}}\n", rows.join(",\n"))
}

/// The alternatives as a pattern of Vim in which only the backslash is special.
fn vim_pattern<T: AsRef<str>>(texts: &[T]) -> String {
    let texts = texts.iter().map(|text| {
        let text = text.as_ref();
        let whole = text.chars().all(char::is_alphabetic);
        let (before, after) = match (whole, text.starts_with('\\')) {
            (true, _) => ("\\<", "\\>"),
            (_, true) => ("", "\\>"),
            _ => ("", ""),
        };
        format!("{before}{}{after}", text.replace('\\', "\\\\"))
    });
    texts.collect::<Vec<_>>().join("\\|")
}

pub(crate) fn vim() -> Vec<String> {
    let group = |list: &str| match list {
        "definitions" => "Definition",
        "parts" => "Part",
        "statements" => "Statement",
        "types" => "Type",
        "literals" => "Literal",
        "functions" => "Function",
        "kernels" => "Kernel",
        other => panic!("{other} has no group"),
    };
    let mut lines = Vec::new();
    for (list, words) in word_lists() {
        let head = format!("syntax keyword diderot{}", group(list));
        let rows = wrapped(words.into_iter().map(str::to_owned), "");
        lines.extend(rows.into_iter().map(|row| format!("{head} {row}")));
    }
    let mut matched = |group: &str, pattern: String| {
        lines.push(format!("syntax match diderot{group} \"\\V{pattern}\""));
    };
    matched("Operator", vim_pattern(&plain_operators()));
    matched("Derivative", vim_pattern(&derivatives()));
    matched("Literal", vim_pattern(&longest_first(constants())));
    let indexed = index_symbols(false);
    matched(
        "Literal",
        vim_pattern(&indexed).replace("\\<", "").replace("\\>", ""),
    );
    lines
}

pub(crate) fn vim_abbreviations() -> Vec<String> {
    let words = symbol_words().into_iter();
    words
        .map(|(word, symbol)| format!("inoreabbrev <buffer> \\{word} {symbol}"))
        .collect()
}

pub(crate) fn emacs() -> Vec<String> {
    let mut lists: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (list, words) in word_lists() {
        let name = match list {
            "definitions" | "parts" | "statements" => "keywords",
            other => other,
        };
        lists.entry(name).or_default().extend(words);
    }
    let mut lines = Vec::new();
    for (name, words) in lists {
        lines.push(format!("(defconst diderot-{name}"));
        lines.push(" '(".to_owned());
        lines.extend(wrapped(words.into_iter().map(json), "   "));
        lines.push(format!("   ) \"The {name} of Diderot.\")"));
    }
    lines.push("(defconst diderot-symbols".to_owned());
    lines.push(" '(".to_owned());
    let pairs = symbol_words().into_iter();
    let pairs =
        pairs.map(|(word, symbol)| format!("({} . {})", json(&format!("\\{word}")), json(&symbol)));
    lines.extend(wrapped(pairs, "   "));
    lines.push("   ) \"Names of symbols, and the symbols.\")".to_owned());
    lines
}

pub(crate) fn kate() -> Vec<String> {
    let mut lines = Vec::new();
    for (list, words) in word_lists() {
        lines.push(format!("<list name=\"{list}\">"));
        let items = words.into_iter().map(|word| format!("<item>{word}</item>"));
        lines.extend(wrapped(items, "  "));
        lines.push("</list>".to_owned());
    }
    lines
}

/// A table of symbols, each with all its names.
pub(crate) fn book() -> Vec<String> {
    let mut names: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for (word, symbol) in symbol_words() {
        names.entry(symbol).or_default().push(word);
    }
    let accepted = |word: &str| {
        operators::find_operator(&format!("\\{word}")).is_some()
            || operators::find(Position::Constant, &format!("\\{word}")).is_some()
    };
    let mut lines = vec![
        "".to_owned(),
        "| symbol | names |".to_owned(),
        "|---|---|".to_owned(),
    ];
    for (symbol, mut words) in names {
        // The name that programs may have comes first.
        words.sort_by_key(|word| !accepted(word));
        let words: Vec<String> = words.iter().map(|word| format!("`\\{word}`")).collect();
        lines.push(format!("| {symbol} | {} |", words.join(", ")));
    }
    lines.push(String::new());
    lines
}
