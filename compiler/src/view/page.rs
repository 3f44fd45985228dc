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
    "values.js" as SCRIPT;
    "camera.js" as SCRIPT;
    "protocol.js" as SCRIPT;
    "grid.js" as SCRIPT;
    "dom.js" as SCRIPT;
    "gl.js" as SCRIPT;
    "picture.js" as SCRIPT;
    "geometry.js" as SCRIPT;
    "plot.js" as SCRIPT;
    "table.js" as SCRIPT;
    "fields.js" as SCRIPT;
    "histogram.js" as SCRIPT;
    "controls.js" as SCRIPT;
    "display.js" as SCRIPT;
    "messages.js" as SCRIPT;
    "bars.js" as SCRIPT;
    "status.js" as SCRIPT;
    "help.js" as SCRIPT;
    "keys.js" as SCRIPT;
    "stage.js" as SCRIPT;
    "receive.js" as SCRIPT;
    "app.js" as SCRIPT;
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::{collections::BTreeSet, fs, path::Path};

    #[test]
    fn all_files_of_the_page_are_in_the_table() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/view/page");
        let files = fs::read_dir(folder).expect("a folder");
        let files = files.map(|file| file.expect("a file").file_name().into_string());
        let files: BTreeSet<String> = files.map(|name| name.expect("text")).collect();
        let table = FILES.iter().map(|file| file.name.to_string()).collect();
        assert_eq!(files, table);
    }

    /// The files that a script imports.
    fn imports(file: &File) -> Vec<String> {
        let text = String::from_utf8_lossy(file.contents).into_owned();
        let lines = text.lines().filter(|line| line.starts_with("import "));
        let named = lines.map(|line| line.split("\"./").nth(1).expect("a path").to_string());
        named
            .map(|name| name.trim_end_matches("\";").to_string())
            .collect()
    }

    #[test]
    fn scripts_stand_after_those_that_they_import() {
        for (n, file) in FILES
            .iter()
            .enumerate()
            .filter(|(_, file)| file.kind == SCRIPT)
        {
            for import in imports(file) {
                let earlier = FILES[..n].iter().any(|other| other.name == import);
                assert!(earlier, "{} imports {import}", file.name);
            }
        }
    }

    #[test]
    fn one_script_has_all_of_them_and_every_name_once() {
        let script = script();
        assert!(!script.contains("\nimport ") && !script.contains("\nexport default"));
        assert_eq!(script.matches("\nexport ").count(), 1);
        let mut names = BTreeSet::new();
        for line in script.lines() {
            let mut words = line.split([' ', '(', '=', ';', '{']);
            let word = words.find(|word| !matches!(*word, "async"));
            if matches!(word, Some("const" | "let" | "function" | "class")) {
                let name = words.find(|word| !word.is_empty()).unwrap_or_default();
                assert!(names.insert(name.to_string()), "{name} is there twice");
            }
        }
        assert!(names.contains("mount") && names.len() > 50, "{names:?}");
    }

    #[test]
    fn paths_outside_the_page_are_not_served() {
        assert_eq!(file("/").map(|file| file.name), Some("index.html"));
        assert_eq!(
            file("/style.css?x").map(|file| file.name),
            Some("style.css")
        );
        for path in ["", "main.js", "/../page.rs", "//main.js", "/page/main.js"] {
            assert!(file(path).is_none(), "{path}");
        }
    }
}
