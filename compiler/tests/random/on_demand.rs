//! Copies of the images of programs, to be loaded on demand: raw samples in the other order of bytes, which no mapping gives.

use super::stages::root;
use std::{
    fs,
    path::{Path, PathBuf},
    sync::OnceLock,
};

/// The folder with the copies, which are made when it is first asked for.
pub(crate) fn folder() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("copies-on-demand");
        fs::create_dir_all(&folder).expect("a folder");
        for entry in fs::read_dir(root().join("data")).expect("data") {
            let file = entry.expect("a file").path();
            let is_image = file.extension().is_some_and(|e| e == "nrrd");
            if let (true, Some(name)) = (is_image, file.file_name()) {
                let copied = copy(&fs::read(&file).expect("an image"));
                let copied = copied.unwrap_or_else(|| fs::read(&file).expect("an image"));
                // Another process may be using the file of that name.
                let made = folder.join(format!("{}-{}", name.display(), std::process::id()));
                fs::write(&made, copied).expect("a copy");
                fs::rename(&made, folder.join(name)).expect("a copy");
            }
        }
        folder
    })
}

/// An image with its samples as text, raw instead; `None` for other images.
fn copy(image: &[u8]) -> Option<Vec<u8>> {
    let text = str::from_utf8(image).ok()?;
    let (header, samples) = text.split_once("\n\n")?;
    let header = header.strip_suffix("encoding: ascii")?;
    let kind = header
        .lines()
        .find_map(|line| line.strip_prefix("type: "))?;
    let mut copied = format!("{header}encoding: raw\nendian: big\n\n").into_bytes();
    for word in samples.split_ascii_whitespace() {
        match kind {
            "uchar" => copied.push(word.parse().ok()?),
            "short" => copied.extend(word.parse::<i16>().ok()?.to_be_bytes()),
            "ushort" => copied.extend(word.parse::<u16>().ok()?.to_be_bytes()),
            "float" => copied.extend(word.parse::<f32>().ok()?.to_be_bytes()),
            _ => return None,
        }
    }
    Some(copied)
}

/// Most images of programs have copies of other bytes, so that a test of these is one of loading on demand.
#[test]
fn images_have_copies() {
    let is_raw = |file: &PathBuf| {
        let bytes = fs::read(file).expect("a copy");
        bytes.windows(12).any(|bytes| bytes == b"endian: big\n")
    };
    let copies = fs::read_dir(folder()).expect("copies");
    let copies = copies.map(|entry| entry.expect("a file").path());
    let count = copies.filter(is_raw).count();
    assert!(count >= 10, "only {count} copies");
}
