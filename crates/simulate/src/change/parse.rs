//! Changes as they are written on the command line.

use super::{MachineChange, PolicyName, ReplayChange, ThreadChange, WrittenChange};
use crate::model::{FairServer, KernelSeries};
use whylate_base::{CpuSet, Ns, parse_duration};

/// The default of `kernel.sched_rt_runtime_us`.
const RT_RUNTIME: Ns = Ns::from_ms(950);
/// No offset is later.
const LATEST: Ns = Ns::from_secs(1_000_000);
/// The default of the fair server.
const FAIR_SERVER: FairServer = FairServer { runtime: Ns::from_ms(50), period: Ns::from_secs(1) };

impl WrittenChange {
    /// Of `--set`: `ctl.priority=60`, `hog.cpus=1`, `throttling=off`.
    ///
    /// # Errors
    /// What is wrong with it, and what would be right.
    pub fn set(text: &str) -> Result<WrittenChange, String> {
        let (key, value) = text.split_once('=').ok_or_else(|| "write it as KEY=VALUE".to_owned())?;
        let (key, value) = (key.trim(), value.trim());
        let change = match key.rsplit_once('.') {
            Some((target, what)) if !target.is_empty() => {
                ReplayChange::Thread { target: target.to_owned(), what: thread(what, value)? }
            }
            _ => ReplayChange::Machine(machine(key, value)?),
        };
        Ok(WrittenChange { text: format!("--set {key}={value}"), change })
    }

    /// Of `--remove`: the name, id or pattern of threads.
    pub fn remove(target: &str) -> WrittenChange {
        let change = ReplayChange::Thread { target: target.to_owned(), what: ThreadChange::Remove };
        WrittenChange { text: format!("--remove {target}"), change }
    }

    /// Of `--scale`: `planner=1.2`.
    ///
    /// # Errors
    /// What is wrong with it, and what would be right.
    pub fn scale(text: &str) -> Result<WrittenChange, String> {
        let (target, factor) = text.rsplit_once('=').ok_or_else(|| "write it as NAME=FACTOR".to_owned())?;
        let factor: f64 = factor.trim().parse().map_err(|_| format!("`{factor}` is not a number"))?;
        if !(0.0..=1e6).contains(&factor) {
            return Err(format!("`{factor}` must be 0 to 1000000"));
        }
        let change =
            ReplayChange::Thread { target: target.trim().to_owned(), what: ThreadChange::Scale(factor) };
        Ok(WrittenChange { text: format!("--scale {}={factor}", target.trim()), change })
    }
}

fn thread(what: &str, value: &str) -> Result<ThreadChange, String> {
    let within = |least: i64, most: i64| match value.parse::<i64>() {
        Ok(number) if (least..=most).contains(&number) => Ok(number),
        _ => Err(format!("{what} `{value}` must be {least} to {most}")),
    };
    match what {
        "priority" => Ok(ThreadChange::Priority(within(1, 99)? as u8)),
        "nice" => Ok(ThreadChange::Nice(within(-20, 19)? as i8)),
        "cpus" => {
            let cpus: CpuSet = value.parse().map_err(|error: whylate_base::CpuSetError| error.to_string())?;
            if cpus.is_empty() {
                Err("name at least one CPU".to_owned())
            } else {
                Ok(ThreadChange::Cpus(cpus))
            }
        }
        "offset" if value == "0" => Ok(ThreadChange::Offset(Ns::ZERO)),
        "offset" => match parse_duration(value) {
            Ok(offset) if offset <= LATEST => Ok(ThreadChange::Offset(offset)),
            Ok(_) => Err(format!("offset `{value}` is longer than {LATEST}")),
            Err(error) => Err(format!("offset: {error}")),
        },
        "policy" => match value {
            "fifo" => Ok(ThreadChange::Policy(PolicyName::Fifo)),
            "rr" => Ok(ThreadChange::Policy(PolicyName::Rr)),
            "other" | "batch" => Ok(ThreadChange::Policy(PolicyName::Other)),
            "idle" => Ok(ThreadChange::Policy(PolicyName::Idle)),
            _ => Err(format!("`{value}` is no policy: use fifo, rr, other, batch or idle")),
        },
        _ => Err(format!(
            "`{what}` cannot be set: use NAME.priority, NAME.policy, NAME.nice, NAME.cpus or NAME.offset"
        )),
    }
}

