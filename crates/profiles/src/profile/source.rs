//! Where profiles are: built in, in directories by name, or wherever a path leads.

use super::built_in::{BuiltIn, built_in};
use super::document::Document;
use super::error::{Location, ProfileError};
use crate::Skipped;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

/// No profile is longer.
const LONGEST: u64 = 1 << 20;

/// A profile that can be had by its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProfileInfo {
    /// Its name.
    pub name: String,
    /// What it is for, by its own summary; or what is wrong with it.
    pub summary: Result<String, ProfileError>,
    /// Its file; `None`: it is built in.
    pub path: Option<PathBuf>,
}

/// Where one is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Source {
    BuiltIn(&'static BuiltIn),
    File(PathBuf),
}

impl Source {
    /// What errors call it.
    pub(super) fn file(&self) -> String {
        match self {
            Source::BuiltIn(profile) => format!("{}.toml", profile.name),
            Source::File(path) => path.display().to_string(),
        }
    }

    /// The last part of it, as desired settings show where they are from.
    pub(super) fn short(&self) -> String {
        match self {
            Source::BuiltIn(_) => self.file(),
            Source::File(path) => path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        }
    }

    pub(super) fn document(&self) -> Result<Document, ProfileError> {
        match self {
            Source::BuiltIn(profile) => Document::parse(&self.file(), profile.text),
            Source::File(path) => Document::parse(&self.file(), &read(path)?),
        }
    }
}

/// Every built-in profile, by itself.
pub(super) fn built_in_documents() -> impl Iterator<Item = Document> {
    // Each can be read: a test sees to it.
    built_in().iter().filter_map(|profile| Source::BuiltIn(profile).document().ok())
}

/// Everything that a name or a path may mean, best first; and the directories that cannot be read, such as the
/// configuration of another user under sudo(8): they count as empty, and the plan reports them.
fn candidates(
    name: &str,
    beside: Option<&Path>,
    directories: &[PathBuf],
) -> Result<(Vec<Source>, Vec<Skipped>), ProfileError> {
    if name.contains('/') || name.ends_with(".toml") {
        let path = beside.and_then(Path::parent).map_or(PathBuf::from(name), |dir| dir.join(name));
        return Ok((vec![Source::File(path)], Vec::new()));
    }
    let (mut found, mut closed) = (Vec::new(), Vec::new());
    for dir in directories {
        let path = dir.join(format!("{name}.toml"));
        match path.try_exists() {
            Ok(true) => found.push(Source::File(path)),
            Ok(false) => {}
            // Of a daemon HOME may be /dev/null.
            Err(error) if error.kind() == ErrorKind::NotADirectory => {}
            Err(error) => closed.push(Skipped { what: path.display().to_string(), why: unseen(&error) }),
        }
    }
    found.extend(built_in().iter().filter(|profile| profile.name == name).map(Source::BuiltIn));
    if found.is_empty() {
        let dirs = directories.iter().map(|dir| match dir.join(format!("{name}.toml")).try_exists() {
            Err(error) => format!("{} (not readable: {error})", dir.display()),
            Ok(_) => dir.display().to_string(),
        });
        let dirs: Vec<String> = dirs.collect();
        let mut names: Vec<String> = list(directories).into_iter().map(|listed| listed.name).collect();
        names.dedup();
        return Err(ProfileError::Unknown {
            name: name.to_owned(),
            looked_in: if dirs.is_empty() { "no directory".to_owned() } else { dirs.join(", ") },
            available: names.join(", "),
        });
    }
    Ok((found, closed))
}

fn unseen(error: &std::io::Error) -> String {
    format!("cannot tell whether there is such a profile ({error}): the next one of this name is used")
}

/// All profiles, by name; where several have the same, the one that counts.
pub(super) fn list(directories: &[PathBuf]) -> Vec<ProfileInfo> {
    let mut all: Vec<ProfileInfo> = Vec::new();
    for dir in directories {
        let Ok(entries) = std::fs::read_dir(dir) else { continue };
        for entry in entries.flatten() {
            let path = entry.path();
            let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let is_profile = path.extension().is_some_and(|extension| extension == "toml");
            if !is_profile || all.iter().any(|listed| listed.name == name) {
                continue;
            }
            let summary = Source::File(path.clone()).document().map(|document| document.summary);
            all.push(ProfileInfo { name, summary, path: Some(path) });
        }
    }
    for profile in built_in() {
        if !all.iter().any(|listed| listed.name == profile.name) {
            let summary = Ok(profile.summary.to_owned());
            all.push(ProfileInfo { name: profile.name.to_owned(), summary, path: None });
        }
    }
    all.sort_by(|a, b| a.name.cmp(&b.name));
    all
}

