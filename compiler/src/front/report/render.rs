//! Messages as text for people, with the lines they are about.
//!
//! However large a program is and however much is wrong with it, the text stays short: lines are quoted in part, and messages
//! beyond a number are only counted. Nothing in it that came from the program acts on a terminal.

use super::excerpt::{Excerpt, Files, Place};
use crate::front::{
    diag::{Diagnostic, Severity, in_order},
    source::Source,
};
use ariadne::{Config, Label, Report, ReportKind};
use runtime::text::visible;
use std::{borrow::Cow, ops::Range};

/// The most messages that are shown; errors come before warnings.
const MESSAGES: usize = 100;
/// The most places and hints of one message.
const PLACES: usize = 8;
/// The most characters of a sentence. A longer one loses its middle: names and numbers of a program can have any length.
const SENTENCE: usize = 1_000;

/// The messages as text that quotes the lines they are about, in order; with colour only if asked, since a file should have none.
pub fn render(source: &Source, diagnostics: Vec<Diagnostic>, colour: bool) -> String {
    let (shown, hidden) = chosen(in_order(diagnostics));
    if shown.is_empty() {
        return String::new();
    }
    let files = Files::of(source);
    let mut out: String = shown
        .iter()
        .map(|diagnostic| message(&files, diagnostic, colour))
        .collect();
    let counts = [(Severity::Error, hidden[0]), (Severity::Warning, hidden[1])];
    for (severity, count) in counts.into_iter().filter(|(_, count)| *count > 0) {
        let (word, plural) = (severity.text(), if count == 1 { " is" } else { "s are" });
        out += &format!("{count} more {word}{plural} not shown\n");
    }
    out
}

/// The messages that are shown, and how many errors and warnings are not.
fn chosen(all: Vec<Diagnostic>) -> (Vec<Diagnostic>, [usize; 2]) {
    let errors = all.iter().filter(|d| d.is_error()).count();
    let warnings = all.len() - errors;
    let mut room = [
        errors.min(MESSAGES),
        warnings.min(MESSAGES.saturating_sub(errors)),
    ];
    let hidden = [errors - room[0], warnings - room[1]];
    let mut has_room = |diagnostic: &Diagnostic| {
        let left = &mut room[usize::from(!diagnostic.is_error())];
        let is_shown = *left > 0;
        *left = left.saturating_sub(1);
        is_shown
    };
    (all.into_iter().filter(|d| has_room(d)).collect(), hidden)
}

fn message(files: &Files, diagnostic: &Diagnostic, colour: bool) -> String {
    let main = files.place(diagnostic.span);
    let mut places: Vec<(Place, Cow<str>)> = Vec::new();
    if !diagnostic.labels.iter().any(|l| l.0 == diagnostic.span) {
        places.push((main, diagnostic.code.label.into()));
    }
    let labels = diagnostic.labels.iter().take(PLACES);
    places.extend(labels.map(|(span, text)| (files.place(*span), sentence(text))));
    let importers = files.importers(main).take(PLACES);
    places.extend(importers.map(|place| (place, "imported here".into())));

    let mut excerpts: Vec<Excerpt> = Vec::new();
    // The excerpt that each place is in.
    let mut homes: Vec<usize> = Vec::new();
    for &(place, _) in &places {
        match excerpts.last_mut() {
            Some(last) if last.has_room_for(place) => last.push(files, place),
            _ => excerpts.push(Excerpt::of(files, place)),
        }
        homes.push(excerpts.len() - 1);
    }
    let written: Vec<(String, Vec<Range<usize>>)> =
        excerpts.iter().map(|excerpt| excerpt.text(files)).collect();
    let ranges: Vec<Range<usize>> = written.iter().flat_map(|(_, r)| r.clone()).collect();
    let spots = || homes.iter().zip(&ranges).zip(&places);
    let spot = |(home, range): (&usize, &Range<usize>)| (Stand(*home), range.clone());

    let kind = match diagnostic.severity {
        Severity::Error => ReportKind::Error,
        Severity::Warning => ReportKind::Warning,
    };
    let first = spots().find(|(_, (place, _))| *place == main);
    let Some((first, _)) = first.or_else(|| spots().next()) else {
        unreachable!("a message has a place")
    };
    let mut report = Report::build(kind, spot(first))
        .with_config(Config::default().with_color(colour))
        .with_code(diagnostic.code)
        .with_message(sentence(&diagnostic.message));
    for (at, (_, text)) in spots() {
        report = report.with_label(Label::new(spot(at)).with_message(text));
    }
    for hint in diagnostic.hints.iter().take(PLACES) {
        report = report.with_help(sentence(hint));
    }
    let mut out = Vec::new();
    let texts = written.into_iter().enumerate();
    let cache = ariadne::sources(texts.map(|(k, (text, _))| (Stand(k), text)));
    let result = report.finish().write(cache, &mut out);
    debug_assert!(result.is_ok(), "writing to memory does not fail");
    let mut out = String::from_utf8_lossy(&out).into_owned();
    for k in 0..excerpts.len() {
        let of_excerpt = || spots().filter(|((home, _), _)| **home == k);
        let named = of_excerpt().find(|(_, (place, _))| *place == main);
        if let Some((_, (place, _))) = named.or_else(|| of_excerpt().next()) {
            out = with_position(&out, Stand(k), &files.position(*place));
        }
    }
    out
}

