//! A page of the book: its blocks, the folder in which its commands run, and their output.

use crate::root;
use std::{
    fmt::Write,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// A page with a folder of its own.
pub(crate) struct Page {
    pub(crate) path: PathBuf,
    pub(crate) text: String,
    pub(crate) folder: PathBuf,
}

/// A block of code.
pub(crate) struct Block<'a> {
    /// What stands after the first fence.
    pub(crate) info: &'a str,
    pub(crate) text: &'a str,
    /// The line of the first fence.
    pub(crate) line: usize,
    /// Where the text begins in the page.
    start: usize,
}

impl Block<'_> {
    pub(crate) fn language(&self) -> &str {
        self.info.split(',').next().unwrap_or_default()
    }

    pub(crate) fn tag(&self, name: &str) -> Option<&str> {
        let tags = self.info.split(',').skip(1);
        tags.filter_map(|tag| tag.split_once('='))
            .find(|tag| tag.0 == name)
            .map(|tag| tag.1)
    }

    /// The text as a whole program, if it is not a file by itself.
    pub(crate) fn program(&self) -> String {
        let mut text = self.text.to_owned();
        if self.tag("file").is_some() {
            return text;
        }
        if !text.starts_with("#version") && self.tag("error") != Some("no-version") {
            text.insert_str(0, "#version 2.0\n");
        }
        if !text.contains("strand ") {
            text.push_str("strand S () { output real r = 0; update { stabilize; } }\n");
        }
        if !text.contains("create_") && !text.contains("initially") {
            text.push_str("create_array { S() | i in 0..0 }\n");
        }
        text
    }
}

impl Page {
    /// A page of the book.
    pub(crate) fn read(name: &str) -> Page {
        Page::read_into(name, name)
    }

    /// A page of the book, with its files in a folder of its own: tests run at the same time.
    pub(crate) fn read_into(name: &str, folder: &str) -> Page {
        let path = root().join("docs/book/src").join(name);
        Page::new(&path.with_extension("md"), Path::new(folder))
    }

    /// Any page; writes its files to a folder.
    pub(crate) fn at(path: &Path) -> Page {
        Page::new(path, Path::new(path.file_stem().unwrap_or_default()))
    }

    fn new(path: &Path, folder: &Path) -> Page {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
            .join("book")
            .join(folder);
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).expect("a folder for the page");
        for shared in ["data", "programs"] {
            let target = root().canonicalize().expect("the root").join(shared);
            std::os::unix::fs::symlink(target, folder.join(shared)).expect("a link");
        }
        let page = Page {
            path: path.to_owned(),
            text: fs::read_to_string(path).expect("the page"),
            folder,
        };
        // Files of other files' imports must be there before the first is read.
        for block in page.blocks() {
            page.write(&block);
        }
        page
    }

    fn write(&self, block: &Block<'_>) {
        if let Some(file) = block.tag("file") {
            let path = self.folder.join(file);
            fs::create_dir_all(path.parent().unwrap_or(&self.folder)).expect("a folder");
            fs::write(path, block.text).expect("the file is written");
        }
    }

    pub(crate) fn blocks(&self) -> impl Iterator<Item = Block<'_>> {
        let mut blocks: Vec<Block<'_>> = Vec::new();
        let (mut open, mut at): (Option<(&str, usize, usize)>, usize) = (None, 0);
        for (line, text) in self.text.split_inclusive('\n').enumerate() {
            if let Some(info) = text.strip_prefix("```") {
                open = match open {
                    None => Some((info.trim_end(), at + text.len(), line + 1)),
                    Some((info, start, line)) => {
                        let text = &self.text[start..at];
                        blocks.push(Block {
                            info,
                            text,
                            line,
                            start,
                        });
                        None
                    }
                };
            }
            at += text.len();
        }
        blocks.into_iter()
    }

    /// The page with what its commands print now.
    pub(crate) fn with_outputs(&self) -> String {
        let (mut out, mut done) = (String::new(), 0);
        for block in self.blocks() {
            self.write(&block);
            if block.language() != "console" {
                continue;
            }
            out.push_str(&self.text[done..block.start]);
            for command in block
                .text
                .lines()
                .filter_map(|line| line.strip_prefix("$ "))
            {
                let _ = writeln!(out, "$ {command}");
                out.push_str(&self.shell(command));
            }
            done = block.start + block.text.len();
        }
        out + &self.text[done..]
    }

    /// What a command prints, in the page's folder.
    pub(crate) fn shell(&self, command: &str) -> String {
        let diderotc = Path::new(env!("CARGO_BIN_EXE_diderotc"));
        let path = format!(
            "{}:{}",
            diderotc.parent().expect("a folder").display(),
            std::env::var("PATH").unwrap_or_default()
        );
        let output = Command::new("sh")
            .args(["-c", &format!("{{ {command}\n}} 2>&1")])
            .current_dir(&self.folder)
            .env("PATH", path)
            .output()
            .expect("a shell");
        let text = String::from_utf8_lossy(&output.stdout);
        let lines: Vec<&str> = text.trim_end().lines().map(str::trim_end).collect();
        match lines.is_empty() {
            true => String::new(),
            false => lines.join("\n") + "\n",
        }
    }
}
