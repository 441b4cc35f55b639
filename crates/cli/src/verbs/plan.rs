//! `whylate plan`

mod against;
pub(crate) mod from;
pub(crate) mod input;
mod sources;

use crate::args::{PlanArgs, Wanted};
use crate::exit_status::ExitStatus;
use crate::output;
use crate::report::Destination;
use anyhow::{Result, bail};
use from::From;
use sources::{DEFAULT, directories};
use whylate_base::printable;
use whylate_host::{FsRoot, Snapshot};
use whylate_profiles::{DesiredState, profile, tuned};
use whylate_report::Render;
use whylate_tuning::{AllowedRefusals, Plan};

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
    let from = args.from.as_deref().map(From::read).transpose()?;
    let tree = FsRoot::open(&args.root)?;
    if args.list {
        return list(&tree);
    }
    let host = Snapshot::read(&tree);
    let desired = desired(&args.wanted, from.as_ref().map(|from| (from, args.fix.as_slice())), &tree, &host)?;
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
    from: Option<(&From, &[usize])>,
    tree: &FsRoot,
    host: &Snapshot,
) -> Result<DesiredState> {
    let desired = match from {
        Some((from, numbers)) if from.check.is_none() || !numbers.is_empty() => {
            from::check_options(from, has_profile(wanted))?;
            from.chosen(numbers, host)?
        }
        from => all_wishes(wanted, from.map(|(from, _)| from), tree, host)?,
    };
    Ok(match wanted.skip_kernel_parameters {
        true => whylate_tuning::without_parameters(desired),
        false => desired,
    })
}

/// Whether a profile or something of it is named.
pub(crate) fn has_profile(wanted: &Wanted) -> bool {
    let Wanted { profile, tuned, isolated, set, .. } = wanted;
    profile.is_some() || tuned.is_some() || isolated.is_some() || !set.is_empty()
}

fn all_wishes(wanted: &Wanted, from: Option<&From>, tree: &FsRoot, host: &Snapshot) -> Result<DesiredState> {
    let mut given = wanted.set.clone();
    let variable = if wanted.tuned.is_some() { "isolated_cores" } else { "isolated" };
    if wanted.isolated.is_some() && given.iter().any(|(name, _)| name == variable) {
        bail!("--isolated is short for --set {variable}=LIST: pass one of them");
    }
    if let Some(name) = &wanted.tuned {
        given.extend(wanted.isolated.as_ref().map(|cpus| (variable.to_owned(), cpus.to_string())));
        return Ok(tuned::load(name, tree, host, &given)?);
    }
    let check = from.and_then(|from| from.check.as_ref());
    let of_check = check.and_then(|check| check.ask.cpus.clone());
    let isolated = wanted.isolated.as_ref().map(ToString::to_string).or(of_check);
    if let Some(cpus) = isolated
        && !given.iter().any(|(name, _)| name == variable)
    {
        given.push((variable.to_owned(), cpus));
    }
    let name = wanted.profile.as_deref().or(check.map(|check| check.ask.profile.as_str())).unwrap_or(DEFAULT);
    let desired = profile::load(name, &given, host, &directories())?;
    Ok(match from {
        None => desired,
        Some(from) => whylate_tuning::for_rules(desired, &from.fixes, host),
    })
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
