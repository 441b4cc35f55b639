//! Faults in which the kernel itself keeps the CPU: interrupts, the stop class, sections
//! without preemption or interrupts.

use super::start::{start_plain_victim, victim};
use crate::periodic::{Log, Pace, sleep};
use crate::role::Role;
use crate::setup::Setup;
use crate::threads::{ThreadSpec, Threads};
use anyhow::{Context, Result, ensure};
use rustix::fs::OFlags;
use rustix::process::{Resource, Rlimit, setrlimit};
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create, timerfd_settime,
};
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::fd::OwnedFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use whylate_base::Ns;
use whylate_sys::{Clock, QueuedSignal, SchedParams, now};

/// Changing the clocksource halts all CPUs in their stopper threads (migration/N) until
/// each has arrived (stop_machine, kernel/stop_machine.c), and one is delayed by a
/// section with interrupts disabled, as in [`irqs_off`].
pub(super) fn stop_task(setup: &Setup, signals: u64) -> Result<Threads> {
    let elsewhere = setup.other_cpu.context(
        "stop-task needs a second CPU: boot with two, or widen the affinity (with one nothing waits)",
    )?;
    let sources = Path::new("/sys/devices/system/clocksource/clocksource0");
    let read = |name: &str| {
        let path = sources.join(name);
        std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))
    };
    let usual = read("current_clocksource")?.trim().to_owned();
    let available = read("available_clocksource")?;
    let another = available.split_ascii_whitespace().find(|name| *name != usual);
    let another = another.context("the machine has no other clocksource")?.to_owned();
    let current = sources.join("current_clocksource");
    let select = move |name: &str| std::fs::write(&current, name).context("cannot change the clocksource");
    // The first change shows that it works.
    select(&another)?;
    select(&usual)?;

    raise_limit(Resource::Sigpending, signals + 256)?;
    let mut threads = Threads::new(setup, true)?;
    let (pace, ahead) = prepared(setup, Ns::from_us(150));
    // The signals are queued on the victim's CPU, well before: where the emulator runs one
    // CPU at a time, work on the other one would delay the victim too.
    let spec = ThreadSpec::new(Role::Bystander, setup.name("clock-setter"), SchedParams::OTHER, setup.cpu);
    let spin = setup.spin;
    threads.start(spec, move || {
        let Ok(signal) = QueuedSignal::block() else { return Log::default() };
        pace.run_by(sleep, |due| {
            let queued = (0..signals).take_while(|_| signal.queue().is_ok()).count();
            // The rest is waited out awake, so that an emulator that runs one CPU at a time has
            // this one's next timer, the victim's, to end the other one's turn by.
            if queued > 0 && sleep(due + ahead - Ns::from_us(400)) {
                spin.work_until(due + ahead);
                // It worked before the run; a failure now shows as a run without late jobs.
                let _ = select(&another);
                let _ = select(&usual);
            }
        })
    })?;
    let spec = ThreadSpec::new(Role::Bystander, setup.name("signaller"), SchedParams::OTHER, elsewhere);
    let pace = Pace { first: pace.first + ahead - Ns::from_us(150), ..pace };
    threads.start(spec, move || {
        let Ok(signal) = QueuedSignal::block() else { return Log::default() };
        pace.run(|_| {
            // Neither disposition can be refused.
            let _ = signal.drop_queued();
        })
    })?;
    start_plain_victim(&mut threads, setup, victim(setup))?;
    Ok(threads)
}

/// CPU hotplug does that too, in the middle of much else.
pub(super) fn hotplug(setup: &Setup) -> Result<Threads> {
    let removed = setup.cpus.iter().last().filter(|cpu| cpu.0 > 0).context(
        "--hotplug takes a CPU down, and needs one besides CPU 0: boot with two, or widen the affinity",
    )?;
    let knob = PathBuf::from(format!("/sys/devices/system/cpu/cpu{removed}/online"));
    let switch = move |on: &str| std::fs::write(&knob, on).with_context(|| format!("{}", knob.display()));
    // The first time shows that it works, and does what is done only once.
    switch("0")?;
    switch("1")?;

    let mut threads = Threads::new(setup, true)?;
    let place = setup.cpus.iter().find(|&cpu| cpu != removed).unwrap_or_default();
    let spec = ThreadSpec::new(Role::Bystander, setup.name("hotplug"), SchedParams::OTHER, place);
    let pace = setup.pace_before_victim(Ns::ZERO);
    threads.start(spec, move || {
        pace.run(|_| {
            // As above.
            let _ = switch("0");
            let _ = switch("1");
        })
    })?;
    let spec = victim(setup);
    let cpu = spec.cpu.filter(|&cpu| cpu != removed).unwrap_or(place);
    start_plain_victim(&mut threads, setup, ThreadSpec { cpu: Some(cpu), ..spec })?;
    Ok(threads)
}

