//! `whylate plan`

use crate::args::{PlanArgs, PlanFormat, Wanted};
use crate::outcome::Outcome;
use crate::output::{self, say};
use anyhow::{Context, Result, bail};
use std::io::Read;
use std::path::{Path, PathBuf};
use whylate_host::{Snapshot, Tree};
use whylate_report::json::check;
use whylate_report::terminal::Style;
use whylate_report::{json, markdown, terminal};
use whylate_tuning::{Permits, Plan, Wishes, profile, tuned};

/// Where nobody chose.
const DEFAULT: &str = "realtime";

/// Documents of `whylate check` have some 100 KiB.
const MOST_BYTES: u64 = 64 << 20;

pub(crate) fn run(args: &PlanArgs) -> Result<Outcome> {
    let file = args.output.as_deref().map(|path| match PlanFormat::of_file(path) {
        Some(format) => Ok((path, format)),
        None => bail!("{}: its name does not say the format: end it in .json, .md or .txt", path.display()),
    });
    let file = file.transpose()?;
    let from = args.from.as_deref().map(checked).transpose()?;
    let tree = Tree::open(&args.root)?;
    if args.list {
        return list(&tree);
    }
    let host = Snapshot::read(&tree);
    let wishes = wishes(&args.wanted, from.as_ref(), &tree, &host)?;
    let plan = whylate_tuning::plan(wishes, &tree, &host, &permits(&args.wanted)?);
    output::print(&rendered(&plan, args.format(), &output::style())?)?;
    if let Some((path, format)) = file {
        let text = rendered(&plan, format, &Style::default())?;
        std::fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))?;
        say!("plan: {}", path.display());
    }
    Ok(match plan.changes.is_empty() {
        false => Outcome::Found,
        true if plan.is_blind() => Outcome::CannotTell,
        true => Outcome::Done,
    })
}

/// What the user allows.
pub(crate) fn permits(wanted: &Wanted) -> Result<Permits> {
    Permits::of(&wanted.allow).map_err(|code| anyhow::anyhow!("`{code}` cannot be allowed"))
}

/// What is asked for: of a profile all of it, after a check what mends its failures.
pub(crate) fn wishes(
    wanted: &Wanted,
    from: Option<&check::Document>,
    tree: &Tree,
    host: &Snapshot,
) -> Result<Wishes> {
    let mut given = wanted.set.clone();
    if let Some(name) = &wanted.tuned {
        given.extend(wanted.isolated.as_ref().map(|cpus| ("isolated_cores".to_owned(), cpus.to_string())));
        return Ok(tuned::load(name, tree, host, &given)?);
    }
    let of_check = from.and_then(|from| from.ask.cpus.clone());
    let isolated = wanted.isolated.as_ref().map(ToString::to_string).or(of_check);
    if let Some(cpus) = isolated
        && !given.iter().any(|(name, _)| name == "isolated")
    {
        given.push(("isolated".to_owned(), cpus));
    }
    let name = wanted.profile.as_deref().or(from.map(|from| from.ask.profile.as_str())).unwrap_or(DEFAULT);
    let wishes = profile::load(name, &given, host, &directories())?;
    Ok(match from {
        None => wishes,
        Some(from) => {
            let failed = from.answers.iter().filter(|answer| answer.status == check::Status::Fail);
            let codes: Vec<String> = failed.map(|answer| answer.code.clone()).collect();
            whylate_tuning::for_rules(wishes, &codes)
        }
    })
}

/// An answer of `whylate check --json`.
pub(crate) fn checked(path: &Path) -> Result<check::Document> {
    let mut text = String::new();
    let name = match path.as_os_str() == "-" {
        true => {
            std::io::stdin()
                .take(MOST_BYTES)
                .read_to_string(&mut text)
                .context("cannot read standard input")?;
            "standard input".to_owned()
        }
        false => {
            let cannot = || format!("cannot read {}", path.display());
            let file = std::fs::File::open(path).with_context(cannot)?;
            file.take(MOST_BYTES).read_to_string(&mut text).with_context(cannot)?;
            path.display().to_string()
        }
    };
    let wanted = || format!("{name} is no answer of `whylate check --json`");
    let document: check::Document = serde_json::from_str(&text).with_context(wanted)?;
    match document.schema == check::SCHEMA {
        true => Ok(document),
        false => bail!("{name} has the schema {}, and {} was expected", document.schema, check::SCHEMA),
    }
}

/// Where profiles of the machine and of the user are looked for.
pub(crate) fn directories() -> Vec<PathBuf> {
    let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".config"));
    let config = std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from).filter(|dir| dir.is_absolute());
    let own = config.or_else(home).map(|dir| dir.join("whylate/profiles"));
    own.into_iter().chain([PathBuf::from("/etc/whylate/profiles")]).collect()
}

fn list(tree: &Tree) -> Result<Outcome> {
    let mut text = String::new();
    for listed in profile::list(&directories()) {
        let summary = listed.summary.unwrap_or_else(|error| format!("cannot be used: {error}"));
        let place = listed.path.map(|path| format!(" ({})", path.display())).unwrap_or_default();
        text += &format!("{:<24} {summary}{place}\n", listed.name);
    }
    for listed in tuned::list(tree)? {
        let name = format!("--tuned {}", listed.name);
        text += &format!("{name:<24} {} ({})\n", listed.summary.unwrap_or_default(), listed.path);
    }
    output::print(&text)?;
    Ok(Outcome::Done)
}

fn rendered(plan: &Plan, format: PlanFormat, style: &Style) -> Result<String> {
    Ok(match format {
        PlanFormat::Text => terminal::planned(plan, style),
        PlanFormat::Json => serde_json::to_string_pretty(&json::planned(plan))? + "\n",
        PlanFormat::Markdown => markdown::planned(plan),
    })
}
