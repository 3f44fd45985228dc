//! Every kind of NRRD's vocabulary as the axis of components: first and last, with and without a space, against every
//! declared shape.

use runtime::image::{Declared, Image, ImageError, Loaded, Reading, Triangle};
use runtime::nrrd::{self, Kind, Nrrd};

/// Sizes of the grid, unlike those of any kind.
const GRID: [usize; 2] = [11, 12];

const SHAPES: &[&[usize]] = &[
    &[],
    &[2],
    &[3],
    &[4],
    &[5],
    &[6],
    &[7],
    &[9],
    &[10],
    &[2, 2],
    &[3, 3],
    &[2, 3],
    &[3, 2],
];

/// Sizes that an axis is given where its kind does not fix one.
const SIZES: &[usize] = &[1, 2, 3, 4, 5, 6, 7, 9, 10];

/// The stored numbers that the components of matrices are, by kind: the definition in the format's specification.
#[rustfmt::skip]
const MATRICES: &[(&str, &[usize], &[usize])] = &[
    ("2D-symmetric-matrix",        &[2, 2], &[0, 1, 1, 2]),
    ("2D-masked-symmetric-matrix", &[2, 2], &[1, 2, 2, 3]),
    ("2D-matrix",                  &[2, 2], &[0, 1, 2, 3]),
    ("2D-masked-matrix",           &[2, 2], &[1, 2, 3, 4]),
    ("3D-symmetric-matrix",        &[3, 3], &[0, 1, 2, 1, 3, 4, 2, 4, 5]),
    ("3D-masked-symmetric-matrix", &[3, 3], &[1, 2, 3, 2, 4, 5, 3, 5, 6]),
    ("3D-matrix",                  &[3, 3], &[0, 1, 2, 3, 4, 5, 6, 7, 8]),
    ("3D-masked-matrix",           &[3, 3], &[1, 2, 3, 4, 5, 6, 7, 8, 9]),
];

/// What the axis of components is in one row of the matrix.
#[derive(Clone, Copy, Debug)]
struct Row {
    /// Its kind; the other axes have one if this has.
    kind: Option<Kind>,
    size: usize,
    first: bool,
    space: bool,
}

/// An array with the numbers 0, 1, 2, …
fn numbered(sizes: &[usize], fields: &str) -> Nrrd {
    let count = sizes.iter().product::<usize>();
    let numbers: Vec<String> = (0..count).map(|i| i.to_string()).collect();
    let shown: Vec<String> = sizes.iter().map(usize::to_string).collect();
    let text = format!(
        "NRRD0005\ntype: int\ndimension: {}\nsizes: {}\n{fields}encoding: ascii\n\n{}\n",
        sizes.len(),
        shown.join(" "),
        numbers.join(" ")
    );
    nrrd::read_bytes(text.as_bytes(), None).unwrap_or_else(|e| panic!("{fields}: {e}"))
}

impl Row {
    fn array(self) -> Nrrd {
        let place = |of_grid: &str, own: &str| match self.first {
            true => format!("{own} {of_grid}"),
            false => format!("{of_grid} {own}"),
        };
        let mut fields = String::new();
        if self.space {
            let directions = place("(2,0) (0,3)", "none");
            fields += &format!("space dimension: 2\nspace directions: {directions}\n");
        }
        if let Some(kind) = self.kind {
            fields += &format!("kinds: {}\n", place("space domain", kind.name()));
        }
        let [a, b] = GRID;
        let sizes = if self.first {
            [self.size, a, b]
        } else {
            [a, b, self.size]
        };
        numbered(&sizes, &fields)
    }

    /// The number at which a stored component of a voxel stands in the file.
    fn address(self, stored: usize, i: usize, j: usize) -> f64 {
        let address = match self.first {
            true => stored + self.size * (i + GRID[0] * j),
            false => i + GRID[0] * (j + GRID[1] * stored),
        };
        address as f64
    }

    /// The stored numbers that the components of a shape are, or that there is no such image.
    fn expected(self, shape: &[usize]) -> Option<Vec<usize>> {
        let name = self.kind.map_or("", Kind::name);
        let count: usize = shape.iter().product();
        if ["space", "domain"].contains(&name) && self.size > 1 {
            return None;
        }
        if let Some((_, _, stored)) = MATRICES.iter().find(|(n, s, _)| *n == name && *s == shape) {
            return Some(stored.to_vec());
        }
        // Half a matrix whose order is unknown.
        if (shape, self.size) == (&[2, 2], 3) || (shape, self.size) == (&[3, 3], 6) {
            return None;
        }
        (self.size == count).then(|| (0..count).collect())
    }
}