/// What stands for an excerpt in the text of a message, where its position has to be: the writer knows places in excerpts only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Stand(usize);

impl std::fmt::Display for Stand {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "\u{f8ff}{}\u{f8ff}", self.0)
    }
}

/// The text with a position in the place of what stands for it and the line and column after that.
fn with_position(text: &str, stand: Stand, position: &str) -> String {
    let Some((before, after)) = text.split_once(&stand.to_string()) else {
        return text.to_string();
    };
    let after = after.trim_start_matches(|c: char| c == ':' || c == '?' || c.is_ascii_digit());
    format!("{before}{position}{after}")
}

/// A text as a message shows it: visible, and not too long.
fn sentence(text: &str) -> Cow<'_, str> {
    let length = text.chars().count();
    if length <= SENTENCE {
        return visible(text);
    }
    let half = SENTENCE / 2;
    let start: String = text.chars().take(half).collect();
    let end: String = text.chars().skip(length - half).collect();
    format!("{} … {}", visible(&start), visible(&end)).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::front::{
        codes,
        report::examples::{source, undeclared},
        source::Span,
    };

    #[test]
    fn text_quotes_the_line_and_has_no_colour_unless_asked() {
        let diagnostic = undeclared(10, 12, "β")
            .label(Span::new(5, 7), "for this")
            .hint("did you mean `α`?");
        let text = render(&source(), vec![diagnostic.clone()], false);
        for part in [
            "undeclared variable `β`",
            "a.diderot:1:10",
            "real α = β;",
            "for this",
            "did you mean `α`?",
        ] {
            assert!(text.contains(part), "{part}\n{text}");
        }
        assert!(!text.contains('\x1b'));
        assert!(render(&source(), vec![diagnostic], true).contains('\x1b'));
    }

    #[test]
    fn terminals_obey_nothing_that_is_quoted() {
        let text = "real \u{1b}[31m\u{9b}7m\u{202e}\u{7} = m;\n";
        let source = Source::new("a\u{1b}c.diderot", text);
        let diagnostic = undeclared(21, 22, "\u{1b}]0;m\u{7}")
            .label(Span::new(0, 4), "\u{1b}")
            .hint("\u{1b}");
        let text = render(&source, vec![diagnostic], false);
        let hidden = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
        assert!(!text.contains(hidden), "{text:?}");
        // What follows is underlined where it is.
        assert!(
            text.contains("real ␛[31m\u{fffd}7m\u{fffd}␇ = m;"),
            "{text}"
        );
        assert!(text.contains("a␛c.diderot:1:19"), "{text}");
    }

    #[test]
    fn places_at_and_past_the_end_are_shown() {
        for span in [Span::new(25, 25), Span::new(24, 90), Span::new(90, 90)] {
            let end = Diagnostic::warning(codes::UNUSED, span, "at the end");
            assert!(render(&source(), vec![end], false).contains("at the end"));
        }
    }

    #[test]
    fn of_a_long_line_a_window_is_quoted() {
        let text = format!(
            "real x = {}β + γ{};\n",
            "α + ".repeat(5_000),
            " + δ".repeat(5_000)
        );
        let source = Source::new("long.diderot", text.as_str());
        let at = text.find('β').expect("the name");
        let diagnostic = undeclared(at, at + 2, "β").label(Span::new(5, 6), "for this");
        let shown = render(&source, vec![diagnostic], false);
        assert!(shown.contains("long.diderot:1:20010"), "{shown}");
        assert!(shown.contains("long.diderot:1:6"), "{shown}");
        assert!(
            shown.contains("…") && shown.contains("β + γ + δ"),
            "{shown}"
        );
        assert!(shown.contains("for this"), "{shown}");
        assert!(
            shown.lines().all(|line| line.chars().count() < 220),
            "{shown}"
        );
        // The mark is under the name.
        let lines: Vec<&str> = shown.lines().collect();
        let quoted = lines
            .iter()
            .position(|line| line.contains('β') && line.contains('…'));
        let quoted = quoted.expect("the line");
        let column = lines[quoted].chars().position(|c| c == 'β');
        let mark = lines[quoted + 1].chars().position(|c| c == '┬');
        assert_eq!(column, mark, "{shown}");
    }

    #[test]
    fn every_excerpt_has_its_own_position() {
        let text = "real α = 1;\nreal b = α;\nreal c = β;\n";
        let source = Source::new("a.diderot", text);
        let at = text.find('β').expect("the name");
        let diagnostic = undeclared(at, at + 2, "β").label(Span::new(5, 7), "like this");
        let shown = render(&source, vec![diagnostic], false);
        assert!(shown.contains("╭─[ a.diderot:3:10 ]"), "{shown}");
        assert!(shown.contains("├─[ a.diderot:1:6 ]"), "{shown}");
    }

    #[test]
    fn a_place_of_several_lines_is_shown_by_its_ends() {
        let text = format!("a {}\n{}b\nc;\n", "x".repeat(3_000), "y".repeat(3_000));
        let source = Source::new("a.diderot", text.as_str());
        let diagnostic = undeclared(2, 6_005, "x");
        let shown = render(&source, vec![diagnostic], false);
        assert!(
            shown.lines().all(|line| line.chars().count() < 260),
            "{shown}"
        );
        assert!(shown.contains("a.diderot:1:3"), "{shown}");
    }

    #[test]
    fn beyond_a_number_messages_are_counted_errors_first() {
        let text = "x ".repeat(300);
        let source = Source::new("a.diderot", text.as_str());
        let place = |k: usize| Span::new(2 * k, 2 * k + 1);
        let error = |k: usize| undeclared(2 * k, 2 * k + 1, "x");
        let warning = |k: usize| Diagnostic::warning(codes::UNUSED, place(k), "unused");
        let warnings = |n: usize| (0..n).map(warning);
        let many = warnings(120).chain((120..300).map(error)).collect();
        let shown = render(&source, many, false);
        assert_eq!(shown.matches("Error:").count(), 100);
        assert_eq!(shown.matches("Warning:").count(), 0);
        assert!(shown.ends_with("80 more errors are not shown\n120 more warnings are not shown\n"));
        let few = warnings(101).chain([error(200)]).collect();
        let shown = render(&source, few, false);
        assert_eq!(shown.matches("Warning:").count(), 99);
        assert!(shown.ends_with("\n2 more warnings are not shown\n"));
    }

    #[test]
    fn a_sentence_loses_its_middle_if_it_is_long() {
        let name = "n".repeat(1_000_000);
        let shown = render(&source(), vec![undeclared(10, 12, &name)], false);
        assert!(shown.len() < 2_000, "{}", shown.len());
        assert!(shown.contains("undeclared variable `nnn") && shown.contains("nnn`"));
    }
}