fn machine(key: &str, value: &str) -> Result<MachineChange, String> {
    match (key, value) {
        ("throttling", "off") => Ok(MachineChange::RtRuntime(None)),
        ("throttling", "on") => Ok(MachineChange::RtRuntime(Some(RT_RUNTIME))),
        ("throttling", _) => Err(format!("`{value}`: use on or off")),
        ("sched_rt_runtime_us" | "kernel.sched_rt_runtime_us", _) => match value.parse::<i64>() {
            Ok(-1) => Ok(MachineChange::RtRuntime(None)),
            Ok(us @ 0..=1_000_000_000) => Ok(MachineChange::RtRuntime(Some(Ns::from_us(us)))),
            _ => Err(format!("`{value}` must be -1 (no limit) or microseconds")),
        },
        ("fair-server", "off") => {
            Ok(MachineChange::FairServer(FairServer { runtime: Ns::ZERO, ..FAIR_SERVER }))
        }
        ("fair-server", "on") => Ok(MachineChange::FairServer(FAIR_SERVER)),
        ("fair-server", _) => {
            let parts = value.split_once('/').ok_or_else(|| format!("`{value}`: use 50ms/1s, on or off"))?;
            let time = |text| parse_duration(text).map_err(|error| error.to_string());
            let server = FairServer { runtime: time(parts.0)?, period: time(parts.1)? };
            if server.period <= Ns::ZERO || server.runtime > server.period {
                return Err(format!("`{value}`: the runtime is longer than the period"));
            }
            Ok(MachineChange::FairServer(server))
        }
        ("kernel", _) => {
            let series: KernelSeries =
                value.parse().map_err(|error: crate::model::KernelSeriesError| error.to_string())?;
            Ok(MachineChange::Kernel(series, value.contains("rt")))
        }
        ("isolated", "none") => Ok(MachineChange::Isolated(CpuSet::new())),
        ("isolated", _) => {
            let cpus = value.parse().map_err(|error: whylate_base::CpuSetError| error.to_string())?;
            Ok(MachineChange::Isolated(cpus))
        }
        _ => Err(format!(
            "`{key}` cannot be set: use NAME.priority, NAME.policy, NAME.nice, NAME.cpus, NAME.offset, throttling, \
             fair-server, sched_rt_runtime_us, kernel or isolated"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_read_as_they_are_written() {
        let set = |text: &str| WrittenChange::set(text).map(|named| named.change);
        let of = |target: &str, what| Ok(ReplayChange::Thread { target: target.to_owned(), what });
        assert_eq!(set("ctl.priority=60"), of("ctl", ThreadChange::Priority(60)));
        assert_eq!(
            set("irq/16-eth0.1.cpus=1"),
            of("irq/16-eth0.1", ThreadChange::Cpus("1".parse().expect("CPU")))
        );
        assert_eq!(set("ctl.offset=250us"), of("ctl", ThreadChange::Offset(Ns::from_us(250))));
        assert_eq!(set("ctl.policy=fifo"), of("ctl", ThreadChange::Policy(PolicyName::Fifo)));
        assert_eq!(set("throttling=off"), Ok(ReplayChange::Machine(MachineChange::RtRuntime(None))));
        assert_eq!(
            set("kernel=6.12"),
            Ok(ReplayChange::Machine(MachineChange::Kernel(KernelSeries::new(6, 12), false)))
        );
        assert_eq!(
            WrittenChange::scale("planner=1.2").map(|named| named.change),
            of("planner", ThreadChange::Scale(1.2))
        );
        for wrong in [
            "ctl.priority=100",
            "ctl.priority",
            "ctl.nice=20",
            "ctl.offset=1",
            "ctl.offset=-1ms",
            "ctl.cpus=",
            "ctl.policy=deadline",
            "ctl.colour=red",
            "colour=red",
            "kernel=six",
            "throttling=maybe",
            "fair-server=2s/1s",
            "sched_rt_runtime_us=-2",
        ] {
            assert!(WrittenChange::set(wrong).is_err(), "{wrong}");
        }
        for wrong in ["planner", "planner=x", "planner=-1", "planner=NaN"] {
            assert!(WrittenChange::scale(wrong).is_err(), "{wrong}");
        }
    }
}
