//! Comments, which the tree does not have, put back beside the tokens they stood at.
//!
//! A comment on a line of its own belongs to the token after it, any other to the token before. Tokens of the source and of the
//! printed text are matched in order; where they differ, by a parenthesis that is not needed or a part that stands elsewhere, a
//! comment goes to the nearest token that was matched. None is lost.

use super::super::{
    ast::{Program, Version},
    lexer::lex,
    token::Spanned,
    version::version_line,
};
use super::print;
use std::collections::BTreeMap;

/// The text of a program that was read from `source`, with its comments.
pub fn print_with_comments(program: &Program, source: &str) -> String {
    let printed = print(program);
    let version = program.version;
    let comments = comments(source, version);
    if comments.is_empty() {
        return printed;
    }
    let (old, new) = (tokens(source, version), tokens(&printed, version));
    let matched = matches(&old, &new);
    let mut insertions = Insertions::default();
    for comment in comments {
        let place = if comment.is_alone {
            let next = (comment.before..old.len()).find_map(|n| matched[n]);
            next.map(|n| new[n].span.start as usize)
        } else {
            let last = (0..comment.before).rev().find_map(|n| matched[n]);
            last.map(|n| new[n].span.end as usize)
        };
        insertions.add(&printed, place, &comment);
    }
    insertions.apply(&printed)
}

/// A comment of the source.
struct Comment<'s> {
    text: &'s str,
    /// The number of tokens before it.
    before: usize,
    /// Whether nothing stands before it on its line.
    is_alone: bool,
}

impl Comment<'_> {
    fn ends_line(&self) -> bool {
        self.text.starts_with("//")
    }
}

fn tokens(text: &str, version: Version) -> Vec<Spanned<'_>> {
    lex(text, version_line(text).length, version).tokens
}

/// The comments of a text in order. Between tokens there is nothing else but blanks.
fn comments(text: &str, version: Version) -> Vec<Comment<'_>> {
    let mut found = Vec::new();
    let mut start = version_line(text).length;
    let tokens = tokens(text, version);
    let ends = tokens
        .iter()
        .map(|t| (t.span.start as usize, t.span.end as usize));
    for (before, (end, next)) in ends.chain([(text.len(), text.len())]).enumerate() {
        let mut at = start;
        while let Some(offset) = text.get(at..end).and_then(|gap| gap.find('/')) {
            let begin = at + offset;
            let length = match &text[begin..end] {
                rest if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
                rest if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |n| n + 2),
                // Not a comment, but something that was reported as wrong.
                _ => {
                    at = begin + 1;
                    continue;
                }
            };
            let line = text[..begin].rfind('\n').map_or(0, |n| n + 1);
            found.push(Comment {
                text: text[begin..begin + length].trim_end(),
                before,
                is_alone: text[line..begin].trim().is_empty(),
            });
            at = begin + length;
        }
        start = next;
    }
    found
}

/// For each token of the old text the number of the same token in the new one, in order, where there is one.
fn matches(old: &[Spanned<'_>], new: &[Spanned<'_>]) -> Vec<Option<usize>> {
    /// Tokens to look ahead for the next pair that agrees.
    const REACH: usize = 24;
    let same = |i: usize, j: usize| match (old.get(i), new.get(j)) {
        (Some(a), Some(b)) => a.token == b.token,
        (a, b) => a.is_none() && b.is_none(),
    };
    let mut found = vec![None; old.len()];
    let (mut i, mut j) = (0, 0);
    while i < old.len() && j < new.len() {
        if same(i, j) {
            found[i] = Some(j);
            (i, j) = (i + 1, j + 1);
            continue;
        }
        // Two tokens in a row that agree are hardly by chance.
        let steps = (1..=2 * REACH).flat_map(|sum| (0..=sum).map(move |a| (a, sum - a)));
        let next = steps
            .filter(|&(a, b)| a <= REACH && b <= REACH)
            .find(|&(a, b)| same(i + a, j + b) && same(i + a + 1, j + b + 1));
        let (a, b) = next.unwrap_or((1, 1));
        (i, j) = (i + a, j + b);
    }
    found
}

/// The comments to insert into the printed text, by place; those at one place are in the order of the source.
#[derive(Default)]
struct Insertions {
    at: BTreeMap<usize, String>,
    /// Ends of lines that have a comment to their end.
    ended: Vec<usize>,
}

impl Insertions {
    fn add(&mut self, printed: &str, place: Option<usize>, comment: &Comment<'_>) {
        let Some(place) = place else {
            let text = comment.text;
            let at = if comment.is_alone {
                printed.len()
            } else {
                after_first_line(printed)
            };
            return self.put(at, &format!("{text}\n"));
        };
        let line = printed[..place].rfind('\n').map_or(0, |n| n + 1);
        let end = printed[place..]
            .find('\n')
            .map_or(printed.len(), |n| place + n);
        let before = &printed[line..place];
        let indentation = &printed[line..]
            [..printed[line..].len() - printed[line..].trim_start_matches(' ').len()];
        let on_line_before = format!("{indentation}{}\n", comment.text);
        if comment.is_alone && (comment.ends_line() || before.trim().is_empty()) {
            self.put(line, &on_line_before);
        } else if comment.ends_line() && self.ended.contains(&end) {
            // A line has room for one.
            self.put(line, &on_line_before);
        } else if comment.ends_line() {
            self.ended.push(end);
            self.put(end, &format!(" {}", comment.text));
        } else if comment.is_alone {
            self.put(place, &format!("{} ", comment.text));
        } else {
            self.put(place, &format!(" {}", comment.text));
        }
    }

    fn put(&mut self, at: usize, text: &str) {
        self.at.entry(at).or_default().push_str(text);
    }

    fn apply(self, printed: &str) -> String {
        let mut out = String::with_capacity(2 * printed.len());
        let mut done = 0;
        for (at, text) in self.at {
            out.push_str(&printed[done..at]);
            out.push_str(&text);
            done = at;
        }
        out + &printed[done..]
    }
}

fn after_first_line(text: &str) -> usize {
    text.find('\n').map_or(text.len(), |n| n + 1)
}
