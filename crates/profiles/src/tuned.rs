//! TuneD's profiles, read as they are: files, includes, variables, functions and plugins become [`DesiredState`], so that
//! no profile has to be written again. Nothing is run; what is not carried over is listed with the reason.
//!
//! What is meant by what is defined by TuneD: tuned.conf(5), tuned-profiles(7) and its source
//! (<https://github.com/redhat-performance/tuned>), compared with version 2.20.

mod config;
mod cpulist;
mod error;
mod functions;
mod glob;
mod locate;
mod merge;
mod output;
mod plugins;
mod python;
mod variables;

use crate::DesiredState;
use config::FileKind;
pub use error::{TunedError, TunedLocation};
use functions::Facts;
use locate::Settings;
use merge::{Item, Profile, Unit};
use output::Output;
use python::strip;
use variables::Variables;
use whylate_host::{FsRoot, Snapshot, Why};

/// More includes than any real profile has.
const MOST_PROFILES: usize = 100;

/// A profile there is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TunedProfileInfo {
    /// Its name.
    pub name: String,
    /// The author's description; `None`: nothing, or the file could not be understood.
    pub summary: Option<String>,
    /// Its file.
    pub path: String,
}

/// The profiles there are, by name.
///
/// # Errors
/// If a directory or TuneD's own settings are there and cannot be read.
pub fn list(tree: &FsRoot) -> Result<Vec<TunedProfileInfo>, TunedError> {
    let directories = Settings::read(tree)?.directories;
    let mut listed = Vec::new();
    for name in locate::names(tree, &directories)? {
        let paths = directories.iter().map(|directory| locate::path(directory, &name));
        let Some(path) = paths.into_iter().find(|path| tree.text(path).value.is_ok()) else { continue };
        let summary = locate::file(tree, &path, FileKind::Profile).ok().flatten().and_then(|sections| {
            let main = sections.into_iter().find(|section| &*section.name == "main")?;
            main.entries.into_iter().find(|entry| entry.name == "summary")?.value
        });
        listed.push(TunedProfileInfo { name, summary, path });
    }
    Ok(listed)
}

/// What a TuneD profile asks for on a machine. `name` may be several names with blanks between, as for tuned-adm(8).
/// `given` are variables: they count for what the profile's files set for variables of these names.
///
/// # Errors
/// If there is no such profile; if a file cannot be read or understood; if the profile's own assertions fail, such
/// as that the isolated CPUs be set; if a variable is given that the profile knows nothing of.
pub fn load(
    name: &str,
    tree: &FsRoot,
    snapshot: &Snapshot,
    given: &[(String, String)],
) -> Result<DesiredState, TunedError> {
    let names: Vec<&str> = name.split_whitespace().collect();
    let is_name = |name: &&str| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-'))
    };
    if names.is_empty() || !names.iter().all(is_name) {
        return Err(TunedError::Name { name: name.to_owned() });
    }
    load_from(&names, None, (tree, snapshot), given)
}

/// What the TuneD profile in a directory of this machine asks for on a machine, which need not be this one.
/// `directory` is absolute and holds `tuned.conf`; profiles that it includes are looked for beside it first, then where
/// the machine has its own.
///
/// # Errors
/// As [`load`].
pub fn load_directory(
    directory: &str,
    tree: &FsRoot,
    snapshot: &Snapshot,
    given: &[(String, String)],
) -> Result<DesiredState, TunedError> {
    let directory = directory.trim_end_matches('/');
    let Some((parent, name)) = directory.rsplit_once('/').filter(|(_, name)| !name.is_empty()) else {
        return Err(TunedError::Name { name: directory.to_owned() });
    };
    let here = FsRoot::live();
    let state = load_from(&[name], Some((&here, parent)), (tree, snapshot), given)?;
    Ok(DesiredState { profile: format!("tuned:{directory}"), ..state })
}

/// Loads profiles, one over the other; `first` is a directory that is looked into before those of the machine.
fn load_from(
    names: &[&str],
    first: Option<(&FsRoot, &str)>,
    (tree, snapshot): (&FsRoot, &Snapshot),
    given: &[(String, String)],
) -> Result<DesiredState, TunedError> {
    let settings = Settings::read(tree)?;
    let facts = Facts { tree, host: snapshot };
    let mut variables = Variables::new(facts);
    for (name, value) in given {
        let location = TunedLocation { file: "--set".into(), section: "".into(), line: 1 };
        variables.give(name, value, &location)?;
    }
    variables.forget_references();
    let own = settings.directories.iter().map(|directory| (tree, directory.as_str()));
    let directories = first.into_iter().chain(own).collect();
    let mut gathered = Gathered { tree, directories, files: Vec::new(), profiles: Vec::new() };
    for name in names {
        gathered.load(name, None, &mut variables)?;
    }
    let mut profile = Profile::default();
    for later in gathered.profiles {
        profile.merge(later);
    }
    let (definitions, units): (Vec<Unit>, Vec<Unit>) =
        profile.units.into_iter().partition(Unit::is_variables);
    for item in definitions.into_iter().flat_map(|unit| unit.options) {
        define(&item, tree, &mut variables).map_err(|error| hinted(error, &variables))?;
    }
    let mut output = Output::new(&mut variables);
    plugins::carry_over(units, &settings, &mut output)?;
    let (desired, mut skipped) = output.done();
    skipped.extend(std::mem::take(&mut variables.skipped));
    if let Some(name) = variables.useless(given) {
        let known: Vec<&str> = variables.names().collect();
        return Err(TunedError::Given { profile: names.join(" "), name, known: known.join(", ") });
    }
    let profile = format!("tuned:{}", names.join(" "));
    let variables = variables.resolved();
    Ok(DesiredState { profile, variables, settings: desired, skipped, ..DesiredState::default() })
}

