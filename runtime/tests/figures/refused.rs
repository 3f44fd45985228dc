//! What cannot be drawn is refused before a run.

use runtime::colour_maps::ColourMap;
use runtime::output::options::{FileOptions, OutputOptions};
use runtime::output::plan::{OtherFiles, plan};
use runtime::output::{Domain, Length, Output, Scalar};

fn planned(
    name: &str,
    shape: &[usize],
    length: Length,
    domain: Domain,
    map: Option<&str>,
) -> Result<(), String> {
    let output = Output {
        name: name.into(),
        shape: shape.to_vec(),
        length,
        scalar: Scalar::Real,
        is_position: name == "pos",
    };
    let mut options = FileOptions::new(1);
    options.outputs[0] = OutputOptions {
        file: Some("x.svg".into()),
        colours: map.map(|map| ColourMap::named(map).unwrap()),
        ..OutputOptions::default()
    };
    let planned = plan(&[output], &domain, &options, &OtherFiles::default());
    planned.map(drop).map_err(|problems| problems.join("\n"))
}

#[test]
fn figures_are_pictures_or_in_the_plane() {
    let grid = || Domain::Grid(vec![4, 4]);
    let list = || Domain::List(4);
    let is_fine = |shape: &[usize], length, domain| {
        assert_eq!(planned("pos", shape, length, domain, None), Ok(()));
    };
    is_fine(&[], Length::One, grid());
    is_fine(&[2], Length::One, grid());
    is_fine(&[2], Length::One, list());
    is_fine(&[2], Length::Dynamic, list());
    assert_eq!(planned("rgb", &[3], Length::One, grid(), None), Ok(()));
    let viridis = Some("viridis");
    assert_eq!(planned("v", &[], Length::One, grid(), viridis), Ok(()));
    let rows = [
        (
            planned("pos", &[3], Length::One, list(), None),
            "are in space",
        ),
        (
            planned("path", &[3], Length::Dynamic, list(), None),
            "are in space",
        ),
        (
            planned("v", &[], Length::One, list(), None),
            "expected 1 to 4 over a grid of 2 axes",
        ),
        (
            planned("v", &[5], Length::One, grid(), None),
            "found 5 values per strand",
        ),
        (
            planned("v", &[], Length::Dynamic, grid(), None),
            "vary in length",
        ),
        (
            planned("pos", &[2], Length::One, list(), viridis),
            "(--cmap)",
        ),
        (
            planned("rgb", &[3], Length::One, grid(), viridis),
            "(--cmap)",
        ),
    ];
    for (problem, expected) in rows {
        let problem = problem.unwrap_err();
        assert!(problem.starts_with("x.svg: "), "{problem}");
        assert!(problem.contains(expected), "{problem}");
    }
    let problem = planned("pos", &[3], Length::One, list(), None).unwrap_err();
    assert!(
        problem.contains("a .svg draws pictures, and points, lines and triangles in the plane"),
        "{problem}"
    );
}
