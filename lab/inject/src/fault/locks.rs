//! Faults at a lock that the victim shares.

use super::start::{start_burst, victim};
use crate::role::{ProcessShare, Role};
use crate::setup::Setup;
use crate::threads::{ThreadSpec, Threads};
use crate::work::Spin;
use anyhow::{Result, ensure};
use rustix::thread::futex::{Flags, lock_pi, unlock_pi};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use whylate_base::Ns;
use whylate_sys::{SchedParams, gettid};

/// A lock with a critical section.
pub(super) trait Guarding: Send + Sync + 'static {
    fn hold(&self, work: impl FnOnce());
}

/// A plain futex: the kernel does not know the owner, so it cannot boost it.
impl Guarding for Mutex<()> {
    fn hold(&self, work: impl FnOnce()) {
        let _guard = self.lock().unwrap_or_else(PoisonError::into_inner);
        work();
    }
}

/// A futex word that holds its owner's thread id, which the kernel boosts to the
/// waiter's priority (futex(2), "Priority-inheritance futexes").
#[derive(Debug, Default)]
struct PiMutex(AtomicU32);

impl Guarding for PiMutex {
    fn hold(&self, work: impl FnOnce()) {
        let me = gettid().0.unsigned_abs();
        let free = self.0.compare_exchange(0, me, Ordering::Acquire, Ordering::Relaxed).is_ok();
        let mine = free || lock_pi(&self.0, Flags::PRIVATE, None).is_ok();
        work();
        let uncontended = self.0.compare_exchange(me, 0, Ordering::Release, Ordering::Relaxed).is_ok();
        if mine && !uncontended {
            // Only the owner may unlock, so this fails only where LOCK_PI failed: without futexes.
            unlock_pi(&self.0, Flags::PRIVATE).expect("the owner may unlock");
        }
    }
}

/// The instants of one inversion, before the victim's due one: the owner locks, the
/// middle one preempts it, the victim waits.
const OWNER_LEAD: Ns = Ns::from_us(2_000);
const MIDDLE_LEAD: Ns = Ns::from_us(1_000);

pub(super) fn inversion(setup: &Setup) -> Result<Threads> {
    middle_hog(setup, Arc::new(Mutex::new(())), Role::Culprit)
}

/// The middle thread runs as before, but without effect: the owner inherits the victim's
/// priority for the rest of its section.
pub(super) fn pi(setup: &Setup) -> Result<Threads> {
    middle_hog(setup, Arc::new(PiMutex::default()), Role::Bystander)
}

fn middle_hog(setup: &Setup, lock: Arc<impl Guarding>, middle: Role) -> Result<Threads> {
    let mut threads = Threads::new(setup, true)?;
    let (spin, section) = (setup.spin, Ns::from_ms(4));
    let pace = setup.pace_before_victim(OWNER_LEAD);
    let late_by = OWNER_LEAD - MIDDLE_LEAD;
    let middle_pace = crate::periodic::Pace { first: pace.first + late_by, ..pace };

    let owner_sched = if setup.coin() { SchedParams::OTHER } else { low(setup) };
    let owner_part = if middle == Role::Culprit { Role::Bystander } else { Role::Culprit };
    let owner = ThreadSpec::new(owner_part, setup.name("low-owner"), owner_sched, setup.cpu);
    let owners = Arc::clone(&lock);
    threads.start(owner, move || pace.run(|_| owners.hold(|| spin.work(section))))?;

    let middle = ThreadSpec::new(middle, setup.culprit_name("middle-hog"), middle_sched(setup), setup.cpu);
    start_burst(&mut threads, setup, middle, middle_pace, setup.burst(Ns::from_ms(14)))?;
    start_locking_victim(&mut threads, setup, lock)?;
    Ok(threads)
}

/// The priority of an owner.
pub(super) fn low(setup: &Setup) -> SchedParams {
    SchedParams::fifo(setup.priority / 5)
}

fn middle_sched(setup: &Setup) -> SchedParams {
    SchedParams::fifo(setup.priority * 3 / 5)
}

