//! From the tables of a task set to the model.

use super::document::{
    ClockName, Document, GroupTable, InterruptTable, Late, MachineTable, Protocol, TaskTable,
};
use super::error::TaskSetError;
use super::overrides::Overrides;
use super::steps::{self, Names};
use super::values;
use crate::model::{
    AccountingClock, Amount, Arrival, Costs, FairServer, Group, Interrupt, InterruptSource, KernelSeries,
    Lock, LockProtocol, Machine, Model, Step, Task, TaskPolicy, WhenLate,
};
use whylate_base::{Cpu, CpuSet, Ns};

/// The kernel, unless the file or the user names another.
const KERNEL: KernelSeries = KernelSeries::new(6, 12);
/// The priority of threads of interrupts (`kernel/irq/manage.c`, `sched_set_fifo`).
const THREAD_PRIORITY: u8 = 50;

struct Known {
    tasks: Vec<String>,
    locks: Vec<Lock>,
}

impl Names for Known {
    fn lock(&mut self, name: &str) -> usize {
        self.locks.iter().position(|lock| lock.name == name).unwrap_or_else(|| {
            self.locks.push(Lock { name: name.to_owned(), protocol: LockProtocol::Inherit });
            self.locks.len() - 1
        })
    }

    fn task(&self, name: &str) -> Option<usize> {
        self.tasks.iter().position(|task| task == name)
    }
}

pub(super) fn convert(document: Document, overrides: &Overrides) -> Result<Model, TaskSetError> {
    let machine = machine(&document.machine, overrides)?;
    let locks = document.locks.iter().map(|lock| Lock {
        name: lock.name.clone(),
        protocol: match lock.protocol.unwrap_or(Protocol::Inherit) {
            Protocol::None => LockProtocol::None,
            Protocol::Inherit => LockProtocol::Inherit,
            Protocol::Protect => LockProtocol::Protect,
        },
    });
    let mut known = Known {
        tasks: document.tasks.iter().map(|task| task.name.clone()).collect(),
        locks: locks.collect(),
    };
    let groups: Vec<Group> = document.groups.iter().map(group).collect::<Result<_, _>>()?;
    let mut tasks = Vec::new();
    for table in &document.tasks {
        tasks.push(task(table, &groups, &mut known)?);
    }
    let mut interrupts = Vec::new();
    for (at, table) in document.interrupts.iter().enumerate() {
        let (interrupt, thread) = interrupt(at, table, &machine, tasks.len(), &known)?;
        interrupts.push(interrupt);
        tasks.extend(thread);
    }
    Ok(Model { machine, tasks, locks: known.locks, interrupts, groups })
}

fn machine(table: &MachineTable, overrides: &Overrides) -> Result<Machine, TaskSetError> {
    let release = table.kernel.as_deref();
    let (kernel, is_rt) = match (overrides.kernel, release) {
        (Some(given), _) => given,
        (None, Some(release)) => {
            let version = release.parse::<KernelSeries>();
            let version =
                version.map_err(|error| TaskSetError::value("machine.kernel", error.to_string()))?;
            (version, release.contains("rt"))
        }
        (None, None) => (KERNEL, false),
    };
    let mut machine = Machine::new(kernel, overrides.cpus.or(table.cpus).unwrap_or(1));
    machine.preempt_rt = match overrides.kernel {
        Some(_) => is_rt,
        None => table.preempt_rt.unwrap_or(is_rt),
    };
    if let Some(hz) = table.hz {
        if !(24..=10_000).contains(&hz) {
            return Err(TaskSetError::value("machine.hz", format!("{hz} must be 24 to 10000")));
        }
        machine.tick = Ns(1_000_000_000 / i64::from(hz));
        machine.first_tick = machine.tick;
    }
    if let Some(ClockName::Tick) = table.clock {
        machine.clock = AccountingClock::Tick;
    }
    match table.sched_rt_runtime_us {
        Some(-1) => machine.rt_runtime = None,
        Some(us @ 0..) => machine.rt_runtime = Some(Ns::from_us(us)),
        Some(us) => {
            let wrong = format!("{us} must be -1 (no limit) or more");
            return Err(TaskSetError::value("machine.sched_rt_runtime_us", wrong));
        }
        None => {}
    }
    match table.sched_rt_period_us {
        Some(us @ 1..) => machine.rt_period = Ns::from_us(us),
        Some(us) => {
            return Err(TaskSetError::value("machine.sched_rt_period_us", format!("{us} must be 1 or more")));
        }
        None => {}
    }
    machine.rt_group_sched = table.rt_group_sched.unwrap_or(false);
    if let Some(list) = &table.isolated {
        machine.isolated = values::cpus("machine.isolated", list)?;
    }
    if let Some(text) = &table.fair_server {
        machine.fair_server = fair_server(text, machine.fair_server)?;
    }
    if let Some(text) = &table.rr_slice {
        machine.rr_slice = values::positive("machine.rr-slice", text)?;
    }
    if let Some(text) = &table.fair_slice {
        machine.fair_slice = values::positive("machine.fair-slice", text)?;
    }
    let cost = |name: &str, text: &Option<String>| match text {
        Some(text) => values::time(&format!("machine.costs.{name}"), text),
        None => Ok(Ns::ZERO),
    };
    machine.costs = Costs {
        switch: cost("switch", &table.costs.switch)?,
        timer: cost("timer", &table.costs.timer)?,
        tick: cost("tick", &table.costs.tick)?,
        idle_exit: cost("idle-exit", &table.costs.idle_exit)?,
    };
    overrides.settings.apply_to(&mut machine);
    Ok(machine)
}

