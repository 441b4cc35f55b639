//! The tracing itself: two instances with one clock, set up for the ledger and started.

use super::error::RecordError;
use super::threads::{RtThread, real_time_threads};
use super::{asked, chosen_cpus, events, facts, functions, probes};
use whylate_base::{Cpu, CpuSet, Tid};
use whylate_events::Fact;
use whylate_ftrace::dat::write::Description;
use whylate_ftrace::tracefs::{
    Instance, OnFull, PROBE_GROUP, ProbeEvent, Tracefs, TracefsError, remove_stale,
};
use whylate_stacks::ProbedPlace;

/// How to trace.
#[derive(Clone, Debug)]
pub struct SessionOptions {
    /// The trace clock; `None` takes `mono`, CLOCK_MONOTONIC: a timer's expiry and an
    /// application's own times are then comparable with the events'. The kernel's default,
    /// `local`, only ticks once a jiffy when there is no TSC.
    pub clock: Option<String>,
    /// Size of the main buffer of each CPU, in KiB. The threads' buffer has a quarter.
    pub buffer_kib: u64,
    /// The CPUs whose events are recorded; `None` for all.
    pub cpus: Option<CpuSet>,
    /// The kernel functions whose calls are recorded, by names in which `*` stands for anything, in a buffer of their own; an
    /// empty list: all of them. `None`: none.
    pub functions: Option<Vec<String>>,
    /// More events for the main buffer, as `group:name` or a whole `group`.
    pub extra_events: Vec<String>,
    /// Whether system calls and page faults of chosen threads are recorded too. While they
    /// are, every thread's system calls take a slower way into the kernel.
    pub thread_events: bool,
    /// Whether lines of `trace_marker` must be in it. They are wherever the kernel copies them into instances.
    pub markers: bool,
    /// Where activations of a program begin and end, which is recorded by probes of our own.
    pub at: Option<ProbedPlace>,
    /// Whether it is the recording of a guest's host: scheduling, interrupts and exits of guests only, of all threads.
    pub host_of_guest: bool,
    /// Whether the file has the names and addresses of the kernel's functions.
    pub symbols: bool,
    /// Whether the file has this machine's name.
    pub host_name: bool,
}

impl Default for SessionOptions {
    /// 4 MiB per CPU hold some 100,000 events: a CPU that only switches threads needs a
    /// tenth of a second for them, which is time enough to take them out.
    fn default() -> Self {
        SessionOptions {
            clock: None,
            buffer_kib: 4096,
            cpus: None,
            functions: None,
            extra_events: Vec::new(),
            thread_events: true,
            markers: false,
            at: None,
            host_of_guest: false,
            symbols: true,
            host_name: true,
        }
    }
}

/// Room for markers, of each CPU: some thousand lines.
const FACTS_KIB: u64 = 256;

/// Buffers are taken out when they are this full: seldom, and long before they overflow.
const WAKE_PERCENT: u8 = 25;

/// A running trace. Dropping it stops it and removes its instances; readers of its pages
/// should be dropped first.
#[derive(Debug)]
pub struct Session {
    main: Instance,
    /// For system calls and faults of chosen threads; `None` when there are none to choose.
    threads: Option<Instance>,
    /// For markers; `None` where all CPUs are recorded, and the main one has them. A marker belongs to the CPU that this
    /// process runs on, which may not be one of the recorded ones.
    facts_of_all_cpus: Option<Instance>,
    /// For the calls of functions; `None` where they are not recorded.
    functions: Option<Instance>,
    cpus: Option<CpuSet>,
    clock: String,
    events: Vec<String>,
    facts: Vec<Fact>,
    notes: Vec<String>,
    /// Events of our own: of page faults, where the kernel has none, and of a program's function. Dropped after the instances
    /// that record them.
    probes: Vec<ProbeEvent>,
    symbols: bool,
    host_name: bool,
}

