//! Do helpers of virtual machines run beside their vCPUs?

use super::shared::cpus::{NO_CPUS_CHOSEN, real_time};
use super::shared::threads::{cpus_of, is_vcpu, may_run_on, place, with_those_of_kernel};
use crate::rule::page;
use crate::{CheckOptions, Fix, Profile, Rule, RuleOutcome, RuleResult};
use std::collections::BTreeSet;
use whylate_base::Severity;
use whylate_host::{Snapshot, Thread};

pub(super) const RULE: Rule = Rule {
    code: "emulator-threads",
    title: "Emulator threads of virtual machines stay off the real-time CPUs",
    severity: Severity::Warning,
    profiles: &[Profile::RealtimeVirtualHost],
    sources: &["https://libvirt.org/formatdomain.html (emulatorpin)", "sched_setaffinity(2)"],
    page: page!("emulator-threads"),
    check,
};

fn check(host: &Snapshot, options: &CheckOptions) -> RuleResult {
    let threads = with_those_of_kernel(host)?;
    let Some(cpus) = real_time(host, options)? else {
        return Ok(RuleOutcome::not_applicable(NO_CPUS_CHOSEN));
    };
    let machines: BTreeSet<i32> =
        threads.iter().filter(|thread| is_vcpu(thread)).map(|thread| thread.pid).collect();
    if machines.is_empty() {
        return Ok(RuleOutcome::not_applicable("No thread has the name of a QEMU vCPU (CPU N/KVM)"));
    }
    let helpers: Vec<&Thread> =
        threads.iter().filter(|thread| machines.contains(&thread.pid) && !is_vcpu(thread)).collect();
    let here: Vec<&Thread> = helpers.iter().copied().filter(|thread| may_run_on(thread, &cpus)).collect();
    let Some(first) = here.first() else {
        let pass = RuleOutcome::pass(format!(
            "None of {} emulator threads of {} guests may run on CPUs {cpus}",
            helpers.len(),
            machines.len()
        ));
        return Ok(match helpers.first() {
            Some(helper) => pass.shows_as(place(helper), format!("{}, {}", helper.comm, cpus_of(helper))),
            None => pass.shows_as("/proc", "no emulator thread"),
        });
    };
    let answer = RuleOutcome::fail(
        format!(
            "{} emulator threads of virtual machines may run on CPUs {cpus}, such as {}",
            here.len(),
            first.comm
        ),
        "They emulate devices and transfer blocks. On a CPU of a vCPU they take its time or, if the vCPU is \
         real-time and busy, never run, and the guest's devices hang.",
    );
    let answer = here.iter().take(8).fold(answer, |answer, thread| {
        answer.shows_as(place(thread), format!("{}, {}", thread.comm, cpus_of(thread)))
    });
    Ok(answer.fix(
        Fix::runtime("virsh emulatorpin DOMAIN HOUSEKEEPING-CPUS; virsh iothreadpin for I/O threads")
            .by_hand("libvirt places the threads of its guests, by their definitions")
            .boot("<emulatorpin cpuset='...'/> and <iothreadpin .../> in <cputune>")
            .risk("with too few housekeeping CPUs the guest's devices are slow"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    const KTHREADD: &Files = thread!(kernel 2 "kthreadd", other 0, "0-1");
    const ISOLATED: &Files = &[("/sys/devices/system/cpu/isolated", "1\n")];
    const VCPU: &Files = thread!(program 72 of 71 "CPU 0/KVM", fifo 1, "1");
    const QEMU: &Files = thread!(program 71 "qemu-kvm", other 0, "0");
    const ANYWHERE: (&str, &str) = ("/proc/71/task/71/status", "Cpus_allowed_list:\t0-1\n");

    #[test]
    fn cases() {
        table(
            &RULE,
            &[
                case("apart", &[TWO_CPUS, KTHREADD, ISOLATED, VCPU, QEMU]).passes("None of 1"),
                case("beside it", &[TWO_CPUS, KTHREADD, ISOLATED, VCPU, QEMU, &[ANYWHERE]]).fails("qemu-kvm"),
                case("none runs", &[TWO_CPUS, KTHREADD, ISOLATED]).does_not_apply("No thread"),
                case("a container", &[TWO_CPUS, VCPU, QEMU]).cpus("1").cannot_tell("/proc"),
                case("hidden", &[&[]]).cannot_tell("/proc"),
            ],
        );
    }
}
