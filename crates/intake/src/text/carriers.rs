//! Lines of what carries work from one thread or device to another: packets, work items, calls between CPUs.

use super::fields::{address, field, number, symbol};
use whylate_base::Cpu;
use whylate_events::{
    CpuCall, EventKind, Kvm, KvmExitReason, Name, Packet, PacketStep, Symbol, Work, WorkStep,
};

/// Reads an event of these groups; `None` of any other, and of one whose fields are not known here.
pub(super) fn event(name: &str, text: &str) -> Option<EventKind> {
    if let Some(step) = PacketStep::of(name) {
        return packet(step, text);
    }
    if let Some(step) = WorkStep::of(name) {
        return work(step, text);
    }
    match name {
        "napi_poll" => napi_poll(text),
        "ipi_send_cpu" => {
            let from = field(text, "callsite").map(symbol).unwrap_or_default();
            Some(EventKind::CpuCall(CpuCall::Sent { target: cpu(text, "cpu")?, from }))
        }
        "csd_queue_cpu" => {
            Some(EventKind::CpuCall(CpuCall::Queued { target: cpu(text, "cpu")?, function: called(text) }))
        }
        "csd_function_entry" => Some(EventKind::CpuCall(CpuCall::Started { function: called(text) })),
        "csd_function_exit" => Some(EventKind::CpuCall(CpuCall::Ended { function: called(text) })),
        "cpu_frequency" => {
            let khz = number(field(text, "state")?)?;
            Some(EventKind::CpuFrequency { khz, target: cpu(text, "cpu_id")? })
        }
        "kvm_entry" => Some(EventKind::Kvm(Kvm::Entry { vcpu: vcpu(text) })),
        "kvm_exit" => Some(EventKind::Kvm(Kvm::Exit { vcpu: vcpu(text), reason: exit_reason(text)? })),
        _ => None,
    }
}

/// The guest's CPU: `vcpu 0, rip ..`, or `vcpu_id=0`.
fn vcpu(text: &str) -> Option<u32> {
    let spelled = || text.strip_prefix("vcpu ")?.split([' ', ',']).next();
    let number = field(text, "vcpu_id").or_else(spelled).and_then(number::<u32>)?;
    Some(number).filter(|&number| number != u32::MAX)
}

/// `vcpu 0 reason EPT_VIOLATION rip ..` of x86, `TRAP: HSR_EC: 0x0001 (WFx), PC: ..` of arm64, or raw
/// `exit_reason=48 isa=1`.
fn exit_reason(text: &str) -> Option<KvmExitReason> {
    if let Some(code) = field(text, "exit_reason") {
        return Some(KvmExitReason { code: number(code)?, isa: field(text, "isa").and_then(number)? });
    }
    if let Some((kind, class)) = text.split_once(": HSR_EC: ") {
        let class = class.split([' ', ',']).next()?.strip_prefix("0x")?;
        let ret = match kind {
            "IRQ" => 0,
            "SERROR" => 1,
            _ => 2,
        };
        return Some(KvmExitReason::of_arm(ret, u32::from_str_radix(class, 16).ok()?));
    }
    KvmExitReason::of_x86_name(text.split_once("reason ")?.1.split(' ').next()?)
}

fn cpu(text: &str, key: &str) -> Option<Cpu> {
    number(field(text, key)?).map(Cpu)
}

/// `func=name, csd=..`
fn called(text: &str) -> Symbol {
    field(text, "func").map(|name| symbol(name.trim_end_matches(','))).unwrap_or_default()
}

/// `dev=lo skbaddr=00000000f2d1a2b3 len=60`
fn packet(step: PacketStep, text: &str) -> Option<EventKind> {
    Some(EventKind::Packet(Packet {
        skb: address(field(text, "skbaddr")?)?,
        len: field(text, "len").and_then(number).unwrap_or(0),
        dev: field(text, "dev").or_else(|| field(text, "name")).map(Name::from).unwrap_or_default(),
        step,
    }))
}

/// `work struct=0000000012 function=f workqueue=..`, `work struct 0000000012: function f`, or raw `work=0x..`.
fn work(step: WorkStep, text: &str) -> Option<EventKind> {
    let at = match text.strip_prefix("work struct") {
        Some(rest) => rest.trim_start_matches([' ', '=']).split([':', ' ']).next()?,
        None => field(text, "work")?,
    };
    let function = match field(text, "function") {
        Some(name) => symbol(name),
        None => text.split_once(": function ").map(|(_, name)| symbol(name)).unwrap_or_default(),
    };
    Some(EventKind::Work(Work { work: address(at)?, function, step }))
}

