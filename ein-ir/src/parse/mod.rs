//! Reads EIN text.
//!
//! ```text
//! operator = "λ(" [ name ":" kind { "," name ":" kind } ] ")" axes "|" expr
//! kind     = shape | "field(" number ")" shape
//! axes     = { name ":" extent }
//! expr     = "if" expr ( "<" | "≤" | "=" ) expr "then" expr "else" expr
//!          | "let" name "=" expr "." expr | sum
//! sum      = signed { ( "+" | "−" ) signed }
//! signed   = "−" signed | quotient
//! quotient = product { "/" product }
//! product  = "Σ" name ":" extent "." product | factor { factor }
//! factor   = "∂" index factor | atom { "^" integer | "@" place }
//! place    = name | "(" expr { "," expr } ")"
//! atom     = number | "(" expr ")" | name [ indices ] | "pos" number indices
//!          | ( "evals" | "evecs" | "resolvents" ) "(" name ")" indices
//!          | "δ" indices | "ε" indices | function "(" expr { "," expr } ")"
//! indices  = "[" { name | number } "]"
//! ```
//!
//! Juxtaposition binds tighter than `/`: `a b / c d` is (a b)/(c d). `pos3[i]` is a coordinate of the position in three
//! dimensions. `F@p` probes at all components of the parameter `p`. A name given by `let` stands for its expression,
//! which uses no other such name.
//! Result axes are numbered as they are listed; a summation index `s7` is number 7, others are numbered as they come.
//!
//! The meaning of a row of the operator table leaves out the parameters, which are `a`, `b`, …, and uses the names of
//! its signature: extents by letters and sequences of axes by Greek letters, alone in the list of axes or in
//! `Σ β:α.`, which sums over indices `β` for all axes of `α`. An index whose extent is 1 does not count as an axis.

mod error;
mod expr;
mod lex;

pub use error::ParseError;

use crate::ops::Bindings;
use crate::region::{Def, Region, ValueId};
use crate::{Ein, Index, Param, Rational, Shape, Term};
use lex::{Token, tokens};
use std::str::FromStr;

/// The operator that the meaning of a row says, for these parameters and names. Panics on a mistake in the row.
pub(crate) fn template(text: &str, params: &[Param], bindings: &Bindings) -> Ein {
    let read = || {
        let mut parser = Parser::new(text, bindings)?;
        parser.params = params
            .iter()
            .enumerate()
            .map(|(k, p)| (param_name(k), p.clone()))
            .collect();
        let axes = match parser
            .tokens
            .iter()
            .any(|(token, _)| *token == Token::Symbol('|'))
        {
            true => parser.axes()?,
            false => Vec::new(),
        };
        let body = parser.expr()?;
        parser.end()?;
        Ok(Ein {
            params: params.to_vec(),
            axes,
            body,
        })
    };
    read().unwrap_or_else(|error: ParseError| panic!("`{text}`: {error}"))
}

/// The expression over parameters `a`, `b`, … that a row of a table says. Panics on a mistake in the row.
pub(crate) fn term(text: &str, params: &[Param]) -> Term {
    template(text, params, &Bindings::default()).body
}

/// The name of a parameter by its position: `a` to `z`, then `a1`, `b1`, …
pub(crate) fn param_name(position: usize) -> String {
    let letter = (b'a' + (position % 26) as u8) as char;
    match position / 26 {
        0 => letter.to_string(),
        round => format!("{letter}{round}"),
    }
}

impl FromStr for Ein {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Ein, ParseError> {
        let none = Bindings::default();
        let mut parser = Parser::new(text, &none)?;
        let operator = parser.operator()?;
        parser.end()?;
        Ok(operator)
    }
}

/// ```text
/// region = { "input" value ":" kind } { value "=" "(" operator ")" "(" values ")" } "return" values
/// ```
///
/// Values are `v0`, `v1`, … in order.
impl FromStr for Region {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Region, ParseError> {
        let none = Bindings::default();
        let mut parser = Parser::new(text, &none)?;
        let mut region = Region::default();
        while parser.eat_word("input") {
            let expected = region.inputs.len();
            parser.value_numbered(expected)?;
            parser.expect(':')?;
            region.inputs.push(parser.kind()?);
        }
        while !parser.eat_word("return") {
            let expected = region.inputs.len() + region.defs.len();
            parser.value_numbered(expected)?;
            parser.expect('=')?;
            parser.expect('(')?;
            let op = parser.operator()?;
            parser.expect(')')?;
            parser.expect('(')?;
            let args = if parser.eat(')') {
                Vec::new()
            } else {
                let args = parser.list(Parser::value)?;
                parser.expect(')')?;
                args
            };
            region.defs.push(Def { op, args });
        }
        region.roots = parser.list(Parser::value)?;
        parser.end()?;
        Ok(region)
    }
}

