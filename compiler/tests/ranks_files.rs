//! Files that the ranks of a cluster write together have the bytes of a plain run, and appear under their names only when all ranks have
//! written without an error. The ranks are threads here.

use compiler::{
    front::source::Source,
    pipeline::{self, Compiled, Options, Session},
    run::{Inputs, Observer, Recording, Run},
};
use runtime::{
    cluster::{Team, Threads},
    output::{options::FileOptions, plan::OtherFiles},
    world::Workers,
};
use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

/// A program whose strands take some time, with two outputs: 20 bytes per strand.
fn program(axes: &str, deed: &str) -> Compiled {
    compiled("array", axes, deed)
}

/// The same for strands that are an array or a collection.
fn compiled(kind: &str, axes: &str, deed: &str) -> Compiled {
    let text = format!(
        "#version 2.0
strand s ({ints}) {{
    output vec4 v = [real(i), real(j), real(k), 0];
    output int n = 0;
    update {{
        n += 1;
        v = 3.7*v - v*v[3];
        if (n > 100 + (i + j*k) % 7) {{ {deed} }}
    }}
}}
create_{kind} {{ s(i, j, k) | {axes} }}
",
        ints = "int i, int j, int k",
    );
    let source = Source::new("files.diderot", &text);
    let compiled = pipeline::compile(&mut Session::default(), &source, &Options::default());
    compiled.unwrap_or_else(|_| panic!("a right program: {text}"))
}

const CUBE: &str = "i in 0..39, j in 0..44, k in 0..49";

/// An empty directory for a test.
fn directory(name: &str) -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("ranks-files-{name}"));
    let _ = fs::remove_dir_all(&dir);
    fs::create_dir_all(&dir).expect("a directory");
    dir
}

/// The names and the contents of files.
fn contents(dir: &Path) -> Vec<(String, Vec<u8>)> {
    let entries = fs::read_dir(dir).expect("the directory");
    let read = |entry: fs::DirEntry| {
        let name = entry.file_name().to_string_lossy().into_owned();
        (name, fs::read(entry.path()).expect("a file"))
    };
    let mut all: Vec<_> = entries.map(|entry| read(entry.expect("a file"))).collect();
    all.sort();
    all
}

/// Lets other ranks find something else in place of the file that rank 0 has begun, until the strands have ended.
#[derive(Default)]
struct Disguise {
    dir: Option<PathBuf>,
    /// Makes the other file, for the name and the length of the one that was begun.
    other: Option<fn(&Path, u64)>,
    /// The name of the file, and its name until then.
    names: Option<(PathBuf, PathBuf)>,
}

impl Observer for Disguise {
    fn reads_outputs(&self) -> bool {
        false
    }

    fn streams(&mut self, _: &Run) {
        let Some(dir) = &self.dir else {
            return;
        };
        let mut entries = fs::read_dir(dir).expect("the directory").flatten();
        let file = entries.find(|entry| entry.file_name().to_string_lossy().ends_with(".part"));
        let file = file.expect("a file that was begun").path();
        let away = dir.join("away");
        let length = fs::metadata(&file).expect("a length").len();
        fs::rename(&file, &away).expect("another name");
        if let Some(other) = self.other {
            other(&file, length);
        }
        self.names = Some((file, away));
    }

    fn created(&mut self, _: &Run) -> Result<(), String> {
        if let Some((file, away)) = self.names.take() {
            fs::rename(away, file).expect("the old name");
        }
        Ok(())
    }
}

/// Runs a program and writes its files; gives its errors.
fn record(
    compiled: &Compiled,
    files: &[PathBuf],
    workers: Workers,
    mut disguise: Disguise,
) -> Result<(), String> {
    let mut options = FileOptions::new(files.len());
    for (output, file) in options.outputs.iter_mut().zip(files) {
        output.file = Some(file.as_path().into());
    }
    let mut recording = match workers.team().is_none_or(|team| team.is_root()) {
        true => Recording::new(options),
        false => Recording::elsewhere(options),
    };
    let run = Run::new(compiled, &Inputs::of(compiled), workers);
    let mut run = run.expect("a run");
    let begun = recording.begin(&run, 0, &OtherFiles::default());
    begun.map_err(|problems| problems.join("\n"))?;
    run.run(
        None,
        &mut std::io::sink(),
        &mut [&mut recording, &mut disguise],
    )
    .map_err(|failure| failure.plain())?;
    recording.write_results(&run).map(drop)
}

