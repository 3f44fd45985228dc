//! The command line of a program.

use super::*;
use runtime::{
    grid::{Placement, TimeAxis},
    image::{GivenTimes, MeasurementFrame, Missing, Triangle, World},
    input::{InputValue, IntWidth},
    output::{format::FileFormat, options::OutputOptions},
    png::{Depth, Range},
};

fn input(name: &str, ty: InputType, default: Option<&str>) -> InputSpec {
    InputSpec {
        name: name.to_string(),
        ty,
        description: Some(format!("what {name} is")),
        default: default.map(str::to_string),
        module: None,
    }
}

fn program(outputs: &[(&str, bool)]) -> Program {
    let output = |&(name, dynamic): &(&str, bool)| OutputName {
        name: name.to_string(),
        dynamic,
    };
    Program {
        name: "render".to_string(),
        inputs: vec![
            input(
                "img",
                InputType::Image {
                    dim: 3,
                    timed: false,
                    shape: vec![],
                },
                None,
            ),
            input("stepSize", InputType::Real, Some("0.1")),
            input("eye", InputType::Tensor(vec![3]), Some("[1,0,0]")),
            input("n", InputType::Int, Some("7")),
            input("title", InputType::String, Some("\"\"")),
        ],
        outputs: outputs.iter().map(output).collect(),
        double: false,
        ints: IntWidth::Bits32,
        beside: vec!["--double".to_string()],
    }
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_string).collect()
}