struct Parser<'a> {
    tokens: Vec<(Token, usize)>,
    next: usize,
    bindings: &'a Bindings,
    params: Vec<(String, Param)>,
    /// What index names stand for, innermost last.
    indices: Vec<(String, Vec<Named>)>,
    /// The names given by `let`, innermost last.
    lets: Vec<Definition>,
    next_binder: u32,
    depth: usize,
}

/// A name given by `let`.
#[derive(Clone)]
struct Definition {
    name: String,
    /// The token at which its expression starts.
    start: usize,
    /// How many index names are in scope there.
    scope: usize,
}

/// What one axis of an index name is.
#[derive(Clone, Copy)]
enum Named {
    /// An index.
    Index(Index),
    /// The only index of an extent of 1, which accesses leave out.
    Only,
}

impl<'a> Parser<'a> {
    fn new(text: &str, bindings: &'a Bindings) -> Result<Parser<'a>, ParseError> {
        let tokens = tokens(text)?;
        let numbered = tokens.iter().filter_map(|(token, _)| match token {
            Token::Word(word) => binder_number(word),
            Token::Number(_) | Token::Symbol(_) | Token::End => None,
        });
        let next_binder = numbered.max().map_or(0, |n| n.saturating_add(1));
        Ok(Parser {
            tokens,
            next: 0,
            bindings,
            params: Vec::new(),
            indices: Vec::new(),
            lets: Vec::new(),
            next_binder,
            depth: 0,
        })
    }

    fn peek(&self) -> &Token {
        &self.tokens[self.next].0
    }

    fn advance(&mut self) -> Token {
        let token = self.peek().clone();
        self.next = (self.next + 1).min(self.tokens.len() - 1);
        token
    }

    fn error<T>(&self, message: String) -> Result<T, ParseError> {
        Err(ParseError {
            at: self.tokens[self.next].1,
            message,
        })
    }

    fn unexpected<T>(&self, wanted: &str) -> Result<T, ParseError> {
        self.error(format!("wanted {wanted}, found {}", self.peek()))
    }

    fn eat(&mut self, symbol: char) -> bool {
        let found = *self.peek() == Token::Symbol(symbol);
        if found {
            self.advance();
        }
        found
    }

    fn eat_word(&mut self, wanted: &str) -> bool {
        let found = matches!(self.peek(), Token::Word(word) if word == wanted);
        if found {
            self.advance();
        }
        found
    }

    fn expect(&mut self, symbol: char) -> Result<(), ParseError> {
        if self.eat(symbol) {
            Ok(())
        } else {
            self.unexpected(&format!("`{symbol}`"))
        }
    }

    fn expect_word(&mut self, wanted: &str) -> Result<(), ParseError> {
        if self.eat_word(wanted) {
            Ok(())
        } else {
            self.unexpected(&format!("`{wanted}`"))
        }
    }

    fn end(&self) -> Result<(), ParseError> {
        if *self.peek() == Token::End {
            Ok(())
        } else {
            self.unexpected("the end")
        }
    }

    fn word(&mut self, wanted: &str) -> Result<String, ParseError> {
        match self.peek().clone() {
            Token::Word(word) => {
                self.advance();
                Ok(word)
            }
            Token::Number(_) | Token::Symbol(_) | Token::End => self.unexpected(wanted),
        }
    }

    fn number(&mut self, wanted: &str) -> Result<Rational, ParseError> {
        match *self.peek() {
            Token::Number(number) => {
                self.advance();
                Ok(number)
            }
            Token::Word(_) | Token::Symbol(_) | Token::End => self.unexpected(wanted),
        }
    }

    fn natural(&mut self, wanted: &str) -> Result<usize, ParseError> {
        let start = self.next;
        let number = self.number(wanted)?;
        match number.to_integer().try_into() {
            Ok(natural) if number.is_integer() => Ok(natural),
            Ok(_) | Err(_) => {
                self.next = start;
                self.unexpected(wanted)
            }
        }
    }

    fn list<T>(
        &mut self,
        item: impl Fn(&mut Self) -> Result<T, ParseError>,
    ) -> Result<Vec<T>, ParseError> {
        let mut items = vec![item(self)?];
        while self.eat(',') {
            items.push(item(self)?);
        }
        Ok(items)
    }

    fn value(&mut self) -> Result<ValueId, ParseError> {
        let start = self.next;
        let word = self.word("a value")?;
        match word
            .strip_prefix('v')
            .and_then(|digits| digits.parse().ok())
        {
            Some(number) => Ok(ValueId(number)),
            None => {
                self.next = start;
                self.unexpected("a value such as `v0`")
            }
        }
    }

    fn value_numbered(&mut self, number: usize) -> Result<(), ParseError> {
        let start = self.next;
        if self.value()? != ValueId(number) {
            self.next = start;
            return self.unexpected(&format!("`v{number}`"));
        }
        Ok(())
    }

    fn operator(&mut self) -> Result<Ein, ParseError> {
        self.expect('λ')?;
        self.expect('(')?;
        self.params = if self.eat(')') {
            Vec::new()
        } else {
            let params = self.list(|parser| {
                let name = parser.word("a parameter's name")?;
                parser.expect(':')?;
                Ok((name, parser.kind()?))
            })?;
            self.expect(')')?;
            params
        };
        let axes = self.axes()?;
        let body = self.expr()?;
        self.indices.clear();
        let params = self.params.iter().map(|(_, param)| param.clone()).collect();
        Ok(Ein { params, axes, body })
    }

    fn kind(&mut self) -> Result<Param, ParseError> {
        if !self.eat_word("field") {
            return Ok(Param::Tensor(self.shape()?));
        }
        self.expect('(')?;
        let dim = self.natural("a dimension")?;
        self.expect(')')?;
        Ok(Param::Field {
            dim,
            shape: self.shape()?,
        })
    }

    fn shape(&mut self) -> Result<Shape, ParseError> {
        self.expect('[')?;
        if self.eat(']') {
            return Ok(Shape::SCALAR);
        }
        let dims = self.list(|parser| parser.natural("an extent"))?;
        self.expect(']')?;
        Ok(Shape::new(dims))
    }

    /// The axes up to and with the bar; their names stay in scope.
    fn axes(&mut self) -> Result<Vec<usize>, ParseError> {
        let mut axes = Vec::new();
        while !self.eat('|') {
            let name = self.word("an axis or `|`")?;
            let dims = self.extents(&name)?;
            let named = dims.iter().map(|&n| match n {
                1 => Named::Only,
                _ => {
                    axes.push(n);
                    Named::Index(Index::Axis(axes.len() - 1))
                }
            });
            let named = named.collect();
            self.indices.push((name, named));
        }
        Ok(axes)
    }

    /// What an index name ranges over: what stands after a colon, or the axes of that name.
    fn extents(&mut self, name: &str) -> Result<Vec<usize>, ParseError> {
        let group =
            |parser: &Self, name: &str| parser.bindings.shapes.get(&name.chars().next()?).cloned();
        if !self.eat(':') {
            return match group(self, name) {
                Some(dims) => Ok(dims),
                None => self.unexpected("`:`"),
            };
        }
        if let Token::Word(word) = self.peek().clone() {
            let letter = word.chars().next().filter(|_| word.chars().count() == 1);
            let extent = letter.and_then(|letter| self.bindings.extents.get(&letter));
            let dims = extent.map(|&n| vec![n]).or_else(|| group(self, &word));
            if let Some(dims) = dims {
                self.advance();
                return Ok(dims);
            }
        }
        Ok(vec![self.natural("an extent")?])
    }
}

impl Named {
    fn index(self) -> Index {
        match self {
            Named::Index(index) => index,
            Named::Only => Index::Const(0),
        }
    }
}

/// The number in the printed name of a summation index.
fn binder_number(name: &str) -> Option<u32> {
    name.strip_prefix('s')
        .filter(|digits| !digits.starts_with('+'))?
        .parse()
        .ok()
}