fn load(array: &Nrrd, dim: usize, shape: &[usize]) -> Result<Loaded<f64>, ImageError> {
    Image::from_nrrd(array, Declared::new(dim, shape), &Reading::default())
}

fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    let kinds: Vec<Option<Kind>> = Kind::all().map(Some).chain([None]).collect();
    assert_eq!(kinds.len(), 32, "the format has 31 kinds");
    for kind in kinds {
        let fixed = kind.and_then(Kind::size);
        for &size in SIZES.iter().filter(|n| fixed.is_none_or(|f| f == **n)) {
            for (first, space) in [(true, true), (true, false), (false, true), (false, false)] {
                rows.push(Row {
                    kind,
                    size,
                    first,
                    space,
                });
            }
        }
    }
    rows
}

#[test]
fn kinds_and_sizes_give_the_stated_components() {
    let mut read = 0;
    for row in rows() {
        let array = row.array();
        for &shape in SHAPES {
            let loaded = load(&array, 2, shape);
            let Some(stored) = row.expected(shape) else {
                let error = loaded.map(|_| ()).expect_err(&format!("{row:?} {shape:?}"));
                assert!(!error.to_string().is_empty());
                continue;
            };
            let loaded = loaded.unwrap_or_else(|e| panic!("{row:?} {shape:?}: {e}"));
            read += 1;
            assert_eq!(loaded.image.sizes(), GRID, "{row:?}");
            let step = if row.space {
                [2.0, 0.0, 0.0, 3.0]
            } else {
                [1.0, 0.0, 0.0, 1.0]
            };
            assert_eq!(loaded.image.orientation().index_to_world(), step, "{row:?}");
            for (i, j) in [(0, 0), (10, 0), (0, 11), (7, 5)] {
                for (component, &stored) in stored.iter().enumerate() {
                    let found = loaded.image.sample(component, &[i, j]);
                    assert_eq!(
                        found,
                        Some(row.address(stored, i, j)),
                        "{row:?} {shape:?} {component}"
                    );
                }
            }
        }
    }
    assert!(read > 500, "{read} images were read");
}

#[test]
fn a_size_that_a_kind_does_not_have_is_an_error_of_the_file() {
    let text = "NRRD0005\ntype: uchar\ndimension: 2\nsizes: 4 2\nkinds: 3-vector space\nencoding: raw\n\n12345678";
    let error =
        Image::<f32>::from_bytes(text.as_bytes(), Declared::new(1, &[4]), &Reading::default())
            .unwrap_err();
    assert!(
        error
            .to_string()
            .contains("`3-vector` has size 4, expected 3"),
        "{error}"
    );
}

fn notes(array: &Nrrd, dim: usize, shape: &[usize]) -> Vec<String> {
    let loaded = load(array, dim, shape).unwrap_or_else(|e| panic!("{e}"));
    loaded.notes.iter().map(ToString::to_string).collect()
}

#[test]
fn what_is_taken_for_granted_is_noted_with_the_line_that_says_it() {
    let [a, b] = GRID;
    assert_eq!(
        notes(&numbered(&[a, b, 3], ""), 2, &[3]),
        [
            "axis 2 of size 3 is taken as components; `kinds: domain domain vector` makes this explicit"
        ]
    );
    assert_eq!(
        notes(&numbered(&[3, a, 3], ""), 2, &[3]),
        [
            "axis 0 of size 3 is taken as components (the last would fit as well); `kinds: vector domain domain` makes this explicit"
        ]
    );
    // Elimination leaves no choice, and neither do kinds.
    assert!(notes(&numbered(&[3, a, b], "kinds: ??? space space\n"), 2, &[3]).is_empty());
    assert!(
        notes(
            &numbered(&[a, b, 3], "kinds: space space vector\n"),
            2,
            &[3]
        )
        .is_empty()
    );
    assert!(notes(&numbered(&[a, b], ""), 2, &[]).is_empty());
    assert_eq!(
        notes(&numbered(&[4, a], "kinds: RGBA-color space\n"), 1, &[2, 2]),
        ["colours are read as values of type image(1)[2,2]"]
    );
    assert_eq!(
        notes(&numbered(&[a, b, 1], "kinds: space space space\n"), 2, &[]),
        ["axis 2 of one sample is left out"]
    );
    let masked = numbered(&[7, 2], "kinds: 3D-masked-symmetric-matrix space\n");
    assert_eq!(
        notes(&masked, 1, &[3, 3]),
        ["the mask is dropped; it is 0 for 50.0 % of the samples"]
    );
}