/// `napi poll on napi struct 0000000012 for device eth0 work 1 budget 64`, or raw `napi=.. dev_name=.. work=..`.
fn napi_poll(text: &str) -> Option<EventKind> {
    if let Some((_, rest)) = text.split_once(" for device ") {
        let mut words = rest.split_ascii_whitespace();
        let dev = words.next().map(Name::from)?;
        let mut labelled = |label: &str| words.next().filter(|word| *word == label).and(words.next());
        let work = labelled("work").and_then(number)?;
        let budget = labelled("budget").and_then(number)?;
        return Some(EventKind::NapiPoll { dev, work, budget });
    }
    Some(EventKind::NapiPoll {
        dev: field(text, "dev_name").map(Name::from).unwrap_or_default(),
        work: number(field(text, "work")?)?,
        budget: number(field(text, "budget")?)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_as_kernels_and_trace_cmd_print_them() {
        let packet =
            |step, dev: &str| EventKind::Packet(Packet { skb: 0xf2d1_a2b3, len: 60, dev: dev.into(), step });
        let work = |step| EventKind::Work(Work { work: 0x12, function: "flush_to_ldisc".into(), step });
        let exit = |vcpu, isa, code| EventKind::Kvm(Kvm::Exit { vcpu, reason: KvmExitReason { isa, code } });
        for (name, text, expected) in [
            ("netif_rx", "dev=lo skbaddr=00000000f2d1a2b3 len=60", packet(PacketStep::Looped, "lo")),
            ("netif_receive_skb", "dev=lo skbaddr=0xf2d1a2b3 len=60", packet(PacketStep::Received, "lo")),
            ("skb_copy_datagram_iovec", "skbaddr=00000000f2d1a2b3 len=60", packet(PacketStep::Copied, "")),
            (
                "net_dev_start_xmit",
                "dev=lo queue_mapping=0 skbaddr=00000000f2d1a2b3 vlan_tagged=0 len=60 data_len=0",
                packet(PacketStep::Started, "lo"),
            ),
            (
                "workqueue_queue_work",
                "work struct=0000000000000012 function=flush_to_ldisc workqueue=events req_cpu=8192 cpu=1",
                work(WorkStep::Queued),
            ),
            (
                "workqueue_activate_work",
                "work struct 0000000000000012 function=flush_to_ldisc ",
                work(WorkStep::Activated),
            ),
            (
                "workqueue_execute_start",
                "work struct 0000000000000012: function flush_to_ldisc",
                work(WorkStep::Started),
            ),
            ("workqueue_execute_end", "work=0x12 function=flush_to_ldisc", work(WorkStep::Ended)),
            (
                "napi_poll",
                "napi poll on napi struct 00000000aa for device eth0 work 1 budget 64",
                EventKind::NapiPoll { dev: "eth0".into(), work: 1, budget: 64 },
            ),
            (
                "ipi_send_cpu",
                "cpu=1 callsite=ttwu_queue_wakelist+0x12b/0x140 callback=0x0",
                EventKind::CpuCall(CpuCall::Sent { target: Cpu(1), from: "ttwu_queue_wakelist".into() }),
            ),
            (
                "csd_function_entry",
                "func=do_sync_core, csd=00000000aa",
                EventKind::CpuCall(CpuCall::Started { function: "do_sync_core".into() }),
            ),
            (
                "cpu_frequency",
                "state=1200000 cpu_id=3",
                EventKind::CpuFrequency { khz: 1_200_000, target: Cpu(3) },
            ),
            ("kvm_entry", "vcpu 2, rip 0xffffffff81000000", EventKind::Kvm(Kvm::Entry { vcpu: Some(2) })),
            ("kvm_entry", "PC: 0x0000ffff", EventKind::Kvm(Kvm::Entry { vcpu: None })),
            ("kvm_exit", "vcpu 0 reason EPT_VIOLATION rip 0xfff info1 0x0 info2 0x0", exit(Some(0), 1, 48)),
            ("kvm_exit", "reason npf rip 0xfff info 0 0", exit(None, 2, 0x400)),
            ("kvm_exit", "TRAP: HSR_EC: 0x0001 (WFx), PC: 0xffff", exit(None, 3, 0x101)),
            ("kvm_exit", "IRQ: HSR_EC: 0x0000 (UNKNOWN), PC: 0xffff", exit(None, 3, 0)),
            ("kvm_exit", "exit_reason=12 isa=1 vcpu_id=4294967295", exit(None, 1, 12)),
        ] {
            assert_eq!(event(name, text), Some(expected), "{name}: {text}");
        }
    }

    #[test]
    fn what_lacks_a_field_is_no_event_of_these() {
        for (name, text) in [
            ("napi_poll", "napi poll on napi struct 00000000aa for device eth0"),
            ("netif_rx", "dev=lo len=60"),
            ("workqueue_queue_work", ""),
            ("cpu_frequency", "state=x cpu_id=0"),
            ("net_unknown", "dev=lo skbaddr=0 len=0"),
            ("kvm_exit", "vcpu 0 reason NO_SUCH_REASON rip 0x0"),
            ("kvm_exit", "TRAP: HSR_EC: x"),
        ] {
            assert_eq!(event(name, text), None, "{name}");
        }
    }
}
