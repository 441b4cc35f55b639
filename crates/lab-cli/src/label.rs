//! The injector's label (`whylate.inject/1`): the facts of a run that the judge reads.

use serde::Deserialize;
use whylate_base::{Ns, Tid};

/// The label of one run of `whylate-inject`. Instants are of CLOCK_MONOTONIC.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Label {
    /// The subcommand.
    pub fault: String,
    /// When the first job was due.
    pub start_ns: Ns,
    /// When every thread ended.
    pub end_ns: Ns,
    /// The threads, with their parts.
    pub threads: Vec<LabelledThread>,
    /// How many jobs the victims did.
    pub jobs: u64,
    /// How many of them were late; `late_jobs` may list fewer.
    pub late: u64,
    /// The longest time from due to done.
    #[serde(default)]
    pub worst_response_ns: Ns,
    /// A job is late when it was done later than this after it was due.
    pub limit_ns: Ns,
    /// The late jobs, in order; the first ones where there were very many.
    pub late_jobs: Vec<LateJob>,
}

/// One thread of the run.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct LabelledThread {
    /// `victim`, `culprit` or `bystander`.
    pub part: String,
    /// Its name, as the kernel has it at the end.
    pub name: String,
    /// Its id in the guest.
    pub tid: Tid,
}

/// One job that was done too late.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct LateJob {
    /// When it should have started.
    pub due: Ns,
    /// When it started.
    pub start: Ns,
    /// When it was finished.
    pub done: Ns,
    /// The thread of the job, where the run has several victims.
    #[serde(default)]
    pub tid: Option<Tid>,
    /// The cause code of this job's fault, where it is not the run's usual one.
    #[serde(default)]
    pub fault: Option<String>,
}

impl Label {
    /// Reads the injector's output: the one line that is a label; other lines are ignored.
    ///
    /// # Errors
    /// The error of serde where no line is a label.
    pub fn parse(text: &str) -> Result<Label, serde_json::Error> {
        let line = text.lines().find(|line| line.starts_with('{')).unwrap_or(text);
        serde_json::from_str(line)
    }

    /// The threads with that part.
    pub fn of_part<'a>(&'a self, part: &'a str) -> impl Iterator<Item = &'a LabelledThread> {
        self.threads.iter().filter(move |member| member.part == part)
    }

    /// True when `tid` is a victim.
    pub fn is_victim(&self, tid: Tid) -> bool {
        self.of_part("victim").any(|member| member.tid == tid)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = r#"{"schema":"whylate.inject/1","fault":"higher","seed":0,"start_ns":10,"end_ns":90,
        "threads":[{"part":"culprit","name":"rogue","tid":99,"policy":"fifo","priority":59,"cpu":0,"placed_ns":1},
        {"part":"victim","name":"v","tid":100,"policy":"fifo","priority":50,"cpu":null,"placed_ns":1}],
        "jobs":200,"late":1,"limit_ns":1000000,"worst_latency_ns":2,"worst_response_ns":2,
        "late_jobs":[{"due":20,"start":30,"done":40,"fault":"own-work"}]}"#;

    #[test]
    fn a_label_is_found_among_other_lines() {
        let line = LINE.replace('\n', " ");
        for text in [line.clone(), format!("calibrating\n{line}\nbye\n")] {
            let label = Label::parse(&text).expect("a label");
            assert_eq!(label.fault, "higher");
            assert!(label.is_victim(Tid(100)) && !label.is_victim(Tid(99)));
            assert_eq!(label.late_jobs[0].fault.as_deref(), Some("own-work"));
            assert_eq!(label.late_jobs[0].tid, None);
        }
        assert!(Label::parse("no fault of ours\n").is_err());
        assert!(Label::parse("").is_err());
    }
}
