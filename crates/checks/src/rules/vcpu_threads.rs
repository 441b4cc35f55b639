//! Do the CPUs of real-time guests have a real-time policy and a CPU of their own?

use super::shared::threads::{cpus_of, described, is_vcpu, place, with_those_of_kernel};
use crate::rule::page;
use crate::{CheckOptions, Fix, Profile, Rule, RuleOutcome, RuleResult};
use std::collections::BTreeMap;
use whylate_base::{Cpu, Policy, Severity};
use whylate_host::{Snapshot, Thread};

pub(super) const RULE: Rule = Rule {
    code: "vcpu-threads",
    title: "Each vCPU thread is real-time and pinned to a CPU of its own",
    severity: Severity::Warning,
    profiles: &[Profile::RealtimeVirtualHost],
    sources: &["https://libvirt.org/formatdomain.html (vcpupin, vcpusched)", "sched(7)"],
    page: page!("vcpu-threads"),
    check,
};

fn check(host: &Snapshot, _options: &CheckOptions) -> RuleResult {
    let threads = with_those_of_kernel(host)?;
    let vcpus: Vec<&Thread> = threads.iter().filter(|thread| is_vcpu(thread)).collect();
    if vcpus.is_empty() {
        return Ok(RuleOutcome::not_applicable("No thread has the name of a QEMU vCPU (CPU N/KVM)"));
    }
    let mut wrong: Vec<(&Thread, &str)> = Vec::new();
    let mut owners: BTreeMap<Cpu, &Thread> = BTreeMap::new();
    let mut unread = None;
    for &vcpu in &vcpus {
        let is_realtime = matches!(vcpu.policy, Some(Policy::Fifo | Policy::Rr));
        let cpus = match vcpu.affinity.need() {
            Ok(cpus) => cpus,
            Err(why) => {
                unread = unread.or(Some(why));
                continue;
            }
        };
        let single = cpus.iter().next().filter(|_| cpus.len() == 1);
        match single {
            _ if !is_realtime => wrong.push((vcpu, "it has no real-time policy")),
            None => wrong.push((vcpu, "it may use several CPUs")),
            Some(cpu) => {
                if owners.insert(cpu, vcpu).is_some() {
                    wrong.push((vcpu, "another vCPU is pinned to the same CPU"));
                }
            }
        }
    }
    let Some((first, why)) = wrong.first() else {
        if let Some(unread) = unread {
            return Err(unread.into());
        }
        let pass = RuleOutcome::pass(format!(
            "{} vCPU threads are real-time, each pinned to a CPU of its own",
            vcpus.len()
        ));
        return Ok(vcpus.iter().take(4).fold(pass, |answer, vcpu| {
            answer.shows_as(place(vcpu), format!("{}, {}", described(vcpu), cpus_of(vcpu)))
        }));
    };
    let answer = RuleOutcome::fail(
        format!(
            "{} of {} vCPU threads are not set for real-time: {}, {why}",
            wrong.len(),
            vcpus.len(),
            described(first)
        ),
        "A vCPU that another thread of the host preempts or that moves between CPUs stops its guest for that time: the \
         guest sees stolen time, which none of its priorities can prevent.",
    );
    let answer = wrong.iter().take(8).fold(answer, |answer, (vcpu, why)| {
        answer.shows_as(place(vcpu), format!("{}, {}: {why}", described(vcpu), cpus_of(vcpu)))
    });
    Ok(answer.fix(
        Fix::runtime(format!("virsh vcpupin DOMAIN N CPU; chrt -f -p 1 {}", first.tid)).by_hand("libvirt places the threads of its guests, by their definitions")
            .boot("<vcpupin vcpu='N' cpuset='CPU'/> and <vcpusched vcpus='N' scheduler='fifo' priority='1'/> in <cputune>")
            .risk("a vCPU that never sleeps starves the host's kernel threads on its CPU"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    const KTHREADD: &Files = thread!(kernel 2 "kthreadd", other 0, "0-1");
    const PINNED: &Files = thread!(program 72 of 71 "CPU 0/KVM", fifo 1, "1");
    const SECOND: &Files = thread!(program 73 of 71 "CPU 1/KVM", fifo 1, "0");
    const FAIR: &Files = thread!(program 72 of 71 "CPU 0/KVM", other 0, "1");
    const LOOSE: &Files = thread!(program 72 of 71 "CPU 0/KVM", rr 1, "0-1");

    #[test]
    fn cases() {
        table(
            &RULE,
            &[
                case("pinned", &[TWO_CPUS, KTHREADD, PINNED, SECOND]).passes("2 vCPU threads"),
                case("not real-time", &[TWO_CPUS, KTHREADD, FAIR]).fails("no real-time policy"),
                case("not pinned", &[TWO_CPUS, KTHREADD, LOOSE]).fails("several CPUs"),
                case("none runs", &[TWO_CPUS, KTHREADD]).does_not_apply("No thread"),
                case("a container", &[TWO_CPUS, PINNED]).cannot_tell("/proc"),
                case("hidden", &[&[]]).cannot_tell("/proc"),
            ],
        );
    }

    #[test]
    fn two_on_one_cpu_are_in_each_others_way() {
        const SAME: &Files = thread!(program 73 of 71 "CPU 1/KVM", fifo 1, "1");
        let files = [TWO_CPUS, KTHREADD, PINNED, SAME].concat();
        let host = Snapshot::read(&whylate_host::FsRoot::memory(&files));
        let verdict = check(&host, &CheckOptions::of(Profile::RealtimeVirtualHost)).expect("an outcome");
        assert!(verdict.what.contains("same CPU"), "{verdict:#?}");
    }
}
