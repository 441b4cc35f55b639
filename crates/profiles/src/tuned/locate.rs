//! Where TuneD's files are: the directories of profiles, and TuneD's own settings that profiles depend on.

use super::config::{self, FileKind, Section};
use super::error::{TunedError, TunedLocation};
use super::python::{int, strip};
/// As `os.path.normpath` has it.
pub(super) use whylate_host::normal_path as normal;
use whylate_host::{FsRoot, Why};

const MAIN: &str = "/etc/tuned/tuned-main.conf";
/// The first has precedence. TuneD has the profiles in directories of their own since 2.24; what is there was put
/// there for such a one.
const DIRECTORIES: [&str; 4] =
    ["/etc/tuned/profiles", "/etc/tuned", "/usr/lib/tuned/profiles", "/usr/lib/tuned"];
/// Longer files are not profiles.
const MOST_BYTES: usize = 1 << 20;

/// TuneD's settings, in `/etc/tuned/tuned-main.conf`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Settings {
    /// Where profiles are; the first has precedence.
    pub(super) directories: Vec<String>,
    /// `default_instance_priority`.
    pub(super) priority: i64,
    /// What is to be taken for /proc/cpuinfo.
    pub(super) cpuinfo: Option<String>,
    /// What is to be taken for uname(2).
    pub(super) uname: Option<String>,
}

impl Settings {
    /// As they are in the file; without one, as TuneD has them.
    ///
    /// # Errors
    /// If the file is there and cannot be read or understood.
    pub(super) fn read(tree: &FsRoot) -> Result<Settings, TunedError> {
        let mut settings = Settings {
            directories: DIRECTORIES.iter().map(|&name| name.to_owned()).collect(),
            ..Settings::default()
        };
        let Some(sections) = file(tree, MAIN, FileKind::Variables)? else { return Ok(settings) };
        for entry in sections.into_iter().flat_map(|section| section.entries) {
            let Some(value) = entry.value else { continue };
            match entry.name.as_str() {
                "profile_dirs" => {
                    let names =
                        value.split([',', ';']).map(|name| strip(name).trim_end_matches('/').to_owned());
                    settings.directories = names.filter(|name| name.starts_with('/')).collect();
                    settings.directories.reverse();
                }
                "default_instance_priority" => settings.priority = priority(&value, &entry.location)?,
                "cpuinfo_string" => settings.cpuinfo = Some(value),
                "uname_string" => settings.uname = Some(value),
                _ => {}
            }
        }
        Ok(settings)
    }
}

/// A unit's `priority`.
pub(super) fn priority(value: &str, location: &TunedLocation) -> Result<i64, TunedError> {
    int(value, 10).ok_or_else(|| {
        TunedError::written(
            location,
            format!("the priority `{value}` is not a number"),
            "write a whole number",
        )
    })
}

/// A file's sections; `None`: there is no such file.
///
/// # Errors
/// If it cannot be read or understood.
pub(super) fn file(tree: &FsRoot, path: &str, kind: FileKind) -> Result<Option<Vec<Section>>, TunedError> {
    let unreadable = |why: String| TunedError::Unreadable { path: path.to_owned(), why };
    match tree.beginning(path, MOST_BYTES + 1).value {
        Ok(text) if text.len() > MOST_BYTES => {
            Err(unreadable(format!("it is longer than {MOST_BYTES} bytes")))
        }
        Ok(text) => config::parse(path, &text, kind).map(Some),
        Err(Why::Missing | Why::NotCollected) => Ok(None),
        Err(why) => Err(unreadable(why.to_string())),
    }
}

/// The file of a profile in a directory. Only the last part of a name counts.
pub(super) fn path(directory: &str, name: &str) -> String {
    format!("{directory}/{}/tuned.conf", name.rsplit('/').next().unwrap_or_default())
}

/// The names in the directories, sorted.
///
/// # Errors
/// If a directory is there and cannot be read.
pub(super) fn names(tree: &FsRoot, directories: &[String]) -> Result<Vec<String>, TunedError> {
    let mut names = Vec::new();
    for directory in directories {
        match tree.list(directory).value {
            Ok(found) => names.extend(found),
            Err(Why::Missing | Why::NotCollected) => {}
            Err(why) => return Err(TunedError::Unreadable { path: directory.clone(), why: why.to_string() }),
        }
    }
    names.sort();
    names.dedup();
    Ok(names)
}