/// The results on each rank, and the bytes of the letters of all but rank 0.
fn record_together(
    compiled: &Compiled,
    files: &[PathBuf],
    size: usize,
    disguise: impl Fn() -> Disguise + Sync,
) -> (Vec<Result<(), String>>, u64) {
    let (files, disguise) = (&files, &disguise);
    std::thread::scope(|scope| {
        let ranks = Threads::ranks(size, size as u64).into_iter().enumerate();
        let ranks: Vec<_> = ranks
            .map(|(n, rank)| {
                scope.spawn(move || {
                    let team = Arc::new(Team::new(rank));
                    let disguise = if n == 0 {
                        disguise()
                    } else {
                        Disguise::default()
                    };
                    let workers = Workers::from(1 + n % 2).with_team(Arc::clone(&team));
                    (record(compiled, files, workers, disguise), team.sent())
                })
            })
            .collect();
        let ended = ranks.into_iter().map(|rank| rank.join());
        let (results, sent): (Vec<_>, Vec<_>) = ended
            .map(|ended| ended.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .unzip();
        (results, sent[1..].iter().sum())
    })
}

/// Both outputs in files of these kinds.
fn named(dir: &Path, suffixes: [&str; 2]) -> Vec<PathBuf> {
    let names = ["v", "n"].iter().zip(suffixes);
    names
        .map(|(name, suffix)| dir.join(format!("{name}.{suffix}")))
        .collect()
}

/// Bytes of the letters of a rank that has no values to send.
const FEW: u64 = 1 << 14;

/// Runs a program alone and on ranks, compares the files, and says how many bytes the letters of other ranks than 0 had.
fn compare(compiled: &Compiled, name: &str, suffixes: [&str; 2], sizes: &[usize]) -> Vec<u64> {
    let alone = directory(&format!("{name}-alone"));
    record(
        compiled,
        &named(&alone, suffixes),
        Workers::from(2),
        Disguise::default(),
    )
    .expect("files");
    let alone = contents(&alone);
    assert_eq!(alone.len(), 2);
    let sent = sizes.iter().map(|&size| {
        let dir = directory(&format!("{name}-{size}"));
        let (results, sent) =
            record_together(compiled, &named(&dir, suffixes), size, Disguise::default);
        assert!(
            results.iter().all(Result::is_ok),
            "{name}, {size} ranks: {results:?}"
        );
        assert!(contents(&dir) == alone, "{name}, {size} ranks");
        sent
    });
    sent.collect()
}

#[test]
fn files_that_ranks_write_together_are_those_of_a_plain_run() {
    let sizes = [1, 2, 3, 4, 7];
    for (name, axes, suffixes) in [
        ("cube", CUBE, ["nrrd", "nrrd"]),
        (
            "plane",
            "i in 0..299, j in 0..310, k in 0..0",
            ["npy", "nrrd"],
        ),
        (
            "line",
            "i in 0..0, j in 0..0, k in 0..99999",
            ["nrrd", "npy"],
        ),
    ] {
        let compiled = program(axes, "stabilize;");
        let sent = compare(&compiled, name, suffixes, &sizes);
        for (size, sent) in sizes.iter().zip(sent) {
            assert!(
                sent < *size as u64 * FEW,
                "{name}, {size} ranks: {sent} bytes"
            );
        }
    }
}

#[test]
fn values_go_to_rank_0_where_ranks_cannot_write_them() {
    let few = "i in 0..9, j in 0..39, k in 0..49";
    for (name, kind, axes, suffixes) in [
        // Where the values of a strand belong follows from those that die.
        ("collection", "collection", CUBE, ["nrrd", "nrrd"]),
        ("packed", "array", CUBE, ["nrrd", "npz"]),
        ("small", "array", few, ["nrrd", "nrrd"]),
    ] {
        let compiled = compiled(kind, axes, "stabilize;");
        let sent = compare(&compiled, name, suffixes, &[3]);
        assert!(sent[0] > 2 * FEW, "{name}: {sent:?}");
    }
}

#[test]
fn a_rank_that_does_not_see_the_file_lets_all_values_go_to_rank_0() {
    let compiled = program(CUBE, "stabilize;");
    let alone = directory("unseen-alone");
    record(
        &compiled,
        &named(&alone, ["nrrd"; 2]),
        Workers::from(2),
        Disguise::default(),
    )
    .expect("files");
    let empty: fn(&Path, u64) = |file, _| fs::write(file, "").expect("a file");
    for (n, other) in [None, Some(empty)].into_iter().enumerate() {
        let dir = directory(&format!("unseen-{n}"));
        let (results, sent) =
            record_together(&compiled, &named(&dir, ["nrrd"; 2]), 3, || Disguise {
                dir: Some(dir.clone()),
                other,
                names: None,
            });
        assert!(results.iter().all(Result::is_ok), "{results:?}");
        assert!(sent > 2 * FEW, "{sent} bytes");
        assert!(contents(&dir) == contents(&alone));
    }
}

/// A file that can be opened and not be written stands for a disk that is full for one rank.
#[cfg(target_os = "linux")]
#[test]
fn a_rank_that_cannot_write_leaves_no_file() {
    use nix::{
        fcntl::{FcntlArg, SealFlag, fcntl},
        sys::memfd::{MFdFlags, memfd_create},
    };
    use std::os::fd::AsRawFd;

    let sealed: fn(&Path, u64) = |file, length| {
        let memory = memfd_create("full", MFdFlags::MFD_ALLOW_SEALING).expect("memory");
        let memory = fs::File::from(memory);
        memory.set_len(length).expect("its length");
        fcntl(&memory, FcntlArg::F_ADD_SEALS(SealFlag::F_SEAL_WRITE)).expect("a seal");
        let path = format!("/proc/self/fd/{}", memory.as_raw_fd());
        std::os::unix::fs::symlink(path, file).expect("a link");
        // It is there as long as the process.
        std::mem::forget(memory);
    };
    let compiled = program(CUBE, "stabilize;");
    let dir = directory("full");
    let files = named(&dir, ["nrrd"; 2]);
    fs::write(&files[1], "before").expect("a file");
    let (results, sent) = record_together(&compiled, &files, 3, || Disguise {
        dir: Some(dir.clone()),
        other: Some(sealed),
        names: None,
    });
    assert!(sent < 3 * FEW, "{sent} bytes");
    let error = results[0].as_ref().expect_err("a file that is not whole");
    let failed = files
        .iter()
        .find(|file| *error == format!("{}: Operation not permitted (os error 1)", file.display()));
    assert!(failed.is_some(), "{error}");
    // Rank 0 alone reports it, and an old file stays.
    assert!(results[1..].iter().all(Result::is_ok), "{results:?}");
    let left = contents(&dir);
    assert!(left.contains(&("n.nrrd".into(), b"before".to_vec())));
    let is_whole = left.iter().any(|(name, _)| name == "v.nrrd");
    assert_eq!(is_whole, failed == Some(&files[1]), "{error}");
    assert_eq!(left.len(), 1 + usize::from(is_whole));
}

#[test]
fn a_strand_that_fails_leaves_no_file_and_the_error_of_a_plain_run() {
    let compiled = program(CUBE, "n /= i*j - 1480; stabilize;");
    let dir = directory("failing");
    let files = named(&dir, ["nrrd"; 2]);
    let alone = record(&compiled, &files, Workers::from(2), Disguise::default());
    let (results, _) = record_together(&compiled, &files, 3, Disguise::default);
    assert!(alone.is_err());
    assert!(
        results.iter().all(|result| *result == alone),
        "{results:?}, alone {alone:?}"
    );
    assert_eq!(contents(&dir), []);
}
