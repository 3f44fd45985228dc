//! The page: its files, which are part of the command, and its script as one text for notebooks.

use runtime::colour_maps::ColourMap;
use serde_json::{Value, json};

/// A file of the page.
pub(super) struct File {
    pub(super) name: &'static str,
    pub(super) kind: &'static str,
    pub(super) contents: &'static [u8],
}

const SCRIPT: &str = "text/javascript; charset=utf-8";

macro_rules! files {
    ($($name:literal as $kind:expr;)*) => {
        &[$(File {
            name: $name,
            kind: $kind,
            contents: include_bytes!(concat!("page/", $name)),
        },)*]
    };
}

/// All files. Scripts come after those that they import.
pub(super) static FILES: &[File] = files! {
    "index.html" as "text/html; charset=utf-8";
    "style.css" as "text/css; charset=utf-8";
    "main.js" as SCRIPT;
};

/// The file that a browser asks for.
pub(super) fn file(path: &str) -> Option<&'static File> {
    let name = match path.split(['?', '#']).next()? {
        "/" => "index.html",
        other => other.strip_prefix('/')?,
    };
    FILES.iter().find(|file| file.name == name)
}

/// The scripts of the page as one module, which exports `mount`. Imports between them are dropped; their names differ.
pub fn script() -> String {
    let scripts = FILES.iter().filter(|file| file.kind == SCRIPT);
    // The last one is for pages of their own.
    let scripts = scripts.filter(|file| file.name != "main.js");
    let mut all = String::new();
    for file in scripts {
        for line in String::from_utf8_lossy(file.contents).lines() {
            if !line.starts_with("import ") {
                all.push_str(line.strip_prefix("export ").unwrap_or(line));
                all.push('\n');
            }
        }
    }
    all + "export { mount };\n"
}

/// The style sheet of the page.
pub fn style() -> String {
    let found = FILES.iter().find(|file| file.name == "style.css");
    found.map_or(String::new(), |file| {
        String::from_utf8_lossy(file.contents).into_owned()
    })
}

/// The first message to a page.
pub(super) fn welcome() -> Value {
    let map = |map: &ColourMap| {
        let hex = map.colours.iter().map(|byte| format!("{byte:02x}"));
        json!({
            "name": map.name,
            "diverging": map.interval.0 < 0.0,
            "colors": hex.collect::<String>(),
        })
    };
    let maps: Vec<Value> = ColourMap::all().iter().map(map).collect();
    json!({ "version": env!("CARGO_PKG_VERSION"), "maps": maps })
}
