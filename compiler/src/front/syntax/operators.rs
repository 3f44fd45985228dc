//! How operators, constants and letters are written: the operator table as the lexer, the parser and the printer need it.
//!
//! Every operator that has a symbol is a row of [`ein_ir::ops::OPERATORS`]. The first way to write it there is its symbol, by which
//! the tree names it; the others are spellings of the same, among them backslash words as in TeX (`\otimes` for `⊗`). The grammar
//! knows only levels, so a further operator of a level that has operators is one more row and nothing here.

use std::{collections::BTreeMap, sync::LazyLock};

use ein_ir::ops::{OPERATORS, Syntax};

pub use ein_ir::ops::{Associativity, Level};

/// Where an operator stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Position {
    /// Between its operands.
    Infix,
    /// Before its operand.
    Prefix,
    /// Alone, as a value.
    Constant,
}

/// One way to write an operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spelling {
    /// The text in the source.
    pub written: &'static str,
    /// The symbol of the operator.
    pub symbol: &'static str,
    /// Where it stands.
    pub position: Position,
    /// How tightly it binds.
    pub level: Level,
}

/// All spellings by position and text.
static SPELLINGS: LazyLock<BTreeMap<Position, BTreeMap<&'static str, Spelling>>> =
    LazyLock::new(|| {
        let mut spellings: BTreeMap<Position, BTreeMap<&str, Spelling>> = BTreeMap::new();
        for row in &OPERATORS {
            for syntax in row.syntax {
                let position = match syntax {
                    Syntax::Infix(..) => Position::Infix,
                    Syntax::Prefix(..) => Position::Prefix,
                    Syntax::Constant(_) => Position::Constant,
                    Syntax::Call(_) | Syntax::Form(..) => continue,
                };
                let spelling = Spelling {
                    written: syntax.spelling(),
                    symbol: row.syntax[0].spelling(),
                    position,
                    level: syntax.level(),
                };
                let same_position = spellings.entry(position).or_default();
                same_position.insert(spelling.written, spelling);
            }
        }
        spellings
    });

/// The Greek letters that names may contain, with their backslash words.
#[rustfmt::skip]
pub const GREEK: &[(char, &str)] = &[
    ('α', "alpha"), ('β', "beta"), ('γ', "gamma"), ('ζ', "zeta"), ('η', "eta"), ('θ', "theta"), ('λ', "lambda"), ('μ', "mu"),
    ('ξ', "xi"), ('π', "pi"), ('ρ', "rho"), ('σ', "sigma"), ('τ', "tau"), ('φ', "phi"), ('ψ', "psi"), ('ω', "omega"),
];

/// The symbols of index notation, with their backslash words: Kronecker's δ, the Levi-Civita symbol, and the derivative.
pub const INDEX_SYMBOLS: &[(&str, &str)] = &[("δ", "delta"), ("ε", "epsilon"), ("∂", "partial")];

/// Whether a name is a symbol that no variable can have as its name.
pub fn is_index_symbol(name: &str) -> bool {
    INDEX_SYMBOLS.iter().any(|(symbol, _)| *symbol == name)
}

/// Every way to write an operator that has a symbol.
pub fn spellings() -> impl Iterator<Item = &'static Spelling> {
    SPELLINGS.values().flat_map(BTreeMap::values)
}

/// The operator that is written so in this position.
pub fn find(position: Position, written: &str) -> Option<&'static Spelling> {
    SPELLINGS.get(&position)?.get(written)
}

/// The operator that is written so between or before its operands.
pub fn find_operator(written: &str) -> Option<&'static Spelling> {
    find(Position::Infix, written).or_else(|| find(Position::Prefix, written))
}

/// The operator or constant with the longest symbol outside ASCII that `text` starts with.
pub fn longest_prefix(text: &str) -> Option<&'static Spelling> {
    spellings()
        .filter(|spelling| !spelling.written.is_ascii() && text.starts_with(spelling.written))
        .max_by_key(|spelling| spelling.written.len())
}

/// The Greek letter that a backslash word stands for.
pub fn greek_letter(word: &str) -> Option<char> {
    let row = GREEK.iter().find(|(_, name)| *name == word)?;
    Some(row.0)
}

/// The text that may have been meant by a character that cannot begin a token.
pub fn look_alike(character: char) -> Option<&'static str> {
    Some(match character {
        '∙' | '·' | '․' => "•",
        '∗' | '٭' | '⊙' | '⍟' => "⊛",
        '◦' | '○' => "∘",
        '−' | '–' | '—' => "-",
        '÷' | '∕' => "/",
        '✕' | '✖' | '⨯' => "×",
        '⨂' => "⊗",
        '∆' | '▽' => "∇",
        '≤' => "<=",
        '≥' => ">=",
        '≠' => "!=",
        '²' => "^2",
        '³' => "^3",
        '&' => "&&",
        '“' | '”' | '‘' | '’' | '\'' => "\"",
        _ => return None,
    })
}

/// A hint for a character that cannot begin a token and looks like nothing else.
pub fn about_character(character: char) -> Option<String> {
    let text = match character {
        '°' => "angles are in radians: 30 degrees are `30*π/180`",
        '?' => "a conditional expression is written `a if c else b`",
        '_' => "a name begins with a letter",
        '\\' => "a backslash begins a symbol's name, as in `\\otimes`",
        'Α'..='ω' => {
            let letters: Vec<String> = GREEK.iter().map(|row| row.0.to_string()).collect();
            let letters = letters.join(" ");
            return Some(format!("the Greek letters of names are {letters}"));
        }
        _ => return None,
    };
    Some(text.to_owned())
}

/// A hint for an unknown backslash word: the words that begin alike, else all of them.
pub fn words_like(word: &str) -> String {
    let symbols = spellings().filter_map(|spelling| spelling.written.strip_prefix('\\'));
    let letters = GREEK.iter().map(|row| row.1);
    let notation = INDEX_SYMBOLS.iter().map(|row| row.1);
    let mut words: Vec<&str> = symbols.chain(letters).chain(notation).collect();
    words.sort_unstable();
    words.dedup();
    let alike = |known: &&str| known.chars().next() == word.chars().next();
    if words.iter().any(alike) {
        words.retain(alike);
    }
    let shown: Vec<String> = words.iter().map(|word| format!("`\\{word}`")).collect();
    format!("known symbols: {}", shown.join(" "))
}