/// `off`, or `50ms/1s`.
fn fair_server(text: &str, default: FairServer) -> Result<FairServer, TaskSetError> {
    let at = "machine.fair-server";
    if text == "off" {
        return Ok(FairServer { runtime: Ns::ZERO, ..default });
    }
    let Some((runtime, period)) = text.split_once('/') else {
        return Err(TaskSetError::value(
            at,
            format!("`{text}`: write runtime and period like 50ms/1s, or off"),
        ));
    };
    let server = FairServer { runtime: values::time(at, runtime)?, period: values::positive(at, period)? };
    if server.runtime > server.period {
        return Err(TaskSetError::value(at, format!("`{text}`: the runtime is longer than the period")));
    }
    Ok(server)
}

fn group(table: &GroupTable) -> Result<Group, TaskSetError> {
    let at = |key: &str| format!("group `{}`: {key}", table.name);
    let period = table.period.as_deref().unwrap_or("100ms");
    Ok(Group {
        name: table.name.clone(),
        quota: values::positive(&at("quota"), &table.quota)?,
        period: values::positive(&at("period"), period)?,
    })
}

fn task(table: &TaskTable, groups: &[Group], known: &mut Known) -> Result<Task, TaskSetError> {
    let at = |key: &str| format!("task `{}`: {key}", table.name);
    let optional = |key: &str, text: &Option<String>| match text {
        Some(text) => values::time(&at(key), text).map(Some),
        None => Ok(None),
    };
    let read = |list: &[String], key: &str, known: &mut Known| {
        list.iter().map(|text| steps::step(&at(key), text, known)).collect::<Result<Vec<Step>, _>>()
    };
    let deadline = optional("deadline", &table.deadline)?;
    let period = table.period.as_ref().map(|text| values::positive(&at("period"), text)).transpose()?;
    let work = match (&table.run, &table.steps) {
        (Some(run), None) => vec![Step::Run(values::any_amount(&at("run"), run)?)],
        (None, Some(list)) => read(list, "steps", known)?,
        _ => return Err(TaskSetError::value(at("run"), "a task needs either `run` or `steps`")),
    };
    let start = read(&table.start, "start", known)?;
    let group =
        match &table.group {
            Some(name) => Some(groups.iter().position(|group| group.name == *name).ok_or_else(|| {
                TaskSetError::value(at("group"), format!("no [[group]] is called `{name}`"))
            })?),
            None => None,
        };
    Ok(Task {
        name: table.name.clone(),
        tid: None,
        scheduling: scheduling(table, period, deadline)?,
        cpus: match &table.cpus {
            Some(list) => values::cpus(&at("cpus"), list)?,
            None => CpuSet::new(),
        },
        arrival: arrival(table, period, known)?,
        start,
        steps: work,
        deadline: deadline.or(period),
        when_late: match table.late {
            Some(Late::Skip) => WhenLate::Skip,
            Some(Late::CatchUp) | None => WhenLate::CatchUp,
        },
        group,
    })
}

fn scheduling(
    table: &TaskTable,
    period: Option<Ns>,
    deadline: Option<Ns>,
) -> Result<TaskPolicy, TaskSetError> {
    let at = |key: &str| format!("task `{}`: {key}", table.name);
    let policy = match (&table.policy, table.priority, &table.runtime) {
        (Some(policy), _, _) => policy.as_str(),
        (None, Some(_), _) => "fifo",
        (None, None, Some(_)) => "deadline",
        (None, None, None) => "other",
    };
    if policy != "deadline" {
        if table.runtime.is_some() {
            return Err(TaskSetError::value(
                at("runtime"),
                "only policy deadline has one; `run` is the CPU time",
            ));
        }
        let number = match policy {
            "other" | "batch" => table.nice,
            _ => table.priority,
        };
        return values::scheduling(&at("policy"), policy, number);
    }
    let (Some(runtime), Some(period)) = (&table.runtime, period) else {
        return Err(TaskSetError::value(at("policy"), "deadline needs `runtime` and `period`"));
    };
    let runtime = values::positive(&at("runtime"), runtime)?;
    let deadline = deadline.unwrap_or(period);
    if runtime > deadline || deadline > period {
        let wrong = format!(
            "the kernel refuses it (EINVAL): runtime {runtime} <= deadline {deadline} <= period {period} must hold"
        );
        return Err(TaskSetError::value(at("runtime"), wrong));
    }
    Ok(TaskPolicy::Deadline { runtime, deadline, period })
}

