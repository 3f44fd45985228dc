//! `diderotc view`: a program in a browser.

use super::{
    FAILURE, INTERRUPTED, USAGE, args::ViewArguments, complain, interrupts, program_line, run, say,
    words,
};
use crate::{
    codegen::Compiled,
    front::{files::read_text, source::Source},
    pipeline::Options,
    run::Inputs,
    view::{Given, Server, Subject, Viewer},
};
use program_line::CommandLine;
use runtime::file_name::{FileName, escaped};
use std::{
    ffi::OsString,
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::Arc,
    thread,
};

/// Shows a program until it is interrupted.
pub(super) fn view(arguments: ViewArguments) -> u8 {
    let file = FileName::from(arguments.file.as_path());
    if !words::is_program(arguments.file.as_os_str()) {
        complain(&format!(
            "error: {file}: a program's file name ends in .diderot or .ddro\n"
        ));
        return USAGE;
    }
    if let Err(error) = read_text(&arguments.file) {
        complain(&format!("error: {file}: {error}\n"));
        return FAILURE;
    }
    let (port, no_open) = (arguments.port, arguments.no_open);
    let viewer = Arc::new(Viewer::start(Program {
        file: arguments.file,
        words: arguments.words,
        options: arguments.options,
        beside: arguments.beside,
    }));
    let server = match Server::start(viewer, port) {
        Ok(server) => server,
        Err(error) => {
            complain(&format!("error: port {port}: {error}\n"));
            return FAILURE;
        }
    };
    let address = server.address();
    say(&format!("{address}\n"));
    let _ = std::io::stdout().flush();
    if !no_open && !open(&address) {
        complain("note: open this address in a browser\n");
    }
    interrupts::wait();
    INTERRUPTED
}

/// A program in a file, and the words after its name.
struct Program {
    file: PathBuf,
    words: Vec<OsString>,
    options: Options,
    /// The compiler's options as they were written.
    beside: Vec<OsString>,
}

impl Subject for Program {
    fn source(&self) -> Result<Source, String> {
        let text = read_text(&self.file);
        let text = text.map_err(|error| format!("{}: {error}", FileName::from(self.path())))?;
        Ok(Source::new(&self.file, text))
    }

    fn options(&self) -> &Options {
        &self.options
    }

    fn given(&self, source: &Source, compiled: &Compiled) -> Result<Given, String> {
        let name = escaped(self.file.as_os_str());
        let program = run::describe(source, compiled, &name, &self.options);
        let line = program_line::parse(&program, &self.words).map_err(|error| error.to_string())?;
        let options = match line {
            CommandLine::Run(options) => options,
            CommandLine::Help(text) => return Err(text),
        };
        if options.sweep.is_some() {
            return Err("a viewer shows one run; leave out --vary, --each and --orbit".to_string());
        }
        let mut inputs = Inputs::from_values(compiled, options.inputs);
        inputs.set_readings(&options.readings, &options.reading);
        let text = |word: &OsString| word.to_string_lossy().into_owned();
        let mut command = vec!["diderotc".to_string()];
        command.extend(self.beside.iter().map(text));
        command.push(self.path().display().to_string());
        command.extend(program_line::words_beside_values(&program, &self.words));
        Ok(Given {
            inputs,
            workers: options.workers,
            limit: options.files.limit,
            command,
        })
    }
}

impl Program {
    fn path(&self) -> &Path {
        &self.file
    }
}

/// Opens an address in the user's browser; false if there is none.
fn open(address: &str) -> bool {
    let has_screen = cfg!(any(target_os = "macos", windows))
        || ["DISPLAY", "WAYLAND_DISPLAY"]
            .iter()
            .any(|name| std::env::var_os(name).is_some());
    let command = match () {
        () if cfg!(target_os = "macos") => "open",
        () if cfg!(windows) => "explorer",
        () => "xdg-open",
    };
    let mut command = Command::new(command);
    command
        .arg(address)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    match has_screen.then(|| command.spawn()) {
        Some(Ok(mut child)) => {
            // The browser may stay until the end; its answer is not needed.
            thread::spawn(move || child.wait());
            true
        }
        _ => false,
    }
}
