//! The files of a run are checked before it begins, and all errors are reported at once.

use runtime::colour_maps::ColourMap;
use runtime::output::options::{FileOptions, OptionRow, OutputOptions};
use runtime::output::plan::{OtherFiles, Plan, plan};
use runtime::output::{Domain, Length, Output, Scalar};

fn output(name: &str, shape: &[usize], length: Length) -> Output {
    Output {
        name: name.into(),
        shape: shape.to_vec(),
        length,
        scalar: Scalar::Real,
        is_position: name == "pos",
    }
}

fn options(files: &[Option<&str>]) -> FileOptions {
    let mut all = FileOptions::new(files.len());
    for (options, file) in all.outputs.iter_mut().zip(files) {
        *options = OutputOptions {
            file: file.map(Into::into),
            ..OutputOptions::default()
        };
    }
    all
}

fn problems(outputs: &[Output], domain: &Domain, run: &FileOptions) -> Vec<String> {
    plan(outputs, domain, run, &OtherFiles::default()).expect_err("problems")
}

#[test]
fn all_problems_are_told_together() {
    let outputs = [
        output("a", &[], Length::One),
        output("b", &[], Length::One),
        output("c", &[5], Length::One),
        output("d", &[3], Length::Dynamic),
    ];
    let run = options(&[
        Some("x.jpg"),
        Some("/no/such/place/b.nrrd"),
        Some("c.png"),
        Some("d.txt"),
    ]);
    let found = problems(&outputs, &Domain::Grid(vec![0, 4]), &run);
    for expected in [
        "the grid has no strands: its sizes are 0 × 4",
        "x.jpg: found suffix `.jpg`",
        "/no/such/place/b.nrrd: there is no directory /no/such/place",
        "c.png: found 5 values per strand over a grid of 2 axes",
        "d.txt: the sequences of `d` vary in length",
    ] {
        assert!(
            found.iter().any(|p| p.starts_with(expected)),
            "{expected}\n{found:#?}"
        );
    }
    assert_eq!(found.len(), 5, "{found:#?}");
}

#[test]
fn two_outputs_share_a_file_only_where_its_format_takes_several() {
    let outputs = [
        output("pos", &[2], Length::One),
        output("b", &[], Length::One),
    ];
    let domain = Domain::List(10);
    let found = problems(
        &outputs,
        &domain,
        &options(&[Some("x.nrrd"), Some("x.nrrd")]),
    );
    assert!(
        found[0].contains("`pos`, `b` go to one file") && found[0].contains("-o-pos, -o-b"),
        "{found:?}"
    );
    for file in ["x.csv", "x.npz", "x.vtp", "x.ply", "x.obj"] {
        let Plan { results, .. } = plan(
            &outputs,
            &domain,
            &options(&[Some(file); 2]),
            &OtherFiles::default(),
        )
        .unwrap();
        assert_eq!(
            (results.len(), &results[0].outputs[..]),
            (1, &[0, 1][..]),
            "{file}"
        );
    }
}

#[test]
fn each_format_has_its_shapes() {
    let scalar = || output("v", &[], Length::One);
    let vector = || output("v", &[3], Length::One);
    let lines = || output("v", &[3], Length::Dynamic);
    let grid = |n: usize| Domain::Grid(vec![4; n]);
    let rows = [
        (scalar(), grid(2), "v.png", true),
        (scalar(), grid(1), "v.png", false),
        (lines(), grid(2), "v.npy", false),
        (lines(), grid(2), "v.npz", true),
        (scalar(), grid(3), "v.png", false),
        (scalar(), Domain::List(9), "v.png", false),
        (scalar(), grid(1), "v.csv", true),
        (scalar(), grid(2), "v.csv", false),
        (scalar(), grid(3), "v.vti", true),
        (scalar(), grid(4), "v.vti", false),
        (scalar(), Domain::List(9), "v.vti", false),
        (vector(), grid(3), "v.nii.gz", true),
        (scalar(), Domain::List(9), "v.nii", false),
        (vector(), grid(2), "v.tif", true),
        (lines(), grid(2), "v.tif", false),
        (vector(), Domain::List(9), "v.vtp", true),
        (scalar(), Domain::List(9), "v.vtp", false),
        (lines(), Domain::List(9), "v.vtp", true),
        (lines(), Domain::List(9), "v.ply", true),
        (lines(), Domain::List(9), "v.obj", true),
        (lines(), Domain::List(9), "v.nrrd", true),
        (lines(), Domain::List(9), "v.nhdr", false),
        (lines(), Domain::List(9), "v.npy", false),
        (lines(), Domain::List(9), "v.csv", false),
        (lines(), Domain::List(9), "-", false),
        (scalar(), grid(4), "v.npy", true),
        (scalar(), grid(2), "v.apng", false),
    ];
    for (output, domain, file, fits) in rows {
        let found = plan(
            &[output],
            &domain,
            &options(&[Some(file)]),
            &OtherFiles::default(),
        );
        assert_eq!(found.is_ok(), fits, "{file} over {domain:?}: {found:?}");
    }
}

