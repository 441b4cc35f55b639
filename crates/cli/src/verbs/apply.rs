//! `whylate apply`

use super::plan::from::From;
use super::tuning::Site;
use super::{plan, revert, rollback};
use crate::args::{ApplyArgs, OnFailure, Wanted};
use crate::exit_status::ExitStatus;
use crate::output::{self, message};
use crate::report::Destination;
use crate::signals;
use anyhow::{Context, Result, bail};
use std::io::{self, BufRead, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Duration;
use whylate_host::{FsRoot, Snapshot};
use whylate_profiles::DesiredState;
use whylate_report::Format;
use whylate_report::apply::Applies;
use whylate_tuning::{
    AllowedRefusals, BootSkipped, ClockReading, FailurePolicy, Journal, JournalEntry, JournalError, Plan,
    SessionKind, SessionOutcome, StepProgress, StepsError, StoreLock, System, boot_id, unfinished,
};

/// How long the service waits for another whylate: less than systemd waits for the service.
const BOOT_LOCK: Duration = Duration::from_secs(60);

pub(crate) fn run(args: &ApplyArgs) -> Result<ExitStatus> {
    let inputs: Vec<PathBuf> = args.plan.iter().chain(&args.from).cloned().collect();
    let destination = Destination::of::<Applies<'_>>(&args.output, &inputs)?;
    let site = Site::open(&args.place)?;
    if args.boot {
        return at_boot(&site, &destination);
    }
    if args.resume {
        return resume(&site, args.on_failure, &destination);
    }
    let Wanted { profile, tuned, isolated, set, .. } = &args.wanted;
    let wanted = profile.is_some() || tuned.is_some() || isolated.is_some() || !set.is_empty();
    if args.plan.is_none() && args.from.is_none() && !wanted {
        bail!(
            "nothing to apply is given: pass a PLAN.json of `whylate plan -o`, --profile, --isolated (with the profile \
             realtime), --tuned or --from"
        );
    }
    let allowed = plan::allowed(&args.wanted)?;
    let planned = args.plan.as_deref().map(read_plan).transpose()?;
    let tree = site.system.tree();
    let host = Snapshot::read(&tree);
    let desired = match &planned {
        Some(planned) => planned.desired.clone(),
        None => {
            let from = args.from.as_deref().map(From::read).transpose()?;
            plan::desired(&args.wanted, from.as_ref().map(|from| (from, args.fix.as_slice())), &tree, &host)?
        }
    };
    let now = whylate_tuning::plan(desired, &tree, &host, &allowed);
    if let Some(planned) = &planned
        && has_drifted(planned, &now, &tree)
    {
        return Ok(ExitStatus::Found);
    }
    if destination.format() == Format::Text {
        output::print(&whylate_report::plan::terminal::render(&now, &output::style()))?;
    }
    if now.changes.is_empty() {
        return Ok(nothing_to_change(&now));
    }
    if is_refused(&now, &site) {
        return Ok(ExitStatus::Found);
    }
    if args.revert_after.is_some() && site.system.is_here() && is_beyond_undo(&now, &tree) {
        return Ok(ExitStatus::Found);
    }
    ends_with_this_boot(&now, &tree);
    if !args.yes && !asked(&now)? {
        message!("nothing was changed");
        return Ok(ExitStatus::Found);
    }
    apply(args, &site, &destination, &now, &allowed)
}

fn nothing_to_change(plan: &Plan) -> ExitStatus {
    match plan.is_blind() {
        true => {
            message!("cannot tell: nothing that the plan would change could be read");
            ExitStatus::CannotTell
        }
        false => {
            let refused = match plan.predicted.len() {
                0 => String::new(),
                count => format!(", except for {count} optional ones that the kernel will refuse"),
            };
            message!("nothing to change: every setting already has the desired value{refused}");
            ExitStatus::Done
        }
    }
}

fn make(desired: DesiredState, tree: &FsRoot, allowed: &AllowedRefusals) -> Plan {
    whylate_tuning::plan(desired, tree, &Snapshot::read(tree), allowed)
}

fn apply(
    args: &ApplyArgs,
    site: &Site,
    destination: &Destination<'_>,
    plan: &Plan,
    allowed: &AllowedRefusals,
) -> Result<ExitStatus> {
    let lock = site.store.lock("whylate apply")?;
    if let Some(entry) = unfinished(&site.store)? {
        bail!(
            "apply {} {}: finish it with `whylate apply --resume`, or undo it with `whylate rollback`, first",
            entry.id,
            entry.status().words()
        );
    }
    // The answer may have taken a while, and another apply may have been done meanwhile.
    let tree = site.system.tree();
    let now = make(plan.desired.clone(), &tree, allowed);
    if has_drifted(plan, &now, &tree) {
        return Ok(ExitStatus::Found);
    }
    // What was seen and agreed to may be done in part by now, by another apply.
    let plan = &now;
    if plan.changes.is_empty() {
        return Ok(nothing_to_change(plan));
    }
    if is_refused(plan, site) {
        return Ok(ExitStatus::Found);
    }
    // Before anything is written, and so that nothing is when this fails.
    let steps = whylate_tuning::steps(plan, site.store.next_id()?, &site.system);
    let steps = steps.map_err(|error| match error {
        StepsError::Boot(_) => anyhow::anyhow!(
            "{error}; nothing was changed; --skip-kernel-parameters plans and applies all the rest"
        ),
        error => error.into(),
    })?;
    let stop = signals::stop_flags()?;
    let asked = || stop.asked.load(Ordering::Acquire);
    let mut journal = site.store.create(&lock, plan)?;
    if let Some(after) = args.revert_after {
        let after = Duration::from_nanos(after.0.unsigned_abs());
        whylate_tuning::arm(&mut journal, ClockReading::now(), after)?;
        revert::start(&site.system, &args.place.root, journal.entry().id, after)?;
    }
    let policy = policy(args.on_failure);
    let how =
        site.run(&asked, |run| whylate_tuning::apply(&mut journal, SessionKind::Apply, &steps, policy, run));
    undo_if_failed(site, args.on_failure, &mut journal, &how, &asked);
    finished(destination, &journal, how)
}

fn policy(on_failure: OnFailure) -> FailurePolicy {
    match on_failure {
        OnFailure::Stop | OnFailure::Rollback => FailurePolicy::Stop,
        OnFailure::Continue => FailurePolicy::Continue,
    }
}

/// `--on-failure rollback`: undoes an apply of which a step failed, or that could not be journaled any more.
fn undo_if_failed(
    site: &Site,
    on_failure: OnFailure,
    journal: &mut Journal,
    how: &Result<SessionOutcome, JournalError>,
    stop: &dyn Fn() -> bool,
) {
    let has_failed = !matches!(how, Ok(SessionOutcome::Complete | SessionOutcome::Stopped));
    if on_failure != OnFailure::Rollback || !has_failed || !journal.entry().is_in_effect() {
        return;
    }
    let steps = journal.entry().sessions.iter().flat_map(|session| &session.steps);
    let reasons: Vec<String> = steps
        .filter(|step| step.progress == StepProgress::Failed)
        .filter_map(|step| step.why.clone())
        .collect();
    for why in &reasons {
        message!("{why}");
    }
    message!("apply {} failed: it is undone", journal.entry().id);
    let undone = site.run(stop, |run| whylate_tuning::rollback(journal, false, run));
    if let Some(error) = undone.unrecorded {
        message!("whylate: cannot journal the rollback: {error}");
    }
}

fn resume(site: &Site, on_failure: OnFailure, destination: &Destination<'_>) -> Result<ExitStatus> {
    let lock = site.store.lock("whylate apply --resume")?;
    let Some(entry) = unfinished(&site.store)? else {
        bail!("no apply is unfinished: see `whylate history`");
    };
    let stop = signals::stop_flags()?;
    let asked = || stop.asked.load(Ordering::Acquire);
    let mut journal = site.store.open(&lock, entry.id)?;
    let policy = policy(on_failure);
    let how = site.run(&asked, |run| whylate_tuning::resume(&mut journal, policy, run));
    undo_if_failed(site, on_failure, &mut journal, &how, &asked);
    finished(destination, &journal, how)
}

fn finished(
    destination: &Destination<'_>,
    journal: &Journal,
    how: Result<SessionOutcome, JournalError>,
) -> Result<ExitStatus> {
    let how = how.inspect_err(|_| match journal.entry().is_in_effect() {
        true => message!("the journal has what was done: undo it with `whylate rollback`"),
        false => message!("nothing was changed"),
    })?;
    destination.write(&Applies(std::slice::from_ref(journal.entry())))?;
    Ok(if how == SessionOutcome::Complete { ExitStatus::Done } else { ExitStatus::Failed })
}

/// A plan from a file of `whylate plan`.
fn read_plan(path: &Path) -> Result<Plan> {
    let (text, name) = plan::input::document(path)?;
    let document: serde_json::Value = serde_json::from_str(&text)
        .with_context(|| format!("{name} is not a plan of `whylate plan --json`"))?;
    let wanted = whylate_tuning::PlanDocument::SCHEMA;
    match document.get("schema").and_then(|schema| schema.as_str()) {
        Some(schema) if schema == wanted => {}
        Some(schema) => bail!("{name} has the schema {schema}, and {wanted} was expected"),
        None => bail!("{name} is not a plan of `whylate plan --json`"),
    }
    serde_json::from_value(document).with_context(|| format!("{name} cannot be read as a plan"))
}

/// Reports which settings end with this boot.
fn ends_with_this_boot(plan: &Plan, tree: &FsRoot) {
    const NAMED: usize = 5;
    let ending = whylate_tuning::persist::until_reboot(plan, tree);
    if ending.is_empty() {
        return;
    }
    let names: Vec<String> = ending.iter().take(NAMED).map(|change| change.setting.to_string()).collect();
    let more = if ending.len() > NAMED { ", ..." } else { "" };
    message!(
        "note: {} of these settings end with the next reboot, as systemd does not run on this machine, which would have them made \
         again: {}{more}",
        ending.len(),
        names.join(", ")
    );
}

/// Whether a plan does not fit any more; reports where.
fn has_drifted(planned: &Plan, now: &Plan, tree: &FsRoot) -> bool {
    let drifted = whylate_tuning::drifted(planned, now, tree);
    if drifted.is_empty() {
        if let Some(how) = of_another_machine(planned, now) {
            message!("note: {how}; the changes are the same on this machine");
        }
        return false;
    }
    match of_another_machine(planned, now) {
        None => message!("nothing was changed: the machine has changed since the plan was made"),
        Some(how) => message!("nothing was changed: {how}"),
    }
    for one in &drifted {
        let side = |side: &Option<String>| side.clone().unwrap_or_else(|| "no change".to_owned());
        message!("  {}: planned {}; now {}", one.setting, side(&one.planned), side(&one.now));
    }
    message!("run `whylate plan` again, and review the new plan");
    true
}

/// Of a plan that was made for another kernel or other CPUs, for which; `None`: for these.
fn of_another_machine(planned: &Plan, now: &Plan) -> Option<String> {
    let words = |plan: &Plan| {
        let known = |value: &Option<String>| value.clone().unwrap_or_else(|| "not known".to_owned());
        format!("Linux {} with the CPUs {}", known(&plan.machine.release), known(&plan.machine.cpus))
    };
    let (theirs, ours) = (words(planned), words(now));
    (theirs != ours).then(|| format!("the plan was made for {theirs}, and this is {ours}"))
}

/// Whether a plan must not be applied; reports why.
fn is_refused(plan: &Plan, site: &Site) -> bool {
    let is_root = rustix::process::geteuid().is_root();
    let not_root = whylate_tuning::without_root(plan, is_root).filter(|_| site.system.is_here());
    let mut refused = false;
    for refusal in plan.refusals.iter().chain(&not_root) {
        message!("refused[{}]: {}; {}", refusal.code, refusal.why, refusal.fix);
        refused = true;
    }
    refused
}

/// Whether an automatic undo would be promised in vain; reports why.
fn is_beyond_undo(plan: &Plan, tree: &FsRoot) -> bool {
    let beyond = whylate_tuning::persist::beyond_undo(plan, tree);
    if beyond.is_empty() {
        return false;
    }
    let names: Vec<String> = beyond.iter().map(|change| change.setting.to_string()).collect();
    message!(
        "refused: --revert-after cannot undo {}: this counts from the next boot on, and systemd, which would undo it \
         then, does not run here; add --skip-kernel-parameters, or apply without --revert-after",
        names.join(", ")
    );
    true
}

/// Asks at the terminal.
fn asked(plan: &Plan) -> Result<bool> {
    if !io::stdin().is_terminal() {
        bail!("standard input is not a terminal: review the plan, then pass --yes");
    }
    let mut err = io::stderr();
    let what = match plan.changes.len() {
        1 => "this change".to_owned(),
        count => format!("these {count} changes"),
    };
    write!(err, "Make {what}? [y/N] ").and_then(|()| err.flush())?;
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line).context("cannot read the answer")?;
    Ok(matches!(line.trim(), "y" | "Y" | "yes"))
}

