//! What carries work from one thread or device to another: `napi`, `net`, `skb`, `workqueue`, `ipi`, `csd`; the
//! frequency of CPUs; and when a guest's CPUs execute its code: `kvm`.

use super::field::{Int, Lookup, Str};
use crate::bytes::Endian;
use crate::symbols::SymbolCache;
use whylate_base::Cpu;
use whylate_events::{
    CpuCall, EventKind, Kind, Kvm, KvmExitReason, Name, Packet, PacketStep, Symbol, Work, WorkStep,
};

#[derive(Debug)]
pub(super) enum Carrier {
    NapiPoll { dev: Str, work: Int, budget: Int },
    Packet { skb: Int, len: Option<Int>, dev: Option<Str>, step: PacketStep },
    Work { work: Int, function: Option<Int>, step: WorkStep },
    IpiSend { target: Int, from: Option<Int> },
    CallQueue { target: Int, function: Int },
    CallStart { function: Int },
    CallEnd { function: Int },
    CpuFrequency { khz: Int, target: Int },
    KvmEntry { vcpu: Option<Int> },
    KvmExit { vcpu: Option<Int>, reason: Int, isa: Int },
    KvmExitOfArm { ret: Int, class: Int },
}

pub(super) fn compile(f: &mut Lookup<'_>) -> Option<(Kind, Carrier)> {
    let (system, name) = (f.format.system.as_str(), f.format.name.as_str());
    Some(match (system, name) {
        // Before 4.7 it had neither work nor budget.
        ("napi", "napi_poll") => (
            Kind::NapiPoll,
            Carrier::NapiPoll { dev: f.text("dev_name")?, work: f.int("work")?, budget: f.int("budget")? },
        ),
        ("net" | "skb", _) => {
            let step = PacketStep::of(name).filter(|step| step.tracepoint().0 == system)?;
            let dev = if step == PacketStep::Copied { None } else { Some(f.text("name")?) };
            (Kind::Packet, Carrier::Packet { skb: f.int("skbaddr")?, len: f.int("len"), dev, step })
        }
        // 5.6 added the function to the last one.
        ("workqueue", _) => {
            let step = WorkStep::of(name)?;
            (Kind::Work, Carrier::Work { work: f.int("work")?, function: f.int("function"), step })
        }
        ("ipi", "ipi_send_cpu") => {
            (Kind::CpuCall, Carrier::IpiSend { target: f.int("cpu")?, from: f.int("callsite") })
        }
        ("csd", "csd_queue_cpu") => {
            (Kind::CpuCall, Carrier::CallQueue { target: f.int("cpu")?, function: f.int("func")? })
        }
        ("csd", "csd_function_entry") => (Kind::CpuCall, Carrier::CallStart { function: f.int("func")? }),
        ("csd", "csd_function_exit") => (Kind::CpuCall, Carrier::CallEnd { function: f.int("func")? }),
        ("power", "cpu_frequency") => {
            (Kind::CpuFrequency, Carrier::CpuFrequency { khz: f.int("state")?, target: f.int("cpu_id")? })
        }
        ("kvm", "kvm_entry") => (Kind::Kvm, Carrier::KvmEntry { vcpu: f.int("vcpu_id") }),
        ("kvm", "kvm_exit") => {
            let exit = match f.int("esr_ec") {
                Some(class) => Carrier::KvmExitOfArm { ret: f.int("ret")?, class },
                None => Carrier::KvmExit {
                    vcpu: f.int("vcpu_id"),
                    reason: f.int("exit_reason")?,
                    isa: f.int("isa")?,
                },
            };
            (Kind::Kvm, exit)
        }
        _ => return None,
    })
}

impl Carrier {
    pub(super) fn decode(&self, e: Endian, r: &[u8], names: &mut SymbolCache) -> Option<EventKind> {
        let mut name = |function: Option<Int>| match function.and_then(|function| function.read(e, r)) {
            Some(address) => names.name(address as u64),
            None => Symbol::default(),
        };
        Some(match *self {
            Carrier::NapiPoll { dev, work, budget } => EventKind::NapiPoll {
                dev: dev.text(e, r),
                work: work.read(e, r)? as i32,
                budget: budget.read(e, r)? as i32,
            },
            Carrier::Packet { skb, len, dev, step } => EventKind::Packet(Packet {
                skb: skb.read(e, r)? as u64,
                len: len.and_then(|len| len.read(e, r)).unwrap_or(0) as u32,
                dev: dev.map_or_else(Name::default, |dev| dev.text(e, r)),
                step,
            }),
            Carrier::Work { work, function, step } => {
                EventKind::Work(Work { work: work.read(e, r)? as u64, function: name(function), step })
            }
            Carrier::IpiSend { target, from } => {
                EventKind::CpuCall(CpuCall::Sent { target: Cpu(target.read(e, r)? as u32), from: name(from) })
            }
            Carrier::CallQueue { target, function } => EventKind::CpuCall(CpuCall::Queued {
                target: Cpu(target.read(e, r)? as u32),
                function: name(Some(function)),
            }),
            Carrier::CallStart { function } => {
                EventKind::CpuCall(CpuCall::Started { function: name(Some(function)) })
            }
            Carrier::CallEnd { function } => {
                EventKind::CpuCall(CpuCall::Ended { function: name(Some(function)) })
            }
            Carrier::CpuFrequency { khz, target } => EventKind::CpuFrequency {
                khz: khz.read(e, r)? as u32,
                target: Cpu(target.read(e, r)? as u32),
            },
            Carrier::KvmEntry { vcpu } => EventKind::Kvm(Kvm::Entry { vcpu: number(vcpu, e, r) }),
            Carrier::KvmExit { vcpu, reason, isa } => {
                let code = reason.read(e, r)? as u32;
                let reason = KvmExitReason { isa: isa.read(e, r)? as u32, code };
                EventKind::Kvm(Kvm::Exit { vcpu: number(vcpu, e, r), reason })
            }
            Carrier::KvmExitOfArm { ret, class } => {
                let reason = KvmExitReason::of_arm(ret.read(e, r)? as u32, class.read(e, r)? as u32);
                EventKind::Kvm(Kvm::Exit { vcpu: None, reason })
            }
        })
    }
}

/// The number of a guest's CPU; the largest of all stands for one that is not known.
fn number(field: Option<Int>, e: Endian, r: &[u8]) -> Option<u32> {
    field?.read(e, r).map(|number| number as u32).filter(|&number| number != u32::MAX)
}
