//! A profile and those it extends, with the machine's CPUs put in: desired settings.

use super::entry::{Entry, Value};
use super::error::{Mistake, ProfileError};
use super::facts::FACTS;
use super::source::{Chain, Source};
use super::text::{self, Scope};
use super::topology::Topology;
use super::value::VariableValue;
use super::variables::Variables;
use crate::policy::{POLICIES, RequestedPolicy};
use crate::{ConditionalSetting, DesiredSetting, DesiredState, Pattern, Selector, Skipped, ThreadSelector};
use whylate_host::Snapshot;

pub(super) fn resolve(
    name: &str,
    chain: Chain,
    given: &[(String, String)],
    snapshot: &Snapshot,
) -> Result<DesiredState, ProfileError> {
    let definitions = chain.documents.iter().flat_map(|(_, document)| document.variables.clone()).collect();
    let mut variables = Variables::new(definitions, given, name, Topology(snapshot))?;
    let mut desired =
        DesiredState { profile: name.to_owned(), variables: variables.all()?, ..DesiredState::default() };
    for (source, document) in &chain.documents {
        for entry in &document.entries {
            let counts =
                counts(entry, &mut variables, snapshot).map_err(|wrong| wrong.at(&entry.location))?;
            if let Counts::No = counts {
                continue;
            }
            for setting in made(entry, source, &mut variables).map_err(|wrong| wrong.at(&entry.location))? {
                desired.conditional.retain(|own| !same(&own.setting.selector, &setting.selector));
                let before = desired.settings.iter().position(|own| same(&own.selector, &setting.selector));
                match (&counts, &entry.value, before) {
                    // What the extended profile asks for stands.
                    (Counts::Skipped(_), _, Some(_)) => {}
                    (Counts::Skipped(why), ..) => {
                        desired.conditional.push(ConditionalSetting { setting, why: why.clone() });
                    }
                    (_, Value::Nothing, Some(at)) => {
                        desired.settings.remove(at);
                    }
                    (_, Value::Nothing, None) => {}
                    (_, _, Some(at)) => desired.settings[at] = setting,
                    (_, _, None) => desired.settings.push(setting),
                }
            }
        }
    }
    desired.skipped = chain.unseen;
    let skipped: Vec<Skipped> = desired.conditional.iter().map(ConditionalSetting::skipped).collect();
    desired.skipped.extend(skipped);
    Ok(desired)
}

/// Whether an entry counts.
enum Counts {
    Yes,
    /// The user's own variables are false: nothing is left out.
    No,
    /// It is not true of the machine, or cannot be determined.
    Skipped(String),
}

fn counts(entry: &Entry, variables: &mut Variables<'_>, snapshot: &Snapshot) -> Result<Counts, Mistake> {
    let Some((condition, text)) = &entry.options.when else { return Ok(Counts::Yes) };
    let truth = condition.holds(&mut |name| match FACTS.iter().find(|(fact, _)| *fact == name) {
        Some((_, ask)) => Ok(ask(snapshot)),
        None => is_set(name, variables).map(Ok),
    })?;
    Ok(match truth {
        Ok(true) => Counts::Yes,
        // What variables alone rule out, the user has chosen.
        Ok(false) if !condition.asks_machine() => Counts::No,
        Ok(false) => Counts::Skipped(format!("only when: {text}; this is not true here")),
        Err(why) => Counts::Skipped(format!("only when: {text}; cannot tell: {why}")),
    })
}

fn is_set(name: &str, variables: &mut Variables<'_>) -> Result<bool, Mistake> {
    match variables.value(name) {
        Ok(VariableValue::YesNo(yes)) => Ok(yes),
        Ok(VariableValue::Cpus(cpus)) => Ok(!cpus.is_empty()),
        Ok(VariableValue::Number(number)) => Ok(number != 0),
        Ok(VariableValue::Text(text)) => Ok(!text.is_empty()),
        Err(wrong) => {
            let facts: Vec<&str> = FACTS.iter().map(|(fact, _)| *fact).collect();
            Err(Mistake::new(
                wrong.what,
                format!("{}; and of the machine {}", wrong.possible, facts.join(", ")),
            ))
        }
    }
}

/// The desired settings of an entry: several, where its name stands for several.
fn made(
    entry: &Entry,
    source: &Source,
    variables: &mut Variables<'_>,
) -> Result<Vec<DesiredSetting>, Mistake> {
    let value = match &entry.value {
        Value::Text(text) => Some(text::filled(text, variables)?),
        Value::Cpus(before, set) => Some(format!("{before}{}", text::some(set, variables)?)),
        Value::Absent | Value::Nothing => None,
    };
    if let (Selector::ThreadPolicy { .. }, Some(policy)) = (&entry.selector, &value)
        && RequestedPolicy::parse(policy).is_none()
    {
        return Err(Mistake::new(format!("`{policy}` is not a policy"), POLICIES));
    }
    if let (Selector::CpuDmaLatency, Some(us)) = (&entry.selector, &value)
        && us.parse::<u32>().map_or(true, |us| us > i32::MAX as u32)
    {
        return Err(Mistake::new(
            format!("`{us}` is not a latency"),
            "it takes microseconds: 0 to 2147483647",
        ));
    }
    let selectors = match &entry.selector {
        Selector::Tunable { path } => {
            let paths = text::each(path, variables)?;
            paths.into_iter().map(|path| Selector::Tunable { path }).collect()
        }
        Selector::ThreadPolicy { threads } | Selector::ThreadCpus { threads } => {
            let mut all = Vec::new();
            for named in globs(&threads.named, variables)? {
                let threads = ThreadSelector { named, except: excepted(&threads.except, variables)? };
                all.push(match entry.selector {
                    Selector::ThreadPolicy { .. } => Selector::ThreadPolicy { threads },
                    _ => Selector::ThreadCpus { threads },
                });
            }
            all
        }
        other => vec![other.clone()],
    };
    let setting = |selector| DesiredSetting {
        selector,
        value: value.clone(),
        reasons: entry.options.reasons.clone(),
        origin: format!("{} [{}]", source.short(), entry.section),
        optional: entry.options.optional,
    };
    Ok(selectors.into_iter().map(setting).collect())
}

/// A regular expression's `$` is its own.
fn globs(pattern: &Pattern, variables: &mut Variables<'_>) -> Result<Vec<Pattern>, Mistake> {
    match pattern {
        Pattern::Glob(glob) => Ok(text::each(glob, variables)?.into_iter().map(Pattern::Glob).collect()),
        regex => Ok(vec![regex.clone()]),
    }
}

/// An empty variable excepts no thread.
fn excepted(except: &[Pattern], variables: &mut Variables<'_>) -> Result<Vec<Pattern>, Mistake> {
    let mut all = Vec::new();
    for pattern in except {
        all.extend(globs(pattern, variables)?);
    }
    all.retain(|pattern| !matches!(pattern, Pattern::Glob(glob) if glob.is_empty()));
    Ok(all)
}

/// Whether a later desired setting replaces an earlier one: thread selectors compare by pattern, without exceptions.
fn same(a: &Selector, b: &Selector) -> bool {
    match (a, b) {
        (Selector::ThreadPolicy { threads: a }, Selector::ThreadPolicy { threads: b })
        | (Selector::ThreadCpus { threads: a }, Selector::ThreadCpus { threads: b }) => a.named == b.named,
        _ => a == b,
    }
}
