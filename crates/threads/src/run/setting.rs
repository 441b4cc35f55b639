//! Threads that get a setting of their own: `ros2_ctl*=fifo:80@3`.

use std::fmt;
use std::str::FromStr;
use whylate_base::{CpuSet, Policy};
use whylate_sys::SchedParams;

/// Policy, priority and CPUs: `fifo:80@3`, `rr:5`, `other:-5`, `idle@2-3`, `@3`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadSetting {
    /// The policy with its priority; `None`: as it is.
    pub scheduling: Option<SchedParams>,
    /// The CPUs; `None`: as they are.
    pub cpus: Option<CpuSet>,
}

/// Threads of a name, or interrupt threads of a device, with what they get.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadRule {
    /// The name, in which `*` stands for anything.
    pub pattern: String,
    /// What they get.
    pub setting: ThreadSetting,
}

impl FromStr for ThreadSetting {
    type Err = String;

    fn from_str(text: &str) -> Result<ThreadSetting, String> {
        let (policy, cpus) = match text.split_once('@') {
            Some((policy, cpus)) => (policy, Some(cpus)),
            None => (text, None),
        };
        let cpus = cpus.map(|list| list.parse::<CpuSet>().map_err(|error| error.to_string())).transpose()?;
        if cpus.as_ref().is_some_and(CpuSet::is_empty) {
            return Err(format!("`{text}`: name one CPU at least after the `@`"));
        }
        let scheduling = (!policy.is_empty()).then(|| scheduling(policy)).transpose()?;
        match (&scheduling, &cpus) {
            (None, None) => Err("give a policy, CPUs, or both, such as fifo:80@3".to_owned()),
            _ => Ok(ThreadSetting { scheduling, cpus }),
        }
    }
}

/// `fifo:80`
fn scheduling(text: &str) -> Result<SchedParams, String> {
    let (name, number) = match text.split_once(':') {
        Some((name, number)) => (name, Some(number)),
        None => (text, None),
    };
    let params = |policy| SchedParams { policy, ..SchedParams::OTHER };
    let within = |least: i32, most: i32, what: &str| {
        let number =
            number.and_then(|number| number.parse::<i32>().ok()).filter(|n| (least..=most).contains(n));
        number.ok_or_else(|| format!("`{text}`: {what} of {least} to {most}"))
    };
    let priority = || within(1, 99, "it takes a priority").map(i32::unsigned_abs);
    Ok(match (Policy::from_name(name), number) {
        (Some(Policy::Fifo), _) => SchedParams::fifo(priority()?),
        (Some(Policy::Rr), _) => SchedParams::rr(priority()?),
        (Some(policy @ (Policy::Other | Policy::Batch)), Some(_)) => {
            SchedParams { nice: within(-20, 19, "it takes a nice value")?, ..params(policy) }
        }
        (Some(policy @ (Policy::Other | Policy::Batch | Policy::Idle)), None) => params(policy),
        _ => {
            return Err(format!(
                "`{text}`: use fifo:PRIORITY, rr:PRIORITY, other, other:NICE, batch or idle"
            ));
        }
    })
}

impl FromStr for ThreadRule {
    type Err = String;

    fn from_str(text: &str) -> Result<ThreadRule, String> {
        match text.rsplit_once('=') {
            Some((pattern, setting)) if !pattern.is_empty() => {
                Ok(ThreadRule { pattern: pattern.to_owned(), setting: setting.parse()? })
            }
            _ => Err("write it like NAME=fifo:80@3, with `*` for anything in the name".to_owned()),
        }
    }
}

/// As it is read: `ctl*=fifo:80@3`.
impl fmt::Display for ThreadRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}=", self.pattern)?;
        if let Some(params) = &self.setting.scheduling {
            f.write_str(params.policy.name())?;
            match params.policy {
                Policy::Fifo | Policy::Rr => write!(f, ":{}", params.priority)?,
                Policy::Other | Policy::Batch => write!(f, ":{}", params.nice)?,
                _ => {}
            }
        }
        self.setting.cpus.as_ref().map_or(Ok(()), |cpus| write!(f, "@{cpus}"))
    }
}

impl fmt::Display for ThreadSetting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheduling = self.scheduling.map(|params| params.to_string());
        let cpus = self.cpus.as_ref().map(|cpus| format!("CPUs {cpus}"));
        f.write_str(&scheduling.into_iter().chain(cpus).collect::<Vec<_>>().join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_read_as_they_are_written() {
        for (text, shown) in [
            ("fifo:80@3", "SCHED_FIFO priority 80, CPUs 3"),
            ("rr:1", "SCHED_RR priority 1"),
            ("@2-3", "CPUs 2-3"),
            ("other:-5", "SCHED_OTHER nice -5"),
            ("idle@0", "SCHED_IDLE, CPUs 0"),
        ] {
            assert_eq!(text.parse::<ThreadSetting>().expect(text).to_string(), shown);
        }
        for wrong in [
            "",
            "@",
            "fifo",
            "fifo:0",
            "fifo:100",
            "rr:x",
            "other:20",
            "best:1",
            "fifo:1@x",
            "deadline:1",
            "idle:1",
        ] {
            assert!(wrong.parse::<ThreadSetting>().is_err(), "{wrong}");
        }
        let rule: ThreadRule = "a=b*=fifo:80@3".parse().expect("a rule");
        assert_eq!(rule.pattern, "a=b*");
        for text in ["a=b*=fifo:80@3", "x=@1-2", "x=other:-5", "x=idle@0"] {
            assert_eq!(text.parse::<ThreadRule>().expect(text).to_string(), text);
        }
        for wrong in ["", "x", "=fifo:1", "x=", "x=fifo"] {
            assert!(wrong.parse::<ThreadRule>().is_err(), "{wrong}");
        }
    }
}
