//! The places of grids in the world: from words of the command line, from positions of strands, and in the written files.

use runtime::grid::{Place, Placement, fit};
use runtime::image::grid_of_file;
use runtime::nrrd::{self, NamedSpace, Space};
use runtime::output::{Domain, Length, Output, Scalar, Values, to_nrrd};

/// The positions of the strands of a grid, fastest axis first.
fn positions(sizes: &[usize], directions: &[&[f64]], origin: &[f64]) -> Vec<f64> {
    let count: usize = sizes.iter().product();
    let mut all = Vec::new();
    for strand in 0..count {
        let mut rest = strand;
        let mut at = origin.to_vec();
        for (&n, direction) in sizes.iter().zip(directions) {
            let index = (rest % n) as f64;
            rest /= n;
            at.iter_mut()
                .zip(*direction)
                .for_each(|(x, d)| *x += index * d);
        }
        all.extend(at);
    }
    all
}

#[test]
fn positions_of_an_affine_grid_show_its_place() {
    let directions: [&[f64]; 3] = [&[0.5, 0.1, 0.0], &[-0.1, 0.5, 0.2], &[0.0, 0.3, 2.0]];
    let sizes = [4, 3, 5];
    let all = positions(&sizes, &directions, &[10.0, -20.0, 3.0]);
    let place = fit(&all, 3, &sizes, f64::EPSILON).unwrap();
    for (found, expected) in place.directions.iter().zip(directions) {
        for (f, e) in found.iter().zip(expected) {
            assert!((f - e).abs() < 1e-12, "{place:?}");
        }
    }
    assert_eq!(place.origin, [10.0, -20.0, 3.0]);
    // A plane of strands in space.
    let plane = positions(&sizes[..2], &directions[..2], &[0.0; 3]);
    let place = fit(&plane, 3, &sizes[..2], f64::EPSILON).unwrap();
    assert_eq!(
        (place.directions.len(), place.space),
        (2, Space::Dimension(3))
    );
}

#[test]
fn positions_in_single_precision_are_seen_through_their_rounding() {
    let sizes = [64, 64];
    let all = positions(&sizes, &[&[0.1, 0.0], &[0.0, 0.1]], &[1000.0, 1000.0]);
    let rounded: Vec<f64> = all.iter().map(|&x| f64::from(x as f32)).collect();
    assert!(fit(&rounded, 2, &sizes, f32::EPSILON.into()).is_ok());
    assert!(fit(&rounded, 2, &sizes, f64::EPSILON).is_err());
}

#[test]
fn one_strand_off_its_place_is_enough_to_have_none() {
    let sizes = [8, 8];
    let all = positions(&sizes, &[&[1.0, 0.0], &[0.0, 1.0]], &[0.0, 0.0]);
    for strand in [1, 7, 20, 63] {
        let mut moved = all.clone();
        moved[2 * strand] += 0.01;
        assert!(
            fit(&moved, 2, &sizes, f32::EPSILON.into()).is_err(),
            "strand {strand}"
        );
    }
    let mut nowhere = all.clone();
    nowhere[9] = f64::NAN;
    assert!(fit(&nowhere, 2, &sizes, f32::EPSILON.into()).is_err());
    let line = positions(&sizes, &[&[1.0, 0.0], &[2.0, 0.0]], &[0.0, 0.0]);
    assert!(
        fit(&line, 2, &sizes, f32::EPSILON.into())
            .unwrap_err()
            .contains("span")
    );
    assert!(fit(&[0.0; 128], 2, &[4, 4, 4], f32::EPSILON.into()).is_err());
}

