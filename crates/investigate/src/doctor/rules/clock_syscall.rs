//! Clocks whose reading is a system call in the real-time path.

use super::lines::{by_line, times};
use super::rule::{DoctorRule, Needs, page};
use crate::doctor::calls::SystemCall;
use crate::doctor::facts::{Call, Observation};
use crate::doctor::finding::DoctorFinding;
use whylate_base::Severity;

pub(super) const RULE: DoctorRule =
    DoctorRule { code: "clock-syscall", page: page!("clock-syscall"), needs: Needs::Calls, find };

fn find(observation: &Observation) -> Vec<DoctorFinding> {
    let calls = observation.path_calls().filter(|(_, call)| is_one(observation, call));
    let lines = by_line(observation, calls);
    lines
        .iter()
        .map(|line| {
            let title =
                format!("{} reads the clock by system calls: {}", line.name(), times(line.items.len()));
            line.finding(RULE.code, Severity::Warning, title).because(WHY).fix(FIX)
        })
        .collect()
}

/// The clocks of the CPU time of a process and of a thread are always read by a system call (`lib/vdso/gettimeofday.c`).
const CPU_TIME: [u64; 2] = [2, 3];
/// Dynamic clocks, such as a network card's, and CPU clocks of other threads have negative numbers (clock_getcpuclockid(3)).
const LAST_CLOCK: u64 = 11;

fn is_one(_: &Observation, call: &Call) -> bool {
    match call.call {
        SystemCall::ClockGetTime => call.args[0] <= LAST_CLOCK && !CPU_TIME.contains(&call.args[0]),
        SystemCall::GetTimeOfDay => true,
        _ => false,
    }
}

const WHY: &str = "usually the vDSO reads the clock in some 20 ns; here each reading enters the kernel, because this clock source cannot be read by programs (hpet, acpi_pm), the call bypasses the C library, or the program runs where there is no vDSO";

const FIX: &[&str] = &[
    "/sys/devices/system/clocksource/clocksource0/current_clocksource shows the clock source: tsc (x86) and arch_sys_counter (arm64) are read by the vDSO",
    "call clock_gettime() of the C library, not syscall(SYS_clock_gettime, ...)",
];