/// The profiles that one consists of, each behind those that it includes.
struct Gathered<'a> {
    tree: &'a FsRoot,
    /// Where profiles are looked for, and whose files these are.
    directories: Vec<(&'a FsRoot, &'a str)>,
    files: Vec<String>,
    profiles: Vec<Profile>,
}

impl Gathered<'_> {
    /// Reads a profile, unless it was. A name that begins with `-` need not be there.
    fn load(
        &mut self,
        name: &str,
        from: Option<&TunedLocation>,
        variables: &mut Variables<'_>,
    ) -> Result<(), TunedError> {
        let (name, may_lack) = match (from, name.strip_prefix('-')) {
            (Some(_), Some(name)) => (name, true),
            _ => (name, false),
        };
        let mut is_known = false;
        for (tree, directory) in self.directories.clone() {
            let path = locate::path(directory, name);
            if self.files.contains(&path) {
                // One that includes its own name means the one in the next directory.
                is_known = true;
                continue;
            }
            let Some(sections) = locate::file(tree, &path, FileKind::Profile)? else { continue };
            if let Some(location) = from.filter(|_| self.files.len() >= MOST_PROFILES) {
                let what = format!("more than {MOST_PROFILES} profiles include each other");
                return Err(TunedError::written(location, what, "include fewer"));
            }
            let directory = path.rsplit_once('/').map_or("/", |(directory, _)| directory).to_owned();
            self.files.push(path);
            let mut profile = Profile::of(sections, &directory);
            if let Some(include) = profile.take("include") {
                let names = variables.expand(&include.value, &include.location)?;
                if let Some(why) = names.unknown {
                    let what = format!("it cannot be told what is included: {why}");
                    return Err(TunedError::written(&include.location, what, "name the profile"));
                }
                for name in names.text.split([',', ';']) {
                    self.load(strip(name), Some(&include.location), variables)?;
                }
            }
            self.profiles.push(profile);
            return Ok(());
        }
        match is_known || may_lack {
            true => Ok(()),
            false => Err(self.unknown(name, from)),
        }
    }

    fn unknown(&self, name: &str, from: Option<&TunedLocation>) -> TunedError {
        let looked_in: Vec<String> = self
            .directories
            .iter()
            .map(|(tree, directory)| match tree.text(&locate::path(directory, name)).value {
                Err(Why::Missing | Why::NotCollected) | Ok(_) => (*directory).to_owned(),
                Err(why) => format!("{directory} ({why})"),
            })
            .collect();
        let available = list(self.tree).map_or_else(
            |error| error.to_string(),
            |listed| listed.into_iter().map(|profile| profile.name).collect::<Vec<_>>().join(", "),
        );
        TunedError::Unknown {
            name: name.to_owned(),
            included: from.map(|location| format!(", which {location} includes")).unwrap_or_default(),
            looked_in: looked_in.join(", "),
            available: if available.is_empty() { "none".to_owned() } else { available },
        }
    }
}

/// An option of `[variables]`: a variable, or a file of some.
fn define(item: &Item, tree: &FsRoot, variables: &mut Variables<'_>) -> Result<(), TunedError> {
    if item.name != "include" {
        return variables.set(&item.name, &item.value, &item.location);
    }
    let path = locate::normal(&item.value);
    let Some(sections) = locate::file(tree, &path, FileKind::Variables)? else {
        variables.absent.push(path.clone());
        let why = tree.text(&path).value.err().map(|why| why.to_string()).unwrap_or_default();
        variables.skipped.push(crate::Skipped { what: format!("{}: include={path}", item.location), why });
        return Ok(());
    };
    for entry in sections.into_iter().flat_map(|section| section.entries) {
        if let Some(value) = &entry.value {
            variables.set(&entry.name, value, &entry.location)?;
        }
    }
    Ok(())
}

/// A failed assertion is mostly for a file of variables that is not there.
fn hinted(mut error: TunedError, variables: &Variables<'_>) -> TunedError {
    if let TunedError::Assertion { hint, .. } = &mut error
        && !variables.absent.is_empty()
    {
        *hint = format!(" ({} could not be read)", variables.absent.join(", "));
    }
    error
}
