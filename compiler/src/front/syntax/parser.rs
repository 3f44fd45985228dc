//! Drives the generated parser: parses, and where it stops, reports, repairs and goes on.

use lalrpop_util::ParseError;
use std::collections::BTreeSet;

use super::{
    assemble::{Unit, assemble},
    ast::{Import, Program, Version},
    builder::{At, Builder, Part},
    explain::{self, Stop},
    grammar::ProgramParser,
    lexer::{self, Lexed},
    recover::{self, Nesting},
    token::{Keyword, Punct, Spanned, Token},
    version::version_line,
};
use crate::front::{
    codes,
    diag::{self, Diagnostic},
    source::{Source, Span},
};

/// After this many syntax errors the rest of the file is not read: it is probably not a Diderot program.
const MAX_ERRORS: usize = 50;

/// Each repair reads a part of the program again, and one error may need several.
const MAX_REPAIRS: usize = 200;

/// Reads a program. Never fails: what could not be read is missing from the tree, and reported. The messages are in order.
pub fn parse(source: &Source) -> (Program, Vec<Diagnostic>) {
    let problems = source.import_problems();
    let read = read(&source.text, Unit::Program);
    if problems.iter().any(Diagnostic::is_error) {
        // They may be the causes of all others.
        return (read.program, problems.to_vec());
    }
    let diagnostics = [read.diagnostics, problems.to_vec()].concat();
    (read.program, diag::in_order(diagnostics))
}

/// The result of reading one text.
#[derive(Debug)]
pub(in crate::front) struct Read {
    pub(in crate::front) program: Program,
    pub(in crate::front) imports: Vec<Import>,
    pub(in crate::front) diagnostics: Vec<Diagnostic>,
    /// The names that a text with imports mentions.
    pub(in crate::front) mentions: BTreeSet<String>,
    /// How many bytes the version line takes.
    pub(in crate::front) version_length: usize,
}

/// Reads the text of a file that programs import.
pub(in crate::front) fn read_library(text: &str) -> Read {
    read(text, Unit::Library)
}

/// Reads the text of a program whose imports are not resolved.
pub(in crate::front) fn read_program(text: &str) -> Read {
    read(text, Unit::Program)
}

fn read(text: &str, unit: Unit) -> Read {
    let line = version_line(text);
    let Lexed {
        tokens,
        mut diagnostics,
        cut_short,
    } = lexer::lex(text, line.length, line.version);
    let lexical: Vec<Span> = diagnostics.iter().map(|error| error.span).collect();
    diagnostics.extend(line.diagnostic);
    let nothing = diagnostics
        .iter()
        .any(|error| error.code == codes::EMPTY_FILE);
    let end = tokens
        .last()
        .map_or(line.length, |last| last.span.end as usize);
    let mut reader = Reader {
        text,
        version: line.version,
        tokens,
        lexical,
        cut_short,
        errors: Vec::new(),
    };
    let builder = reader.read();
    diagnostics.append(&mut reader.errors);
    diagnostics.extend(builder.diagnostics);
    let imports = builder.parts.iter().filter_map(|part| match part {
        Part::Import(import) => Some(import.clone()),
        _ => None,
    });
    let imports: Vec<Import> = imports.collect();
    let mentions = reader
        .tokens
        .iter()
        .filter_map(|spanned| match spanned.token {
            Token::Name(name) | Token::Data(name) if !imports.is_empty() => {
                Some(lexer::decode_name(name))
            }
            _ => None,
        });
    let mentions = mentions.collect();
    let (program, misplaced) = assemble(unit, line.version, builder.parts, Span::new(end, end));
    let unread = nothing
        || cut_short
        || diagnostics
            .iter()
            .any(|error| error.code == codes::TOO_MANY_ERRORS);
    if !unread {
        diagnostics.extend(misplaced);
    }
    Read {
        program,
        imports,
        mentions,
        diagnostics: diag::in_order(diagnostics),
        version_length: line.length,
    }
}

