//! Reads the body of an operator.

use super::lex::Token;
use super::{Definition, Named, ParseError, Parser, binder_number};
use crate::{Comparison, Eigen, Elementary, Index, Term};

/// How deep expressions may be nested.
const MAX_DEPTH: usize = 200;

impl Parser<'_> {
    fn nested<T>(
        &mut self,
        inner: impl FnOnce(&mut Self) -> Result<T, ParseError>,
    ) -> Result<T, ParseError> {
        if self.depth == MAX_DEPTH {
            return self.error("nested too deep".to_owned());
        }
        self.depth += 1;
        let result = inner(self);
        self.depth -= 1;
        result
    }

    pub(super) fn expr(&mut self) -> Result<Term, ParseError> {
        self.nested(|parser| {
            if parser.eat_word("if") {
                parser.conditional()
            } else if parser.eat_word("let") {
                parser.definition()
            } else {
                parser.sum()
            }
        })
    }

    fn conditional(&mut self) -> Result<Term, ParseError> {
        let left = self.expr()?;
        let test = match self.peek() {
            Token::Symbol('<') => Comparison::Less,
            Token::Symbol('≤') => Comparison::LessEqual,
            Token::Symbol('=') => Comparison::Equal,
            _ => return self.unexpected("a comparison"),
        };
        self.advance();
        let sides = Box::new([left, self.expr()?]);
        self.expect_word("then")?;
        let then = Box::new(self.expr()?);
        self.expect_word("else")?;
        Ok(Term::Cond {
            test,
            sides,
            then,
            otherwise: Box::new(self.expr()?),
        })
    }

    fn definition(&mut self) -> Result<Term, ParseError> {
        let name = self.word("a name")?;
        self.expect('=')?;
        let definition = Definition {
            name,
            start: self.next,
            scope: self.indices.len(),
        };
        self.defined(&definition)?;
        self.expect('.')?;
        self.lets.push(definition);
        let body = self.expr();
        self.lets.pop();
        body
    }

    /// Reads the expression of a name, from where it stands and in the scope there. It may not use other such names,
    /// so that no text stands for an expression of more than quadratic size.
    fn defined(&mut self, definition: &Definition) -> Result<Term, ParseError> {
        self.next = definition.start;
        let lets = std::mem::take(&mut self.lets);
        let inner = self.indices.split_off(definition.scope);
        let term = self.expr();
        self.indices.extend(inner);
        self.lets = lets;
        term
    }

    fn sum(&mut self) -> Result<Term, ParseError> {
        let mut terms = vec![self.signed()?];
        loop {
            if self.eat('+') {
                terms.push(self.signed()?);
            } else if self.eat('−') {
                let left = Box::new(one_or(Term::Add, terms));
                terms = vec![Term::Sub(left, Box::new(self.signed()?))];
            } else {
                return Ok(one_or(Term::Add, terms));
            }
        }
    }

    fn signed(&mut self) -> Result<Term, ParseError> {
        match self.eat('−') {
            true => Ok(Term::Neg(Box::new(self.nested(Parser::signed)?))),
            false => self.quotient(),
        }
    }

    fn quotient(&mut self) -> Result<Term, ParseError> {
        let mut quotient = self.product()?;
        while self.eat('/') {
            quotient = Term::Div(Box::new(quotient), Box::new(self.product()?));
        }
        Ok(quotient)
    }

    fn product(&mut self) -> Result<Term, ParseError> {
        if self.eat('Σ') {
            return self.nested(Parser::summation);
        }
        let mut factors = vec![self.factor()?];
        while self.starts_factor() {
            factors.push(self.factor()?);
        }
        Ok(one_or(Term::Mul, factors))
    }

    fn starts_factor(&self) -> bool {
        match self.peek() {
            Token::Word(word) => !matches!(&word[..], "then" | "else" | "return" | "input"),
            Token::Number(_) => true,
            Token::Symbol(symbol) => matches!(symbol, '(' | '∂' | 'δ' | 'ε'),
            Token::End => false,
        }
    }

    fn summation(&mut self) -> Result<Term, ParseError> {
        let name = self.word("a summation index")?;
        let dims = self.extents(&name)?;
        self.expect('.')?;
        let (mut named, mut binders) = (Vec::new(), Vec::new());
        for range in dims {
            if range == 1 && !self.bindings.is_empty() {
                named.push(Named::Only);
                continue;
            }
            let binder = binder_number(&name).unwrap_or_else(|| {
                self.next_binder = self.next_binder.saturating_add(1);
                self.next_binder - 1
            });
            named.push(Named::Index(Index::Bound(binder)));
            binders.push((binder, range));
        }
        self.indices.push((name, named));
        let body = self.product()?;
        self.indices.pop();
        Ok(binders
            .into_iter()
            .rev()
            .fold(body, |body, (binder, range)| Term::Sum {
                binder,
                range,
                body: Box::new(body),
            }))
    }

    fn factor(&mut self) -> Result<Term, ParseError> {
        if self.eat('∂') {
            let index = self.single_index()?;
            return Ok(Term::Deriv {
                index,
                body: Box::new(self.nested(Parser::factor)?),
            });
        }
        let mut term = self.atom()?;
        loop {
            if self.eat('^') {
                let exponent = self.number("an integer exponent")?;
                match exponent.to_integer().try_into() {
                    Ok(n) if exponent.is_integer() => term = Term::Pow(Box::new(term), n),
                    Ok(_) | Err(_) => {
                        return self
                            .error(format!("the exponent {exponent} is not a small integer"));
                    }
                }
            } else if self.eat('@') {
                let at = self.place()?;
                term = Term::Probe {
                    field: Box::new(term),
                    at,
                };
            } else {
                return Ok(term);
            }
        }
    }

    fn place(&mut self) -> Result<Vec<Term>, ParseError> {
        if self.eat('(') {
            let at = self.list(Parser::expr)?;
            self.expect(')')?;
            return Ok(at);
        }
        let param = self.parameter("a position")?;
        let components = self.params[param]
            .1
            .shape()
            .indices()
            .map(|index| Term::Access {
                param,
                indices: index.into_iter().map(Index::Const).collect(),
            });
        Ok(components.collect())
    }

    fn atom(&mut self) -> Result<Term, ParseError> {
        let start = self.next;
        match self.advance() {
            Token::Number(number) => Ok(Term::Const(number)),
            Token::Symbol('(') => {
                let inner = self.expr()?;
                self.expect(')')?;
                Ok(inner)
            }
            Token::Symbol('δ') => match self.all_indices()?[..] {
                [i, j] => Ok(Term::Delta(i, j)),
                _ => self.error("δ has two indices".to_owned()),
            },
            Token::Symbol('ε') => Ok(Term::Epsilon(self.all_indices()?)),
            Token::Word(word) => self.named(&word, start),
            Token::Symbol(_) | Token::End => {
                self.next = start;
                self.unexpected("an expression")
            }
        }
    }

    fn named(&mut self, word: &str, start: usize) -> Result<Term, ParseError> {
        if let Some(param) = self.param(word) {
            let indices = if *self.peek() == Token::Symbol('[') {
                self.access_indices()?
            } else {
                Vec::new()
            };
            return Ok(Term::Access { param, indices });
        }
        if let Some(definition) = self
            .lets
            .iter()
            .rev()
            .find(|known| known.name == word)
            .cloned()
        {
            // Parsed again, so that every use has summation indices of its own.
            let after = self.next;
            let term = self.defined(&definition);
            self.next = after;
            return term;
        }
        if let Some(dim) = word
            .strip_prefix("pos")
            .and_then(|digits| digits.parse().ok())
        {
            return match self.all_indices()?[..] {
                [index] => Ok(Term::Position { dim, index }),
                _ => self.error("a position has one index".to_owned()),
            };
        }
        if let Some(part) = Eigen::named(word) {
            self.expect('(')?;
            let param = self.parameter("a matrix")?;
            self.expect(')')?;
            return Ok(Term::Eigen {
                part,
                param,
                indices: self.all_indices()?,
            });
        }
        let Some(function) = Elementary::named(word) else {
            self.next = start;
            return self.error(format!("nothing is called `{word}`"));
        };
        self.expect('(')?;
        let args = self.list(Parser::expr)?;
        self.expect(')')?;
        Ok(Term::Apply(function, args))
    }

    /// A parameter by its name.
    fn parameter(&mut self, wanted: &str) -> Result<usize, ParseError> {
        let name = self.word(wanted)?;
        match self.param(&name) {
            Some(param) => Ok(param),
            None => self.error(format!("no parameter is called `{name}`")),
        }
    }

    fn param(&self, name: &str) -> Option<usize> {
        self.params.iter().position(|(param, _)| param == name)
    }

    /// The indices of an access: those of extent 1 do not count as axes.
    fn access_indices(&mut self) -> Result<Vec<Index>, ParseError> {
        let indices = self.indices()?.into_iter().filter_map(|named| match named {
            Named::Index(index) => Some(index),
            Named::Only => None,
        });
        Ok(indices.collect())
    }

    fn all_indices(&mut self) -> Result<Vec<Index>, ParseError> {
        Ok(self.indices()?.into_iter().map(Named::index).collect())
    }

    fn indices(&mut self) -> Result<Vec<Named>, ParseError> {
        self.expect('[')?;
        let mut indices = Vec::new();
        while !self.eat(']') {
            indices.extend(self.index()?);
        }
        Ok(indices)
    }

    fn single_index(&mut self) -> Result<Index, ParseError> {
        match self.index()?[..] {
            [named] => Ok(named.index()),
            _ => self.error("wanted one index".to_owned()),
        }
    }

    fn index(&mut self) -> Result<Vec<Named>, ParseError> {
        if let Token::Word(word) = self.peek() {
            let found = self.indices.iter().rev().find(|(name, _)| name == word);
            return match found {
                Some((_, named)) => {
                    let named = named.clone();
                    self.advance();
                    Ok(named)
                }
                None => self.error(format!("no index is called `{word}`")),
            };
        }
        Ok(vec![Named::Index(Index::Const(self.natural("an index")?))])
    }
}

/// The only item, or the list as a term.
fn one_or(combine: impl Fn(Vec<Term>) -> Term, mut terms: Vec<Term>) -> Term {
    if terms.len() == 1 {
        terms.remove(0)
    } else {
        combine(terms)
    }
}