#[track_caller]
fn run(text: &str) -> RunOptions {
    match parse(&program(&[("rgb", false)]), &words(text)) {
        Ok(CommandLine::Run(run)) => *run,
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn error(text: &str) -> String {
    parse(&program(&[("rgb", false)]), &words(text))
        .unwrap_err()
        .to_string()
}

#[test]
fn without_options_the_defaults_hold() {
    let run = run("-img ct.nrrd");
    assert_eq!(run.inputs[0], Some(InputValue::File("ct.nrrd".into())));
    assert_eq!(run.inputs[1..], [None, None, None, None]);
    assert_eq!(run.files.outputs, [OutputOptions::default()]);
    assert_eq!(
        (run.files.limit, run.files.snapshot_period, run.workers),
        (None, None, None)
    );
    assert_eq!(
        (run.print, run.verbose, run.timing),
        ("-".into(), false, false)
    );
    assert_eq!(run.files.depth, Depth::Eight);
    assert_eq!((run.keep, run.quiet, run.notes.len()), (false, false, 0));
}

#[test]
fn every_option_is_understood_in_each_spelling() {
    for text in [
        "-img a -l 5 -s 2 --nworkers 3 -print log.txt -v -t -o x.png -sp snap --range -1,2.5 --bits 16",
        "-img=a -l=5 -s 2 --nworkers=3 --print=log.txt -v -t -o=x.png -sp snap --range=-1,2.5 --bits=16",
        "--verbose --timing --input-img a --limit 5 --snapshot 2 --nworkers 3 -print log.txt --output x.png \
         --snapshot-prefix snap --range -1,2.5 --bits 16",
        "-o-rgb x.png -sp-rgb snap -img a -l 5 -s 2 --nworkers 3 -print log.txt -v -v -t --range-rgb -1,2.5 --bits 16",
    ] {
        let run = run(text);
        assert_eq!(run.inputs[0], Some(InputValue::File("a".into())), "{text}");
        assert_eq!(
            (run.files.limit, run.files.snapshot_period, run.workers),
            (Some(5), Some(2), Some(3))
        );
        assert_eq!(
            (run.print, run.verbose, run.timing),
            ("log.txt".into(), true, true)
        );
        assert_eq!(
            (
                run.files.outputs[0].file.clone(),
                run.files.outputs[0].snapshot_prefix.clone()
            ),
            (Some("x.png".into()), Some("snap".into()))
        );
        assert_eq!(
            (run.files.outputs[0].range, run.files.depth),
            (Range::Between(-1.0, 2.5), Depth::Sixteen)
        );
    }
    assert_eq!(
        run("-img a --range AUTO").files.outputs[0].range,
        Range::Auto
    );
    let percentiles = run("-img a --range auto:1,99").files.outputs[0].range;
    assert_eq!(percentiles, Range::Percentiles(1.0, 99.0));
    let zeros = run("-img a -l 0 -s 0 --nworkers 0");
    assert_eq!(
        (
            zeros.files.limit,
            zeros.files.snapshot_period,
            zeros.workers
        ),
        (None, None, None)
    );
}

#[test]
fn words_with_a_dash_are_values_unless_they_spell_an_option() {
    let run = run("-img a -stepSize -inf -eye -1 -2 -3e1 -title -x");
    assert_eq!(run.inputs[1], Some(InputValue::Real(f64::NEG_INFINITY)));
    assert_eq!(
        run.inputs[2],
        Some(InputValue::Tensor(vec![-1.0, -2.0, -30.0]))
    );
    assert_eq!(run.inputs[4], Some(InputValue::String("-x".to_string())));
    assert_eq!(
        error("-img a -eye 1 2 -v"),
        "option `-eye`: found 2 values, expected 3 for type vec3"
    );
}

#[test]
fn an_inputs_name_wins_over_a_short_option_and_the_user_is_told() {
    let run = run("-img a -n 8 --nworkers 3");
    assert_eq!(
        (run.workers, run.inputs[3].clone()),
        (Some(3), Some(InputValue::Int(8)))
    );
    assert_eq!(
        run.notes,
        ["`-n` sets the input `n`; `--nworkers` is the option (use N worker threads)"]
    );
    let same = super_run(&["-img", "a", "--input-n", "8"]);
    assert_eq!(
        (same.inputs[3].clone(), same.notes.len()),
        (Some(InputValue::Int(8)), 0)
    );
    // `-h` with a value is the input, without one the old question.
    let mut with_h = program(&[("rgb", false)]);
    with_h.inputs[1].name = "h".to_string();
    let parsed = parse(&with_h, &words("-img a -h 0.1"));
    let Ok(CommandLine::Run(run)) = parsed else {
        panic!("{parsed:?}");
    };
    assert_eq!(run.inputs[1], Some(InputValue::Real(0.1)));
    for text in ["-img a -h", "-h -img a", "-h 1 --help"] {
        let parsed = parse(&with_h, &words(text));
        assert!(matches!(parsed, Ok(CommandLine::Help(_))), "{text}");
    }
}

fn super_run(words: &[&str]) -> RunOptions {
    let words: Vec<String> = words.iter().map(|w| w.to_string()).collect();
    match parse(&program(&[("rgb", false)]), &words) {
        Ok(CommandLine::Run(run)) => *run,
        other => panic!("{other:?}"),
    }
}

#[test]
fn values_may_stand_in_one_word() {
    let expected = Some(InputValue::Tensor(vec![1.0, -2.0, 3.5]));
    for given in [
        &["-eye", "1", "-2", "3.5"][..],
        &["-eye", "1,-2,3.5"],
        &["-eye=1,-2,3.5"],
        &["-eye", "[1,-2,3.5]"],
        &["-eye", "[1,", "-2,", "3.5]"],
        &["-eye", "1 -2 3.5"],
    ] {
        let words = [&["-img", "a"], given].concat();
        assert_eq!(super_run(&words).inputs[2], expected, "{given:?}");
    }
    assert_eq!(
        error("-img a -eye 1,2,3,4"),
        "option `-eye`: found 4 values, expected 3 for type vec3"
    );
    let mut flags = program(&[("rgb", false)]);
    flags.inputs[1].ty = InputType::Bool;
    for (text, expected) in [
        ("-stepSize", true),
        ("-stepSize off", false),
        ("-stepSize=no", false),
    ] {
        let parsed = parse(&flags, &words(&format!("{text} -img a")));
        let Ok(CommandLine::Run(run)) = parsed else {
            panic!("{parsed:?}");
        };
        assert_eq!(run.inputs[1], Some(InputValue::Bool(expected)), "{text}");
    }
}

#[test]
fn every_suffix_and_every_long_spelling_is_in_the_help() {
    let text = help::text(&program(&[("rgb", false)]));
    for suffix in FileFormat::suffixes(FileFormat::all()).split(", ") {
        assert!(text.contains(suffix), "{suffix}");
    }
    // What inputs can take has another spelling.
    for line in text.lines().filter(|line| line.starts_with("  -")) {
        let is_input = ["-img", "-stepSize", "-eye", "-n ", "-title"]
            .iter()
            .any(|i| line[2..].starts_with(i));
        assert!(is_input || line.contains("--"), "{line}");
    }
}

#[test]
fn wrong_usage_names_the_option_and_what_was_expected() {
    let rows = [
        ("", "required option `-img` (image(3)[]) is missing"),
        (
            "-img",
            "option `-img`: found 0 values, expected 1 for type image(3)[]",
        ),
        (
            "-img a -stepSize x",
            "option `-stepSize`: found `x`, expected a real number",
        ),
        (
            "-img a --input-n 3.5",
            "option `--input-n`: found `3.5`, expected an integer",
        ),
        (
            "-img a -stepsize 1",
            "unknown option `-stepsize`; did you mean `-stepSize`?",
        ),
        (
            "-img a --verbos",
            "unknown option `--verbos`; did you mean `--verbose`?",
        ),
        (
            "-img a -quiteUnlikeAnything",
            "unknown option `-quiteUnlikeAnything`; `--help` lists all options",
        ),
        (
            "-img a --stepSize 1",
            "unknown option `--stepSize`; did you mean `-stepSize`?",
        ),
        ("-img a b", "found `b` after the value of `-img`"),
        (
            "-img a -eye 1 2 3 4",
            "found `4` after the 3 values of `-eye`",
        ),
        ("-img a -v 1", "found `1` after `-v`, which takes no value"),
        (
            "ct.nrrd",
            "found `ct.nrrd`, expected an option; values follow their option",
        ),
        (
            "-img a -l many",
            "option `-l`: found `many`, expected a non-negative integer",
        ),
        (
            "-img a --nworkers -2",
            "option `--nworkers`: found `-2`, expected a non-negative integer",
        ),
        (
            "-img a -image b",
            "unknown option `-image`; did you mean `-img`?",
        ),
        (
            "-img a -stepSizes 1",
            "unknown option `-stepSizes`; did you mean `-stepSize`?",
        ),
        (
            "-img a -titleOfPlot x",
            "unknown option `-titleOfPlot`; did you mean `-title`?",
        ),
        (
            "-img a --doubel",
            "unknown option `--doubel`; did you mean `--double`?",
        ),
        (
            "-img a -v=1",
            "option `-v`: found `1`, but it takes no value",
        ),
        (
            "-img a -o-depth x.png",
            "option `-o-depth` names an output that is not there; there are: rgb",
        ),
        (
            "-img a --bits 12",
            "option `--bits`: found `12`, expected 8 or 16",
        ),
        (
            "-img a --range 1",
            "option `--range`: found `1`, expected two different numbers LO,HI, auto, or percentages auto:1,99",
        ),
        (
            "-img a --range 1,1",
            "option `--range`: found `1,1`, expected two different numbers LO,HI, auto, or percentages auto:1,99",
        ),
        (
            "-img a --range 0,inf",
            "option `--range`: found `0,inf`, expected two different numbers LO,HI, auto, or percentages auto:1,99",
        ),
        (
            "-img a -stepSize=x",
            "option `-stepSize`: found `x`, expected a real number",
        ),
    ];
    for (text, message) in rows {
        assert_eq!(error(text), message, "{text}");
    }
    let mut two = program(&[("rgb", false)]);
    two.inputs[3].default = None;
    let both = parse::<String>(&two, &[]).unwrap_err().to_string();
    assert_eq!(
        both,
        "required options `-img` (image(3)[]), `-n` (int) are missing"
    );
    let empty = ["-img", "a", "-o", ""].map(str::to_string);
    let message = parse(&program(&[("rgb", false)]), &empty)
        .unwrap_err()
        .to_string();
    assert_eq!(
        message,
        "option `-o`: found an empty word, expected a file name"
    );
}

#[test]
fn several_outputs_are_told_apart_by_name() {
    let program = program(&[("rgb", false), ("path", true)]);
    let Ok(CommandLine::Run(run)) = parse(
        &program,
        &words("-img a -o-rgb x.png --output-path p/q -sp-path s"),
    ) else {
        panic!("the options name their outputs");
    };
    let files: Vec<_> = run
        .files
        .outputs
        .iter()
        .map(|o| (o.file.clone(), o.snapshot_prefix.clone()))
        .collect();
    assert_eq!(
        files,
        [
            (Some("x.png".into()), None),
            (Some("p/q".into()), Some("s".into()))
        ]
    );
    // Options for all outputs apply to those without an option of their own, in any order.
    let parsed = parse(
        &program,
        &words("-img a -o-rgb x.png -o all.csv --range-path 0,2 --range 0,5"),
    );
    let Ok(CommandLine::Run(run)) = parsed else {
        panic!("{parsed:?}");
    };
    let files: Vec<_> = run.files.outputs.iter().map(|o| o.file.clone()).collect();
    assert_eq!(files, [Some("x.png".into()), Some("all.csv".into())]);
    let ranges: Vec<_> = run.files.outputs.iter().map(|o| o.range).collect();
    assert_eq!(ranges, [Range::Between(0.0, 5.0), Range::Between(0.0, 2.0)]);
    let text = help::text(&program);
    assert!(
        text.contains("  -o[-NAME], --output[-NAME] FILE\n"),
        "{text}"
    );
    assert!(text.contains("path-len.nrrd and path-data.nrrd"), "{text}");
}

#[test]
fn help_is_given_wherever_it_is_asked_for() {
    let program = program(&[("rgb", false)]);
    for text in ["-h", "--help", "-img", "-stray -h", "-l x --help"] {
        let asked = text.contains("-h");
        let parsed = parse(&program, &words(text));
        assert_eq!(matches!(parsed, Ok(CommandLine::Help(_))), asked, "{text}");
    }
    let text = help::text(&program);
    let expected = [
        "usage: render [OPTION VALUES...]...",
        "  -img FILE                 image(3)[]: what img is (required)",
        "  -stepSize REAL            real: what stepSize is (default: 0.1)",
        "  -eye REAL REAL REAL       vec3: what eye is (default: [1,0,0])",
        "  -n INT                    int: what n is (default: 7)",
        "  --nworkers N              use N worker threads; 0 means one per core",
        "  -l, --limit N             stop after N super-steps; 0 means no limit",
        "  -v, --verbose             report details of the run",
        "  rgb                       usually written to rgb.nrrd",
    ];
    for line in expected {
        assert!(text.lines().any(|l| l == line), "{line}\n{text}");
    }
}

#[test]
fn options_of_images_are_for_one_or_all() {
    let mut program = program(&[("rgb", false)]);
    let image = InputType::Image {
        dim: 3,
        timed: false,
        shape: vec![3, 3],
    };
    program.inputs.push(input("dti", image, None));
    let run = |text: &str| match parse(&program, &words(&format!("-img a -dti b {text}"))) {
        Ok(CommandLine::Run(run)) => *run,
        other => panic!("{text}: {other:?}"),
    };
    let error = |text: &str| parse(&program, &words(text)).unwrap_err().to_string();
    let (img, dti) = (0, program.inputs.len() - 1);
    let plain = run("");
    assert_eq!(plain.readings[img].name.as_deref(), Some("img"));
    assert_eq!(plain.readings[img].world, World::Stored);
    // An option for one image takes precedence, in any order.
    for text in ["--world ras --world-dti lps", "--world-dti=lps --world=ras"] {
        let run = run(text);
        assert_eq!(run.readings[img].world, World::Ras);
        assert_eq!(run.readings[dti].world, World::Lps);
        assert_eq!(run.reading.world, World::Ras);
    }
    let run = run(
        "--symmetric-dti lower --measurement-frame ignore --flip-components-img --world-img spacing:1,2,3 --times-img 0:0.5 --missing-dti nan",
    );
    let times = TimeAxis::regular(0.0, 0.5).expect("an axis");
    assert_eq!(run.readings[img].times, Some(GivenTimes::Axis(times)));
    assert_eq!(run.readings[dti].times, None);
    assert_eq!(run.readings[img].missing, Missing::Refuse);
    assert_eq!(run.readings[dti].missing, Missing::Nan);
    assert_eq!(run.readings[dti].triangle, Some(Triangle::Lower));
    assert_eq!(run.readings[img].triangle, None);
    assert_eq!(run.readings[img].frame, MeasurementFrame::Ignore);
    assert!(run.readings[img].flip_components && !run.readings[dti].flip_components);
    let steps = Placement::Spacing(vec![1.0, 2.0, 3.0]);
    assert_eq!(run.readings[img].place, Some(steps));
    for (text, part) in [
        ("--world up", "found `up`, expected ras, lps or stored"),
        ("--world none", "found `none`"),
        ("--world var:pos", "found `var:pos`"),
        ("--symmetric left", "expected upper or lower"),
        ("--times 1:0", "wanted more than 0"),
        ("--times none.txt", "none.txt: No such file"),
        (
            "--times none.txt",
            "expected START:STEP in seconds, zero=first, or a file",
        ),
        ("--missing 0", "found `0`, expected nan or refuse"),
        ("--measurement-frame", "found 0 values, expected 1"),
        (
            "--world-eye ras",
            "names an image that is not there; there are: img, dti",
        ),
    ] {
        assert!(error(text).contains(part), "{}", error(text));
    }
    let text = help::text(&program);
    assert!(
        text.contains("--world[-NAME] ras|lps|stored|PLACE"),
        "{text}"
    );
    // The help of a program without images does not mention options of images.
    program
        .inputs
        .retain(|input| !matches!(input.ty, InputType::Image { .. }));
    assert!(!help::text(&program).contains("--world"));
}

#[test]
fn sizes_of_memory_have_units_or_none() {
    for (text, bytes) in [
        ("1", 1),
        ("2500", 2500),
        ("10k", 10_000),
        ("1.5M", 1_500_000),
        ("500MB", 500_000_000),
        ("16G", 16_000_000_000),
        ("2gib", 2 << 30),
        ("1TB", 1_000_000_000_000),
        ("4KiB", 4096),
    ] {
        let run = super_run(&["-img", "a", "--memory", text]);
        assert_eq!(run.memory, Some(bytes), "{text}");
    }
    let wanted = "expected a number of bytes such as 500M or 16GB";
    for text in ["0", "-1", "much", "1X", "", "nan", "1e30", "GB"] {
        let words = ["--memory".to_string(), text.to_string()];
        let error = parse(&program(&[("rgb", false)]), &words).unwrap_err();
        assert!(error.to_string().contains(wanted), "{text}: {error}");
    }
}