struct Reader<'s> {
    text: &'s str,
    version: Version,
    tokens: Vec<Spanned<'s>>,
    /// Where the lexer reported errors.
    lexical: Vec<Span>,
    cut_short: bool,
    errors: Vec<Diagnostic>,
}

impl<'s> Reader<'s> {
    /// Parses until the end of the tokens, repairing them on the way.
    fn read(&mut self) -> Builder {
        let parser = ProgramParser::new();
        let mut builder = Builder::new(self.version);
        for repairs in 0.. {
            builder.restart_part();
            let from = builder.resume;
            let triples = self.tokens[from..]
                .iter()
                .enumerate()
                .map(|(index, spanned)| triple(from + index, spanned));
            let Err(error) = parser.parse(&mut builder, triples) else {
                break;
            };
            let stop = self.stop(error, builder.resume);
            if self.errors.len() >= MAX_ERRORS || repairs >= MAX_REPAIRS {
                let span = self.place(stop.error);
                let message = "too many syntax errors: the rest is not read";
                self.errors
                    .push(Diagnostic::error(codes::TOO_MANY_ERRORS, span, message));
                break;
            }
            self.repair(stop);
        }
        builder
    }

    fn stop(&self, error: ParseError<At, Token<'s>, ()>, from: usize) -> Stop {
        let (error, expected) = match error {
            ParseError::UnrecognizedToken { token, expected } => (token.0.token, expected),
            ParseError::ExtraToken { token } => (token.0.token, Vec::new()),
            ParseError::UnrecognizedEof { expected, .. } => (self.tokens.len(), expected),
            ParseError::InvalidToken { .. } | ParseError::User { .. } => {
                (self.tokens.len(), Vec::new())
            }
        };
        Stop::new(from, error, expected)
    }

    fn repair(&mut self, mut stop: Stop) {
        let mut nesting = Nesting::of(&self.tokens, &stop);
        let mut missing = self.missing(&stop, &nesting);
        if let Some((index, punct)) = self.missing_before(&stop, &nesting) {
            stop.error = index;
            nesting = Nesting::of(&self.tokens, &stop);
            missing = Some(punct);
        }
        let foreign = explain::foreign_unit(self.version, &self.tokens, nesting.unit());
        if let Some(error) = foreign {
            self.errors.push(error);
        } else if !self.is_consequence(&stop) {
            self.errors.push(match missing {
                Some(punct) => explain::missing(&self.tokens, &nesting, &stop, punct),
                None => explain::unexpected(self.version, &self.tokens, &nesting, &stop),
            });
        }
        match missing {
            Some(punct) => recover::insert(&mut self.tokens, stop.error, punct),
            None => recover::cut(&mut self.tokens, &nesting, &stop),
        }
    }

