//! Unfinished files are removed when the process is about to end. This test has a process of its own, because it affects all
//! files of the process.

use runtime::output::film::Film;
use runtime::output::format::Destination;
use runtime::output::write::{Contents, Style};
use runtime::output::{Column, Domain, Length, Output, Scalar, Values, remove_unfinished};
use runtime::png::Range;

#[test]
fn unfinished_files_are_removed_and_finished_ones_stay() {
    let directory = std::env::temp_dir().join(format!("unfinished-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let count = || std::fs::read_dir(&directory).unwrap().count();
    let output = Output {
        name: "v".into(),
        shape: vec![],
        length: Length::One,
        scalar: Scalar::Real,
        is_position: false,
    };
    let columns = [Column {
        output: &output,
        values: Values::F32(&[0.0, 1.0]),
        lengths: None,
        range: Range::Usual,
        colours: None,
    }];
    let domain = Domain::Grid(vec![1, 2]);
    let contents = Contents {
        columns: &columns,
        domain: &domain,
        place: None,
    };
    let film = |name: &str| {
        let file = directory.join(name).display().to_string();
        let mut film = Film::new(&Destination::parse(&file).unwrap(), 25.0);
        film.add(contents, &Style::default()).unwrap();
        film
    };
    film("whole.y4m").finish().unwrap();
    let unfinished = film("half.y4m");
    assert_eq!(count(), 2, "one file and the beginning of another");
    remove_unfinished();
    assert_eq!(count(), 1);
    // The process would end here: from now on files are neither created nor given up.
    std::mem::forget(unfinished);
    assert!(directory.join("whole.y4m").exists());
    std::fs::remove_dir_all(&directory).unwrap();
}