/// The 8250 driver's handler sends on as long as the port takes more (serial8250_interrupt,
/// drivers/tty/serial/8250/8250_core.c), and an emulated port always does.
pub(super) fn irq_load(setup: &Setup, port: &Path) -> Result<Threads> {
    let flags = i32::try_from(OFlags::NOCTTY.bits()).context("O_NOCTTY")?;
    let open = OpenOptions::new().write(true).custom_flags(flags).open(port);
    let mut file = open.with_context(|| {
        format!("cannot open {}: start the guest with one more -serial null", port.display())
    })?;
    file.write_all(&[0]).with_context(|| format!("cannot write to {}: no such port?", port.display()))?;
    let mut threads = Threads::new(setup, true)?;
    /// 50 us of timer slack and the copy of a full buffer (4096 bytes) are before the interrupt.
    const WRITE_LEAD: Ns = Ns::from_us(170);
    // The interrupt comes to the CPU that this thread starts the transfer on.
    let spec =
        ThreadSpec::new(Role::Culprit, setup.culprit_name("tty-writer"), SchedParams::OTHER, setup.cpu);
    let (pace, burst) = (setup.pace_before_victim(WRITE_LEAD), setup.burst(Ns::from_ms(4)));
    threads.start(spec, move || {
        let text = [0x55_u8; 16_384];
        pace.run(|_| {
            let until = now(Clock::Monotonic) + burst;
            while now(Clock::Monotonic) < until && file.write(&text).is_ok() {}
        })
    })?;
    start_plain_victim(&mut threads, setup, victim(setup))?;
    Ok(threads)
}

/// Timers armed long before expire together: one hrtimer interrupt, or on PREEMPT_RT one
/// turn of ktimers/N, does them all.
pub(super) fn timers(setup: &Setup, count: usize) -> Result<Threads> {
    raise_limit(Resource::Nofile, u64::try_from(count)? + 256)?;
    let timers: Vec<OwnedFd> = (0..count)
        .map(|_| timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::CLOEXEC).context("timerfd_create"))
        .collect::<Result<_>>()?;
    let mut threads = Threads::new(setup, true)?;
    let spec = ThreadSpec::new(Role::Culprit, setup.culprit_name("timers"), SchedParams::OTHER, setup.cpu);
    let (pace, ahead) = prepared(setup, Ns::from_us(100));
    threads.start(spec, move || {
        pace.run_by(sleep, |due| {
            let due = due + ahead;
            let value = Timespec { tv_sec: due.0 / 1_000_000_000, tv_nsec: due.0 % 1_000_000_000 };
            let times = Itimerspec { it_interval: Timespec::default(), it_value: value };
            for timer in &timers {
                // The instant and the descriptor are valid, which is all that it can complain of.
                let _ = timerfd_settime(timer, TimerfdTimerFlags::ABSTIME, &times);
            }
        })
    })?;
    start_plain_victim(&mut threads, setup, victim(setup))?;
    Ok(threads)
}

/// A pace that leaves time to prepare something, and how long after each of its instants
/// the prepared thing is due: `lead` before the victim.
fn prepared(setup: &Setup, lead: Ns) -> (Pace, Ns) {
    let ahead = Ns((setup.every.0 / 2).min(100_000_000));
    let pace = setup.pace_before_victim(lead);
    (Pace { first: pace.first + setup.interval - ahead, ..pace }, ahead)
}

/// A child gets a copy of the table of open files, made under the spinlock of the
/// original (dup_fd, fs/file.c).
pub(super) fn preempt_off(setup: &Setup, files: u64) -> Result<Threads> {
    raise_limit(Resource::Nofile, files + 256)?;
    let first = File::open("/dev/null").context("/dev/null")?;
    let held: Vec<OwnedFd> = (0..files)
        .map(|_| rustix::io::fcntl_dupfd_cloexec(&first, 0).context("fcntl(F_DUPFD_CLOEXEC)"))
        .collect::<Result<_>>()?;
    let mut threads = Threads::new(setup, true)?;
    let spec = ThreadSpec::new(Role::Culprit, setup.culprit_name("forker"), SchedParams::OTHER, setup.cpu);
    // About 300 us pass until the section begins.
    let pace = setup.pace_before_victim(Ns::from_us(500));
    threads.start(spec, move || {
        let log = pace.run(|_| {
            let mut command = Command::new("/proc/self/exe");
            let child = command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).spawn();
            // What matters is over by now; the child only prints its version.
            let _ = child.and_then(|mut child| child.wait());
        });
        drop(held);
        log
    })?;
    start_plain_victim(&mut threads, setup, victim(setup))?;
    Ok(threads)
}

/// A signal that becomes ignored is taken from the queues of the process with the signal
/// lock held and interrupts disabled (do_sigaction, kernel/signal.c).
pub(super) fn irqs_off(setup: &Setup, signals: u64) -> Result<Threads> {
    ensure!(signals > 0, "--signals must be at least 1");
    raise_limit(Resource::Sigpending, signals + 256)?;
    let mut threads = Threads::new(setup, true)?;
    let spec = ThreadSpec::new(Role::Culprit, setup.culprit_name("signaller"), SchedParams::OTHER, setup.cpu);
    let (pace, ahead) = prepared(setup, Ns::from_us(300));
    threads.start(spec, move || {
        let Ok(signal) = QueuedSignal::block() else { return Log::default() };
        pace.run_by(sleep, |due| {
            let queued = (0..signals).take_while(|_| signal.queue().is_ok()).count();
            if queued > 0 && sleep(due + ahead) {
                // Neither disposition can be refused; a run without late jobs would show it.
                let _ = signal.drop_queued();
            }
        })
    })?;
    start_plain_victim(&mut threads, setup, victim(setup))?;
    Ok(threads)
}

fn raise_limit(resource: Resource, least: u64) -> Result<()> {
    let limit = rustix::process::getrlimit(resource);
    if limit.current.is_none_or(|current| current >= least) {
        return Ok(());
    }
    let maximum = limit.maximum.map(|maximum| maximum.max(least));
    setrlimit(resource, Rlimit { current: Some(least), maximum }).with_context(|| {
        format!("{resource:?} cannot be raised to {least}: be root (fs.nr_open bounds files)")
    })
}