    /// Whether the error only follows from another one that is reported.
    fn is_consequence(&self, stop: &Stop) -> bool {
        let token = |index: usize| self.tokens.get(index);
        let previous = stop.error.checked_sub(1).and_then(token);
        let repaired = |spanned: &Spanned<'_>| {
            spanned.token == Token::Unreadable || spanned.span.start == spanned.span.end
        };
        if token(stop.error).is_some_and(repaired) || previous.is_some_and(repaired) {
            return true;
        }
        if stop.error == self.tokens.len() && self.cut_short {
            return true;
        }
        // The lexer complained about the token before or about what stands between.
        let start = previous.map_or(0, |previous| previous.span.start);
        let end = self.place(stop.error).start;
        self.lexical
            .iter()
            .any(|span| start <= span.start && span.end <= end)
    }

    /// The token whose absence explains the error.
    fn missing(&self, stop: &Stop, nesting: &Nesting) -> Option<Punct> {
        let expects = |punct: Punct| stop.expects(punct.text());
        let found = self.tokens.get(stop.error).map(|found| found.token);
        let previous = stop.error.checked_sub(1)?;
        let open = nesting.innermost_open().map(|open| self.tokens[open].token);
        let closer = match open {
            Some(Token::Punct(Punct::OpenParen)) => Some(Punct::CloseParen),
            Some(Token::Punct(Punct::OpenBracket)) => Some(Punct::CloseBracket),
            Some(Token::Punct(Punct::OpenBrace)) => Some(Punct::CloseBrace),
            _ => None,
        };
        let ends_here = match found {
            None => true,
            Some(Token::Punct(Punct::Semicolon | Punct::OpenBrace | Punct::CloseBrace)) => {
                !nesting.is_in_block()
            }
            Some(Token::Keyword(keyword)) => starts_part(keyword),
            _ => false,
        };
        if let Some(closer) = closer.filter(|&closer| ends_here && expects(closer)) {
            return Some(closer);
        }
        let end = self.tokens[previous].span.end as usize;
        let on_new_line =
            found.is_none() || self.text[end..self.place(stop.error).start as usize].contains('\n');
        // After the brace that ends a block a `;` is never missed.
        let unit_open = nesting.unit() < stop.error;
        let statement_ends = on_new_line || found.is_some_and(|found| found.is(Punct::CloseBrace));
        (expects(Punct::Semicolon) && unit_open && statement_ends).then_some(Punct::Semicolon)
    }

    /// The token whose absence was noticed only later, and the token that it is missing before.
    fn missing_before(&self, stop: &Stop, nesting: &Nesting) -> Option<(usize, Punct)> {
        if let Some(brace) = self.block_in_parentheses(stop, nesting) {
            return Some((brace, Punct::CloseParen));
        }
        // `stabilize {` is a method, but was read as a statement because the method before it is not closed.
        let previous = stop.error.checked_sub(1)?;
        let found = self.tokens.get(stop.error)?.token;
        let is_method = found.is(Punct::OpenBrace)
            && self.tokens[previous].token == Token::Keyword(Keyword::Stabilize);
        (is_method && nesting.is_in_method()).then_some((previous, Punct::CloseBrace))
    }

    /// The brace after `if (c` or the like, which was read as part of the expression, but holds statements.
    fn block_in_parentheses(&self, stop: &Stop, nesting: &Nesting) -> Option<usize> {
        use Keyword::*;
        let (paren, brace) = nesting.brace_in_parentheses()?;
        let header = self.tokens[paren.checked_sub(1)?].token;
        let found = self.tokens.get(stop.error)?.token;
        let is_statement = match found {
            Token::Keyword(
                Stabilize | Die | Continue | Foreach | Return | Print | New | If | Bool | Int
                | String | Vec2 | Vec3 | Vec4 | Mat2 | Mat3 | Mat4 | Tensor,
            ) => stop.error == brace + 1,
            found => found.assigns(),
        };
        let takes_block = matches!(header, Token::Keyword(If | Foreach) | Token::Name(_));
        let has_header = match header {
            Token::Name(_) => matches!(
                self.tokens[nesting.unit()].token,
                Token::Keyword(Function | Strand)
            ),
            _ => true,
        };
        (is_statement && takes_block && has_header).then_some(brace)
    }

    /// The place of a token, or the end of the text.
    fn place(&self, index: usize) -> Span {
        explain::place(&self.tokens, index)
    }
}

/// Whether the word begins a part of a program or strand and nothing else, so that a block is over before it.
fn starts_part(keyword: Keyword) -> bool {
    use Keyword::*;
    matches!(
        keyword,
        Const
            | Input
            | Function
            | Strand
            | Update
            | Start
            | Initialize
            | Global
            | Initially
            | CreateArray
            | CreateCollection
            | Output
    )
}

fn triple<'s>(index: usize, spanned: &Spanned<'s>) -> (At, Token<'s>, At) {
    let at = |byte| At { byte, token: index };
    (at(spanned.span.start), spanned.token, at(spanned.span.end))
}
