//! Interrupts and work items that come again and again without a pause: they show without the scheduler's events.

use super::irqs::IrqId;
use rustc_hash::FxHashMap;
use whylate_base::{Cpu, Ns, Tid};
use whylate_events::Symbol;

/// An interrupt that comes within this time after it came before leaves its CPU little else to do.
const CLOSE: Ns = Ns::from_us(20);
/// A worker that queued nothing for so long had a pause.
const PAUSE: Ns = Ns::from_ms(1);
/// CPUs and workers that are remembered.
const MOST: usize = 16_384;
/// So many work items of a worker are told apart.
const MOST_ITEMS: usize = 8;

/// Entries of one interrupt on one CPU, each close to the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CloseIrqs {
    pub(crate) irq: IrqId,
    pub(crate) cpu: Cpu,
    pub(crate) first: Ns,
    pub(crate) last: Ns,
    pub(crate) count: u64,
}

/// Work items that one worker queues without a pause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RequeuedWork {
    pub(crate) worker: Tid,
    pub(crate) cpu: Cpu,
    pub(crate) first: Ns,
    pub(crate) last: Ns,
    /// Their addresses and functions.
    pub(crate) items: Vec<(u64, Symbol)>,
    /// How often one of them was queued that the worker had queued before.
    pub(crate) again: u64,
}

/// See the module.
#[derive(Default)]
pub(crate) struct Recurring {
    irqs: FxHashMap<Cpu, CloseIrqs>,
    most_irqs: Option<CloseIrqs>,
    works: FxHashMap<Tid, RequeuedWork>,
    most_work: Option<RequeuedWork>,
}

impl Recurring {
    /// The handlers of an interrupt begin.
    pub(crate) fn interrupt(&mut self, at: Ns, cpu: Cpu, irq: IrqId) {
        if self.irqs.len() >= MOST && !self.irqs.contains_key(&cpu) {
            return;
        }
        let new = CloseIrqs { irq, cpu, first: at, last: at, count: 0 };
        let run = self.irqs.entry(cpu).or_insert(new);
        if run.irq != irq || at - run.last > CLOSE {
            *run = new;
        }
        run.count += 1;
        run.last = at;
        if self.most_irqs.is_none_or(|most| run.count > most.count) {
            self.most_irqs = Some(*run);
        }
    }

    /// A thread queues a work item. It is queued again only once a worker has begun it (`queue_work_on()`, `kernel/workqueue.c`).
    pub(crate) fn queued(&mut self, at: Ns, cpu: Cpu, worker: Tid, work: (u64, Symbol)) {
        if self.works.len() >= MOST && !self.works.contains_key(&worker) {
            return;
        }
        let new = || RequeuedWork { worker, cpu, first: at, last: at, items: Vec::new(), again: 0 };
        let run = self.works.entry(worker).or_insert_with(new);
        if at - run.last > PAUSE {
            *run = new();
        }
        run.last = at;
        if run.items.iter().any(|(other, _)| *other == work.0) {
            run.again += 1;
        } else if run.items.len() < MOST_ITEMS {
            run.items.push(work);
        } else {
            // So many items are no circle.
            *run = new();
        }
        if run.again > self.most_work.as_ref().map_or(0, |most| most.again) {
            self.most_work = Some(run.clone());
        }
    }

    /// Events were lost: what they were is not known.
    pub(crate) fn lost(&mut self) {
        self.irqs.clear();
        self.works.clear();
    }

    /// The most entries of one interrupt.
    pub(crate) fn most_irqs(&self) -> Option<CloseIrqs> {
        self.most_irqs
    }

    /// The worker that queued its items most often again.
    pub(crate) fn most_work(&self) -> Option<&RequeuedWork> {
        self.most_work.as_ref()
    }
}
