//! What a text trace says about itself: `#` lines, `cpus=`, notes of lost events.

use super::{cpu_from, fields};
use whylate_base::{Comm, Cpu, Policy};
use whylate_events::Fact;

/// What the lines above the events told.
#[derive(Default)]
pub(crate) struct Header {
    pub(crate) cpus: Option<u32>,
    pub(crate) kernel_release: Option<String>,
    pub(crate) facts: Vec<Fact>,
    latency_trace: Option<String>,
    is_report: bool,
}

impl Header {
    /// What the file is, in a few words.
    pub(crate) fn format(&self) -> String {
        match &self.latency_trace {
            Some(title) => title.clone(),
            None if self.is_report => "trace-cmd report text".to_owned(),
            None => "ftrace text".to_owned(),
        }
    }

    /// Reads a line that began with `#`; most are column titles, and say nothing.
    pub(crate) fn comment(&mut self, text: &str) {
        let text = text.trim();
        if let Some((_, cpus)) = text.rsplit_once("#P:") {
            self.cpus = leading_number(cpus);
        }
        if let Some((title, release)) = text.split_once(" on ")
            && title.contains(" latency trace v")
        {
            self.latency_trace = Some(title.to_owned());
            self.kernel_release = Some(fields::first_word(release).to_owned());
        }
        if text.starts_with("latency:")
            && let Some((_, model)) = text.split_once("(M:")
        {
            let model = fields::first_word(model).to_ascii_lowercase();
            self.facts.push(Fact::PreemptRt(model.starts_with("preempt_rt")));
        }
        if let Some((_, task)) = text.split_once("| task:") {
            self.facts.extend(task_policy(task));
        }
    }

    /// Reads a line of `trace-cmd report` that is no event; false when it is not one.
    pub(crate) fn report_line(&mut self, text: &str) -> bool {
        if let Some(cpus) = text.strip_prefix("cpus=") {
            self.is_report = true;
            self.cpus = leading_number(cpus);
            return true;
        }
        let is_version = text.strip_prefix("version = ").is_some_and(|v| fields::digits(v).is_some());
        let is_empty_cpu = text.starts_with("CPU ") && text.ends_with(" is empty");
        self.is_report |= is_version || is_empty_cpu;
        is_version || is_empty_cpu
    }
}

/// `cyclictest-12905 (uid:0 nice:0 policy:1 rt_prio:80)`: a latency tracer's victim. Only
/// real-time policies are facts; the other ones show in the priority.
fn task_policy(text: &str) -> Option<Fact> {
    let (who, settings) = text.rsplit_once(" (uid:")?;
    let (comm, tid) = who.trim().rsplit_once('-')?;
    let setting = |key: &str| leading_number(settings.split_once(key)?.1);
    let policy = Policy::from_raw(setting(" policy:")?)?;
    let priority = setting(" rt_prio:")?;
    let fact = Fact::Policy { tid: fields::tid(tid)?, policy, priority, comm: Comm::from(comm) };
    policy.is_realtime().then_some(fact)
}

/// A loss as the kernel and trace-cmd note it: `CPU:1 [LOST 123 EVENTS]`,
/// `CPU:1 [123 EVENTS DROPPED]`, either without a count.
pub(crate) fn loss(text: &str) -> Option<(Cpu, Option<u64>)> {
    let (cpu, note) = text.strip_prefix("CPU:")?.split_once(char::is_whitespace)?;
    let note = note.trim().strip_prefix('[')?.strip_suffix(']')?;
    let mut words = note.split_whitespace().filter(|word| word.parse::<u64>().is_err());
    let is_loss = matches!(
        (words.next(), words.next(), words.next()),
        (Some("LOST"), Some("EVENTS"), None) | (Some("EVENTS"), Some("DROPPED"), None)
    );
    let count = note.split_whitespace().find_map(|word| word.parse().ok());
    is_loss.then_some((cpu_from(cpu)?, count))
}

fn leading_number(text: &str) -> Option<u32> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    text.get(..end)?.parse().ok()
}