impl Session {
    /// Sets tracing up and starts it, with the facts of this machine in the main buffer.
    /// Instances that a killed whylate left behind are removed first.
    ///
    /// `with_workload` makes room for threads that are [followed](Self::follow) later;
    /// without it, and without a real-time thread on the machine, there is one buffer only.
    ///
    /// # Errors
    /// [`RecordError::Tracefs`], [`RecordError::NoSuchClock`], and [`RecordError::NoSuchEvent`]
    /// for an event the user asked for, while one of the default set becomes a note.
    pub fn start(options: &SessionOptions, with_workload: bool) -> Result<Session, RecordError> {
        let tracefs = Tracefs::open()?;
        let mut notes = Vec::new();
        for name in remove_stale(&tracefs)? {
            notes.push(format!("removed {name} from tracefs: a whylate that was killed left it"));
        }
        let mut main = Instance::create(&tracefs)?;
        let possible: CpuSet = main.cpus()?.into_iter().collect();
        if let Some(cpus) = &options.cpus {
            let offline = chosen_cpus::offline(cpus, &possible, chosen_cpus::online(&possible))?;
            if !offline.is_empty() {
                notes.push(format!("CPU {offline} is offline: it has no events until it is online"));
            }
        }
        // With all that the machine can have, nothing is left out.
        let cpus = options.cpus.clone().filter(|cpus| !possible.iter().all(|cpu| cpus.contains(cpu)));
        let clock = choose_clock(&main, options.clock.as_deref(), &mut notes)?;
        prepare(&main, &clock, options.buffer_kib, cpus.as_ref())?;
        if !main.copy_markers() && options.markers {
            return Err(RecordError::Markers);
        }
        let facts_of_all_cpus = match &cpus {
            Some(_) => {
                let instance = Instance::create(&tracefs)?;
                prepare(&instance, &clock, FACTS_KIB, None)?;
                Some(instance)
            }
            None => None,
        };
        let functions = match &options.functions {
            Some(patterns) => {
                let instance = Instance::create(&tracefs)?;
                prepare(&instance, &clock, options.buffer_kib, cpus.as_ref())?;
                functions::prepare(&instance, patterns)?;
                Some(instance)
            }
            None => None,
        };
        let mut session = Session {
            main,
            threads: None,
            facts_of_all_cpus,
            functions,
            cpus,
            clock,
            events: Vec::new(),
            facts: Vec::new(),
            notes,
            probes: Vec::new(),
            symbols: options.symbols,
            host_name: options.host_name,
        };
        session.enable_main(&options.extra_events, options.host_of_guest)?;
        if let Some(place) = &options.at {
            for probe in probes::of_program(&tracefs, &session.main, place)? {
                session.events.push(probe.event());
                session.probes.push(probe);
            }
        }

        let real_time = real_time_threads();
        let chosen: Vec<Tid> =
            real_time.iter().filter(|thread| !thread.is_kernel).map(|thread| thread.tid).collect();
        if !options.thread_events {
            // Not asked for, so nothing to report.
        } else if with_workload || !chosen.is_empty() {
            session.threads = session.prepare_threads(&tracefs, &chosen, options.buffer_kib)?;
        } else {
            session.notes.push(
                "no system calls and page faults were recorded: no command was given, and no real-time thread was found"
                    .to_owned(),
            );
        }
        session.begin(&real_time, !chosen.is_empty())?;
        Ok(session)
    }

    fn enable_main(&mut self, extra: &[String], host_of_guest: bool) -> Result<(), RecordError> {
        let mut missing = Vec::new();
        let of_guests = events::KVM.iter().filter(|event| self.main.tracefs().has_event(event));
        let chosen: Vec<&str> = match host_of_guest {
            true => events::OF_HOST.iter().chain(of_guests).copied().collect(),
            false => events::MAIN.iter().chain(events::CHAINS).copied().collect(),
        };
        for event in chosen {
            match self.main.enable(event) {
                Ok(()) => self.events.push(event.to_owned()),
                Err(TracefsError::NoSuchEvent { .. }) if event != events::MAIN[0] => {
                    missing.push(event.to_owned())
                }
                Err(error) => return Err(error.into()),
            }
        }
        for (group, members) in events::optional_groups() {
            if host_of_guest && group == "syscalls" {
                continue;
            }
            if !self.main.tracefs().has_event(group) {
                missing.push(group.to_owned());
            }
            for event in members.into_iter().filter(|event| self.main.tracefs().has_event(event)) {
                self.main.enable(&event)?;
                self.events.push(event);
            }
        }
        for event in extra {
            match self.main.enable(event) {
                Ok(()) => self.events.push(event.clone()),
                Err(TracefsError::NoSuchEvent { .. }) => {
                    return Err(asked::no_such_event(self.main.tracefs(), event));
                }
                Err(error) => return Err(error.into()),
            }
        }
        self.note_missing(&missing);
        Ok(())
    }

