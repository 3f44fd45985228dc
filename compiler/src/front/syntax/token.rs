//! Tokens: what the lexer gives and the grammar is written in.
//!
//! Tokens are slices of the source, so they are cheap to copy; names and strings are decoded when the tree is built.

use super::{ast::Version, operators::Level};
use crate::front::source::Span;

/// A token.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Token<'s> {
    /// An identifier, as written.
    Name(&'s str),
    /// An integer literal.
    Int(&'s str),
    /// A real literal; constants have their symbol.
    Real(&'s str),
    /// A string literal with its quotes and escapes.
    String(&'s str),
    /// A word reserved in the version of the file.
    Keyword(Keyword),
    /// An operator that differs from others of its level only by its symbol.
    Operator(Level, &'static str),
    /// Any other symbol.
    Punct(Punct),
    /// `nan` directly before a `[`, which then opens a shape and not a subscript.
    NanOf,
    /// `import` directly before a string; anywhere else it is a name.
    Import,
    /// `fem` or `mesh` directly before `(` or `#`, where a type may begin; otherwise they are names.
    Data(&'s str),
    /// Stands for tokens that the parser could not read and has reported.
    Unreadable,
}

/// A token and its place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Spanned<'s> {
    /// The token.
    pub(crate) token: Token<'s>,
    /// Its place.
    pub(crate) span: Span,
}

macro_rules! words {
    ($(#[$meta:meta])* $name:ident: $($variant:ident $text:literal)*) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub(crate) enum $name {
            $(#[doc = concat!("`", $text, "`")] $variant,)*
        }

        impl $name {
            /// Every one, in the order of their texts in the source of this table.
            pub(crate) const ALL: &[$name] = &[$($name::$variant,)*];

            /// How it is written.
            pub(crate) fn text(self) -> &'static str {
                match self {
                    $($name::$variant => $text,)*
                }
            }
        }
    };
}

words! {
    /// A reserved word; sorted by text.
    Keyword:
    Bool "bool" Const "const" Continue "continue" CreateArray "create_array" CreateCollection "create_collection" Die "die"
    Else "else" False "false" Field "field" Foreach "foreach" Function "function" Global "global" Identity "identity" If "if"
    Image "image" In "in" Initialize "initialize" Initially "initially" Input "input" Int "int" Kernel "kernel" Load "load"
    LoadImage "load_image" LoadSequence "load_sequence" Mat2 "mat2" Mat3 "mat3" Mat4 "mat4" Nan "nan" New "new"
    Output "output" Print "print" Real "real" Return "return" Stabilize "stabilize" Start "start" Strand "strand"
    String "string" Tensor "tensor" True "true" Update "update" Vec2 "vec2" Vec3 "vec3" Vec4 "vec4" Zeros "zeros"
}

words! {
    /// A symbol that the grammar names by itself.
    Punct:
    OpenParen "(" CloseParen ")" OpenBracket "[" CloseBracket "]" OpenBrace "{" CloseBrace "}"
    Partial "∂" Comma "," Semicolon ";" Colon ":" Dot "." Range ".." Hash "#" Bar "|"
    Set "=" AddSet "+=" SubSet "-=" MulSet "*=" DivSet "/=" RemSet "%=" AppendSet "@="
    Minus "-" Not "!" Power "^" And "&&" Or "||"
}

impl Keyword {
    /// The only version that reserves the word; none if both do.
    pub(crate) fn only_in(self) -> Option<Version> {
        use Keyword::*;
        match self {
            Global | Initially | Load => Some(Version::V1),
            Const | CreateArray | CreateCollection | Initialize | LoadImage | LoadSequence
            | Mat2 | Mat3 | Mat4 | Start => Some(Version::V2),
            Bool | Continue | Die | Else | False | Field | Foreach | Function | Identity | If
            | Image | In | Input | Int | Kernel | Nan | New | Output | Print | Real | Return
            | Stabilize | Strand | String | Tensor | True | Update | Vec2 | Vec3 | Vec4 | Zeros => {
                None
            }
        }
    }

    /// How the version that does not reserve the word says the same, if it can.
    pub(crate) fn counterpart(self) -> Option<&'static str> {
        use Keyword::*;
        match self {
            Global => Some("update { … }"),
            Initially => Some("create_array { … }` or `create_collection { … }"),
            Load => Some("load_sequence(…)"),
            CreateArray => Some("initially [ … ];"),
            CreateCollection => Some("initially { … };"),
            LoadImage => Some("image(…)"),
            LoadSequence => Some("load(…)"),
            Mat2 => Some("tensor[2,2]"),
            Mat3 => Some("tensor[3,3]"),
            Mat4 => Some("tensor[4,4]"),
            Bool | Const | Continue | Die | Else | False | Field | Foreach | Function
            | Identity | If | Image | In | Initialize | Input | Int | Kernel | Nan | New
            | Output | Print | Real | Return | Stabilize | Start | Strand | String | Tensor
            | True | Update | Vec2 | Vec3 | Vec4 | Zeros => None,
        }
    }

    /// Whether a file of this version reserves the word.
    pub(crate) fn is_reserved_in(self, version: Version) -> bool {
        self.only_in().is_none_or(|only| only == version)
    }

    /// The keyword with this text in either version.
    pub(crate) fn find(text: &str) -> Option<Keyword> {
        Keyword::ALL
            .binary_search_by(|keyword| keyword.text().cmp(text))
            .ok()
            .map(|index| Keyword::ALL[index])
    }
}

/// The other version, if only that one reserves `text`: a program that uses such a word as a name may have the wrong version line.
pub fn reserved_in_other_version(text: &str, version: Version) -> Option<Version> {
    Keyword::find(text)?
        .only_in()
        .filter(|&only| only != version)
}

impl Token<'_> {
    /// The token in a message: quoted as written, or described if it has no text of its own.
    pub(crate) fn describe(&self) -> String {
        match self {
            Token::Name(text) | Token::Data(text) => format!("the name `{text}`"),
            Token::Int(text) | Token::Real(text) => format!("the number `{text}`"),
            Token::String(text) if text.len() <= 24 => format!("the string `{text}`"),
            Token::String(_) => "a string".to_owned(),
            Token::Keyword(keyword) => format!("`{}`", keyword.text()),
            Token::Operator(_, symbol) => format!("`{symbol}`"),
            Token::Punct(punct) => format!("`{}`", punct.text()),
            Token::NanOf => "`nan`".to_owned(),
            Token::Import => "`import`".to_owned(),
            Token::Unreadable => "unreadable text".to_owned(),
        }
    }

    /// Whether it is this symbol.
    pub(crate) fn is(&self, punct: Punct) -> bool {
        *self == Token::Punct(punct)
    }

    /// Whether it is one of the assignment symbols.
    pub(crate) fn assigns(&self) -> bool {
        use Punct::*;
        matches!(
            self,
            Token::Punct(Set | AddSet | SubSet | MulSet | DivSet | RemSet)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keywords_are_sorted_so_that_they_can_be_searched() {
        assert!(Keyword::ALL.is_sorted_by(|a, b| a.text() < b.text()));
        for &keyword in Keyword::ALL {
            assert_eq!(Keyword::find(keyword.text()), Some(keyword));
        }
    }

    #[test]
    fn each_version_reserves_the_words_of_the_language_reference() {
        let reserved = |version| {
            Keyword::ALL
                .iter()
                .filter(|keyword| keyword.is_reserved_in(version))
                .count()
        };
        // 31 words in both versions (`inf` is a literal), 3 more in 1.0, 10 more in 2.0.
        assert_eq!(
            Keyword::ALL
                .iter()
                .filter(|k| k.only_in().is_none())
                .count(),
            31
        );
        assert_eq!(reserved(Version::V1), 34);
        assert_eq!(reserved(Version::V2), 41);
        assert_eq!(
            reserved_in_other_version("load_image", Version::V1),
            Some(Version::V2)
        );
        assert_eq!(reserved_in_other_version("load_image", Version::V2), None);
        assert_eq!(reserved_in_other_version("strand", Version::V2), None);
    }
}
