//! The files that a program and its imports are read from: on disk, or in memory.

use runtime::memory::shown;
use std::{
    collections::BTreeMap,
    fmt, fs,
    io::Read,
    path::{Path, PathBuf},
};

/// A collection of texts by path.
pub trait Files: fmt::Debug {
    /// The text of a file.
    ///
    /// # Errors
    /// The reason why it cannot be read.
    fn read(&self, path: &Path) -> Result<String, String>;

    /// Whether there is a file of this path.
    fn has(&self, path: &Path) -> bool;

    /// A path that is the same for all spellings of the path of a file.
    fn identity(&self, path: &Path) -> PathBuf;
}

/// The files of the file system.
#[derive(Clone, Copy, Debug, Default)]
pub struct Disk;

impl Files for Disk {
    fn read(&self, path: &Path) -> Result<String, String> {
        read_text(path)
    }

    fn has(&self, path: &Path) -> bool {
        path.exists()
    }

    fn identity(&self, path: &Path) -> PathBuf {
        // A file that is not saved yet has a folder already.
        let in_folder = || {
            let folder = path.parent().filter(|folder| *folder != Path::new(""));
            let folder = fs::canonicalize(folder.unwrap_or(Path::new(".")));
            Some(folder.ok()?.join(path.file_name()?))
        };
        let known = fs::canonicalize(path).ok();
        known.or_else(in_folder).unwrap_or_else(|| path.into())
    }
}

/// Texts in memory, such as the unsaved files of an editor, in front of the files on disk.
#[derive(Clone, Debug, Default)]
pub struct Buffers {
    texts: BTreeMap<PathBuf, String>,
}

impl Buffers {
    /// Sets the text of a file.
    pub fn set(&mut self, path: &Path, text: impl Into<String>) {
        self.texts.insert(Disk.identity(path), text.into());
    }

    /// Forgets the text of a file, so that the one on disk counts again.
    pub fn remove(&mut self, path: &Path) {
        self.texts.remove(&Disk.identity(path));
    }
}

impl Files for Buffers {
    fn read(&self, path: &Path) -> Result<String, String> {
        let known = self.texts.get(&Disk.identity(path));
        known.map_or_else(|| Disk.read(path), |text| Ok(text.clone()))
    }

    fn has(&self, path: &Path) -> bool {
        self.texts.contains_key(&Disk.identity(path)) || Disk.has(path)
    }

    fn identity(&self, path: &Path) -> PathBuf {
        Disk.identity(path)
    }
}

/// The most bytes that a file of a program may have. Programs by hand have thousands, generated ones millions.
const MOST_BYTES: u64 = 16 << 20;

/// The text of a file of a program.
///
/// # Errors
/// Why there is none. A device or a pipe may have no end, so only files are read.
pub fn read_text(path: &Path) -> Result<String, String> {
    let metadata = fs::metadata(path).map_err(|error| error.to_string())?;
    if metadata.is_dir() {
        return Err("this is a directory, not a file".to_owned());
    }
    if !metadata.is_file() {
        return Err("this is a device or a pipe, and a program is read from a file".to_owned());
    }
    let mut bytes = Vec::new();
    let read =
        fs::File::open(path).and_then(|file| file.take(MOST_BYTES + 1).read_to_end(&mut bytes));
    read.map_err(|error| error.to_string())?;
    if bytes.len() as u64 > MOST_BYTES {
        let most = shown(MOST_BYTES);
        return Err(format!(
            "the file has more than the {most} that a program may have"
        ));
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        format!("byte {at} is not UTF-8 text")
    })
}
