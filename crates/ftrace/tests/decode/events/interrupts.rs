//! Interrupts and what they leave for later: softirqs, NMIs, packets, work items, calls to other CPUs; and sections without them.

use crate::Case;
use crate::common::Value::{Int, Text};
use whylate_base::{Cpu, Ns};
use whylate_events::{CpuCall, EventKind, Packet, PacketStep, Preemptirq, Work, WorkStep};

pub(super) fn cases() -> Vec<Case> {
    vec![
        (
            "irq",
            "irq_handler_entry",
            &["int irq", "__data_loc char[] name"],
            &[("irq", Int(19)), ("name", Text("enp0s3"))],
            EventKind::IrqEntry { irq: 19, name: "enp0s3".into() },
        ),
        (
            "irq",
            "irq_handler_entry",
            &["int irq", "__rel_loc char[] name"],
            &[("irq", Int(19)), ("name", Text("enp0s3"))],
            EventKind::IrqEntry { irq: 19, name: "enp0s3".into() },
        ),
        (
            "irq",
            "irq_handler_exit",
            &["int irq", "int ret"],
            &[("irq", Int(19))],
            EventKind::IrqExit { irq: 19 },
        ),
        (
            "irq",
            "softirq_raise",
            &["unsigned int vec"],
            &[("vec", Int(3))],
            EventKind::SoftirqRaise { vec: 3 },
        ),
        (
            "irq",
            "softirq_entry",
            &["unsigned int vec"],
            &[("vec", Int(3))],
            EventKind::SoftirqEntry { vec: 3 },
        ),
        ("irq", "softirq_exit", &["unsigned int vec"], &[("vec", Int(3))], EventKind::SoftirqExit { vec: 3 }),
        (
            "irq_vectors",
            "local_timer_entry",
            &["int vector"],
            &[("vector", Int(236))],
            EventKind::VectorEntry { name: "local_timer".into() },
        ),
        (
            "irq_vectors",
            "call_function_single_exit",
            &["int vector"],
            &[],
            EventKind::VectorExit { name: "call_function_single".into() },
        ),
        (
            "preemptirq",
            "irq_disable",
            &["s32 caller_offs", "s32 parent_offs"],
            &[("caller_offs", Int(0x208)), ("parent_offs", Int(-0x10))],
            EventKind::Preemptirq {
                what: Preemptirq::Interrupts,
                disables: true,
                caller: "process_timeout".into(),
            },
        ),
        (
            "preemptirq",
            "preempt_enable",
            &["s32 caller_offs", "s32 parent_offs"],
            &[("caller_offs", Int(-0x10)), ("parent_offs", Int(0))],
            EventKind::Preemptirq { what: Preemptirq::Preemption, disables: false, caller: "".into() },
        ),
        (
            "nmi",
            "nmi_handler",
            &["void * handler", "s64 delta_ns", "int handled"],
            &[("delta_ns", Int(1234))],
            EventKind::Nmi { delta: Ns(1234) },
        ),
        (
            "napi",
            "napi_poll",
            &["void * napi", "__data_loc char[] dev_name", "int work", "int budget"],
            &[("dev_name", Text("eth0")), ("work", Int(3)), ("budget", Int(64))],
            EventKind::NapiPoll { dev: "eth0".into(), work: 3, budget: 64 },
        ),
        (
            "net",
            "netif_receive_skb",
            &["void * skbaddr", "unsigned int len", "__data_loc char[] name"],
            &[("skbaddr", Int(0x1234)), ("len", Int(60)), ("name", Text("lo"))],
            EventKind::Packet(Packet { skb: 0x1234, len: 60, dev: "lo".into(), step: PacketStep::Received }),
        ),
        (
            "skb",
            "skb_copy_datagram_iovec",
            &["const void * skbaddr", "int len"],
            &[("skbaddr", Int(0x1234)), ("len", Int(60))],
            EventKind::Packet(Packet { skb: 0x1234, len: 60, dev: "".into(), step: PacketStep::Copied }),
        ),
        (
            "workqueue",
            "workqueue_execute_start",
            &["void * work", "void * function"],
            &[("work", Int(0x99)), ("function", Int(0xc000_0100))],
            EventKind::Work(Work { work: 0x99, function: "hrtimer_wakeup".into(), step: WorkStep::Started }),
        ),
        (
            "ipi",
            "ipi_send_cpu",
            &["unsigned int cpu", "void * callsite", "void * callback"],
            &[("cpu", Int(1)), ("callsite", Int(0xc000_0100))],
            EventKind::CpuCall(CpuCall::Sent { target: Cpu(1), from: "hrtimer_wakeup".into() }),
        ),
    ]
}
