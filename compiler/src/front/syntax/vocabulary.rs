//! The words of the language by their roles, as editors need them.

use std::collections::{BTreeMap, BTreeSet};

use ein_ir::ops::{OPERATORS, Syntax};

use super::{
    ast::Version,
    operators::{GREEK, INDEX_SYMBOLS, spellings},
    token::Keyword,
};

/// The role of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// It begins a definition.
    Definition,
    /// It begins a block of a program or strand, or the creation of strands.
    Part,
    /// It belongs to a statement or to an expression of several words.
    Statement,
    /// It begins a type.
    Type,
    /// It is a value.
    Literal,
    /// It makes a value of what follows in brackets.
    Function,
}

/// A word with a fixed meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word {
    /// How it is written.
    pub text: &'static str,
    /// Its role.
    pub role: Role,
    /// The only version that has it; none if both do.
    pub only_in: Option<Version>,
    /// Whether it cannot be a name. The others have their meaning in one place only.
    pub reserved: bool,
}

/// Words that are names wherever their meaning is not possible.
const CONTEXTUAL: [Word; 4] = [
    contextual("axis", Role::Definition, Some(Version::V2)),
    contextual("fem", Role::Type, None),
    contextual("import", Role::Definition, Some(Version::V2)),
    contextual("mesh", Role::Type, None),
];

const fn contextual(text: &'static str, role: Role, only_in: Option<Version>) -> Word {
    Word {
        text,
        role,
        only_in,
        reserved: false,
    }
}

/// Every word with a fixed meaning in either version, sorted.
pub fn words() -> Vec<Word> {
    let reserved = Keyword::ALL.iter().map(|&keyword| Word {
        text: keyword.text(),
        role: role(keyword),
        only_in: keyword.only_in(),
        reserved: true,
    });
    let mut words: Vec<Word> = reserved.chain(CONTEXTUAL).collect();
    words.sort_unstable_by_key(|word| word.text);
    words
}

fn role(keyword: Keyword) -> Role {
    use Keyword::*;
    match keyword {
        Const | Function | Input | Output | Strand => Role::Definition,
        CreateArray | CreateCollection | Global | Initialize | Initially | Start | Update => {
            Role::Part
        }
        Continue | Die | Else | Foreach | If | In | New | Print | Return | Stabilize => {
            Role::Statement
        }
        Bool | Field | Image | Int | Kernel | Mat2 | Mat3 | Mat4 | Real | String | Tensor
        | Vec2 | Vec3 | Vec4 => Role::Type,
        False | Nan | True => Role::Literal,
        Identity | Load | LoadImage | LoadSequence | Zeros => Role::Function,
    }
}

/// The names of the functions of the operator table that are not words of the language.
pub fn functions() -> BTreeSet<&'static str> {
    let syntax = OPERATORS.iter().flat_map(|row| row.syntax);
    let called = syntax.filter_map(|syntax| match syntax {
        Syntax::Call(name) => Some(*name),
        _ => None,
    });
    let words: BTreeSet<&str> = words().iter().map(|word| word.text).collect();
    called.filter(|name| !words.contains(name)).collect()
}

/// Names that TeX has for symbols whose word in programs is another one.
const TEX: [(&str, &str); 7] = [
    ("bullet", "•"),
    ("cdot", "•"),
    ("circ", "∘"),
    ("circledast", "⊛"),
    ("infty", "∞"),
    ("nabla", "∇"),
    ("times", "×"),
];

/// What an editor puts in the place of a backslash and a word: the words that programs may have, and those of TeX.
pub fn symbol_words() -> BTreeMap<&'static str, String> {
    let tex = TEX.map(|(word, symbol)| (word, symbol.to_owned()));
    tex.into_iter().chain(program_words()).collect()
}

/// The words after a backslash that programs may have, with their symbols.
pub fn program_words() -> impl Iterator<Item = (&'static str, String)> {
    let operators = spellings().filter_map(|spelling| {
        let word = spelling.written.strip_prefix('\\')?;
        Some((word, spelling.symbol.to_owned()))
    });
    let letters = GREEK.iter().map(|&(letter, word)| (word, letter.into()));
    let notation = INDEX_SYMBOLS
        .iter()
        .map(|&(symbol, word)| (word, symbol.to_owned()));
    operators.chain(letters).chain(notation)
}
