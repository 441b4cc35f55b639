//! What CPUs do: idle states, frequencies, guests, functions of the kernel.

use crate::Case;
use crate::common::Value::Int;
use whylate_base::Cpu;
use whylate_events::{EventKind, Kvm, KvmExitReason};

pub(super) fn cases() -> Vec<Case> {
    vec![
        (
            "power",
            "cpu_idle",
            &["u32 state", "u32 cpu_id"],
            &[("state", Int(2))],
            EventKind::CpuIdle { state: Some(2) },
        ),
        (
            "power",
            "cpu_idle",
            &["u32 state", "u32 cpu_id"],
            &[("state", Int(0xffff_ffff))],
            EventKind::CpuIdle { state: None },
        ),
        (
            "power",
            "cpu_frequency",
            &["u32 state", "u32 cpu_id"],
            &[("state", Int(1_200_000)), ("cpu_id", Int(1))],
            EventKind::CpuFrequency { khz: 1_200_000, target: Cpu(1) },
        ),
        (
            "kvm",
            "kvm_entry",
            &["unsigned int vcpu_id", "unsigned long rip"],
            &[("vcpu_id", Int(1)), ("rip", Int(0x1234))],
            EventKind::Kvm(Kvm::Entry { vcpu: Some(1) }),
        ),
        (
            "kvm",
            "kvm_exit",
            &[
                "unsigned int exit_reason",
                "unsigned long guest_rip",
                "u32 isa",
                "u64 info1",
                "unsigned int vcpu_id",
            ],
            &[("exit_reason", Int(48)), ("isa", Int(1)), ("vcpu_id", Int(1))],
            EventKind::Kvm(Kvm::Exit { vcpu: Some(1), reason: KvmExitReason { isa: 1, code: 48 } }),
        ),
        (
            "kvm",
            "kvm_exit",
            &["int ret", "unsigned int esr_ec", "unsigned long vcpu_pc"],
            &[("ret", Int(2)), ("esr_ec", Int(1))],
            EventKind::Kvm(Kvm::Exit { vcpu: None, reason: KvmExitReason { isa: 3, code: 0x101 } }),
        ),
        (
            "ftrace",
            "function",
            &["unsigned long ip", "unsigned long parent_ip"],
            &[("ip", Int(0xc000_0100)), ("parent_ip", Int(0xc000_0204))],
            EventKind::Function { name: "hrtimer_wakeup".into(), caller: "process_timeout".into() },
        ),
    ]
}