    fn prepare_threads(
        &mut self,
        tracefs: &Tracefs,
        chosen: &[Tid],
        buffer_kib: u64,
    ) -> Result<Option<Instance>, RecordError> {
        let instance = Instance::create(tracefs)?;
        prepare(&instance, &self.clock, (buffer_kib / 4).max(1), self.cpus.as_ref())?;
        instance.set_threads(chosen, true)?;
        let mut missing = Vec::new();
        let mut enabled = 0;
        for &event in events::THREADS {
            match instance.enable(event) {
                Ok(()) => {
                    self.events.push(event.to_owned());
                    enabled += 1;
                }
                Err(TracefsError::NoSuchEvent { .. }) => missing.push(event.to_owned()),
                Err(error) => return Err(error.into()),
            }
        }
        if events::PAGE_FAULTS.iter().all(|event| missing.iter().any(|name| name == event)) {
            match probes::of_page_faults(tracefs, &instance) {
                Ok(probe) => {
                    self.notes.push(probes::PAGE_FAULTS_NOTE.to_owned());
                    self.events.push(probe.event());
                    missing.retain(|event| !events::PAGE_FAULTS.contains(&event.as_str()));
                    self.probes.push(probe);
                    enabled += 1;
                }
                Err(error) => self.notes.push(format!(
                    "page faults are not recorded: this kernel has no event for them, and whylate could not add one: {error}"
                )),
            }
        }
        self.note_missing(&missing);
        Ok((enabled > 0).then_some(instance))
    }

    fn note_missing(&mut self, events: &[String]) {
        // What another architecture has is nothing to report.
        let of_x86 = |event: &String| event == "irq_vectors" || event == "nmi:nmi_handler";
        let here = cfg!(any(target_arch = "x86_64", target_arch = "x86"));
        let events: Vec<&str> =
            events.iter().filter(|event| here || !of_x86(event)).map(String::as_str).collect();
        if !events.is_empty() {
            self.notes
                .push(format!("not recorded, because this kernel does not have them: {}", events.join(", ")));
        }
    }

    fn begin(&mut self, real_time: &[RtThread], any_thread_chosen: bool) -> Result<(), RecordError> {
        let mut facts = self.cpus.as_ref().map(Fact::recorded_cpus).unwrap_or_default();
        facts.extend(facts::gather(real_time));
        if let Some(instance) = &self.facts_of_all_cpus {
            instance.set_tracing(true)?;
        }
        self.main.set_tracing(true)?;
        if let Some(functions) = &self.functions {
            functions.set_tracing(true)?;
        }
        if let Some(threads) = &self.threads {
            // With an empty list it would record every thread.
            threads.set_tracing(any_thread_chosen)?;
        }
        facts.iter().try_for_each(|fact| self.fact(fact))?;
        self.facts = facts;
        Ok(())
    }

    /// Records these events as well, where this kernel has them and the filter holds; returns those that it has.
    ///
    /// # Errors
    /// [`TracefsError`] when the kernel refuses.
    pub fn enable(&mut self, events: &[String], filter: Option<&str>) -> Result<Vec<String>, TracefsError> {
        let mut there = Vec::new();
        for event in events.iter().filter(|event| self.main.tracefs().has_event(event)) {
            if let Some(filter) = filter {
                self.main.set_filter(event, filter)?;
            }
            self.main.enable(event)?;
            if !self.events.contains(event) {
                self.events.push(event.clone());
            }
            there.push(event.clone());
        }
        Ok(there)
    }

    /// Records these events no more, for now: they are still described.
    ///
    /// # Errors
    /// [`TracefsError`] when the kernel refuses.
    pub fn disable(&self, events: &[String]) -> Result<(), TracefsError> {
        let mut there = events.iter().filter(|event| self.events.contains(event));
        there.try_for_each(|event| self.main.disable(event))
    }

    /// The events that are recorded, or were, as `group:event`.
    pub fn events(&self) -> &[String] {
        &self.events
    }

    /// Records the system calls and page faults of this thread, and of what it starts.
    pub fn follow(&self, thread: Tid) -> Result<(), TracefsError> {
        match &self.threads {
            Some(threads) => threads.add_thread(thread).and_then(|()| threads.set_tracing(true)),
            None => Ok(()),
        }
    }

    /// The threads that are followed now, with those they have started since.
    pub fn followed(&self) -> Result<Vec<Tid>, TracefsError> {
        let Some(threads) = &self.threads else { return Ok(Vec::new()) };
        let list = threads.read("set_event_pid")?;
        Ok(list.lines().filter_map(|line| line.trim().parse().ok().map(Tid)).collect())
    }

    /// Writes a fact into the recording.
    pub fn fact(&mut self, fact: &Fact) -> Result<(), TracefsError> {
        self.facts_of_all_cpus.as_mut().unwrap_or(&mut self.main).mark(&fact.to_string())
    }

