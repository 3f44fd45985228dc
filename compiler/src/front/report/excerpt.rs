//! The lines that a message quotes, each cut to a window around the places that are marked.
//!
//! Takes places in the files of a program; gives texts that have nothing but the marked lines, at their line numbers, and where
//! the places are in them. However long a line is, at most [`WIDTH`] characters of it are quoted.

use crate::front::source::{Lines, Source, Span};
use runtime::text::{visible, visible_line};
use std::{collections::BTreeMap, ops::Range};

/// The most characters of a line that are quoted.
const WIDTH: usize = 200;
/// This many of them stand before the first place that is marked.
const BEFORE: usize = 80;
/// Where a line is cut.
const CUT: char = '…';

/// The files of a program, with their lines.
pub(super) struct Files<'a> {
    source: &'a Source,
    files: Vec<File<'a>>,
}

struct File<'a> {
    name: String,
    text: &'a str,
    lines: Lines,
}

/// A place in a file: from a line and column up to, and without, another. Both count from 0, columns in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    file: usize,
    start: (usize, usize),
    end: (usize, usize),
}

impl<'a> Files<'a> {
    pub(super) fn of(source: &'a Source) -> Files<'a> {
        let files = source.files().into_iter().map(|(path, text)| File {
            name: visible_line(&path.display().to_string()).into_owned(),
            text,
            lines: Lines::of(text),
        });
        Files {
            source,
            files: files.collect(),
        }
    }

    /// Where a place of the program's text is in its files.
    pub(super) fn place(&self, span: Span) -> Place {
        let (file, span) = self.source.origin_of(span);
        self.place_in(file, span)
    }

    /// The imports that lead to the file of a place, from the nearest to the program's own.
    pub(super) fn importers(&self, place: Place) -> impl Iterator<Item = Place> {
        let importers = self.source.importers(place.file);
        importers.map(|(file, span)| self.place_in(file, span))
    }

    fn place_in(&self, file: usize, span: Span) -> Place {
        let File { text, lines, .. } = &self.files[file];
        let start = (span.start as usize).min(text.len());
        let end = (span.end as usize).clamp(start, text.len());
        let (line, column) = lines.position(text, start as u32);
        let start_at = (line - 1, column - 1);
        let end_at = match end > start {
            true => {
                let last = text.floor_char_boundary(end - 1) as u32;
                let (line, column) = lines.position(text, last);
                (line - 1, column)
            }
            false => start_at,
        };
        Place {
            file,
            start: start_at,
            end: end_at,
        }
    }

    /// The place as messages name it: file, line and column.
    pub(super) fn position(&self, place: Place) -> String {
        let (line, column) = place.start;
        let name = &self.files[place.file].name;
        format!("{name}:{}:{}", line + 1, column + 1)
    }

    /// A line without its end.
    fn line(&self, file: usize, line: usize) -> &'a str {
        let File { text, lines, .. } = &self.files[file];
        lines.text(text, line + 1)
    }
}

/// The part of a line that is quoted, in characters.
#[derive(Clone, Copy, Debug)]
struct Window {
    from: usize,
    to: usize,
}

/// Places of one file that are shown together, in the order of their lines.
pub(super) struct Excerpt {
    file: usize,
    windows: BTreeMap<usize, Window>,
    places: Vec<Place>,
}

impl Excerpt {
    pub(super) fn of(files: &Files, place: Place) -> Excerpt {
        let mut excerpt = Excerpt {
            file: place.file,
            windows: BTreeMap::new(),
            places: Vec::new(),
        };
        excerpt.push(files, place);
        excerpt
    }

    /// Whether a place can be shown here: it is in the same file, not before the others, and within the quoted parts of their lines.
    pub(super) fn has_room_for(&self, place: Place) -> bool {
        let is_after = |other: &Place| other.end.0 <= place.end.0;
        let is_quoted = |(line, column): (usize, usize)| {
            let window = self.windows.get(&line);
            window.is_none_or(|window| (window.from..=window.to).contains(&column))
        };
        place.file == self.file
            && self.places.last().is_none_or(is_after)
            && is_quoted(place.start)
            && is_quoted(place.end)
    }

    pub(super) fn push(&mut self, files: &Files, place: Place) {
        for (line, column) in [place.start, place.end] {
            let window = || window(files.line(self.file, line).chars().count(), column);
            self.windows.entry(line).or_insert_with(window);
        }
        self.places.push(place);
    }

    /// The text that has the quoted lines and nothing in the others, and the places in it, in characters.
    pub(super) fn text(&self, files: &Files) -> (String, Vec<Range<usize>>) {
        let mut text = String::new();
        let mut offsets: BTreeMap<usize, usize> = BTreeMap::new();
        let (mut length, mut at) = (0, 0);
        for (&line, window) in &self.windows {
            text.extend(std::iter::repeat_n('\n', line - at));
            length += line - at;
            at = line;
            offsets.insert(line, length);
            let quoted = window.of(files.line(self.file, line));
            length += quoted.chars().count();
            text += &quoted;
        }
        let offset = |(line, column): (usize, usize)| {
            let window = self.windows[&line];
            let within = column.clamp(window.from, window.to) - window.from;
            offsets[&line] + within + usize::from(window.from > 0)
        };
        let places = self.places.iter().map(|place| {
            let start = offset(place.start);
            start..offset(place.end).max(start)
        });
        (text, places.collect())
    }
}

/// The quoted part of a line of this length that shows a column.
fn window(length: usize, column: usize) -> Window {
    if length <= WIDTH {
        return Window {
            from: 0,
            to: length,
        };
    }
    let from = column.saturating_sub(BEFORE).min(length - WIDTH);
    Window {
        from,
        to: from + WIDTH,
    }
}

impl Window {
    fn of(self, line: &str) -> String {
        let part: String = line
            .chars()
            .skip(self.from)
            .take(self.to - self.from)
            .collect();
        let mut quoted = String::new();
        quoted.extend((self.from > 0).then_some(CUT));
        quoted += &visible(&part);
        quoted.extend(line.chars().nth(self.to).map(|_| CUT));
        quoted
    }
}