#[test]
fn snapshots_are_called_after_what_was_asked_for() {
    let outputs = [output("rgb", &[3], Length::One)];
    let domain = Domain::Grid(vec![4, 4]);
    let snapshot = |file: Option<&str>, prefix: Option<&str>, limit: Option<u64>| {
        let mut run = options(&[file]);
        run.snapshot_period = Some(50);
        run.limit = limit;
        run.outputs[0].snapshot_prefix = prefix.map(Into::into);
        let Plan {
            snapshots, digits, ..
        } = plan(&outputs, &domain, &run, &OtherFiles::default()).unwrap();
        snapshots[0].destination.numbered(50, digits).file
    };
    assert_eq!(snapshot(None, None, None), "rgb-0050.nrrd");
    assert_eq!(snapshot(Some("iso.png"), None, None), "iso-0050.png");
    assert_eq!(
        snapshot(Some("iso.png"), Some("frame.png"), None),
        "frame-0050.png"
    );
    assert_eq!(
        snapshot(Some("iso.png"), Some("v1.2"), None),
        "v1.2-0050.nrrd"
    );
    assert_eq!(snapshot(Some("-"), None, None), "rgb-0050.nrrd");
    assert_eq!(
        snapshot(Some("iso.png"), None, Some(1_000_000)),
        "iso-0000050.png"
    );
    let mut film = options(&[Some("film.apng")]);
    film.snapshot_period = Some(10);
    let Plan {
        films,
        snapshots,
        results,
        ..
    } = plan(&outputs, &domain, &film, &OtherFiles::default()).unwrap();
    assert_eq!((films.len(), snapshots.len(), results.len()), (1, 0, 0));
}

#[test]
fn the_output_with_the_positions_is_found_or_asked_for() {
    let domain = Domain::List(9);
    let two = [
        output("a", &[3], Length::One),
        output("b", &[2], Length::One),
    ];
    let found = problems(&two, &domain, &options(&[Some("x.vtp"); 2]));
    assert!(
        found[0].contains("`--points NAME` chooses one"),
        "{found:?}"
    );
    let mut named = options(&[Some("x.vtp"); 2]);
    named.points = Some("b".into());
    assert!(plan(&two, &domain, &named, &OtherFiles::default()).is_ok());
    named.points = Some("c".into());
    assert!(problems(&two, &domain, &named)[0].contains("--points c"));
    let whole = [Output {
        scalar: Scalar::Int,
        ..output("pos", &[2], Length::One)
    }];
    assert!(
        plan(
            &whole,
            &domain,
            &options(&[Some("x.vtp")]),
            &OtherFiles::default()
        )
        .is_err(),
        "integers are not positions"
    );
}

#[test]
fn the_output_with_the_triangles_is_found_or_asked_for() {
    let domain = Domain::List(9);
    let dynamic = |name: &str, shape: &[usize]| output(name, shape, Length::Dynamic);
    let planned = |outputs: &[Output], file: &str, points: Option<&str>| {
        let mut options = options(&vec![Some(file); outputs.len()]);
        options.points = points.map(Into::into);
        plan(outputs, &domain, &options, &OtherFiles::default())
    };
    let surface = || dynamic("surface", &[3, 3]);
    let normals = || dynamic("normals", &[3, 3]);
    for file in ["x.ply", "x.stl", "x.obj", "x.vtp", "x.vtu"] {
        assert!(planned(&[surface()], file, None).is_ok(), "{file}");
        assert!(planned(&[dynamic("plane", &[3, 2])], file, None).is_ok());
        assert!(planned(&[normals(), surface()], file, None).is_ok());
        assert!(planned(&[surface(), dynamic("uv", &[3, 2])], file, None).is_ok());
        assert!(planned(&[output("pos", &[3], Length::One), surface()], file, None).is_ok());
        for other in [dynamic("other", &[3, 3]), dynamic("path", &[3])] {
            let two = [surface(), other];
            let found = planned(&two, file, None).unwrap_err();
            assert!(
                found[0].contains("`--points NAME` chooses one"),
                "{found:?}"
            );
            assert!(planned(&two, file, Some("surface")).is_ok());
            let [_, other] = two;
            let named = [dynamic("triangles", &[3, 3]), other];
            assert!(planned(&named, file, None).is_ok());
        }
    }
    let lines = [dynamic("path", &[3]), dynamic("hessian", &[3, 3])];
    assert!(planned(&lines, "x.vtp", Some("path")).is_ok());
    assert!(planned(&lines, "x.vtu", Some("path")).is_ok());
    let found = planned(&lines, "x.stl", Some("path")).unwrap_err();
    let start = "x.stl: a .stl holds triangles";
    assert!(found[0].starts_with(start), "{found:?}");
    let whole = Output {
        scalar: Scalar::Int,
        ..surface()
    };
    assert!(planned(&[whole], "x.stl", None).is_err());
    assert!(planned(&[output("m", &[3, 3], Length::One)], "x.stl", None).is_err());
}

#[test]
fn colours_of_a_map_are_for_single_numbers() {
    let domain = Domain::Grid(vec![4, 4]);
    let planned = |shape: &[usize]| {
        let mut options = options(&[Some("x.png")]);
        let row = OptionRow::named("cmap").expect("an option");
        options.set(row, None, "viridis".as_ref()).expect("a map");
        let outputs = [output("v", shape, Length::One)];
        plan(&outputs, &domain, &options, &OtherFiles::default())
    };
    assert!(planned(&[]).is_ok());
    let problems = planned(&[3]).expect_err("three numbers");
    assert!(
        problems[0].contains("expected 1 for the colours"),
        "{problems:?}"
    );
    // The help names every map.
    let row = OptionRow::named("cmap").expect("an option");
    let all = ColourMap::all().iter();
    assert!(all.map(|map| map.name).all(|name| row.help.contains(name)));
}
