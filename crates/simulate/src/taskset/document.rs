//! The tables and keys of a task set.

use serde::Deserialize;

/// The whole file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Document {
    #[serde(default)]
    pub(super) machine: MachineTable,
    #[serde(default, rename = "task")]
    pub(super) tasks: Vec<TaskTable>,
    #[serde(default, rename = "lock")]
    pub(super) locks: Vec<LockTable>,
    #[serde(default, rename = "interrupt")]
    pub(super) interrupts: Vec<InterruptTable>,
    #[serde(default, rename = "group")]
    pub(super) groups: Vec<GroupTable>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct MachineTable {
    pub(super) kernel: Option<String>,
    pub(super) preempt_rt: Option<bool>,
    pub(super) cpus: Option<u32>,
    pub(super) isolated: Option<String>,
    pub(super) hz: Option<u32>,
    pub(super) clock: Option<ClockName>,
    #[serde(alias = "sched_rt_runtime_us")]
    pub(super) sched_rt_runtime_us: Option<i64>,
    #[serde(alias = "sched_rt_period_us")]
    pub(super) sched_rt_period_us: Option<i64>,
    pub(super) rt_group_sched: Option<bool>,
    pub(super) fair_server: Option<String>,
    pub(super) rr_slice: Option<String>,
    pub(super) fair_slice: Option<String>,
    #[serde(default)]
    pub(super) costs: CostsTable,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum ClockName {
    Precise,
    Tick,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct CostsTable {
    pub(super) switch: Option<String>,
    pub(super) timer: Option<String>,
    pub(super) tick: Option<String>,
    pub(super) idle_exit: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct TaskTable {
    pub(super) name: String,
    pub(super) policy: Option<String>,
    pub(super) priority: Option<i64>,
    pub(super) nice: Option<i64>,
    pub(super) runtime: Option<String>,
    pub(super) period: Option<String>,
    pub(super) offset: Option<String>,
    pub(super) jitter: Option<AmountText>,
    pub(super) gap: Option<AmountText>,
    pub(super) arrivals: Option<Vec<String>>,
    pub(super) after: Option<String>,
    pub(super) woken: Option<bool>,
    pub(super) run: Option<AmountText>,
    pub(super) steps: Option<Vec<String>>,
    #[serde(default)]
    pub(super) start: Vec<String>,
    pub(super) deadline: Option<String>,
    pub(super) late: Option<Late>,
    pub(super) cpus: Option<String>,
    pub(super) group: Option<String>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Late {
    CatchUp,
    Skip,
}

/// `"200us"`, `"100us..300us"`, `"forever"`; a list of values in turn; values with weights.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum AmountText {
    Text(String),
    Sequence(Vec<String>),
    Weighted { values: Vec<(String, f64)> },
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct LockTable {
    pub(super) name: String,
    pub(super) protocol: Option<Protocol>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Protocol {
    None,
    Inherit,
    Protect,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct InterruptTable {
    pub(super) name: String,
    pub(super) cpu: Option<u32>,
    pub(super) gap: AmountText,
    pub(super) offset: Option<String>,
    pub(super) run: Option<AmountText>,
    pub(super) softirq: Option<String>,
    pub(super) softirq_run: Option<AmountText>,
    pub(super) wakes: Option<String>,
    pub(super) threaded: Option<bool>,
    pub(super) thread_priority: Option<i64>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct GroupTable {
    pub(super) name: String,
    pub(super) quota: String,
    pub(super) period: Option<String>,
}