fn read(path: &Path) -> Result<String, ProfileError> {
    let failed = |why: String| ProfileError::Unreadable { path: path.display().to_string(), why };
    // A pipe or a device would be waited for.
    let metadata = std::fs::metadata(path).map_err(|error| match error.kind() {
        ErrorKind::NotFound => {
            failed("there is no such file; `whylate plan --list` has those with a name".to_owned())
        }
        _ => failed(error.to_string()),
    });
    let is_file = metadata?.is_file();
    if !is_file {
        return Err(failed("it is not a regular file".to_owned()));
    }
    let mut text = Vec::new();
    let file = File::open(path).map_err(|error| failed(error.to_string()))?;
    file.take(LONGEST + 1).read_to_end(&mut text).map_err(|error| failed(error.to_string()))?;
    if text.len() as u64 > LONGEST {
        return Err(failed(format!("it is longer than {LONGEST} bytes, so it is not a profile")));
    }
    String::from_utf8(text).map_err(|_| failed("it is not UTF-8 text".to_owned()))
}

/// A profile with those that it extends, each once, those that are extended first.
pub(super) struct Chain {
    pub(super) documents: Vec<(Source, Document)>,
    /// Where other profiles of these names may be, in directories that cannot be read.
    pub(super) unseen: Vec<Skipped>,
}

impl Chain {
    pub(super) fn load(name: &str, directories: &[PathBuf]) -> Result<Chain, ProfileError> {
        let mut chain = Chain { documents: Vec::new(), unseen: Vec::new() };
        chain.add(name, None, directories, &mut Vec::new())?;
        Ok(chain)
    }

    /// `open` are those that are being read: one may extend another of its own name, which it stands in front of.
    fn add(
        &mut self,
        name: &str,
        from: Option<(&Source, &Location)>,
        directories: &[PathBuf],
        open: &mut Vec<Source>,
    ) -> Result<(), ProfileError> {
        let beside = match from {
            Some((Source::File(path), _)) => Some(path.as_path()),
            _ => None,
        };
        let (found, unseen) = candidates(name, beside, directories).map_err(|error| match (error, from) {
            (ProfileError::Unknown { looked_in, available, .. }, Some((_, location))) => {
                ProfileError::Written {
                    location: location.clone(),
                    what: format!("there is not a profile `{name}` in {looked_in}"),
                    possible: format!("there are {available}"),
                }
            }
            (error, _) => error,
        })?;
        self.unseen.extend(unseen);
        let Some(source) = found.iter().find(|source| !open.iter().any(|own| same(own, source))) else {
            let location = from.map(|(_, location)| location.clone()).unwrap_or_default();
            let files: Vec<String> = open.iter().map(Source::file).chain([found[0].file()]).collect();
            return Err(ProfileError::Circle { location, chain: files.join(" extends ") });
        };
        if self.documents.iter().any(|(own, _)| same(own, source)) {
            return Ok(());
        }
        if open.len() >= DEEPEST {
            let location = from.map(|(_, location)| location.clone()).unwrap_or_default();
            let what = "too many profiles extend each other".to_owned();
            return Err(ProfileError::Written { location, what, possible: format!("at most {DEEPEST} may") });
        }
        let document = source.document()?;
        open.push(source.clone());
        for (base, location) in &document.extends {
            self.add(base, Some((source, location)), directories, open)?;
        }
        open.pop();
        self.documents.push((source.clone(), document));
        Ok(())
    }
}

const DEEPEST: usize = 32;

/// The same file, whatever the way to it.
fn same(a: &Source, b: &Source) -> bool {
    match (a, b) {
        (Source::File(a), Source::File(b)) => {
            a == b || matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
        }
        _ => a == b,
    }
}
