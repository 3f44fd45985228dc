//! `diderotc view`: a program in a browser.

use super::{
    FAILURE, INTERRUPTED, SUCCESS, USAGE, args::ViewArguments, complain, interrupts, program_line,
    run, say, words,
};
use crate::{
    codegen::Compiled,
    front::{files::read_text, source::Source},
    pipeline::Options,
    run::Inputs,
    view::{Given, Server, Subject, Viewer},
};
use program_line::CommandLine;
use runtime::{
    file_name::{FileName, escaped},
    memory,
};
use std::{
    ffi::OsString,
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::{
        Arc,
        mpsc::{SyncSender, sync_channel},
    },
    thread,
    time::Duration,
};

/// The time that compiling the program may take before the browser is opened.
const COMPILATION: Duration = Duration::from_millis(500);

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
    let (understood, first) = sync_channel(1);
    let viewer = Arc::new(Viewer::start(Program {
        file: arguments.file,
        words: arguments.words,
        options: arguments.options,
        beside: arguments.beside,
        understood,
    }));
    // Pages show mistakes in the program, which may be mended; one in the command line is not.
    match first.recv_timeout(COMPILATION) {
        Ok(Understood::Help(text)) => {
            say(&text);
            return SUCCESS;
        }
        Ok(Understood::Mistake(text)) => {
            complain(&format!("error: {text}\n"));
            return USAGE;
        }
        Ok(Understood::Run) | Err(_) => {}
    }
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
    /// Takes the meaning of the words, once the program is known.
    understood: SyncSender<Understood>,
}

/// The meaning of the words after a program's name.
enum Understood {
    Run,
    Help(String),
    Mistake(String),
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
        let options = match program_line::parse(&program, &self.words) {
            Ok(CommandLine::Run(options)) => options,
            Ok(CommandLine::Help(text)) => {
                self.understand(Understood::Help(text.clone()));
                return Err(text);
            }
            Err(error) => return Err(self.mistake(&error.to_string())),
        };
        if options.sweep.is_some() {
            return Err(
                self.mistake("a viewer shows one run; leave out --vary, --each and --orbit")
            );
        }
        self.understand(Understood::Run);
        if let Some(bytes) = options.memory {
            memory::set_limit(bytes);
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

    /// Only the first meaning matters: later ones come of a program that was changed.
    fn understand(&self, meaning: Understood) {
        let _ = self.understood.try_send(meaning);
    }

    fn mistake(&self, text: &str) -> String {
        self.understand(Understood::Mistake(text.to_string()));
        text.to_string()
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
