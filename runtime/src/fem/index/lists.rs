//! Lists of cells in few bytes. Cells that are neighbours have numbers near each other, so most differences of the ascending numbers
//! of a list take one byte instead of the four of a number.
//!
//! A list is its length, the first number, and the differences. Numbers have seven bits per byte, the lowest first; the eighth bit says that more
//! follow.

/// The lists of a grid, one after the other.
#[derive(Debug, Default)]
pub(super) struct Lists(Vec<u8>);

/// The properties of a list, before it is written and while it is.
#[derive(Clone, Copy, Default)]
pub(super) struct Tally {
    /// The last cell of the list.
    last: u32,
    /// Its length.
    pub(super) count: u32,
    /// First its bytes without its length, then where the next one is written.
    bytes: u64,
}

impl Tally {
    /// Takes note of one more cell, whose number is higher than those before.
    pub(super) fn add(&mut self, cell: u32) {
        self.bytes += length(cell - self.last) as u64;
        self.last = cell;
        self.count += 1;
    }
}

impl Lists {
    /// The bytes of lists with these properties.
    pub(super) fn bytes_of(tallies: &[Tally]) -> u64 {
        let of_list = |tally: &Tally| length(tally.count) as u64 + tally.bytes;
        tallies.iter().map(of_list).sum()
    }

    /// Room for lists with these properties; says where each begins. Cells are to be written in the same order.
    pub(super) fn new(tallies: &mut [Tally], mut begins: impl FnMut(usize)) -> Lists {
        let mut lists = Lists(vec![0; Lists::bytes_of(tallies) as usize]);
        let mut at = 0;
        for tally in tallies {
            begins(at);
            let first = write(&mut lists.0, at, tally.count);
            at = first + tally.bytes as usize;
            (tally.bytes, tally.last) = (first as u64, 0);
        }
        lists
    }

    /// Writes the next cell of a list.
    pub(super) fn write(&mut self, tally: &mut Tally, cell: u32) {
        tally.bytes = write(&mut self.0, tally.bytes as usize, cell - tally.last) as u64;
        tally.last = cell;
    }

    /// The cells of the list that begins at a place.
    pub(super) fn members(&self, first: usize) -> Members<'_> {
        let mut members = Members {
            bytes: &self.0[first..],
            left: 0,
            last: 0,
        };
        members.left = members.number();
        members
    }

    /// Appends a list, and says where it begins.
    pub(super) fn append(&mut self, list: Members<'_>) -> usize {
        let begin = self.0.len();
        let mut push = |n: u32| {
            let at = self.0.len();
            self.0.resize(at + length(n), 0);
            write(&mut self.0, at, n);
        };
        push(list.left);
        let mut last = 0;
        for cell in list {
            push(cell - last);
            last = cell;
        }
        begin
    }

    /// Gives back memory that nothing is in.
    pub(super) fn shrink(&mut self) {
        self.0.shrink_to_fit();
    }

    /// The memory that they take.
    pub(super) fn bytes(&self) -> usize {
        size_of::<Lists>() + self.0.len()
    }
}

/// The cells of a list, in ascending order.
#[derive(Clone)]
pub(in crate::fem) struct Members<'a> {
    bytes: &'a [u8],
    left: u32,
    last: u32,
}

impl Members<'_> {
    #[inline]
    fn number(&mut self) -> u32 {
        let (mut number, mut shift) = (0, 0);
        loop {
            let byte = self.bytes[0];
            self.bytes = &self.bytes[1..];
            number |= u32::from(byte & 127) << shift;
            if byte < 128 {
                return number;
            }
            shift += 7;
        }
    }
}

impl Iterator for Members<'_> {
    type Item = u32;

    #[inline]
    fn next(&mut self) -> Option<u32> {
        self.left = self.left.checked_sub(1)?;
        self.last += self.number();
        Some(self.last)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left as usize, Some(self.left as usize))
    }
}

impl ExactSizeIterator for Members<'_> {}

/// How many bytes a number takes.
fn length(number: u32) -> usize {
    (32 - (number | 1).leading_zeros()).div_ceil(7) as usize
}

/// Writes a number at a place, and says which place is the next.
fn write(bytes: &mut [u8], at: usize, mut number: u32) -> usize {
    let mut at = at;
    while number > 127 {
        bytes[at] = number as u8 | 128;
        number >>= 7;
        at += 1;
    }
    bytes[at] = number as u8;
    at + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_what_was_written() {
        let all: [&[u32]; 5] = [
            &[],
            &[0],
            &[0, 1, 127, 128, 255, 16_511, 16_512],
            &[u32::MAX - 1, u32::MAX],
            &[127, 254, 382],
        ];
        let mut tallies = [Tally::default(); 5];
        for (list, tally) in all.iter().zip(&mut tallies) {
            list.iter().for_each(|&cell| tally.add(cell));
        }
        let mut begins = Vec::new();
        let mut lists = Lists::new(&mut tallies, |at| begins.push(at));
        // Written in turn, as cells come.
        for n in 0..7 {
            for (list, tally) in all.iter().zip(&mut tallies) {
                if let Some(&cell) = list.get(n) {
                    lists.write(tally, cell);
                }
            }
        }
        let mut copies = Lists::default();
        for (list, &begin) in all.iter().zip(&begins) {
            let members = lists.members(begin);
            assert_eq!(members.len(), list.len());
            let copy = copies.append(members.clone());
            assert_eq!(members.collect::<Vec<_>>(), *list);
            assert_eq!(copies.members(copy).collect::<Vec<_>>(), *list);
        }
        assert_eq!(copies.bytes(), lists.bytes());
    }
}
