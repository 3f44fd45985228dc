//! Repairs the token list after a syntax error, so that the rest of the text is still read.
//!
//! A missing `;` or closing bracket is inserted; anything else is cut out, and a token that the grammar accepts as an
//! unreadable expression, statement, member or part takes its place. As little as possible is cut: the contents of the brackets
//! around the error, else the value after `=`, else the statement, member or definition around it, found by following brackets and
//! semicolons.

use super::{
    explain::Stop,
    token::{Keyword, Punct, Spanned, Token},
};
use crate::front::source::Span;

/// What a bracket opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Group {
    /// The text itself.
    Top,
    /// `{ … }` around statements or members.
    Block,
    /// `{ … }` around the clauses of a definition.
    Clauses,
    /// `( … )` or `[ … ]`
    Inner,
    /// `{ … }` in an expression, a type or a creation clause.
    Brace,
}

/// A bracket that is open at some token.
#[derive(Clone, Copy, Debug)]
struct Frame {
    group: Group,
    /// The opening bracket.
    open: usize,
    /// The innermost frame up to this one that has units.
    home: usize,
    /// The first token of the statement, member or definition that is being read, in `Top` and `Block`.
    unit: usize,
    /// The first token of the unit before.
    previous: usize,
    /// The first token after the unit's `=` or `return`. From there on a brace belongs to an expression.
    value: Option<usize>,
}

/// The open brackets at a token, outermost first; the first is always `Top`.
#[derive(Clone, Debug)]
pub(crate) struct Nesting {
    frames: Vec<Frame>,
    /// Whether the parser is still in a unit that by its brackets is over.
    reopened: bool,
}

