//! The places of images in the world, and the transformation of components that have a direction there: measurement frames, patient
//! spaces, grids of fewer dimensions than their space, and frames of time.

use approx::assert_relative_eq;
use runtime::grid::Placement;
use runtime::image::{
    Declared, Frames, Image, Level, Loaded, MeasurementFrame, Orientation, Reading, World,
    disagreements,
};
use runtime::nrrd::{self, Nrrd};

fn array(sizes: &[usize], fields: &str, numbers: &[f64]) -> Nrrd {
    let shown = |all: Vec<String>| all.join(" ");
    let text = format!(
        "NRRD0005\ntype: double\ndimension: {}\nsizes: {}\n{fields}\nencoding: ascii\n\n{}\n",
        sizes.len(),
        shown(sizes.iter().map(usize::to_string).collect()),
        shown(numbers.iter().map(f64::to_string).collect())
    );
    nrrd::read_bytes(text.as_bytes(), None).unwrap_or_else(|e| panic!("{fields}: {e}"))
}

fn load(array: &Nrrd, dim: usize, shape: &[usize], reading: &Reading) -> Loaded<f64> {
    Image::from_nrrd(array, Declared::new(dim, shape), reading).unwrap_or_else(|e| panic!("{e}"))
}

fn voxel(loaded: &Loaded<f64>) -> Vec<f64> {
    let image = &loaded.image;
    let origin = vec![0; image.dim()];
    (0..image.components())
        .map(|c| image.sample(c, &origin).unwrap())
        .collect()
}

/// The columns of a frame that is neither a rotation nor symmetric: (2,1,0) (0,1,0) (1,0,4).
const FRAME: &str = "space: LPS\nmeasurement frame: (2,1,0) (0,1,0) (1,0,4)";

