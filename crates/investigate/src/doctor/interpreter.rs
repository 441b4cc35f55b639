//! Interpreters: their own lines are none of the program's.

use std::fs;
use std::path::Path;
use whylate_base::{SourceLocation, Tid};
use whylate_events::CodeModule;

/// The names of programs that interpret a script; a version may follow.
const NAMES: [&str; 6] = ["python", "perl", "ruby", "node", "lua", "php"];

/// True for the file of an interpreter, or of its library.
pub(super) fn is_one(module: &CodeModule) -> bool {
    // The part of Python's own library that is written in C.
    if module.path.contains("/lib-dynload/") {
        return true;
    }
    is_name(module.name().strip_prefix("lib").unwrap_or(module.name()))
}

/// `python3.11`, `libpython3.11.so.1.0` without its `lib`.
fn is_name(name: &str) -> bool {
    NAMES.iter().any(|known| {
        let version = name.strip_prefix(known).map(|rest| rest.split(".so").next().unwrap_or(rest));
        version.is_some_and(|version| version.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.'))
    })
}

/// The script that a process interprets, as its command line has it: the first argument that is no option.
pub(super) fn script_of(pid: Tid) -> Option<String> {
    let directory = Path::new("/proc").join(pid.to_string());
    let program = fs::read_link(directory.join("exe")).ok()?;
    let line = fs::read(directory.join("cmdline")).ok()?;
    is_name(program.file_name()?.to_str()?).then(|| first_argument(&line)).flatten()
}

/// `None` for a program that is given by `-c` or `-m`, or is read from the standard input.
fn first_argument(line: &[u8]) -> Option<String> {
    let words = line.split(|&byte| byte == 0).skip(1).map(String::from_utf8_lossy);
    for word in words {
        match &*word {
            "" | "-" | "-c" | "-m" | "-e" => return None,
            // The options of Python that have an argument of their own.
            "-W" | "-X" => return None,
            option if option.starts_with('-') => {}
            script => return Some(script.to_owned()),
        }
    }
    None
}

/// The place of an interpreter's line, as far as it is known: of several scripts it is not known which.
pub(super) fn place<'a>(
    module: &CodeModule,
    mut scripts: impl Iterator<Item = &'a String>,
) -> Option<SourceLocation> {
    let script = scripts.next().cloned();
    let file = script.filter(|script| scripts.all(|other| other == script))?;
    Some(SourceLocation {
        function: None,
        file: Some(file),
        line: None,
        module: Some(module.path.clone()),
        offset: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interpreters_are_known_by_their_names() {
        for (path, expected) in [
            ("/usr/bin/python3.11", true),
            ("/usr/lib/libpython3.11.so.1.0", true),
            ("/usr/bin/perl", true),
            ("/usr/lib/python3.11/lib-dynload/_ctypes.cpython-311-x86_64-linux-gnu.so", true),
            ("/opt/python-control", false),
            ("/usr/bin/luatex", false),
            ("/opt/control", false),
        ] {
            let module = CodeModule { path: path.to_owned(), ..CodeModule::default() };
            assert_eq!(is_one(&module), expected, "{path}");
        }
    }

    #[test]
    fn the_script_is_the_first_argument() {
        for (line, expected) in [
            (&b"python3\0-u\0/srv/control.py\0--fast\0"[..], Some("/srv/control.py")),
            (b"python3\0-c\0print()\0", None),
            (b"python3\0-X\0perf\0a.py\0", None),
            (b"python3\0", None),
            (b"", None),
        ] {
            assert_eq!(first_argument(line).as_deref(), expected);
        }
    }

    #[test]
    fn one_script_is_the_place_and_several_are_not() {
        let module = CodeModule { path: "/usr/bin/python3".to_owned(), ..CodeModule::default() };
        let of = |scripts: &[&str]| {
            let scripts: Vec<String> = scripts.iter().map(|&script| script.to_owned()).collect();
            place(&module, scripts.iter()).and_then(|place| place.file)
        };
        assert_eq!(of(&["a.py"]).as_deref(), Some("a.py"));
        assert_eq!(of(&["a.py", "a.py"]).as_deref(), Some("a.py"));
        assert_eq!(of(&["a.py", "b.py"]), None);
        assert_eq!(of(&[]), None);
    }
}