/// What whylate-tuning.service does: reapplies the runtime settings of all applies in effect, in order. One that was not
/// confirmed is undone instead, with all later ones.
fn at_boot(site: &Site, destination: &Destination<'_>) -> Result<ExitStatus> {
    // An apply that has just installed the service sets everything itself: then nothing is left to do here.
    let lock = site.store.lock_within("whylate apply --boot", BOOT_LOCK)?;
    let boot = boot_id(&site.system.tree());
    let stop = signals::stop_flags()?;
    let asked = || stop.asked.load(Ordering::Acquire);
    let journals = site.store.readable()?;
    site.report_unreadable(&journals.unreadable);
    let entries = journals.entries;
    let decision = whylate_tuning::at_boot(&entries, &ClockReading::now(), boot.as_deref());
    let mut done = Vec::new();
    // The settings of an apply that cannot be read may be missing now.
    let mut outcome = if journals.unreadable.is_empty() { ExitStatus::Done } else { ExitStatus::CannotTell };
    if let Some(first) = decision.undo.last() {
        message!("apply {first} was not confirmed: it is undone");
        let undone = rollback::undo_all(site, &lock, &decision.undo, false, &asked)?;
        done.extend(undone.entries);
        if undone.outcome != SessionOutcome::Complete {
            outcome = ExitStatus::Failed;
        }
    }
    for skipped in decision.skipped {
        match skipped {
            BootSkipped::Unfinished(id, status) => message!("apply {id}: {}; not reapplied", status.words()),
            BootSkipped::AlreadySet(id) => message!("apply {id}: its settings were made in this boot"),
        }
    }
    for entry in entries.iter().filter(|entry| decision.reapply.contains(&entry.id)) {
        match boot_session(site, &lock, entry, &asked)? {
            Some((entry, how)) => {
                if how != SessionOutcome::Complete {
                    outcome = ExitStatus::Failed;
                }
                done.push(entry);
            }
            None => outcome = ExitStatus::Failed,
        }
    }
    destination.write(&Applies(&done))?;
    Ok(outcome)
}

/// The runtime settings of one apply; `None`: they must not be made.
fn boot_session(
    site: &Site,
    lock: &StoreLock,
    entry: &JournalEntry,
    stop: &dyn Fn() -> bool,
) -> Result<Option<(JournalEntry, SessionOutcome)>> {
    let Some(planned) = &entry.plan else { return Ok(None) };
    // What the user allowed then is allowed now.
    let codes: Vec<String> = AllowedRefusals::CODES.iter().map(|&code| code.to_owned()).collect();
    let allowed =
        AllowedRefusals::of(&codes).map_err(|code| anyhow::anyhow!("`{code}` cannot be allowed"))?;
    let plan = make(planned.desired.clone(), &site.system.tree(), &allowed);
    if is_refused(&plan, site) {
        return Ok(None);
    }
    let steps = whylate_tuning::runtime_steps(&plan, &site.system)?;
    let mut journal = site.store.open(lock, entry.id)?;
    let policy = FailurePolicy::Continue;
    let how =
        site.run(stop, |run| whylate_tuning::apply(&mut journal, SessionKind::Boot, &steps, policy, run))?;
    Ok(Some((journal.entry().clone(), how)))
}
