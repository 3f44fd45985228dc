//! Images from NRRD, PNG and arrays: layout in memory, orientation, and errors.

use approx::assert_relative_eq;
use ndarray::{Array, IxDyn, s};
use runtime::image::{Declared, Image, ImageArray, ImageError, Orientation, ROW_LOAD, Reading};
use runtime::nrrd::{self, Nrrd, SampleType};
use runtime::png::{self, Depth, Png};

/// An array of consecutive numbers with the given fields in its header.
fn array(sizes: &[usize], fields: &str) -> Nrrd {
    let numbers: Vec<String> = (0..sizes.iter().product::<usize>())
        .map(|i| i.to_string())
        .collect();
    let sizes_text: Vec<String> = sizes.iter().map(usize::to_string).collect();
    let fields = if fields.is_empty() {
        "# nothing"
    } else {
        fields
    };
    let text = format!(
        "NRRD0005\ntype: int\ndimension: {}\nsizes: {}\n{fields}\nencoding: ascii\n\n{}\n",
        sizes.len(),
        sizes_text.join(" "),
        numbers.join(" ")
    );
    nrrd::read_bytes(text.as_bytes(), None).unwrap_or_else(|e| panic!("{fields}: {e}"))
}

fn image(
    sizes: &[usize],
    fields: &str,
    dim: usize,
    shape: &[usize],
) -> Result<Image<f64>, ImageError> {
    let array = array(sizes, fields);
    Image::from_nrrd(&array, Declared::new(dim, shape), &Reading::default())
        .map(|loaded| loaded.image)
}

/// Directions (by axis) and origin of a scalar image with the given fields.
#[track_caller]
fn check_orientation(sizes: &[usize], fields: &str, directions: &[&[f64]], origin: &[f64]) {
    let image = image(sizes, fields, sizes.len(), &[]).unwrap_or_else(|e| panic!("{fields}: {e}"));
    let orientation = image.orientation();
    let d = sizes.len();
    for (a, direction) in directions.iter().enumerate() {
        let column: Vec<f64> = (0..d)
            .map(|r| orientation.index_to_world()[r * d + a])
            .collect();
        assert_eq!(column, *direction, "{fields}: axis {a}");
    }
    assert_eq!(orientation.origin(), origin, "{fields}");
}

#[test]
fn components_of_a_matrix_are_stored_one_after_the_other() {
    let image = image(
        &[9, 4, 3, 2],
        "kinds: 3D-matrix space space space",
        3,
        &[3, 3],
    )
    .unwrap();
    let voxels = 4 * 3 * 2;
    assert_eq!(image.sizes(), [4, 3, 2]);
    assert_eq!((image.components(), image.plane_stride()), (9, voxels));
    assert_eq!(image.samples().len(), 9 * voxels + ROW_LOAD - 1);
    for (i, j, k) in (0..voxels).map(|v| (v % 4, v / 4 % 3, v / 12)) {
        for (r, q) in (0..9).map(|c| (c / 3, c % 3)) {
            // The address of the component in the file, which is also its value.
            let address = 9 * (i + 4 * (j + 3 * k)) + 3 * r + q;
            assert_eq!(image.sample(3 * r + q, &[i, j, k]), Some(address as f64));
            let planar = (3 * r + q) * voxels + i + 4 * (j + 3 * k);
            assert_eq!(image.samples()[planar], address as f64);
        }
    }
    assert_eq!(image.sample(9, &[0, 0, 0]), None);
    assert_eq!(image.sample(0, &[4, 0, 0]), None);
    assert_eq!(image.sample(0, &[0, 0]), None);
}

#[test]
fn loading_a_row_from_any_sample_stays_inside_the_allocation() {
    for (sizes, fields, shape) in [
        (&[1][..], "", &[][..]),
        (&[3, 1, 1], "kinds: 3-vector space space", &[3]),
    ] {
        let image = image(
            sizes,
            fields,
            sizes.len() - usize::from(!shape.is_empty()),
            shape,
        )
        .unwrap();
        let last = image.components() * image.plane_stride() - 1;
        assert!(last + ROW_LOAD <= image.samples().len());
    }
}