    /// The facts that were written when it began.
    pub fn facts(&self) -> &[Fact] {
        &self.facts
    }

    /// Stops tracing. What was recorded stays in the buffers.
    pub fn stop(&self) -> Result<(), TracefsError> {
        self.buffers().try_for_each(|(_, instance)| instance.set_tracing(false))
    }

    /// The instances, each with the name of its buffer in a file: the main one has none.
    pub fn buffers(&self) -> impl Iterator<Item = (&'static str, &Instance)> {
        let threads = self.threads.iter().map(|instance| ("threads", instance));
        let facts = self.facts_of_all_cpus.iter().map(|instance| ("facts", instance));
        let functions = self.functions.iter().map(|instance| ("functions", instance));
        std::iter::once(("", &self.main)).chain(threads).chain(facts).chain(functions)
    }

    /// The CPUs of which an instance of [`buffers`](Self::buffers) may have events, in order.
    ///
    /// # Errors
    /// [`TracefsError`] when the kernel's list of buffers cannot be read.
    pub fn cpus_of(&self, instance: &Instance) -> Result<Vec<Cpu>, TracefsError> {
        let all = instance.cpus()?;
        let of_facts = self.facts_of_all_cpus.as_ref().is_some_and(|facts| facts.path() == instance.path());
        let chosen = self.cpus.as_ref().filter(|_| !of_facts);
        Ok(all.into_iter().filter(|cpu| chosen.is_none_or(|chosen| chosen.contains(*cpu))).collect())
    }

    /// The CPUs whose events are recorded; `None` for all.
    pub fn cpus(&self) -> Option<&CpuSet> {
        self.cpus.as_ref()
    }

    /// The instance of the main buffer.
    pub fn main(&self) -> &Instance {
        &self.main
    }

    /// The clock both use.
    pub fn clock(&self) -> &str {
        &self.clock
    }

    /// What a file with these buffers reports about the kernel.
    pub fn describe(&self) -> Result<Description, TracefsError> {
        let mut description = self.main.describe(&self.events, self.symbols)?;
        if !self.host_name {
            description.uname = without_host(&description.uname);
        }
        // In the file the group is the same for all recordings.
        for format in description.event_formats.iter_mut() {
            if self.probes.iter().any(|probe| probe.group() == format.group) {
                PROBE_GROUP.clone_into(&mut format.group);
            }
        }
        Ok(description)
    }

    /// Adds a sentence for the user.
    pub(super) fn note(&mut self, note: String) {
        self.notes.push(note);
    }

    /// What was not recorded and why, in sentences; empties the list.
    pub fn take_notes(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notes)
    }
}

/// System, host, release and machine without the host.
fn without_host(uname: &str) -> String {
    let words = uname.split(' ').enumerate().map(|(at, word)| if at == 1 { "(host)" } else { word });
    words.collect::<Vec<_>>().join(" ")
}

fn prepare(
    instance: &Instance,
    clock: &str,
    buffer_kib: u64,
    cpus: Option<&CpuSet>,
) -> Result<(), TracefsError> {
    instance.set_clock(clock)?;
    instance.set_on_full(OnFull::Overwrite)?;
    match cpus {
        None => instance.set_buffer_kib(buffer_kib)?,
        Some(cpus) => {
            // The others' buffers stay empty: the smallest there is.
            instance.set_buffer_kib(1)?;
            cpus.iter().try_for_each(|cpu| instance.set_buffer_kib_of(cpu, buffer_kib))?;
            instance.set_cpus(cpus)?;
        }
    }
    match instance.set_wake_percent(WAKE_PERCENT) {
        // Before Linux 5.0 there is none; the drain then paces itself.
        Err(TracefsError::Io { .. }) => Ok(()),
        other => other,
    }
}

fn choose_clock(
    main: &Instance,
    asked: Option<&str>,
    notes: &mut Vec<String>,
) -> Result<String, RecordError> {
    let (available, current) = main.clocks()?;
    let has = |clock: &str| available.iter().any(|name| name == clock);
    match asked {
        Some(clock) if has(clock) => Ok(clock.to_owned()),
        Some(clock) => {
            Err(RecordError::NoSuchClock { clock: clock.to_owned(), available: available.join(" ") })
        }
        None if has("mono") => Ok("mono".to_owned()),
        None => {
            notes.push(format!("this kernel has no trace clock mono: {current} was used, so timer expiries cannot be compared with event times"));
            Ok(current)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_left_out_of_uname() {
        assert_eq!(without_host("Linux controller7 6.12.0-rt x86_64"), "Linux (host) 6.12.0-rt x86_64");
    }
}