#[test]
fn an_axis_of_one_sample_stands_at_right_angles_to_the_others() {
    let all = positions(
        &[3, 1, 2],
        &[&[1.0, 1.0, 0.0], &[0.0; 3], &[0.0, 0.0, 2.0]],
        &[0.0; 3],
    );
    let place = fit(&all, 3, &[3, 1, 2], f64::EPSILON).unwrap();
    let middle = &place.directions[1];
    let dot = |a: &[f64]| a.iter().zip(middle).map(|(x, y)| x * y).sum::<f64>();
    assert!(dot(&place.directions[0]).abs() < 1e-12 && dot(&place.directions[2]).abs() < 1e-12);
    assert!((dot(middle) - 1.0).abs() < 1e-12);
    let single = fit(&[5.0, 6.0], 2, &[1, 1], f64::EPSILON).unwrap();
    assert_eq!(single.origin, [5.0, 6.0]);
}

#[test]
fn words_say_places() {
    let place = |word: &str, sizes: &[usize]| {
        let place = Placement::parse(word).unwrap().of_words(sizes);
        place.map(|place| place.map(|p| (p.directions, p.origin)))
    };
    assert_eq!(place("none", &[4, 5]), Ok(None));
    assert_eq!(
        place("index", &[4, 5]),
        Ok(Some((vec![vec![1.0, 0.0], vec![0.0, 1.0]], vec![0.0, 0.0])))
    );
    assert_eq!(
        place("spacing:0.5,2", &[4, 5]),
        Ok(Some((vec![vec![0.5, 0.0], vec![0.0, 2.0]], vec![0.0, 0.0])))
    );
    // Ten cells of a tenth from 0 to 1: the first centre is at a twentieth.
    assert_eq!(
        place("box:0,0,1,4", &[10, 2]),
        Ok(Some((
            vec![vec![0.1, 0.0], vec![0.0, 2.0]],
            vec![0.05, 1.0]
        )))
    );
    assert_eq!(
        place("matrix:(1,0,0) (0,0,2)@(1,2,3)", &[4, 5]),
        Ok(Some((
            vec![vec![1.0, 0.0, 0.0], vec![0.0, 0.0, 2.0]],
            vec![1.0, 2.0, 3.0]
        )))
    );
    for (word, sizes) in [
        ("spacing:1,2,3", &[4, 5][..]),
        ("box:0,1", &[4, 5]),
        ("spacing:0,1", &[4, 5]),
    ] {
        assert!(place(word, sizes).is_err(), "{word}");
    }
    for word in [
        "",
        "like:",
        "here",
        "spacing:a",
        "box:1,2,3",
        "matrix:(1,0)",
        "matrix:(1,0) (0,1) @ (1,2,3)",
        "spacing:inf",
    ] {
        assert!(Placement::parse(word).is_err(), "{word}");
    }
}

#[test]
fn a_placed_array_says_so_in_its_file_and_lends_its_place() {
    let output = Output {
        name: "v".into(),
        shape: vec![2],
        length: Length::One,
        scalar: Scalar::Real,
        is_position: false,
    };
    let place = Place {
        space: Space::Named(NamedSpace::Lps),
        directions: vec![vec![0.0, 1.0, 0.0], vec![2.0, 0.0, 0.0]],
        origin: vec![1.0, 2.0, 3.0],
        units: Vec::new(),
    };
    let domain = Domain::Grid(vec![2, 3]);
    let array = to_nrrd(&output, &domain, Values::F32(&[0.0; 12]), Some(&place)).unwrap();
    let file = std::env::temp_dir().join(format!("placed-{}.nrrd", std::process::id()));
    nrrd::write(&array, nrrd::Format::default(), &file).unwrap();
    let text = String::from_utf8_lossy(&std::fs::read(&file).unwrap()).into_owned();
    for line in [
        "space: left-posterior-superior",
        "space directions: none (0,1,0) (2,0,0)",
        "space origin: (1,2,3)",
    ] {
        assert!(text.lines().any(|l| l == line), "{line}\n{text}");
    }
    let lent = grid_of_file(&file, 2);
    std::fs::remove_file(&file).unwrap();
    assert_eq!(lent, Ok((vec![3, 2], place)));
}