#[test]
fn arrays_in_memory_have_the_slowest_axis_first_and_components_last() {
    let value = |k: usize, j: usize, i: usize, r: usize, q: usize| {
        10000 * k + 1000 * j + 100 * i + 10 * r + q
    };
    let array = Array::from_shape_fn(IxDyn(&[2, 3, 4, 3, 2]), |ix| {
        value(ix[0], ix[1], ix[2], ix[3], ix[4]) as i32
    });
    let in_memory = ImageArray::new(array, Orientation::identity(3));
    assert_eq!(in_memory.sample_type(), SampleType::I32);
    let image: Image<f32> = in_memory.image(Declared::new(3, &[3, 2])).unwrap();
    assert_eq!(image.sizes(), [4, 3, 2]);
    for (k, j, i) in [(0, 0, 0), (1, 2, 3), (0, 2, 1)] {
        for (r, q) in [(0, 0), (2, 1), (1, 0)] {
            assert_eq!(
                image.sample(2 * r + q, &[i, j, k]),
                Some(value(k, j, i, r, q) as f32)
            );
        }
    }
    // An array with another memory order, or a part of one, is read by its indices.
    let array = Array::from_shape_fn(IxDyn(&[2, 3]), |ix| (10 * ix[0] + ix[1]) as f64);
    let plane = Orientation::identity(2);
    let turned = ImageArray::new(array.clone().reversed_axes(), plane.clone());
    let image: Image<f64> = turned.image(Declared::new(2, &[])).unwrap();
    assert_eq!(image.sizes(), [2, 3]);
    assert_eq!(image.sample(0, &[1, 2]), Some(12.0));
    let lower = array.clone().slice_move(s![1.., ..]).into_dyn();
    let image: Image<f64> = ImageArray::new(lower, plane.clone())
        .image(Declared::new(2, &[]))
        .unwrap();
    assert_eq!(image.samples()[..3], [10.0, 11.0, 12.0]);
    let wrong = ImageArray::new(array, plane)
        .image::<f64>(Declared::new(2, &[2]))
        .unwrap_err();
    assert!(
        wrong.to_string().contains("array has shape [2, 3]"),
        "{wrong}"
    );
}

#[test]
fn without_any_orientation_world_space_is_index_space() {
    check_orientation(&[3, 2], "", &[&[1.0, 0.0], &[0.0, 1.0]], &[0.0, 0.0]);
}

#[test]
fn a_space_decides_before_everything_else() {
    let both = "space dimension: 2\nspace directions: (0.5,0.1) (-0.2,0.7)\nspace origin: (1,2)";
    check_orientation(&[3, 2], both, &[&[0.5, 0.1], &[-0.2, 0.7]], &[1.0, 2.0]);
    let no_origin = "space: right-up\nspace directions: (2,0) (0,3)";
    check_orientation(&[3, 2], no_origin, &[&[2.0, 0.0], &[0.0, 3.0]], &[0.0, 0.0]);
    // Mins and maxs do not count once there is a space; spacings stand for missing directions, else unit steps do.
    let spaced = "space dimension: 2\nspacings: 2 nan\naxis mins: 5 5\naxis maxs: 9 9";
    check_orientation(&[3, 2], spaced, &[&[2.0, 0.0], &[0.0, 1.0]], &[0.0, 0.0]);
    let one = "space dimension: 2\nspace directions: (3,1) none\nspace origin: (7,8)";
    check_orientation(&[3, 2], one, &[&[3.0, 1.0], &[0.0, 1.0]], &[7.0, 8.0]);
    // A named space flips no axis.
    let lps = "space: LPS\nspace directions: (1,0,0) (0,-1,0) (0,0,2)";
    check_orientation(
        &[2, 2, 2],
        lps,
        &[&[1.0, 0.0, 0.0], &[0.0, -1.0, 0.0], &[0.0, 0.0, 2.0]],
        &[0.0; 3],
    );
}

#[test]
fn mins_and_maxs_decide_next_by_the_centering_of_each_axis() {
    let mixed = "axis mins: 0 10\naxis maxs: 4 16\ncenters: node cell";
    check_orientation(&[3, 2], mixed, &[&[2.0, 0.0], &[0.0, 3.0]], &[0.0, 11.5]);
    let unknown = "axis mins: 0 -1\naxis maxs: 3 1\nspacings: 9 9";
    check_orientation(&[3, 2], unknown, &[&[1.0, 0.0], &[0.0, 1.0]], &[0.5, -0.5]);
    let falling = "axis mins: 4 0\naxis maxs: 0 1\ncenters: node node";
    check_orientation(&[3, 2], falling, &[&[-2.0, 0.0], &[0.0, 1.0]], &[4.0, 0.0]);
}

