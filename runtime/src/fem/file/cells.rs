//! The cells of a file. Most files have long runs of cells of one element, whose numbers and points follow each other, so runs are
//! stored instead of cells; a file without such runs has a list of all cells.

use super::shared::Shared;
use crate::fem::element::Element;

/// A cell of a file.
#[derive(Clone, Copy, Debug)]
pub struct FileCell {
    /// Its element.
    pub element: &'static Element,
    /// The first of its points in the list of all.
    pub first: usize,
    /// Its number among all cells of the file, those that are left out counted.
    pub number: u32,
}

impl PartialEq for FileCell {
    fn eq(&self, other: &FileCell) -> bool {
        std::ptr::eq(self.element, other.element)
            && (self.first, self.number) == (other.first, other.number)
    }
}

/// The most runs; with more of them a list of all cells is searched faster.
const MOST_RUNS: usize = 16;

/// The cells of a file in their order.
#[derive(Clone, Debug, Default)]
pub struct Cells {
    count: usize,
    /// The first cell of each run, while there are few of them.
    runs: Vec<Run>,
    /// All cells, if there are too many runs.
    list: Shared<Vec<FileCell>>,
}

/// Cells that follow from the first of them.
#[derive(Clone, Copy, Debug)]
struct Run {
    /// The place of the first cell.
    start: usize,
    first: FileCell,
    /// Points from a cell to the next.
    stride: usize,
}

impl Run {
    fn at(&self, place: usize) -> FileCell {
        let after = place - self.start;
        FileCell {
            element: self.first.element,
            first: self.first.first + after * self.stride,
            number: self.first.number + after as u32,
        }
    }

    /// Whether a cell at a place belongs to the run.
    fn goes_on(&self, place: usize, cell: &FileCell) -> bool {
        let after = place - self.start;
        let number = u32::try_from(after).ok();
        let number = number.and_then(|after| self.first.number.checked_add(after));
        let first = after.checked_mul(self.stride);
        let first = first.and_then(|after| self.first.first.checked_add(after));
        std::ptr::eq(self.first.element, cell.element)
            && (first, number) == (Some(cell.first), Some(cell.number))
    }
}

impl Cells {
    /// How many they are.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Adds a cell.
    pub fn push(&mut self, cell: FileCell) {
        let stride = cell.element.nodes().len();
        self.push_with_stride(cell, stride);
    }

    /// Adds a cell; the points of the next one of its run begin `stride` points after its own.
    pub(in crate::fem) fn push_with_stride(&mut self, cell: FileCell, stride: usize) {
        let place = self.count;
        self.count += 1;
        if !self.list.is_empty() {
            return self.list.push(cell);
        }
        let goes_on = |run: &Run| run.stride == stride && run.goes_on(place, &cell);
        if self.runs.last().is_some_and(goes_on) {
            return;
        }
        if self.runs.len() == MOST_RUNS {
            self.list = (0..place).map(|n| self.at(n)).collect();
            self.list.push(cell);
            self.runs = Vec::new();
            return;
        }
        self.runs.push(Run {
            start: place,
            first: cell,
            stride,
        });
    }

    /// The cell at a place.
    ///
    /// # Panics
    /// There are fewer cells.
    #[inline]
    pub fn at(&self, place: usize) -> FileCell {
        assert!(place < self.count, "cell {place} of {}", self.count);
        match self.runs.iter().rfind(|run| run.start <= place) {
            Some(run) => run.at(place),
            None => self.list[place],
        }
    }

    /// The cells one after the other.
    pub fn iter(&self) -> impl Iterator<Item = FileCell> {
        (0..self.count).map(|n| self.at(n))
    }

    /// The memory that they take.
    pub(in crate::fem) fn bytes(&self) -> usize {
        size_of_val(&self.runs[..]) + size_of_val(&self.list[..])
    }
}

impl FromIterator<FileCell> for Cells {
    fn from_iter<I: IntoIterator<Item = FileCell>>(all: I) -> Cells {
        let mut cells = Cells::default();
        all.into_iter().for_each(|cell| cells.push(cell));
        cells
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cells in runs of a length, with a gap in the numbers after each run.
    fn in_runs(count: usize, length: usize) -> Vec<FileCell> {
        let elements = ["tet-p1", "hex-q1"].map(|name| Element::named(name).expect("an element"));
        let mut first = 7;
        let cell = |n: usize| {
            let element = elements[n / length % 2];
            first += element.nodes().len();
            FileCell {
                element,
                first: first - element.nodes().len(),
                number: (n + n / length) as u32,
            }
        };
        (0..count).map(cell).collect()
    }

    #[test]
    fn cells_are_those_that_were_added() {
        for (count, length) in [
            (0, 1),
            (1, 1),
            (1000, 1000),
            (1000, 100),
            (1000, 1),
            (40, 2),
        ] {
            let all = in_runs(count, length);
            let cells: Cells = all.iter().copied().collect();
            assert_eq!(cells.len(), count);
            assert_eq!(cells.iter().collect::<Vec<_>>(), all, "{count} {length}");
            let few = count.div_ceil(length) <= MOST_RUNS;
            assert!(!few || cells.bytes() <= MOST_RUNS * size_of::<Run>());
        }
    }
}