impl Nesting {
    /// The nesting where the parser stopped.
    pub(crate) fn of(tokens: &[Spanned<'_>], stop: &Stop) -> Nesting {
        let Stop { from, error, .. } = *stop;
        let mut nesting = Nesting {
            frames: vec![Frame {
                group: Group::Top,
                open: from,
                home: 0,
                unit: from,
                previous: from,
                value: None,
            }],
            reopened: false,
        };
        for index in from..error {
            nesting.step(tokens, index);
        }
        // Between units the grammar accepts what takes the place of a unit.
        let top = nesting.top_mut();
        if top.has_units() && top.unit == error && !stop.expects("unreadable") {
            top.unit = top.previous;
            nesting.reopened = true;
        }
        nesting
    }

    fn top(&self) -> Frame {
        self.frames[self.frames.len() - 1]
    }

    /// The innermost group that has units.
    fn home(&self) -> Frame {
        self.frames[self.top().home]
    }

    fn top_mut(&mut self) -> &mut Frame {
        let last = self.frames.len() - 1;
        &mut self.frames[last]
    }

    /// The innermost open bracket.
    pub(crate) fn innermost_open(&self) -> Option<usize> {
        let top = self.top();
        (top.group != Group::Top).then_some(top.open)
    }

    /// Whether the innermost open bracket is a brace around statements or members.
    pub(crate) fn is_in_block(&self) -> bool {
        self.top().group == Group::Block
    }

    /// Whether a method is open, so that another one cannot begin.
    pub(crate) fn is_in_method(&self) -> bool {
        let blocks = self.frames.iter().filter(|f| f.group == Group::Block);
        self.is_in_block() && blocks.count() >= 2
    }

    /// A parenthesis or bracket and directly in it the innermost brace, if that is open.
    pub(crate) fn brace_in_parentheses(&self) -> Option<(usize, usize)> {
        match self.frames.as_slice() {
            [.., outer, inner] if outer.group == Group::Inner && inner.group == Group::Brace => {
                Some((outer.open, inner.open))
            }
            _ => None,
        }
    }

    /// The first token of the innermost statement, member or definition.
    pub(crate) fn unit(&self) -> usize {
        self.home().unit
    }

    fn push(&mut self, group: Group, open: usize) {
        let home = match group {
            Group::Top | Group::Block | Group::Clauses => self.frames.len(),
            Group::Inner | Group::Brace => self.top().home,
        };
        self.frames.push(Frame {
            group,
            open,
            home,
            unit: open + 1,
            previous: open + 1,
            value: None,
        });
    }

    /// Takes off groups that statements cannot span.
    fn close_inner(&mut self) {
        while !self.top().has_units() {
            self.frames.pop();
        }
    }

    fn begin_value(&mut self, assignment: usize) {
        self.top_mut().value.get_or_insert(assignment + 1);
    }

    fn end_unit(&mut self, index: usize) {
        let top = self.top_mut();
        top.previous = top.unit;
        top.unit = index + 1;
        top.value = None;
    }

    /// Whether the token at `index` can only be the first of a unit, although the one before it is not over.
    fn breaks_unit(&self, tokens: &[Spanned<'_>], index: usize) -> bool {
        use Keyword::*;
        let Token::Keyword(keyword) = tokens[index].token else {
            return false;
        };
        let frame = self.home();
        if index <= frame.unit {
            return false;
        }
        match keyword {
            Const | Input | Function | Strand | Initially | CreateArray | CreateCollection => {
                frame.group == Group::Top
            }
            Foreach | Return | Print | New | Die | Continue => {
                let previous = tokens[index - 1].token;
                !matches!(
                    previous,
                    Token::Punct(Punct::CloseParen) | Token::Keyword(Else)
                )
            }
            Bool | Int | String | Tensor | Vec2 | Vec3 | Vec4 | Mat2 | Mat3 | Mat4 | Field
            | Kernel => {
                let next = tokens.get(index + 1);
                frame.value.is_some() && !next.is_some_and(|next| next.token.is(Punct::OpenParen))
            }
            Else | False | Global | Identity | If | Image | In | Initialize | Load | LoadImage
            | LoadSequence | Nan | Output | Real | Stabilize | Start | True | Update | Zeros => {
                false
            }
        }
    }

    /// Takes the token at `index` into account.
    fn step(&mut self, tokens: &[Spanned<'_>], index: usize) {
        if self.breaks_unit(tokens, index) {
            self.close_inner();
            let top = self.top_mut();
            top.unit = index;
            top.value = None;
        }
        match tokens[index].token {
            Token::Punct(Punct::OpenParen | Punct::OpenBracket) => self.push(Group::Inner, index),
            Token::Punct(Punct::OpenBrace) => {
                let group = self.group_of_brace(tokens, index);
                self.push(group, index);
            }
            Token::Punct(Punct::CloseParen | Punct::CloseBracket)
                if self.top().group == Group::Inner =>
            {
                self.frames.pop();
            }
            Token::Punct(Punct::CloseBrace) => self.close_brace(tokens, index),
            Token::Punct(Punct::Semicolon)
                if !self.top().has_units() && is_foreign(tokens[self.home().unit].token) => {}
            Token::Punct(Punct::Semicolon) => {
                self.close_inner();
                self.end_unit(index);
            }
            // It took the place of a whole unit.
            Token::Unreadable if self.top().has_units() && self.top().unit == index => {
                self.end_unit(index);
            }
            Token::Keyword(Keyword::Return) => self.begin_value(index),
            token if token.assigns() => self.begin_value(index),
            _ => {}
        }
    }

    fn close_brace(&mut self, tokens: &[Spanned<'_>], index: usize) {
        while self.top().group == Group::Inner {
            self.frames.pop();
        }
        match self.top().group {
            Group::Top => self.end_unit(index),
            Group::Block | Group::Clauses => {
                self.frames.pop();
                let next = tokens.get(index + 1).map(|next| next.token);
                if next != Some(Token::Keyword(Keyword::Else)) {
                    self.end_unit(index);
                }
            }
            Group::Brace => {
                self.frames.pop();
                let first = tokens[self.top().unit.min(index)].token;
                let is_creation = matches!(
                    first,
                    Token::Keyword(Keyword::CreateArray | Keyword::CreateCollection)
                );
                if is_creation || (self.top().has_units() && is_foreign(first)) {
                    self.end_unit(index);
                }
            }
            Group::Inner => {}
        }
    }

    /// What the brace at `index` opens.
    fn group_of_brace(&self, tokens: &[Spanned<'_>], index: usize) -> Group {
        let top = self.top();
        if !top.has_units() || top.value.is_some() {
            return Group::Brace;
        }
        if index == top.unit {
            return Group::Block;
        }
        use Keyword::*;
        let previous = tokens[index - 1].token;
        let is_clause = previous.is(Punct::CloseBracket) && top.group == Group::Clauses;
        let has_clauses = matches!(previous, Token::Name(_))
            && matches!(
                tokens[top.unit].token,
                Token::Keyword(Real | Tensor | Vec2 | Vec3 | Vec4 | Mat2 | Mat3 | Mat4 | Output)
            );
        if has_clauses {
            return Group::Clauses;
        }
        let after_header = matches!(
            previous,
            Token::Punct(Punct::CloseParen)
                | Token::Unreadable
                | Token::Keyword(Else | Update | Stabilize | Start | Initialize | Global)
        );
        // Headers without their parentheses; what looks like one and is not is a type with braces.
        let after_suffix = matches!(
            previous,
            Token::Punct(Punct::CloseBrace | Punct::CloseBracket)
        );
        let broken_header = match tokens[top.unit].token {
            Token::Keyword(If | Foreach | Strand) => true,
            Token::Name(_) => index > top.unit + 1 && !after_suffix,
            _ => false,
        };
        match after_header || broken_header || is_clause {
            true => Group::Block,
            false => Group::Brace,
        }
    }
}

/// Whether a unit that begins with this token may have semicolons in its brackets: blocks with a keyword of the other version,
/// which is a name in this one, and loops of other languages.
fn is_foreign(first: Token<'_>) -> bool {
    use Keyword::*;
    match first {
        Token::Name("for") => true,
        Token::Name(word) => matches!(Keyword::find(word), Some(Start | Initialize | Global)),
        _ => false,
    }
}

impl Frame {
    fn has_units(&self) -> bool {
        matches!(self.group, Group::Top | Group::Block | Group::Clauses)
    }
}

/// Puts a token that was missing before token `error`.
pub(crate) fn insert(tokens: &mut Vec<Spanned<'_>>, error: usize, punct: Punct) {
    let place = match error.checked_sub(1) {
        Some(previous) => tokens[previous].span.end,
        None => 0,
    };
    let span = Span {
        start: place,
        end: place,
    };
    let token = Token::Punct(punct);
    tokens.insert(error, Spanned { token, span });
}

/// Cuts out the unit around the token that the parser did not accept; nothing before token `from` is touched.
pub(crate) fn cut(tokens: &mut Vec<Spanned<'_>>, nesting: &Nesting, stop: &Stop) {
    let Stop { from, error, .. } = *stop;
    if nesting.reopened && nesting.top().unit < error {
        return replace(tokens, nesting.top().unit, error);
    }
    if !tokens.get(error..=error).is_some_and(is_unreadable)
        && nesting.top().group == Group::Inner
        && let Some(close) = closing(tokens, nesting, error)
        && !is_unreadable(&tokens[nesting.top().open + 1..close])
    {
        replace(tokens, nesting.top().open + 1, close);
        return;
    }
    // The unit around the error; if there is nothing to cut, or it was cut before and is still not accepted, the next larger one.
    for depth in (0..nesting.frames.len()).rev() {
        let frame = nesting.frames[depth];
        if frame.has_units() {
            let end = unit_end(tokens, nesting, depth, error);
            // A definition without its value still has a name and a type.
            if let Some(value) = frame.value.filter(|&value| value <= error)
                && let Some(last) = end.checked_sub(1).filter(|&last| last >= value)
                && tokens[last].token.is(Punct::Semicolon)
                && !is_unreadable(&tokens[value..last])
            {
                replace(tokens, value, last);
                return;
            }
            if end > frame.unit && !is_unreadable(&tokens[frame.unit..end]) {
                replace(tokens, frame.unit, end);
                return;
            }
        }
    }
    replace(tokens, from, (error + 1).min(tokens.len()));
}

/// Whether these tokens are one that took the place of others.
fn is_unreadable(tokens: &[Spanned<'_>]) -> bool {
    matches!(tokens, [only] if only.token == Token::Unreadable)
}

/// The bracket that closes the innermost group, if there is one before the statement ends.
fn closing(tokens: &[Spanned<'_>], nesting: &Nesting, error: usize) -> Option<usize> {
    let mut nesting = nesting.clone();
    let depth = nesting.frames.len();
    let kind = tokens[nesting.top().open].token;
    for index in error..tokens.len() {
        nesting.step(tokens, index);
        if nesting.frames.len() < depth {
            let closes = match tokens[index].token {
                Token::Punct(Punct::CloseParen) => kind.is(Punct::OpenParen),
                Token::Punct(Punct::CloseBracket) => kind.is(Punct::OpenBracket),
                _ => false,
            };
            return closes.then_some(index);
        }
    }
    None
}

/// One past the last token of the unit around token `error` in the group at this depth.
fn unit_end(tokens: &[Spanned<'_>], nesting: &Nesting, depth: usize, error: usize) -> usize {
    let mut nesting = nesting.clone();
    let unit = nesting.frames[depth].unit;
    for index in error..tokens.len() {
        nesting.step(tokens, index);
        if nesting.frames.len() <= depth {
            // The brace that closes the block does not belong to the unit, unless it is all there is.
            return index.max(unit);
        }
        if nesting.frames[depth].unit > unit {
            return nesting.frames[depth].unit;
        }
    }
    tokens.len()
}

/// Puts one unreadable token in the place of a range of tokens, which may be empty.
fn replace(tokens: &mut Vec<Spanned<'_>>, start: usize, end: usize) {
    let end = end.max(start);
    let place = |index: usize| tokens.get(index).map(|t| t.span);
    let span = match (place(start), end.checked_sub(1).and_then(place)) {
        (Some(first), Some(last)) if end > start => first.to(last),
        (_, Some(previous)) => Span {
            start: previous.end,
            end: previous.end,
        },
        _ => Span::default(),
    };
    let token = Token::Unreadable;
    tokens.splice(start..end, [Spanned { token, span }]);
}