#[test]
fn components_may_stand_anywhere_and_on_two_axes() {
    let middle = numbered(&[4, 3, 5], "kinds: space vector space\n");
    let image = load(&middle, 2, &[3]).unwrap().image;
    for (c, i, j) in [(0, 0, 0), (2, 1, 4), (1, 3, 2)] {
        assert_eq!(image.sample(c, &[i, j]), Some((i + 4 * (c + 3 * j)) as f64));
    }
    // A matrix as two axes, the columns faster; together, apart, and unsaid.
    for (sizes, fields, strides) in [
        (
            [3, 2, 5, 7],
            "kinds: list list space space\n",
            [1, 3, 6, 30],
        ),
        (
            [5, 3, 7, 2],
            "kinds: space list space list\n",
            [5, 105, 1, 15],
        ),
        ([3, 2, 5, 7], "", [1, 3, 6, 30]),
        ([5, 7, 3, 2], "", [35, 105, 1, 5]),
    ] {
        let image = load(&numbered(&sizes, fields), 2, &[2, 3])
            .unwrap_or_else(|e| panic!("{fields}: {e}"))
            .image;
        assert_eq!(image.sizes(), [5, 7]);
        let [column, row, x, y] = strides;
        for (r, c, i, j) in [(0, 0, 0, 0), (1, 2, 4, 6), (0, 1, 3, 2), (1, 0, 0, 5)] {
            let address = c * column + r * row + i * x + j * y;
            assert_eq!(
                image.sample(3 * r + c, &[i, j]),
                Some(address as f64),
                "{sizes:?}"
            );
        }
    }
    // Transposed sizes are not such a matrix.
    assert!(
        load(
            &numbered(&[2, 3, 5], "kinds: list list space\n"),
            1,
            &[2, 3]
        )
        .is_err()
    );
}

#[test]
fn halves_of_matrices_are_completed_on_request() {
    for (fields, count, shape) in [("", 6, [3, 3]), ("kinds: list space\n", 3, [2, 2])] {
        let array = numbered(&[count, 11], fields);
        let read = |triangle| {
            let reading = Reading {
                triangle: Some(triangle),
                ..Reading::default()
            };
            let image = Image::<f64>::from_nrrd(&array, Declared::new(1, &shape), &reading)
                .unwrap()
                .image;
            let n = shape[0] * shape[1];
            (0..n)
                .map(|c| image.sample(c, &[0]).unwrap())
                .collect::<Vec<_>>()
        };
        let (upper, lower): (&[f64], &[f64]) = match count {
            6 => (
                &[0., 1., 2., 1., 3., 4., 2., 4., 5.],
                &[0., 1., 3., 1., 2., 4., 3., 4., 5.],
            ),
            _ => (&[0., 1., 1., 2.], &[0., 1., 1., 2.]),
        };
        assert_eq!(read(Triangle::Upper), upper);
        assert_eq!(read(Triangle::Lower), lower);
    }
}

#[test]
fn outputs_of_programs_come_back() {
    use runtime::nrrd::{Header, SampleType, Samples};
    // A sequence of two reals, and a tensor of two by three, on a grid.
    for (count, shape) in [(2, &[2][..]), (6, &[2, 3])] {
        let mut header = Header::new(SampleType::F32, &[count, 4, 5, 6]);
        for (axis, kind) in
            header
                .axes
                .iter_mut()
                .zip([Kind::List, Kind::Space, Kind::Space, Kind::Space])
        {
            axis.kind = Some(kind);
        }
        let samples = (0..count * 120).map(|n| n as f32).collect();
        let nrrd = Nrrd::new(header, Samples::F32(samples)).unwrap();
        let loaded = load(&nrrd, 3, shape).unwrap();
        assert!(loaded.notes.is_empty());
        assert_eq!(
            loaded.image.sample(1, &[3, 0, 0]),
            Some((3 * count + 1) as f64)
        );
    }
}
