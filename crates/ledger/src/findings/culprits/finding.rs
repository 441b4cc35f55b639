//! What a finding shows of a culprit.

use super::group::Group;
use super::kin::{Delay, title};
use super::{fix, reason, severity};
use crate::charge::notes::{executed, shown};
use crate::findings::subject::Subject;
use crate::model::{Activation, Culprit};
use crate::verdict::priority_while;
use std::collections::HashSet;
use whylate_base::{Evidence, Finding, Ns};

/// Of fewer delays the longest is most by itself.
const SEVERAL: u64 = 5;
/// So many of the longest delays are shown.
const SHOWN: usize = 3;

/// The finding about a culprit.
pub(super) fn of(group: &Group<'_>) -> Finding {
    let costs = group.costs();
    let count = costs.iter().map(|(by, _)| *by).collect::<HashSet<Culprit>>().len();
    let times = costs.iter().map(|(_, cost)| cost.periods).sum();
    let total: Ns = costs.iter().map(|(_, cost)| cost.in_periods).sum();
    // It may have delayed one for longer in which another cause took even more time.
    let longest =
        costs.iter().map(|(_, cost)| cost.most).chain(group.late.first().map(|delay| delay.charged));
    let most = longest.max().unwrap_or(Ns::ZERO);
    let is_mostly_once = count == 1 && times >= SEVERAL && most.0.saturating_mul(2) > total.0;
    let mostly = if is_mostly_once { ", most of it once" } else { "" };
    let own_time = group.own_time();
    Finding {
        code: group.cause.code(),
        severity: severity::of(group, times),
        title: title(&shown(group.notes(), &group.by), count, &whom(group), most, &reason::of(group)),
        why: match (count, times) {
            _ if own_time.is_some() => format!(
                "it had set them to work itself, and threads that help it run when it lets them: what took long is its own activation; {total} in all"
            ),
            (1, 1) => format!("it delayed one activation by {total}"),
            (1, _) => format!("it delayed {times} activations by {total} in all{mostly}"),
            // One activation may have waited for several of them.
            _ => format!("they delayed activations by {total} in all"),
        },
        evidence: evidence(group, is_mostly_once, own_time),
        fix: match own_time {
            Some(own) => own.verdict.fix.clone(),
            None => group.late.first().map(|delay| fix::of(group, delay)).unwrap_or_default(),
        },
    }
}

fn evidence(group: &Group<'_>, is_mostly_once: bool, own_time: Option<&Activation>) -> Vec<Evidence> {
    let Group { subject, by, ref late, .. } = *group;
    let delayed = late.iter().take(SHOWN).map(|&Delay { activation, charged, .. }| {
        let what = format!("{} was due, and delayed by {charged}", activation.comm);
        Evidence::at(activation.due, activation.cpu, what)
    });
    let end = late.first().filter(|_| is_mostly_once).and_then(|delay| end_of(subject, by, delay.activation));
    let request = group.was_called().then(|| {
        let first = first_victim(group);
        Evidence::general(format!(
            "{first} set {by} to work each time: if it waits for an answer of it, that is no delay"
        ))
    });
    let work =
        executed(group.notes(), Some(by)).map(|what| Evidence::general(format!("{by} executed {what}")));
    let own = own_time.map(|own| Evidence::at(own.due, own.cpu, took(own)));
    delayed.chain(end).chain(own).chain(request).chain(work).collect()
}

/// The victims, the one with the longest delay by its name.
fn whom(group: &Group<'_>) -> String {
    let first = first_victim(group);
    match group.victims().len() {
        1 => first,
        count => format!("{first} and {} more", count - 1),
    }
}

fn first_victim(group: &Group<'_>) -> String {
    let Some(Delay { activation, .. }) = group.late.first() else { return String::new() };
    let Activation { tid, comm, .. } = **activation;
    let priority = priority_while(group.subject.timeline, activation, (group.cause, Some(group.by)));
    Culprit::Task { tid, comm, priority }.to_string()
}

/// That the culprit ended while it delayed an activation: what a program takes to end, it takes once.
fn end_of(subject: &Subject<'_>, by: Culprit, late: &Activation) -> Option<Evidence> {
    let Culprit::Task { tid, .. } = by else { return None };
    let end = subject.timeline.threads.get(tid)?.lifetime.end?;
    let is_within = (late.due..late.end).contains(&end.began);
    is_within
        .then(|| Evidence::at(end.began, late.cpu, format!("{by} ended: its end is a part of this delay")))
}

fn took(own: &Activation) -> String {
    let Activation { comm, tid, ref verdict, .. } = *own;
    format!("{comm}:{tid} itself took {} ({}: {})", own.response(), verdict.cause, verdict.charged)
}