fn arrival(table: &TaskTable, period: Option<Ns>, known: &Known) -> Result<Arrival, TaskSetError> {
    let at = |key: &str| format!("task `{}`: {key}", table.name);
    let offset = table.offset.as_ref().map_or(Ok(Ns::ZERO), |text| values::time(&at("offset"), text))?;
    let jitter = match &table.jitter {
        Some(text) => values::any_amount(&at("jitter"), text)?,
        None => Amount::Fixed(Ns::ZERO),
    };
    let others =
        [table.gap.is_some(), table.arrivals.is_some(), table.after.is_some(), table.woken == Some(true)];
    let count = others.iter().filter(|&&given| given).count();
    let has_period = period.is_some() && table.runtime.is_none();
    if count > 1 || count == 1 && has_period {
        let wrong = "only one of period, gap, arrivals, after and woken makes a task due";
        return Err(TaskSetError::value(at("period"), wrong));
    }
    if let Some(gap) = &table.gap {
        return Ok(Arrival::Sporadic { offset, gap: values::any_amount(&at("gap"), gap)? });
    }
    if let Some(list) = &table.arrivals {
        let instants: Vec<Ns> =
            list.iter().map(|text| values::time(&at("arrivals"), text)).collect::<Result<_, _>>()?;
        if !instants.is_sorted() || instants.is_empty() {
            return Err(TaskSetError::value(at("arrivals"), "they must be in ascending order, one at least"));
        }
        return Ok(Arrival::At(instants));
    }
    if let Some(name) = &table.after {
        let before = known.task(name);
        let wrong = || TaskSetError::value(at("after"), format!("no task is called `{name}`"));
        return Ok(Arrival::After(before.ok_or_else(wrong)?));
    }
    if table.woken == Some(true) {
        return Ok(Arrival::Woken);
    }
    match period {
        Some(period) => Ok(Arrival::Periodic { offset, period, jitter }),
        // It begins once.
        None => Ok(Arrival::Sporadic { offset, gap: Amount::Forever }),
    }
}

/// An interrupt, and the thread of its handler where it has one.
fn interrupt(
    number: usize,
    table: &InterruptTable,
    machine: &Machine,
    next_task: usize,
    known: &Known,
) -> Result<(Interrupt, Option<Task>), TaskSetError> {
    let at = |key: &str| format!("interrupt `{}`: {key}", table.name);
    let run = match &table.run {
        Some(text) => values::any_amount(&at("run"), text)?,
        None => Amount::Fixed(Ns::ZERO),
    };
    let softirq = match (&table.softirq, &table.softirq_run) {
        (Some(name), Some(length)) => {
            Some((values::softirq(&at("softirq"), name)?, values::any_amount(&at("softirq-run"), length)?))
        }
        (None, None) => None,
        _ => return Err(TaskSetError::value(at("softirq"), "softirq and softirq-run belong together")),
    };
    let wakes = match &table.wakes {
        Some(name) => {
            let wrong = || TaskSetError::value(at("wakes"), format!("no task is called `{name}`"));
            Some(known.task(name).ok_or_else(wrong)?)
        }
        None => None,
    };
    let cpu = Cpu(table.cpu.unwrap_or(0));
    let priority = match table.thread_priority {
        None => THREAD_PRIORITY,
        Some(priority @ 1..=99) => priority as u8,
        Some(priority) => {
            return Err(TaskSetError::value(at("thread-priority"), format!("{priority} must be 1 to 99")));
        }
    };
    let mut interrupt = Interrupt {
        kind: InterruptSource::Line(None),
        name: table.name.as_str().into(),
        cpu,
        offset: table.offset.as_ref().map_or(Ok(Ns::ZERO), |text| values::time(&at("offset"), text))?,
        gap: values::any_amount(&at("gap"), &table.gap)?,
        handler: run.clone(),
        softirq,
        wakes,
    };
    if !table.threaded.unwrap_or(machine.preempt_rt) {
        return Ok((interrupt, None));
    }
    // The handler, and the softirq that it raises, run in its thread; the interrupt itself only wakes that.
    let mut steps = vec![Step::Run(run)];
    steps.extend(interrupt.softirq.take().map(|(_, length)| Step::Run(length)));
    steps.extend(interrupt.wakes.map(Step::Wake));
    interrupt.handler = Amount::Fixed(machine.costs.timer);
    interrupt.wakes = Some(next_task);
    let thread = Task {
        tid: None,
        name: format!("irq/{}-{}", 16 + number, table.name),
        scheduling: TaskPolicy::Fifo(priority),
        cpus: [cpu].into_iter().collect(),
        arrival: Arrival::Woken,
        start: Vec::new(),
        steps,
        deadline: None,
        when_late: WhenLate::CatchUp,
        group: None,
    };
    Ok((interrupt, Some(thread)))
}
