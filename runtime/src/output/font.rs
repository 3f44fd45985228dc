//! A small font for captions in pictures: letters of 5 × 7 pixels.

/// Pixels of a letter, from left to right.
pub(super) const WIDTH: usize = 5;
/// Pixels of a letter, from top to bottom.
pub(super) const HEIGHT: usize = 7;

/// Letters with their pixels, row by row from the top left; the last pixel is the lowest bit.
#[rustfmt::skip]
const LETTERS: &[(char, u64)] = &[
    ('0', 0x3A33AE62E), ('1', 0x11842108E), ('2', 0x3A211111F), ('3', 0x3A213062E), ('4', 0x08CA97C42), ('5', 0x7E1E0862E),
    ('6', 0x1910F462E), ('7', 0x7C2211084), ('8', 0x3A317462E), ('9', 0x3A317844C), ('A', 0x3A31FC631), ('B', 0x7A31F463E),
    ('C', 0x3A308422E), ('D', 0x7A318C63E), ('E', 0x7E10F421F), ('F', 0x7E10F4210), ('G', 0x3A30BC62F), ('H', 0x4631FC631),
    ('I', 0x38842108E), ('J', 0x1C4210A4C), ('K', 0x4654C5251), ('L', 0x42108421F), ('M', 0x4775AC631), ('N', 0x4739ACE71),
    ('O', 0x3A318C62E), ('P', 0x7A31F4210), ('Q', 0x3A318D64D), ('R', 0x7A31F5251), ('S', 0x3E107043E), ('T', 0x7C8421084),
    ('U', 0x46318C62E), ('V', 0x46318A944), ('W', 0x4631AD771), ('X', 0x462A22A31), ('Y', 0x462A21084), ('Z', 0x7C222221F),
    ('a', 0x000E0BE2F), ('b', 0x421E8C63E), ('c', 0x000E8420E), ('d', 0x042F8C62F), ('e', 0x000E8FE0E), ('f', 0x191C42108),
    ('g', 0x000F8BC2E), ('h', 0x421E8C631), ('i', 0x100C2108E), ('j', 0x080610A4C), ('k', 0x4212A6292), ('l', 0x30842108E),
    ('m', 0x001AAD6B5), ('n', 0x001E8C631), ('o', 0x000E8C62E), ('p', 0x001E8FA10), ('q', 0x000F8BC21), ('r', 0x0016C4210),
    ('s', 0x000F8383E), ('t', 0x211C42106), ('u', 0x00118C62F), ('v', 0x00118C544), ('w', 0x0011AD6AA), ('x', 0x001151151),
    ('y', 0x00118BC2E), ('z', 0x001F1111F), (' ', 0x000000000), ('.', 0x00000018C), (',', 0x000003088), (':', 0x018C03180),
    (';', 0x018C03088), ('=', 0x001F07C00), ('+', 0x0084F9080), ('-', 0x0000F8000), ('_', 0x00000001F), ('/', 0x042222210),
    ('\\', 0x420820821), ('*', 0x02AEFBAA0), ('#', 0x295F57D4A), ('%', 0x672222273), ('&', 0x32544564D), ('~', 0x0008A8800),
    ('(', 0x088842082), (')', 0x208210888), ('[', 0x39084210E), (']', 0x38421084E), ('<', 0x088882082), ('>', 0x208208888),
    ('!', 0x108421004), ('@', 0x3A37ADA0F), ('\'', 0x108400000), ('?', 0x3A2111004),
];

/// The pixels of a letter by column and row; those of a question mark for a letter that is not there.
pub(super) fn pixels(letter: char) -> impl Iterator<Item = (usize, usize)> {
    let found = |wanted: char| LETTERS.iter().find(|(known, _)| *known == wanted);
    let bits = found(letter).or_else(|| found('?')).map_or(0, |row| row.1);
    let last = WIDTH * HEIGHT - 1;
    let is_set = move |place: &usize| bits >> (last - place) & 1 == 1;
    let places = (0..=last).filter(is_set);
    places.map(|place| (place % WIDTH, place / WIDTH))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn art(letter: char) -> Vec<String> {
        let mut rows = vec![".".repeat(WIDTH); HEIGHT];
        for (x, y) in pixels(letter) {
            rows[y].replace_range(x..=x, "#");
        }
        rows
    }

    #[test]
    fn letters_have_the_pixels_of_their_rows() {
        let expected = [
            "#####", "#....", "#....", "####.", "#....", "#....", "#....",
        ];
        assert_eq!(art('F'), expected);
        assert_eq!(art('∇'), art('?'));
        assert_eq!(pixels(' ').count(), 0);
    }

    #[test]
    fn no_two_letters_look_alike() {
        for (n, (letter, bits)) in LETTERS.iter().enumerate() {
            assert!(bits >> (WIDTH * HEIGHT) == 0, "{letter}");
            let same = LETTERS[..n].iter().find(|(_, other)| other == bits);
            assert_eq!(same, None, "{letter}");
        }
    }
}
