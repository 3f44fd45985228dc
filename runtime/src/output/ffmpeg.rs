//! Films that the program ffmpeg encodes: it takes plain frames from a pipe and writes the file.

use std::env;
use std::io::{self, BufWriter, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::thread::{self, JoinHandle};

/// Bytes of messages that are kept, at most.
const MOST_SAID: u64 = 4096;

/// Whether there is such a program.
///
/// # Errors
/// A message with another way.
pub(super) fn check() -> Result<(), String> {
    let name = format!("ffmpeg{}", env::consts::EXE_SUFFIX);
    let path = env::var_os("PATH").unwrap_or_default();
    let is_there = env::split_paths(&path).any(|directory| directory.join(&name).is_file());
    match is_there {
        true => Ok(()),
        false => Err(
            "this needs the program ffmpeg, which is not on the PATH; a film with the suffix .y4m can be encoded elsewhere".to_string(),
        ),
    }
}

/// A running ffmpeg, which takes frames as they are written to it.
pub(super) struct Encoder {
    process: Child,
    frames: Option<BufWriter<ChildStdin>>,
    /// Its messages.
    messages: Option<JoinHandle<String>>,
}

impl Encoder {
    /// Lets it write the file at `path`, which exists.
    pub(super) fn start(path: &Path) -> io::Result<Encoder> {
        let mut process = Command::new("ffmpeg")
            .args(["-y", "-loglevel", "error", "-f", "yuv4mpegpipe", "-i", "-"])
            // Colours at half the resolution need even sizes.
            .args(["-vf", "pad=ceil(iw/2)*2:ceil(ih/2)*2"])
            .args([
                "-pix_fmt",
                "yuv420p",
                "-movflags",
                "+faststart",
                "-f",
                "mp4",
            ])
            .arg(path)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|e| io::Error::other(format!("ffmpeg: {e}")))?;
        // They are read all the time, so that it never waits for a reader.
        let messages = process.stderr.take().map(|mut pipe| {
            thread::spawn(move || {
                let mut said = Vec::new();
                let _ = (&mut pipe).take(MOST_SAID).read_to_end(&mut said);
                let _ = io::copy(&mut pipe, &mut io::sink());
                String::from_utf8_lossy(&said).into_owned()
            })
        });
        Ok(Encoder {
            frames: process.stdin.take().map(BufWriter::new),
            process,
            messages,
        })
    }

    /// Lets it complete the file.
    ///
    /// # Errors
    /// It failed; its message.
    pub(super) fn finish(&mut self) -> io::Result<()> {
        let flushed = self
            .frames
            .take()
            .map_or(Ok(()), |mut frames| frames.flush());
        let status = self.process.wait()?;
        let said = self.messages.take().and_then(|thread| thread.join().ok());
        if !status.success() {
            let said = said.unwrap_or_default();
            let cause = match said.trim() {
                "" => status.to_string(),
                said => said.to_string(),
            };
            return Err(io::Error::other(format!("ffmpeg failed: {cause}")));
        }
        flushed
    }

    /// Passes on what frames do; if it has ended early, its own message.
    fn passed<T>(
        &mut self,
        pass: impl FnOnce(&mut BufWriter<ChildStdin>) -> io::Result<T>,
    ) -> io::Result<T> {
        let ended = || io::Error::from(io::ErrorKind::BrokenPipe);
        let passed = self.frames.as_mut().ok_or_else(ended).and_then(pass);
        passed.map_err(|cause| self.finish().err().unwrap_or(cause))
    }
}

impl Write for Encoder {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.passed(|frames| frames.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.passed(Write::flush)
    }
}

impl Drop for Encoder {
    /// A film that was not finished is given up.
    fn drop(&mut self) {
        // Both fail if the process has ended, which is as good.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
