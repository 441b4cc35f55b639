//! What a program can make of a fix: the settings that it changes, or the reason why it changes none.

use serde::{Deserialize, Serialize};

/// A fix: what to do in words, and what of it is a setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AdvisedFix {
    /// What to do.
    pub text: String,
    /// What a plan can make of it.
    pub action: Action,
}

impl AdvisedFix {
    /// A fix by settings.
    pub fn new(text: impl Into<String>, action: Action) -> AdvisedFix {
        AdvisedFix { text: text.into(), action }
    }

    /// A fix that no setting makes, with the reason.
    pub fn by_hand(text: impl Into<String>, reason: impl Into<String>) -> AdvisedFix {
        AdvisedFix::new(text, Action::by_hand(reason))
    }
}

/// The settings that a fix changes, all of one kind; of `code` the reason why it is none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Action {
    /// Files of the kernel.
    Tunable {
        /// Each file with its value.
        set: Vec<TunableAction>,
    },
    /// Policies and CPUs of threads.
    Thread {
        /// Each thread.
        set: Vec<ThreadAction>,
    },
    /// CPUs of interrupts.
    Irq {
        /// Each interrupt.
        set: Vec<IrqAction>,
    },
    /// Kernel parameters of the next boot.
    KernelParameter {
        /// Each parameter.
        set: Vec<ParameterAction>,
    },
    /// Services.
    Unit {
        /// Each unit.
        set: Vec<UnitAction>,
    },
    /// No setting makes it: a program is to be changed, or something that a person decides, builds or measures.
    Code {
        /// Why no setting makes it.
        reason: String,
    },
}

/// A file of the kernel, with its value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TunableAction {
    /// An absolute path in /proc or /sys; `*` in a component stands for any characters. `/dev/cpu_dma_latency`: a request
    /// of so many microseconds.
    pub path: String,
    /// What is written.
    pub value: String,
}

/// A thread by its name, and what it gets; null: as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadAction {
    /// Its name, as the kernel has it.
    pub thread: String,
    /// Its id in the recording or observation; null: not known.
    pub tid: Option<i32>,
    /// Its policy: `fifo`, `rr`, `other`; null with a priority: the real-time policy that it has, or `fifo`.
    pub policy: Option<String>,
    /// Its real-time priority; 0: of a policy without one.
    pub priority: Option<u32>,
    /// The CPUs that it may use, as a list.
    pub cpus: Option<String>,
    /// The CPUs that it may not use: it gets the other ones of the machine.
    pub not_cpus: Option<String>,
}

/// An interrupt, and the CPUs that it gets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IrqAction {
    /// Its number; null: not known.
    pub irq: Option<u32>,
    /// The name of its handler; empty: not known.
    pub name: String,
    /// Its CPUs, as a list.
    pub cpus: Option<String>,
    /// The CPUs that it may not use: it gets the other ones of the machine.
    pub not_cpus: Option<String>,
}

/// A kernel parameter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ParameterAction {
    /// Its name.
    pub parameter: String,
    /// What follows `=`; empty: it has no value; null: it is to be removed.
    pub value: Option<String>,
}

/// A service.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnitAction {
    /// Its name, such as `stalld.service`; null: the one that `thread` belongs to.
    pub unit: Option<String>,
    /// A thread by which the unit is found on the machine.
    pub thread: Option<String>,
    /// Whether it is to run; null: as it is.
    pub runs: Option<bool>,
    /// `enabled`, `disabled` or `masked`; null: as it is.
    pub at_boot: Option<String>,
}

impl Action {
    /// No setting makes it.
    pub fn by_hand(reason: impl Into<String>) -> Action {
        Action::Code { reason: reason.into() }
    }

    /// One file of the kernel.
    pub fn tunable(path: impl Into<String>, value: impl Into<String>) -> Action {
        Action::tunables([(path, value)])
    }

    /// Files of the kernel, each with its value.
    pub fn tunables(set: impl IntoIterator<Item = (impl Into<String>, impl Into<String>)>) -> Action {
        let one = |(path, value): (_, _)| TunableAction { path: Into::into(path), value: Into::into(value) };
        Action::Tunable { set: set.into_iter().map(one).collect() }
    }

    /// A sysctl, by its dotted name.
    pub fn sysctl(name: &str, value: impl Into<String>) -> Action {
        Action::Tunable { set: vec![TunableAction::sysctl(name, value)] }
    }

    /// One thread.
    pub fn thread(one: ThreadAction) -> Action {
        Action::Thread { set: vec![one] }
    }

    /// Kernel parameters, as the command line has them: `nohz_full=2-3 nosmt`.
    pub fn parameters(line: &str) -> Action {
        let of = |word: &str| match word.split_once('=') {
            Some((name, value)) => {
                ParameterAction { parameter: name.to_owned(), value: Some(value.to_owned()) }
            }
            None => ParameterAction { parameter: word.to_owned(), value: Some(String::new()) },
        };
        Action::KernelParameter { set: line.split_ascii_whitespace().map(of).collect() }
    }

