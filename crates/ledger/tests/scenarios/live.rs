//! A stream whose recording changes in the middle, as a watch changes it to keep its bound on CPU time.

use crate::support::*;
use std::cell::RefCell;
use whylate_base::Ns;
use whylate_events::{EventSource, Kind, KindSet};
use whylate_ledger::{EndedTimes, LateJudge, LiveLedger, Options, Select};

const VICTIM: Thread = rt("ctl", 11, 50);
const CLOCK_NANOSLEEP: i64 = 230;

/// Takes the responses down.
#[derive(Default)]
struct Responses(RefCell<Vec<Ns>>);

impl LateJudge for Responses {
    fn is_late(&self, ended: &EndedTimes) -> bool {
        self.0.borrow_mut().push(ended.response());
        false
    }
}

/// The responses of the thread; `change` is made at that instant.
fn responses(scene: Scene, at: i64, change: impl FnOnce(&mut LiveLedger<'_>)) -> Vec<Ns> {
    let judge = Responses::default();
    let mut source = scene.source();
    let options = Options { tasks: vec![Select::Comm("ctl".into())], ..Options::default() };
    let mut ledger = LiveLedger::new(&options, source.info().clone(), &judge);
    ledger.set_recorded(KindSet::ALL);
    let mut change = Some(change);
    loop {
        let batch = source.next_batch();
        if batch.is_empty() {
            break;
        }
        for event in batch {
            if event.ts >= Ns::from_us(at)
                && let Some(change) = change.take()
            {
                change(&mut ledger);
            }
            ledger.apply(event);
        }
    }
    ledger.settle(Ns::from_secs(10));
    drop(ledger);
    judge.0.into_inner()
}

/// It works for 45 us from `at` on, and sleeps until its timer again; its system calls are recorded.
fn period(scene: Scene, at: i64) -> Scene {
    let scene = scene.at(at).timer_wakes(VICTIM).at(at + 5).run(VICTIM).at(at + 6).ret(CLOCK_NANOSLEEP);
    scene.at(at + 48).call(CLOCK_NANOSLEEP, [1, 1, 0]).at(at + 50).sleep(IDLE)
}

fn asleep() -> Scene {
    let scene = Scene::new().cpu(1).at(0).run(VICTIM);
    period(scene.at(8).call(CLOCK_NANOSLEEP, [1, 1, 0]).at(10).sleep(IDLE), 1_000)
}

#[test]
fn without_system_calls_a_page_fault_ends_with_the_next_sleep() {
    // It has returned from its call when the calls are recorded for the last time.
    let mut scene =
        asleep().at(2_000).timer_wakes(VICTIM).at(2_005).run(VICTIM).at(2_006).ret(CLOCK_NANOSLEEP);
    scene = scene.at(2_050).sleep(IDLE);
    for at in [3_000, 4_000, 5_000] {
        scene = scene.at(at).timer_wakes(VICTIM).at(at + 5).run(VICTIM);
        scene = scene.at(at + 20).fault(0x7000_0000).at(at + 50).sleep(IDLE);
    }
    let left = KindSet::ALL.minus(KindSet::of(&[Kind::Syscall]));
    let all = responses(scene, 2_010, |ledger| ledger.set_recorded(left));
    assert_eq!(all.len(), 6, "{all:?}");
    assert!(all.iter().all(|&response| response <= Ns::from_us(50)), "{all:?}");
}

#[test]
fn what_was_in_progress_before_a_pause_is_not_late() {
    // It sleeps in a page fault, and nothing shows how that went on.
    let scene = asleep().at(2_000).timer_wakes(VICTIM).at(2_005).run(VICTIM).at(2_006).ret(CLOCK_NANOSLEEP);
    let scene = period(scene.at(2_020).fault(0x7000_0000).at(2_050).sleep(IDLE), 9_000_000);
    let all = responses(scene, 8_900_000, |ledger| ledger.resumes(Ns::from_us(8_900_000)));
    assert!(all.iter().all(|&response| response <= Ns::from_us(50)), "{all:?}");
    assert_eq!(all.last(), Some(&Ns::from_us(50)), "{all:?}");
}