#[test]
fn a_measurement_frame_takes_vectors_and_matrices_to_the_world() {
    let read = |kind: &str, count: usize, shape: &[usize], numbers: &[f64]| {
        let fields = format!("{FRAME}\nkinds: {kind} space space space");
        let array = array(&[count, 1, 1, 1], &fields, numbers);
        load(&array, 3, shape, &Reading::default())
    };
    // M v with M = ((2,0,1),(1,1,0),(0,0,4)).
    for kind in ["vector", "3-vector"] {
        let loaded = read(kind, 3, &[3], &[1.0, 2.0, 3.0]);
        assert_eq!(voxel(&loaded), [5.0, 3.0, 12.0]);
        assert_eq!(loaded.notes.len(), 1);
        assert_eq!(
            loaded.notes[0].to_string(),
            "the measurement frame is applied to the values"
        );
    }
    // M⁻ᵀ v: the product with a vector that is measured the other way stays the same.
    for kind in ["covariant-vector", "normal", "3-gradient", "3-normal"] {
        let covector = voxel(&read(kind, 3, &[3], &[4.0, -1.0, 2.0]));
        let vector = [5.0, 3.0, 12.0];
        let product: f64 = covector.iter().zip(vector).map(|(a, b)| a * b).sum();
        assert_relative_eq!(product, 4.0 - 2.0 + 6.0, max_relative = 1e-14);
    }
    // M T Mᵀ for T = diag(1,2,3) and for a matrix with one entry beside the diagonal.
    let diagonal = [1.0, 0.0, 0.0, 2.0, 0.0, 3.0];
    let expected = [7.0, 2.0, 12.0, 2.0, 3.0, 0.0, 12.0, 0.0, 48.0];
    assert_eq!(
        voxel(&read("3D-symmetric-matrix", 6, &[3, 3], &diagonal)),
        expected
    );
    let single = [0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
    let expected = [0.0, 2.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0];
    assert_eq!(voxel(&read("3D-matrix", 9, &[3, 3], &single)), expected);
    // Colours have no direction; whether a list has one is worth a warning.
    for (kind, warnings) in [("RGB-color", 0), ("list", 1), ("point", 1)] {
        let loaded = read(kind, 3, &[3], &[1.0, 2.0, 3.0]);
        assert_eq!(voxel(&loaded), [1.0, 2.0, 3.0], "{kind}");
        assert_eq!(loaded.notes.len(), warnings, "{kind}");
        assert!(loaded.notes.iter().all(|n| n.level == Level::Warning));
    }
}

#[test]
fn frames_that_say_nothing_or_too_little_change_nothing() {
    let vector = |fields: &str, reading: &Reading| {
        let fields = format!("{fields}\nkinds: vector space space space");
        load(
            &array(&[3, 1, 1, 1], &fields, &[1.0, 2.0, 3.0]),
            3,
            &[3],
            reading,
        )
    };
    let usual = Reading::default();
    let plain = vector(
        "space: LPS\nmeasurement frame: (1,0,0) (0,1,0) (0,0,1)",
        &usual,
    );
    assert!(plain.notes.is_empty());
    for (frame, part) in [
        ("(1,0,0) (0,1,0) none", "not all of it is known"),
        ("(1,0,0) (0,1,0) (1,1,0)", "singular"),
    ] {
        let loaded = vector(&format!("space: LPS\nmeasurement frame: {frame}"), &usual);
        assert_eq!(voxel(&loaded), [1.0, 2.0, 3.0]);
        assert_eq!(loaded.notes[0].level, Level::Warning);
        assert!(loaded.notes[0].text.contains(part), "{}", loaded.notes[0]);
    }
    let ignoring = Reading {
        frame: MeasurementFrame::Ignore,
        ..Reading::default()
    };
    let ignored = vector(FRAME, &ignoring);
    assert_eq!(
        (voxel(&ignored), ignored.notes.len()),
        (vec![1.0, 2.0, 3.0], 0)
    );
    let scalar = array(&[1, 1, 1], FRAME, &[7.0]);
    assert!(load(&scalar, 3, &[], &usual).notes.is_empty());
}

#[test]
fn patient_spaces_are_turned_into_one_another_on_request() {
    let directions = "space directions: none (1,0,0) (0,2,0) (0,0,3)\nspace origin: (10,20,30)";
    let read = |space: &str, world: World| {
        let fields = format!("space: {space}\n{directions}\nkinds: vector space space space");
        let reading = Reading {
            world,
            ..Reading::default()
        };
        load(
            &array(&[3, 1, 1, 1], &fields, &[1.0, 2.0, 3.0]),
            3,
            &[3],
            &reading,
        )
    };
    let rows = [
        ("RAS", World::Stored, [1.0, 1.0, 1.0]),
        ("RAS", World::Ras, [1.0, 1.0, 1.0]),
        ("RAS", World::Lps, [-1.0, -1.0, 1.0]),
        ("LPS", World::Ras, [-1.0, -1.0, 1.0]),
        ("LAS", World::Ras, [-1.0, 1.0, 1.0]),
        ("LAS", World::Lps, [1.0, -1.0, 1.0]),
        ("scanner-xyz", World::Ras, [1.0, 1.0, 1.0]),
    ];
    for (space, world, signs) in rows {
        let loaded = read(space, world);
        let found = loaded.image.orientation().to_world(&[1.0, 1.0, 1.0]);
        let expected: Vec<f64> = [11.0, 22.0, 33.0]
            .iter()
            .zip(signs)
            .map(|(x, s)| x * s)
            .collect();
        assert_eq!(found, expected, "{space} {world:?}");
        let turned: Vec<f64> = [1.0, 2.0, 3.0]
            .iter()
            .zip(signs)
            .map(|(x, s)| x * s)
            .collect();
        assert_eq!(voxel(&loaded), turned, "{space} {world:?}");
    }
}

#[test]
fn worlds_that_differ_are_reported() {
    let read = |fields: &str, world: World| {
        let reading = Reading {
            world,
            ..Reading::default()
        };
        load(&array(&[1, 1, 1], fields, &[0.0]), 3, &[], &reading).surroundings
    };
    let (ras, lps) = (
        read("space: RAS", World::Stored),
        read("space: LPS", World::Stored),
    );
    let unknown = read("# none", World::Stored);
    let found = disagreements(&[("a", &ras), ("b", &unknown), ("c", &lps)]);
    assert_eq!(found.len(), 1);
    assert!(
        found[0].text.contains("`a`") && found[0].text.contains("`c`"),
        "{}",
        found[0]
    );
    assert!(disagreements(&[("a", &ras), ("b", &ras), ("c", &unknown)]).is_empty());
    let turned = read("space: RAS", World::Lps);
    assert!(disagreements(&[("a", &turned), ("c", &lps)]).is_empty());
    let units = |unit: &str| {
        read(
            &format!("space: RAS\nspace units: \"{unit}\" \"{unit}\" \"{unit}\""),
            World::Stored,
        )
    };
    let found = disagreements(&[("a", &units("mm")), ("b", &units("m"))]);
    assert!(
        found.len() == 1 && found[0].text.contains("mm"),
        "{found:?}"
    );
}

#[test]
fn a_grid_in_a_larger_space_is_seen_in_the_coordinates_it_spans() {
    let place = |directions: &str| {
        let fields = format!("space: LPS\nspace directions: {directions}\nspace origin: (1,2,3)");
        load(
            &array(&[1, 1], &fields, &[0.0]),
            2,
            &[],
            &Reading::default(),
        )
        .image
        .orientation()
        .clone()
    };
    assert_eq!(
        place("(2,0,0) (1,4,0)"),
        Orientation::new(&[vec![2.0, 0.0], vec![1.0, 4.0]], &[1.0, 2.0]).unwrap()
    );
    assert_eq!(
        place("(0,0,5) (0,6,0)"),
        Orientation::new(&[vec![0.0, 5.0], vec![6.0, 0.0]], &[2.0, 3.0]).unwrap()
    );
    // Time is not a coordinate of the world.
    let fields = "space: left-posterior-superior-time\nspace directions: (2,0,0,0) (0,2,0,0) (0,0,2,0) (0,0,0,1)\n\
                  kinds: space space space time\nspace origin: (1,2,3,4)";
    let numbers: Vec<f64> = (0..5).map(f64::from).collect();
    let array = array(&[1, 1, 1, 5], fields, &numbers);
    let reading = Reading {
        frames: Some(Frames::One(3)),
        ..Reading::default()
    };
    let loaded = load(&array, 3, &[], &reading);
    assert_eq!((voxel(&loaded), loaded.notes.len()), (vec![3.0], 0));
    assert_eq!(loaded.image.orientation().origin(), [1.0, 2.0, 3.0]);
}

#[test]
fn a_place_that_is_given_counts_before_the_file() {
    let reading = |place: &str| Reading {
        place: Some(Placement::parse(place).unwrap()),
        ..Reading::default()
    };
    let line = array(&[4], "spacings: 9", &[0.0; 4]);
    for (place, step, first) in [
        ("matrix:(0.5)@(7)", 0.5, 7.0),
        ("spacing:-2", -2.0, 0.0),
        ("box:1,9", 2.0, 2.0),
        ("index", 1.0, 0.0),
    ] {
        let expected = Orientation::new(&[vec![step]], &[first]).unwrap();
        let loaded = load(&line, 1, &[], &reading(place));
        assert_eq!(*loaded.image.orientation(), expected, "{place}");
    }
    let plane = array(&[1, 1], "# none", &[0.0]);
    for (place, part) in [
        ("spacing:2", "1 spacings are given for a grid of 2 axes"),
        ("matrix:(1,0)(2,0)@(0,0)", "do not span"),
        ("none", "places no grid"),
        ("like:none.nrrd", "none.nrrd: No such file"),
    ] {
        let error =
            Image::<f64>::from_nrrd(&plane, Declared::new(2, &[]), &reading(place)).unwrap_err();
        assert!(error.to_string().contains(part), "{error}");
    }
}

#[test]
fn frames_are_chosen_wherever_their_axis_stands() {
    // Component c of frame t at voxel x is 100 t + 10 c + x.
    let numbers = |sizes: [usize; 3], value: fn([usize; 3]) -> usize| -> Vec<f64> {
        let [a, b, c] = sizes;
        (0..a * b * c)
            .map(|n| value([n % a, n / a % b, n / (a * b)]) as f64)
            .collect()
    };
    let arrays = [
        (
            "kinds: list vector space",
            [4, 3, 2],
            (|[t, c, x]| 100 * t + 10 * c + x) as fn([usize; 3]) -> usize,
        ),
        ("kinds: vector space time", [3, 2, 4], |[c, x, t]| {
            100 * t + 10 * c + x
        }),
        ("kinds: vector time space", [3, 4, 2], |[c, t, x]| {
            100 * t + 10 * c + x
        }),
        ("kinds: space list vector", [2, 4, 3], |[x, t, c]| {
            100 * t + 10 * c + x
        }),
        ("kinds: time space vector", [4, 2, 3], |[t, x, c]| {
            100 * t + 10 * c + x
        }),
    ];
    for (fields, sizes, value) in arrays {
        let array = array(&sizes, fields, &numbers(sizes, value));
        for frame in 0..4 {
            let reading = Reading {
                frames: Some(Frames::One(frame)),
                ..Reading::default()
            };
            let image = load(&array, 1, &[3], &reading).image;
            for (c, x) in [(0, 0), (1, 1), (2, 0), (2, 1)] {
                assert_eq!(
                    image.sample(c, &[x]),
                    Some((100 * frame + 10 * c + x) as f64),
                    "{fields}"
                );
            }
        }
        let outside = Reading {
            frames: Some(Frames::One(4)),
            ..Reading::default()
        };
        let error = Image::<f64>::from_nrrd(&array, Declared::new(1, &[3]), &outside).unwrap_err();
        assert!(
            error.to_string().contains("frame 4 is asked for"),
            "{error}"
        );
        assert!(error.to_string().contains("has frames 0 to 3"), "{error}");
    }
    // A range of frames of scalars are components.
    for (fields, sizes, value) in [
        (
            "kinds: list space",
            [6, 2, 1],
            (|[t, x, _]| 10 * t + x) as fn([usize; 3]) -> usize,
        ),
        ("kinds: space time", [2, 6, 1], |[x, t, _]| 10 * t + x),
    ] {
        let array = array(&sizes[..2], fields, &numbers(sizes, value));
        let range = |first, last| Reading {
            frames: Some(Frames::Range(first, last)),
            ..Reading::default()
        };
        let image = load(&array, 1, &[3], &range(2, 4)).image;
        assert_eq!(image.sample(0, &[1]), Some(21.0));
        assert_eq!(image.sample(2, &[0]), Some(40.0));
        for (wrong, part) in [((3, 6), "frame 6"), ((0, 3), "frames 0 to 3 are 4 numbers")] {
            let error =
                Image::<f64>::from_nrrd(&array, Declared::new(1, &[3]), &range(wrong.0, wrong.1))
                    .unwrap_err();
            assert!(error.to_string().contains(part), "{error}");
        }
    }
    let one = array(&[2], "# none", &[0.0, 0.0]);
    let reading = Reading {
        frames: Some(Frames::One(0)),
        ..Reading::default()
    };
    let error = Image::<f64>::from_nrrd(&one, Declared::new(1, &[]), &reading).unwrap_err();
    assert!(
        error.to_string().contains("none of them has frames"),
        "{error}"
    );
}

#[test]
fn which_axis_has_frames_does_not_depend_on_which_is_asked_for() {
    // The header does not describe the axes: the slowest one has the frames, no matter how many the first would have.
    let numbers: Vec<f64> = (0..3 * 2 * 5).map(f64::from).collect();
    let array = array(&[3, 2, 5], "content: frames", &numbers);
    let reading = |frame| Reading {
        frames: Some(Frames::One(frame)),
        ..Reading::default()
    };
    for frame in 0..5 {
        let image = load(&array, 2, &[], &reading(frame)).image;
        assert_eq!(image.sizes(), [3, 2], "frame {frame}");
        assert_eq!(image.sample(0, &[2, 1]), Some((6 * frame + 5) as f64));
    }
    let error = Image::<f64>::from_nrrd(&array, Declared::new(2, &[]), &reading(5)).unwrap_err();
    assert!(
        error.to_string().contains("axis 2 has frames 0 to 4"),
        "{error}"
    );
}