/// Half of its job under the lock.
fn start_locking_victim(threads: &mut Threads, setup: &Setup, lock: Arc<impl Guarding>) -> Result<()> {
    ensure!(
        setup.share == ProcessShare::Everyone,
        "--fork-exec: this lock is one of threads, not of processes"
    );
    let (pace, spin, half) = (setup.pace(), setup.spin, Ns(setup.job.0 / 2));
    threads.start(victim(setup), move || pace.run(|_| use_lock(&*lock, spin, half)))
}

/// A job, half of it under the lock.
pub(super) fn use_lock(lock: &impl Guarding, spin: Spin, half: Ns) {
    lock.hold(|| spin.work(half));
    spin.work(half);
}

/// A chain of two locks: plain ones, or with priority inheritance.
pub(super) fn lock_chain(setup: &Setup, pi: bool) -> Result<Threads> {
    if pi { chain::<PiMutex>(setup, Role::Bystander) } else { chain::<Mutex<()>>(setup, Role::Culprit) }
}

/// The victim waits for `first`, held by a link that waits for `second`, held by the
/// lowest, which the middle one preempts.
fn chain<L: Guarding + Default>(setup: &Setup, middle: Role) -> Result<Threads> {
    let mut threads = Threads::new(setup, true)?;
    let (first, second) = (Arc::new(L::default()), Arc::new(L::default()));
    let (spin, section) = (setup.spin, Ns::from_ms(4));
    let pace = setup.pace_before_victim(OWNER_LEAD);
    let after = |us| crate::periodic::Pace { first: pace.first + Ns::from_us(us), ..pace };

    let owner = if middle == Role::Culprit { Role::Bystander } else { Role::Culprit };
    let lowest = ThreadSpec::new(owner, setup.name("low-owner"), low(setup), setup.cpu);
    let seconds = Arc::clone(&second);
    threads.start(lowest, move || pace.run(|_| seconds.hold(|| spin.work(section))))?;

    let link = ThreadSpec::new(
        Role::Bystander,
        setup.name("link"),
        SchedParams::fifo(setup.priority * 2 / 5),
        setup.cpu,
    );
    let (link_pace, firsts) = (after(600), Arc::clone(&first));
    threads.start(link, move || {
        link_pace.run(|_| firsts.hold(|| second.hold(|| spin.work(Ns::from_us(100)))))
    })?;

    let middle = ThreadSpec::new(middle, setup.culprit_name("middle-hog"), middle_sched(setup), setup.cpu);
    start_burst(&mut threads, setup, middle, after(1_200), setup.burst(Ns::from_ms(14)))?;
    start_locking_victim(&mut threads, setup, first)?;
    Ok(threads)
}

/// The owner always runs: its section is long.
pub(super) fn contention(setup: &Setup, one_cpu: bool) -> Result<Threads> {
    let mut threads = Threads::new(setup, true)?;
    let lock = Arc::new(Mutex::new(()));
    let (spin, section, owners) = (setup.spin, setup.burst(Ns::from_ms(5)), Arc::clone(&lock));
    let pace = setup.pace_before_victim(Ns::from_us(1_000));
    let cpu = setup.other_cpu.filter(|_| !one_cpu).unwrap_or(setup.cpu);
    let owner = ThreadSpec::new(Role::Culprit, setup.culprit_name("owner"), low(setup), cpu);
    threads.start(owner, move || pace.run(|_| owners.hold(|| spin.work(section))))?;
    start_locking_victim(&mut threads, setup, lock)?;
    Ok(threads)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU64;

    /// Counts with a read and a write apart, which only mutual exclusion makes right.
    fn count_under(lock: Arc<impl Guarding>) -> u64 {
        let count = Arc::new(AtomicU64::new(0));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..2_000 {
                        lock.hold(|| {
                            let read = count.load(Ordering::Relaxed);
                            std::hint::spin_loop();
                            count.store(read + 1, Ordering::Relaxed);
                        });
                    }
                });
            }
        });
        count.load(Ordering::Relaxed)
    }

    #[test]
    fn both_locks_exclude() {
        assert_eq!(count_under(Arc::new(Mutex::new(()))), 8_000);
        assert_eq!(count_under(Arc::new(PiMutex::default())), 8_000);
    }
}