#[test]
fn spacings_decide_last() {
    check_orientation(
        &[3, 2],
        "spacings: 0.25 nan",
        &[&[0.25, 0.0], &[0.0, 1.0]],
        &[0.0, 0.0],
    );
    // One missing max, and mins and maxs do not count at all.
    let partial = "axis mins: 5 5\naxis maxs: 9 nan\nspacings: 2 -3";
    check_orientation(&[3, 2], partial, &[&[2.0, 0.0], &[0.0, -3.0]], &[0.0, 0.0]);
}

#[test]
fn the_component_axis_takes_no_part_in_orientation() {
    let fields = "kinds: 2-vector space domain\nspacings: 7 2 3";
    let image = image(&[2, 3, 4], fields, 2, &[2]).unwrap();
    assert_eq!(image.orientation().index_to_world(), [2.0, 0.0, 0.0, 3.0]);
    let fields = "kinds: 3-color time ???\naxis mins: nan 0 0\naxis maxs: nan 3 4";
    let oriented = self::image(&[3, 3, 4], fields, 2, &[3]).unwrap();
    assert_eq!(oriented.orientation().origin(), [0.5, 0.5]);
    let fields =
        "space dimension: 2\nkinds: 4-vector space space\nspace directions: none (2,0) none";
    let directed = self::image(&[4, 3, 4], fields, 2, &[2, 2]).unwrap();
    assert_eq!(
        directed.orientation().index_to_world(),
        [2.0, 0.0, 0.0, 1.0]
    );
}

#[test]
fn world_to_index_inverts_index_to_world() {
    let directions = [vec![0.5, 0.1], vec![-0.2, 0.7]];
    let orientation = Orientation::new(&directions, &[1.0, 2.0]).unwrap();
    let index = orientation.to_index(&[2.1, 4.3]);
    assert_relative_eq!(index[0], 123.0 / 37.0, max_relative = 1e-14);
    assert_relative_eq!(index[1], 104.0 / 37.0, max_relative = 1e-14);
    // The exact inverse of [[0.5,-0.2],[0.1,0.7]], whose determinant is 0.37.
    let inverse = [0.7 / 0.37, 0.2 / 0.37, -0.1 / 0.37, 0.5 / 0.37];
    for (found, exact) in orientation.world_to_index().iter().zip(inverse) {
        assert_relative_eq!(*found, exact, max_relative = 1e-14);
    }
    let skew = [
        vec![0.0, 2.0, 0.1],
        vec![1e-2, 0.0, 0.0],
        vec![3e2, 1.0, -4e3],
    ];
    let orientation = Orientation::new(&skew, &[1.0, -2.0, 1e3]).unwrap();
    let there = orientation.to_world(&[1.0, -2.0, 3.5]);
    for (found, exact) in orientation.to_index(&there).iter().zip([1.0, -2.0, 3.5]) {
        assert_relative_eq!(*found, exact, max_relative = 1e-10);
    }
    // Lengths of steps do not matter, however small or large.
    let tiny = Orientation::new(&[vec![1e-200, 0.0], vec![0.0, 1e200]], &[0.0, 0.0]).unwrap();
    assert_relative_eq!(tiny.world_to_index()[0], 1e200, max_relative = 1e-15);
    assert_relative_eq!(tiny.world_to_index()[3], 1e-200, max_relative = 1e-15);
    // Steps along the axes are inverted to the nearest number.
    let third = Orientation::new(&[vec![3.0]], &[1.0]).unwrap();
    assert_eq!(
        (third.world_to_index(), third.offset()),
        (&[1.0 / 3.0][..], &[-1.0 / 3.0][..])
    );
}

#[test]
fn directions_that_span_no_space_are_refused() {
    let rows: [&[Vec<f64>]; 6] = [
        &[vec![1.0, 2.0], vec![2.0, 4.0]],
        &[vec![1.0, 0.0], vec![0.0, 0.0]],
        &[vec![0.0]],
        &[
            vec![0.1, 0.2, 0.3],
            vec![0.4, 0.5, 0.6],
            vec![0.7, 0.8, 0.9],
        ],
        &[vec![f64::NAN]],
        &[vec![f64::INFINITY, 0.0], vec![0.0, 1.0]],
    ];
    for directions in rows {
        let origin = vec![0.0; directions.len()];
        let error = Orientation::new(directions, &origin).unwrap_err();
        assert!(error.to_string().contains("do not span"), "{error}");
    }
    assert!(Orientation::new(&[vec![1.0, 2.0]], &[0.0]).is_err());
    assert!(Orientation::new(&[], &[]).is_err());
    let error = image(
        &[2, 2],
        "space dimension: 2\nspace directions: (1,1) (2,2)",
        2,
        &[],
    )
    .unwrap_err();
    assert!(
        error
            .to_string()
            .contains("directions (1,1) (2,2) do not span"),
        "{error}"
    );
    let error = image(&[2], "axis mins: 3\naxis maxs: 3", 1, &[]).unwrap_err();
    assert!(error.to_string().contains("do not span"), "{error}");
    let error = image(&[1], "axis mins: 3\naxis maxs: 4\ncenters: node", 1, &[]).unwrap_err();
    assert!(error.to_string().contains("give no spacing"), "{error}");
}

