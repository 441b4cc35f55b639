//! `whylate plan --against`

use super::sources::{DEFAULT, directories};
use crate::args::PlanArgs;
use crate::exit_status::ExitStatus;
use crate::report::Destination;
use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use whylate_host::{FsRoot, Snapshot};
use whylate_profiles::{DesiredState, ProfileReference};
use whylate_report::plan_compare::PlanComparison;
use whylate_tuning::{Agreement, SettingsComparison, SideSource, compare_settings};

/// A side, with what it is read from.
enum Side {
    Profile(DesiredState),
    Machine { name: String, tree: FsRoot, host: Box<Snapshot> },
}

/// What profiles are resolved for.
struct Target {
    tree: FsRoot,
    host: Snapshot,
    directories: Vec<PathBuf>,
}

pub(super) fn run(args: &PlanArgs, other: &str) -> Result<ExitStatus> {
    let tree = FsRoot::open(&args.root)?;
    let target = Target { host: Snapshot::read(&tree), tree, directories: directories() };
    let first = match &args.wanted.tuned {
        Some(name) => ProfileReference::Tuned(name.clone()),
        None => target.find("--profile", args.wanted.profile.as_deref().unwrap_or(DEFAULT))?,
    };
    let second = target.find("--against", other)?;
    let inputs = [&first, &second].into_iter().filter_map(file).chain([args.root.clone()]);
    let inputs: Vec<PathBuf> = inputs.filter(|path| path.is_file()).collect();
    let destination = Destination::of::<PlanComparison<'_>>(&args.output, &inputs)?;
    let (a, b) = sides(args, &target, &first, &second)?;
    let root = args.root.display().to_string();
    let comparison = compare_settings(a.source(), b.source(), (&root, &target.tree, &target.host));
    destination.write(&PlanComparison { comparison: &comparison, all: args.all })?;
    Ok(outcome(&comparison))
}

fn outcome(comparison: &SettingsComparison) -> ExitStatus {
    if comparison.count(Agreement::Different) > 0 {
        return ExitStatus::Found;
    }
    match comparison.count(Agreement::CannotTell) {
        0 => ExitStatus::Done,
        _ => ExitStatus::CannotTell,
    }
}

/// Both sides; a value that no profile takes is an error.
fn sides(
    args: &PlanArgs,
    target: &Target,
    first: &ProfileReference,
    second: &ProfileReference,
) -> Result<(Side, Side)> {
    let given = |reference: &ProfileReference| {
        let isolated = args.wanted.isolated.as_ref();
        let isolated = isolated.map(|cpus| (reference.isolated_variable().to_owned(), cpus.to_string()));
        args.wanted.set.iter().cloned().chain(isolated).collect::<Vec<_>>()
    };
    if args.wanted.isolated.is_some()
        && let Some((name, _)) = args
            .wanted
            .set
            .iter()
            .find(|(name, _)| [first, second].iter().any(|side| name == side.isolated_variable()))
    {
        bail!("--isolated is short for --set {name}=LIST: pass one of them");
    }
    let mut of_second = given(second);
    of_second.retain(|(name, _)| !args.against_set.iter().any(|(own, _)| own == name));
    of_second.extend(args.against_set.iter().cloned());
    let (a, unknown_a) = target.side(first, &given(first))?;
    let (b, unknown_b) = target.side(second, &of_second).context("--against")?;
    for (name, value) in &args.against_set {
        if unknown_b.contains(name) {
            bail!("--against-set {name}={value}: {} has no variable `{name}`", b.name());
        }
    }
    for (name, value) in &args.wanted.set {
        let is_for_second = !args.against_set.iter().any(|(own, _)| own == name);
        if unknown_a.contains(name) && (unknown_b.contains(name) || !is_for_second) {
            bail!("--set {name}={value}: neither {} nor {} has a variable `{name}`", a.name(), b.name());
        }
    }
    let takes_isolated = |side: &ProfileReference, unknown: &[String]| {
        !unknown.iter().any(|name| name == side.isolated_variable())
    };
    if let Some(cpus) = &args.wanted.isolated
        && !takes_isolated(first, &unknown_a)
        && !takes_isolated(second, &unknown_b)
    {
        bail!("--isolated {cpus}: neither {} nor {} has a variable for it", a.name(), b.name());
    }
    Ok((a, b))
}

impl Target {
    fn find(&self, option: &str, text: &str) -> Result<ProfileReference> {
        ProfileReference::find(text, &self.tree, &self.directories)
            .with_context(|| format!("{option} {text}"))
    }

    /// A side, and the given values that it takes nothing from.
    fn side(&self, reference: &ProfileReference, given: &[(String, String)]) -> Result<(Side, Vec<String>)> {
        if let ProfileReference::Machine(path) = reference {
            let tree = FsRoot::open(path)?;
            let host = Box::new(Snapshot::read(&tree));
            let unknown = given.iter().map(|(name, _)| name.clone()).collect();
            return Ok((Side::Machine { name: path.display().to_string(), tree, host }, unknown));
        }
        let resolved = reference.resolve(given, &self.tree, &self.host, &self.directories)?;
        Ok((Side::Profile(resolved.desired), resolved.unknown))
    }
}

/// The file of a side, which the report must not replace.
fn file(reference: &ProfileReference) -> Option<PathBuf> {
    match reference {
        ProfileReference::Own(name) => Some(PathBuf::from(name)),
        ProfileReference::Tuned(_) => None,
        ProfileReference::TunedDirectory(directory) => Some(Path::new(directory).join("tuned.conf")),
        ProfileReference::Machine(path) => Some(path.clone()),
    }
}

impl Side {
    fn source(&self) -> SideSource<'_> {
        match self {
            Side::Profile(desired) => SideSource::Profile(desired),
            Side::Machine { name, tree, host } => SideSource::Machine { name, tree, host },
        }
    }

    fn name(&self) -> &str {
        match self {
            Side::Profile(desired) => &desired.profile,
            Side::Machine { name, .. } => name,
        }
    }
}