    /// The word of its kind, as documents have it.
    pub fn kind(&self) -> &'static str {
        match self {
            Action::Tunable { .. } => "tunable",
            Action::Thread { .. } => "thread",
            Action::Irq { .. } => "irq",
            Action::KernelParameter { .. } => "kernel-parameter",
            Action::Unit { .. } => "unit",
            Action::Code { .. } => "code",
        }
    }

    /// What is wrong with it; `None`: it sets something, or states why it does not.
    pub fn flaw(&self) -> Option<&'static str> {
        let cpus = |cpus: &Option<String>, others: &Option<String>| {
            (cpus.is_some() || others.is_some())
                && cpus.iter().chain(others).all(|list| list.parse::<crate::CpuSet>().is_ok())
        };
        let in_kernel = |path: &str| {
            path.starts_with("/proc/") || path.starts_with("/sys/") || path == "/dev/cpu_dma_latency"
        };
        match self {
            Action::Code { reason } => (reason.len() < 12).then_some("no reason why no setting makes it"),
            Action::Tunable { set } => {
                let good = |one: &TunableAction| in_kernel(&one.path) && !one.value.is_empty();
                (set.is_empty() || !set.iter().all(good)).then_some("not a file of the kernel with a value")
            }
            Action::Thread { set } => {
                let good = |one: &ThreadAction| {
                    let priority = one.policy.is_some() || one.priority.is_some();
                    let placed = one.cpus.is_some() || one.not_cpus.is_some();
                    !one.thread.is_empty()
                        && (priority || placed)
                        && (!placed || cpus(&one.cpus, &one.not_cpus))
                        && one.priority.is_none_or(|priority| priority <= 99)
                };
                (set.is_empty() || !set.iter().all(good)).then_some("not a thread with a policy or CPUs")
            }
            Action::Irq { set } => {
                let good = |one: &IrqAction| {
                    (one.irq.is_some() || !one.name.is_empty()) && cpus(&one.cpus, &one.not_cpus)
                };
                (set.is_empty() || !set.iter().all(good)).then_some("not an interrupt with CPUs")
            }
            Action::KernelParameter { set } => {
                let good = |one: &ParameterAction| !one.parameter.is_empty();
                (set.is_empty() || !set.iter().all(good)).then_some("not a kernel parameter")
            }
            Action::Unit { set } => {
                let good = |one: &UnitAction| {
                    (one.unit.is_some() || one.thread.is_some())
                        && (one.runs.is_some() || one.at_boot.is_some())
                };
                (set.is_empty() || !set.iter().all(good)).then_some("not a unit with a state")
            }
        }
    }
}

impl TunableAction {
    /// A sysctl, by its dotted name.
    pub fn sysctl(name: &str, value: impl Into<String>) -> TunableAction {
        TunableAction { path: sysctl_path(name), value: value.into() }
    }
}

/// The file of a sysctl; in a name with a `/` the slashes separate and dots stay (sysctl.d(5)).
fn sysctl_path(name: &str) -> String {
    match name.contains('/') {
        true => format!("/proc/sys/{name}"),
        false => format!("/proc/sys/{}", name.replace('.', "/")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_action_sets_something_or_states_why_not() {
        let thread = |cpus: Option<&str>, priority| {
            Action::thread(ThreadAction {
                thread: "hog".to_owned(),
                not_cpus: cpus.map(str::to_owned),
                priority,
                ..ThreadAction::default()
            })
        };
        for (action, is_good) in [
            (Action::sysctl("kernel.sched_rt_runtime_us", "-1"), true),
            (Action::tunable("/etc/passwd", "x"), false),
            (Action::tunable("/proc/sys/vm/swappiness", ""), false),
            (Action::parameters("nohz_full=2 nosmt"), true),
            (Action::parameters(""), false),
            (thread(Some("1"), None), true),
            (thread(Some("one"), None), false),
            (thread(None, Some(40)), true),
            (thread(None, Some(100)), false),
            (thread(None, None), false),
            (Action::by_hand("the program is to be changed"), true),
            (Action::by_hand(""), false),
            (Action::Unit { set: vec![UnitAction::default()] }, false),
        ] {
            assert_eq!(action.flaw(), (!is_good).then(|| action.flaw()).flatten(), "{action:?}");
            assert_eq!(action.flaw().is_none(), is_good, "{action:?}");
        }
        let Action::KernelParameter { set } = Action::parameters("a=b=c d") else { panic!("parameters") };
        assert_eq!((set[0].value.as_deref(), set[1].value.as_deref()), (Some("b=c"), Some("")));
    }
}