/// Sizes and fields of an array, the dimension and voxel shape asked for, and the message with its ways out.
type Refused = (
    &'static [usize],
    &'static str,
    usize,
    &'static [usize],
    &'static str,
);

#[rustfmt::skip]
const REFUSED: &[Refused] = &[
    (&[3, 4], "", 3, &[],
     "-vol: 2 axes (3 × 4), but image(3)[] wants 3 axes\nhelp: declare `input image(2)[] vol;`"),
    (&[3, 64, 64, 32], "", 3, &[],
     "-vol: 4 axes (3 × 64 × 64 × 32), but image(3)[] wants 3 axes\n\
      help: if axis 0 holds components, declare `input image(3)[3] vol;`\n\
      help: or take one of the 32 frames of axis 3: `FILE#N`, counted from 0"),
    (&[3, 4, 5], "kinds: 3-vector space space", 2, &[2],
     "-vol: axis 0 of kind `3-vector` has 3 numbers, but image(2)[2] wants 2 numbers per sample\n\
      help: declare `input image(2)[3] vol;`"),
    (&[4, 5], "", 2, &[3],
     "-vol: 2 axes (4 × 5), which are all needed for the grid, but image(2)[3] wants 3 numbers per sample\n\
      help: declare `input image(2)[] vol;`"),
    (&[3, 2, 5], "kinds: 3-vector 2-vector space", 2, &[3],
     "-vol: axis 0 of kind `3-vector` and axis 1 of kind `2-vector` hold values, which leaves 1 axis for the grid, but \
      image(2)[3] wants 2\nhelp: declare `input image(1)[6] vol;`"),
    (&[3, 7], "kinds: 3-vector space", 2, &[],
     "-vol: axis 0 of kind `3-vector` holds values, which leaves 1 axis for the grid, but image(2)[] wants 2\n\
      help: declare `input image(1)[3] vol;`"),
    (&[3, 4, 5, 6], "kinds: space space space space", 3, &[3],
     "-vol: 4 axes (3 × 4 × 5 × 6) that all belong to the grid by their kinds or directions, but image(3)[3] wants 3\n\
      help: if axis 0 holds components, the header needs the line `kinds: vector space space space`"),
    (&[6, 2, 2, 2], "kinds: vector space space space", 3, &[3, 3],
     "-vol: axis 0 of kind `vector` has 6 numbers, but image(3)[3,3] wants 9\n\
      help: if they are the upper halves of symmetric matrices, the header must give axis 0 the kind `3D-symmetric-matrix`\n\
      help: or say which half it is: `--symmetric-vol upper` (xx xy xz yy yz zz) or `--symmetric-vol lower` (xx yx yy zx zy zz)"),
    (&[2, 3, 4, 20], "kinds: space space space time", 3, &[],
     "-vol: axis 3 of kind `time` has 20 numbers, but image(3)[] wants 1 number per sample\n\
      help: declare `input image(3,time)[] vol;`\n\
      help: or take one of the 20 frames of axis 3: `FILE#N`, counted from 0"),
    (&[3, 6, 5], "kinds: RGB-color domain domain", 2, &[],
     "-vol: axis 0 of kind `RGB-color` has 3 numbers, but image(2)[] wants 1 number per sample\n\
      help: declare `input image(2)[3] vol;`\n\
      help: or take one of the 3 frames of axis 0: `FILE#N`, counted from 0"),
    (&[2, 2], "space dimension: 1\nkinds: space space", 2, &[],
     "-vol: the grid has 2 axes in a space of dimension 1"),
    (&[2, 2], "space dimension: 3\nspace directions: (1,0,1) (0,1,0)", 2, &[],
     "-vol: the grid of dimension 2 is oblique in a space of dimension 3\n\
      help: slice the data along an axis of the space, or give the place of the grid"),
];

