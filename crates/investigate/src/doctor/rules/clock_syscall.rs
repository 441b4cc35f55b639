//! Clocks whose reading is a system call in the real-time path.

use super::lines::{Mistake, by_line};
use super::rule::{DoctorRule, Needs, page};
use crate::doctor::calls::SystemCall;
use crate::doctor::facts::{Call, Observation};
use crate::doctor::finding::DoctorFinding;
use whylate_base::{Action, Severity};

pub(super) const RULE: DoctorRule =
    DoctorRule { code: "clock-syscall", page: page!("clock-syscall"), needs: Needs::Calls, find };

/// Dynamic clocks, such as a network card's, and CPU clocks of other threads have negative numbers (clock_getcpuclockid(3)).
const LAST_CLOCK: u64 = 11;
/// The CPU time of the process and of the thread: no vDSO reads these (`lib/vdso/gettimeofday.c`).
const CPU_TIME: [u64; 2] = [2, 3];
/// A program that measures its own load reads them once or twice in a round.
const MANY_IN_A_ROUND: u64 = 10;

const MISTAKE: Mistake = Mistake {
    code: RULE.code,
    severity: Severity::Warning,
    does: "reads the clock by system calls",
    why: WHY,
    fix: FIX,
};

fn find(observation: &Observation) -> Vec<DoctorFinding> {
    let reads = |is_one: fn(&Call) -> bool| {
        by_line(observation, observation.path_calls().filter(move |(_, call)| is_one(call)))
    };
    let mut lines = reads(is_usually_fast);
    lines.extend(reads(is_cpu_time).into_iter().filter(|line| {
        let rounds = line.thread.path.map_or(1, |path| path.waits);
        line.items.len() as u64 > MANY_IN_A_ROUND * rounds
    }));
    let found = lines.iter().map(|line| MISTAKE.at(line).action(0, Action::by_hand(SOURCE)));
    found.collect()
}

fn is_usually_fast(call: &Call) -> bool {
    match call.call {
        SystemCall::ClockGetTime => call.args[0] <= LAST_CLOCK && !is_cpu_time(call),
        SystemCall::GetTimeOfDay => true,
        _ => false,
    }
}

fn is_cpu_time(call: &Call) -> bool {
    call.call == SystemCall::ClockGetTime && CPU_TIME.contains(&call.args[0])
}

const WHY: &str = "usually the vDSO reads the clock in some 20 ns; here each reading enters the kernel, because the clock is one of CPU time, \
     this clock source cannot be read by programs (hpet, acpi_pm), the call bypasses the C library, or there is no vDSO";

const SOURCE: &str = "`whylate check` advises on the clock source, as far as the machine has another one";

const FIX: &[&str] = &[
    "/sys/devices/system/clocksource/clocksource0/current_clocksource shows the clock source: tsc (x86) and arch_sys_counter \
     (arm64) are read by the vDSO",
    "call clock_gettime() of the C library, not syscall(SYS_clock_gettime, ...)",
    "read CPU time once in a round, not for each step",
];
