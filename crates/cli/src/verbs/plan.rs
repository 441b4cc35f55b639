//! `whylate plan`

mod against;
mod sources;

use crate::args::{PlanArgs, Wanted};
use crate::exit_status::ExitStatus;
use crate::output;
use crate::report::Destination;
use anyhow::{Context, Result, bail};
use sources::{DEFAULT, directories};
use std::io::Read;
use std::path::Path;
use whylate_base::printable;
use whylate_host::{FsRoot, Snapshot};
use whylate_profiles::{DesiredState, profile, tuned};
use whylate_report::Render;
use whylate_report::check::json::document as check;
use whylate_tuning::{AllowedRefusals, Plan};

/// Documents of `whylate check` and plans have some 100 KiB.
const MOST_BYTES: u64 = 64 << 20;

pub(crate) fn run(args: &PlanArgs) -> Result<ExitStatus> {
    if let Some(other) = &args.against {
        return against::run(args, other);
    }
    let format = args.output.format();
    if !Plan::FORMATS.contains(&format) {
        let known: Vec<&str> = Plan::FORMATS.iter().map(|format| format.name()).collect();
        bail!(
            "a plan has no format {}: choose one of {}, or compare with --against",
            format.name(),
            known.join(", ")
        );
    }
    let destination = Destination::of::<Plan>(&args.output, args.from.as_slice())?;
    let from = args.from.as_deref().map(checked).transpose()?;
    let tree = FsRoot::open(&args.root)?;
    if args.list {
        return list(&tree);
    }
    let host = Snapshot::read(&tree);
    let desired = desired(&args.wanted, from.as_ref(), &tree, &host)?;
    let plan = whylate_tuning::plan(desired, &tree, &host, &allowed(&args.wanted)?);
    destination.write(&plan)?;
    Ok(match plan.changes.is_empty() {
        false => ExitStatus::Found,
        true if plan.is_blind() => ExitStatus::CannotTell,
        true => ExitStatus::Done,
    })
}

/// What the user allows.
pub(crate) fn allowed(wanted: &Wanted) -> Result<AllowedRefusals> {
    AllowedRefusals::of(&wanted.allow).map_err(|code| anyhow::anyhow!("`{code}` cannot be allowed"))
}

/// The desired state: all of a profile, or only settings that fix failed checks; without what is to be skipped.
pub(crate) fn desired(
    wanted: &Wanted,
    from: Option<&check::Document>,
    tree: &FsRoot,
    host: &Snapshot,
) -> Result<DesiredState> {
    let desired = all_wishes(wanted, from, tree, host)?;
    Ok(match wanted.skip_kernel_parameters {
        true => whylate_tuning::without_parameters(desired),
        false => desired,
    })
}

fn all_wishes(
    wanted: &Wanted,
    from: Option<&check::Document>,
    tree: &FsRoot,
    host: &Snapshot,
) -> Result<DesiredState> {
    let mut given = wanted.set.clone();
    let variable = if wanted.tuned.is_some() { "isolated_cores" } else { "isolated" };
    if wanted.isolated.is_some() && given.iter().any(|(name, _)| name == variable) {
        bail!("--isolated is short for --set {variable}=LIST: pass one of them");
    }
    if let Some(name) = &wanted.tuned {
        given.extend(wanted.isolated.as_ref().map(|cpus| (variable.to_owned(), cpus.to_string())));
        return Ok(tuned::load(name, tree, host, &given)?);
    }
    let of_check = from.and_then(|from| from.ask.cpus.clone());
    let isolated = wanted.isolated.as_ref().map(ToString::to_string).or(of_check);
    if let Some(cpus) = isolated
        && !given.iter().any(|(name, _)| name == variable)
    {
        given.push((variable.to_owned(), cpus));
    }
    let name = wanted.profile.as_deref().or(from.map(|from| from.ask.profile.as_str())).unwrap_or(DEFAULT);
    let desired = profile::load(name, &given, host, &directories())?;
    Ok(match from {
        None => desired,
        Some(from) => {
            let failed = from.answers.iter().filter(|answer| answer.status == check::Status::Fail);
            let codes: Vec<String> = failed.map(|answer| answer.code.clone()).collect();
            whylate_tuning::for_rules(desired, &codes)
        }
    })
}

/// The text of a JSON document of ours, and what to call it; `-` is standard input.
pub(crate) fn document(path: &Path) -> Result<(String, String)> {
    let is_input = path.as_os_str() == "-";
    let name = if is_input { "standard input".to_owned() } else { path.display().to_string() };
    let cannot = || format!("cannot read {name}");
    let file: Box<dyn Read> = match is_input {
        true => Box::new(std::io::stdin()),
        false => Box::new(std::fs::File::open(path).with_context(cannot)?),
    };
    let mut text = String::new();
    file.take(MOST_BYTES + 1).read_to_string(&mut text).with_context(cannot)?;
    match text.len() as u64 > MOST_BYTES {
        true => bail!("{name} is longer than {} MiB: it is not a document of whylate", MOST_BYTES >> 20),
        false => Ok((text, name)),
    }
}

/// An answer of `whylate check --json`.
pub(crate) fn checked(path: &Path) -> Result<check::Document> {
    let (text, name) = document(path)?;
    let wanted = || format!("{name} is not a document of `whylate check --json`");
    let document: check::Document = serde_json::from_str(&text).with_context(wanted)?;
    match document.schema == check::SCHEMA {
        true => Ok(document),
        false => bail!("{name} has the schema {}, and {} was expected", document.schema, check::SCHEMA),
    }
}

fn list(tree: &FsRoot) -> Result<ExitStatus> {
    let own = profile::list(&directories()).into_iter().map(|listed| {
        let summary = listed.summary.unwrap_or_else(|error| format!("invalid: {error}"));
        let place = listed.path.map(|path| format!(" ({})", path.display())).unwrap_or_default();
        (listed.name, format!("{summary}{place}"))
    });
    let tuned = tuned::list(tree)?.into_iter().map(|listed| {
        (
            format!("--tuned {}", listed.name),
            format!("{} ({})", listed.summary.unwrap_or_default(), listed.path),
        )
    });
    let lines: Vec<(String, String)> = own.chain(tuned).collect();
    let width = lines.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    let line = |(name, summary): &(String, String)| {
        format!("{}\n", printable(&format!("{name:<width$}  {summary}")))
    };
    output::print(&lines.iter().map(line).collect::<String>())?;
    Ok(ExitStatus::Done)
}