#[test]
fn images_of_another_type_than_declared_are_refused_with_ways_out() {
    let reading = Reading {
        name: Some("vol".to_string()),
        ..Reading::default()
    };
    for &(sizes, fields, dim, shape, message) in REFUSED {
        let mut file = Vec::new();
        nrrd::write_attached(&array(sizes, fields), Default::default(), &mut file).unwrap();
        let error =
            Image::<f64>::from_bytes(&file, Declared::new(dim, shape), &reading).expect_err(fields);
        assert_eq!(error.to_string(), message, "{sizes:?} {fields}");
    }
    let block = nrrd::read_bytes(
        b"NRRD0001\ntype: block\nblock size: 2\ndimension: 1\nsizes: 1\nencoding: raw\n\nab",
        None,
    );
    let error =
        Image::<f32>::from_nrrd(&block.unwrap(), Declared::new(1, &[]), &Reading::default())
            .unwrap_err();
    assert!(error.to_string().contains("type `block`"), "{error}");
}

#[test]
fn only_the_number_of_components_has_to_fit() {
    for shape in [&[9][..], &[3, 3]] {
        assert!(image(&[9, 2], "kinds: 3D-matrix space", 1, shape).is_ok());
    }
    for (kind, count) in [
        ("RGB-color", 3),
        ("RGBA-color", 4),
        ("4-color", 4),
        ("2D-matrix", 4),
        ("2-vector", 2),
    ] {
        assert!(
            image(&[count, 2], &format!("kinds: {kind} space"), 1, &[count]).is_ok(),
            "{kind}"
        );
    }
}

#[test]
fn samples_of_every_type_are_converted_without_scaling() {
    for (name, text) in [
        ("signed char", "-128 127"),
        ("uchar", "0 255"),
        ("ushort", "1 65535"),
        ("int", "-2147483648 7"),
        ("uint64", "0 16777217"),
        ("float", "0.1 -1e30"),
        ("double", "0.1 1e300"),
    ] {
        let header =
            format!("NRRD0001\ntype: {name}\ndimension: 1\nsizes: 2\nencoding: ascii\n\n{text}\n");
        let nrrd = nrrd::read_bytes(header.as_bytes(), None).unwrap();
        let double = Image::<f64>::from_nrrd(&nrrd, Declared::new(1, &[]), &Reading::default())
            .unwrap()
            .image;
        let single = Image::<f32>::from_nrrd(&nrrd, Declared::new(1, &[]), &Reading::default())
            .unwrap()
            .image;
        for (i, word) in text.split(' ').enumerate() {
            let exact: f64 = word.parse().unwrap();
            let stored = if name == "float" {
                f64::from(exact as f32)
            } else {
                exact
            };
            assert_eq!(double.sample(0, &[i]), Some(stored), "{name}");
            assert_eq!(single.sample(0, &[i]), Some(exact as f32), "{name}");
        }
    }
}

#[test]
fn files_are_streamed_to_the_same_image_as_arrays() {
    let directory = std::env::temp_dir().join(format!("images-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let nrrd = array(
        &[3, 100, 90],
        "kinds: 3-vector space space\nspacings: nan 0.5 2",
    );
    let path = directory.join("vectors.nrrd");
    nrrd::write(&nrrd, nrrd::Format::default(), &path).unwrap();
    let read = Image::<f32>::read(&path, 2, &[3]).unwrap().image;
    let made = Image::<f32>::from_nrrd(&nrrd, Declared::new(2, &[3]), &Reading::default())
        .unwrap()
        .image;
    assert_eq!(read.samples(), made.samples());
    assert_eq!(read.orientation(), made.orientation());
    let error = Image::<f32>::read(&path, 2, &[]).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with(&format!("{}: axis 0 of kind", path.display())),
        "{error}"
    );

    let png = Png::new(2, 3, 3, Depth::Sixteen, (0..18).map(|i| i * 3000).collect()).unwrap();
    let path = directory.join("picture.png");
    let mut bytes = Vec::new();
    png::encode(&png, &mut bytes).unwrap();
    std::fs::write(&path, bytes).unwrap();
    let picture = Image::<f64>::read(&path, 2, &[3]).unwrap().image;
    assert_eq!(picture.sizes(), [2, 3]);
    assert_eq!(picture.sample(2, &[1, 2]), Some(f64::from(17 * 3000)));
    let error = Image::<f64>::read(&path, 3, &[3]).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("picture.png: axis 0 of kind `RGB-color` holds values"),
        "{error}"
    );
    let error = Image::<f64>::read(&directory.join("none.nrrd"), 3, &[]).unwrap_err();
    assert!(error.to_string().contains("none.nrrd"), "{error}");
    std::fs::remove_dir_all(&directory).unwrap();
}
