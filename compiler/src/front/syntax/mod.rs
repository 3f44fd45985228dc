//! From text to syntax tree, and back.
//!
//! The text is read in four steps: `version` looks at the first line, `lexer` makes tokens, the generated parser builds the
//! tree through `builder`, and `assemble` puts the parts of the program in place. Where the parser stops, `recover` repairs
//! the tokens, `explain` makes the message, and parsing continues.

pub mod ast;
pub mod operators;
pub mod print;
pub mod vocabulary;

mod assemble;
mod builder;
mod explain;
mod hints;
mod lexer;
mod literal;
mod parser;
mod recover;
mod term;
mod token;
mod version;

pub use builder::MAX_DEPTH;
pub(in crate::front) use explain::foreign_word;
pub use parser::parse;
pub(in crate::front) use parser::{Read, read_library, read_program};
pub use term::term_at;
pub use token::reserved_in_other_version;

lalrpop_util::lalrpop_mod!(
    #[allow(
        missing_docs,
        unreachable_pub,
        unused_imports,
        clippy::all,
        reason = "generated code"
    )]
    grammar,
    "/front/syntax/grammar.rs"
);
