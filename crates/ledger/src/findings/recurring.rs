//! An interrupt, or work items that queue each other, that come again and again without a pause, in a trace without the scheduler's
//! events. No thread is known to be late by it.

use super::info::{FindingInfo, page};
use super::subject::Subject;
use crate::causes::advised::RECORD;
use crate::model::irq_name;
use crate::timeline::housekeeping::is_of_kernel;
use crate::tracers::actors;
use whylate_base::{AdvisedFix, Evidence, Finding, Severity};
use whylate_events::Kind;

pub(super) const IRQ: FindingInfo =
    FindingInfo { code: "interrupt-recurring", page: page!("interrupt-recurring") };
pub(super) const WORK: FindingInfo = FindingInfo { code: "work-recurring", page: page!("work-recurring") };

/// Fewer come together by chance.
const FEWEST_IRQS: u64 = 5;
const FEWEST_AGAIN: u64 = 3;

pub(super) fn findings(subject: &Subject<'_>) -> Vec<Finding> {
    if subject.timeline.seen.contains(Kind::Switch) {
        return Vec::new();
    }
    interrupt(subject).into_iter().chain(work(subject)).collect()
}

fn interrupt(subject: &Subject<'_>) -> Option<Finding> {
    let timeline = subject.timeline;
    let most = timeline.recurring.most_irqs().filter(|most| most.count >= FEWEST_IRQS)?;
    let (cpu, span) = (most.cpu, most.last - most.first);
    subject.is_in_scope(cpu, most.first, most.last).then(|| {
        let (irq, name) = timeline.irqs.get(most.irq);
        let name = irq_name(irq, name.as_str());
        Finding {
            code: IRQ.code,
            severity: Severity::Info,
            title: format!("{name} came {} times in {span} on CPU {cpu}, without a pause", most.count),
            why: "an interrupt that its handlers do not end comes again at once, and one of a busy device comes as often for a while; whether \
                  a thread was late by it is not known without the scheduler's events"
                .to_owned(),
            evidence: vec![
                Evidence::at(most.first, cpu, format!("{name} began, the first of {}", most.count)),
                Evidence::at(most.last, cpu, format!("{name} began, the last of them")),
            ],
            fix: vec![again()],
        }
    })
}

fn work(subject: &Subject<'_>) -> Option<Finding> {
    let timeline = subject.timeline;
    let most = timeline.recurring.most_work().filter(|most| most.again >= FEWEST_AGAIN)?;
    let (cpu, span) = (most.cpu, most.last - most.first);
    // Another thread hands over work of its own.
    let is_worker = is_of_kernel(timeline.comm_at(most.worker, most.last).as_str());
    (is_worker && subject.is_in_scope(cpu, most.first, most.last)).then(|| {
        let worker = actors::called(timeline, most.last, most.worker);
        let mut functions: Vec<&str> = Vec::new();
        for (_, function) in &most.items {
            let name = function.as_str();
            if !name.is_empty() && !functions.contains(&name) {
                functions.push(name);
            }
        }
        let named = if functions.is_empty() { String::new() } else { format!(" ({})", functions.join(", ")) };
        let count = most.items.len() as u64 + most.again;
        let items = if most.items.len() == 1 { "work item" } else { "work items" };
        Finding {
            code: WORK.code,
            severity: Severity::Info,
            title: format!(
                "{worker} queued {} {items}{named} {count} times in {span} on CPU {cpu}, without a pause",
                most.items.len()
            ),
            why: "work items that queue themselves or each other keep a worker busy; whether a thread was late by it is not known without \
                  the scheduler's events"
                .to_owned(),
            evidence: vec![
                Evidence::at(most.first, cpu, format!("{worker} queued the first of them")),
                Evidence::at(most.last, cpu, format!("{worker} queued one of them again, for the last time in a row")),
            ],
            fix: vec![again()],
        }
    })
}

fn again() -> AdvisedFix {
    AdvisedFix::by_hand(
        "record the scheduler's events as well, which show which threads waited meanwhile: whylate record",
        RECORD,
    )
}
