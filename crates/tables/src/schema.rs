//! The tables and their columns: schema `whylate.tables/1`.
//!
//! Columns may be added within the version; readers take a column that a file lacks for null.

/// The name and version of this schema, as it stands in the metadata of every file.
pub const SCHEMA: &str = "whylate.tables/1";
/// The metadata key of [`SCHEMA`].
pub const SCHEMA_KEY: &str = "whylate.schema";
/// The metadata key of the table's name.
pub const TABLE_KEY: &str = "whylate.table";
/// The metadata key of the version of whylate.
pub const VERSION_KEY: &str = "whylate.version";

/// What a column holds. Every column may be null.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holds {
    /// 64-bit signed integers.
    Int,
    /// 64-bit floating point.
    Float,
    /// True or false.
    Bool,
    /// UTF-8 text.
    Text,
}

impl Holds {
    /// Its name in SQL.
    pub fn sql(self) -> &'static str {
        match self {
            Holds::Int => "BIGINT",
            Holds::Float => "DOUBLE",
            Holds::Bool => "BOOLEAN",
            Holds::Text => "VARCHAR",
        }
    }
}

/// A column.
#[derive(Debug)]
pub struct Column {
    /// Its name.
    pub name: &'static str,
    /// What it holds.
    pub holds: Holds,
    /// What it means, in a few words.
    pub about: &'static str,
}

/// A table.
#[derive(Debug)]
pub struct Table {
    /// Its name, and that of its directory.
    pub name: &'static str,
    /// What a row is.
    pub row: &'static str,
    /// Its columns.
    pub columns: &'static [Column],
}

impl Table {
    /// The table of a name.
    pub fn named(name: &str) -> Option<&'static Table> {
        TABLES.iter().find(|table| table.name == name)
    }
}

macro_rules! table {
    ($name:literal, $row:literal, [$($column:literal $holds:ident $about:literal,)+]) => {
        Table {
            name: $name,
            row: $row,
            columns: &[
                Column { name: "machine", holds: Holds::Text, about: "the machine" },
                Column { name: "run", holds: Holds::Text, about: "the input: a hash of its content" },
                $(Column { name: $column, holds: Holds::$holds, about: $about },)+
            ],
        }
    };
}

/// All tables.
pub static TABLES: [Table; 12] = [
    table!("runs", "an input", [
        "kind" Text "recording, measurement, check, doctor, watch, snapshot or simulation",
        "source" Text "the name of the file",
        "tool" Text "the program that made it; of a recording the format",
        "probe" Text "of a measurement: what a sample is",
        "duration_ns" Int "how long it took",
        "kernel" Text "the kernel's release",
        "events" Int "of a recording or a watch: events read",
        "lost_events" Int "of a recording or a watch: events that the kernel lost",
        "quality" Text "of a recording: whole, damaged or poor",
        "damage" Int "of a recording: places that could not be read",
        "samples" Int "of a measurement: samples of all threads",
        "max_ns" Int "of a measurement: the largest latency; of a recording or a watch: the longest response",
        "unlisted_threads" Int "of a recording: explained threads that are not in the tables, because those have worse responses",
        "future" Bool "true: at its import the date was still to come, so a clock was wrong",
    ]),
    table!("machines", "what an input shows of its machine", [
        "kernel" Text "uname -r",
        "version" Text "uname -v",
        "rt" Bool "whether the kernel is PREEMPT_RT",
        "arch" Text "uname -m",
        "cpu_model" Text "the CPU's or the board's model",
        "cpus" Int "how many CPUs",
        "online" Text "the CPUs online, as a list",
        "isolated" Text "the isolated CPUs, as a list",
        "board" Text "maker and product",
        "firmware" Text "the firmware's version and date",
        "cmdline" Text "the kernel's command line",
        "clocksource" Text "the clock source",
        "profile" Text "TuneD's active profile",
        "virtual" Bool "whether it is a guest of a hypervisor",
    ]),
    table!("settings", "a setting of the machine while a run was made", [
        "name" Text "a file of the kernel, or what it is about",
        "value" Text "its value",
    ]),
    table!("latencies", "a measuring thread of a measurement", [
        "thread" Text "its name among the others",
        "cpu" Int "the CPU it was bound to",
        "stage" Bool "true: a stage of the wake-ups that another thread of the run measured as a whole",
        "samples" Int "how many samples",
        "min_ns" Int "the least",
        "mean_ns" Int "the mean",
        "p50_ns" Int "the median",
        "p99_ns" Int "null where there are too few samples, as are the next ones",
        "p99_9_ns" Int "the 99.9th percentile",
        "p99_99_ns" Int "the 99.99th percentile",
        "p99_999_ns" Int "the 99.999th percentile",
        "max_ns" Int "the most",
        "overflow" Int "samples in no bucket",
        "limit_ns" Int "no sample in no bucket is below it",
        "missed" Int "periods that passed without a sample",
        "interval_ns" Int "from one sample to the next",
    ]),
    table!("histograms", "a bucket that is not empty of a measuring thread", [
        "thread" Text "the thread's name among the others",
        "cpu" Int "the CPU it was bound to",
        "stage" Bool "as in latencies",
        "from_ns" Int "the smallest latency that belongs to the bucket",
        "upto_ns" Int "the largest",
        "count" Int "how many samples",
    ]),
    table!("threads", "an explained thread of a recording, or the threads of a name of a watch, all activations summed up", [
        "tid" Int "the thread; null of a watch",
        "comm" Text "its name",
        "policy" Text "its scheduling policy",
        "priority" Int "the user's priority, 1 to 99; 0 outside of the real-time class",
        "activations" Int "how many",
        "latency_p50_ns" Int "due to running: the median",
        "latency_p99_ns" Int "the 99th percentile",
        "latency_max_ns" Int "the most",
        "response_p50_ns" Int "due to done: the median",
        "response_p99_ns" Int "the 99th percentile",
        "response_max_ns" Int "the most",
    ]),
    table!("causes", "a cause of an explained thread, summed up over all its activations, late or not", [
        "tid" Int "the thread",
        "comm" Text "its name",
        "cause" Text "the cause's code",
        "ns" Int "the time charged to it",
    ]),
    table!("activations", "an activation: the worst of each thread, or all with --all; of a watch the late ones", [
        "tid" Int "the thread",
        "comm" Text "its name",
        "class" Text "deadline, realtime or fair",
        "priority" Int "the user's priority",
        "cpu" Int "the CPU it first ran on",
        "trigger" Text "what made it due: timer, thread, irq, softirq, wakeup, trace-start or running",
        "due_ns" Int "when it should have been able to run, on the trace's clock",
        "woken_ns" Int "when it was woken",
        "running_ns" Int "when it first ran",
        "done_ns" Int "when it went to sleep again",
        "latency_ns" Int "due to running",
        "response_ns" Int "due to done",
        "starts_program" Bool "whether the thread executed a program in it, or became real-time",
        "ends_program" Bool "whether the thread, which had periods before, ended in it by a call of its own",
        "cause" Text "the verdict's cause; null: not judged, as it is none of the worst",
        "culprit" Text "the verdict's culprit",
        "culprit_kind" Text "thread, irq or softirq",
        "culprit_id" Int "its thread id or number",
        "charged_ns" Int "the time charged to cause and culprit",
        "share" Float "that time as a share of response_ns",
        "confidence" Text "low, medium or high",
        "why" Text "the verdict in a sentence",
    ]),
    table!("segments", "a segment of an activation's ledger; those of one activation add up to its response_ns", [
        "tid" Int "the thread that was late",
        "comm" Text "its name",
        "due_ns" Int "the activation's",
        "start_ns" Int "where the segment begins",
        "ns" Int "its length",
        "cause" Text "the cause's code",
        "culprit" Text "the thread's, interrupt's or softirq's name",
        "where" Text "the place in the program, where call stacks were sampled",
        "culprit_kind" Text "thread, irq or softirq",
        "culprit_id" Int "its thread id or number",
        "culprit_priority" Int "a thread's real-time priority then",
        "cpu" Int "the CPU it happened on",
        "owner" Text "the owner of the lock that was waited for",
        "confidence" Text "low, medium or high",
    ]),
    table!("findings", "a finding of explain, measure or doctor", [
        "code" Text "its code",
        "severity" Text "info, warning or error",
        "title" Text "one line",
        "why" Text "why it matters",
        "fix" Text "what to do, a line each",
        "tid" Int "doctor: the thread",
        "comm" Text "doctor: its name",
        "where" Text "doctor: the program's line",
        "count" Int "doctor: how often",
        "worst_ns" Int "doctor: the longest occurrence",
    ]),
    table!("checks", "the answer of a check rule", [
        "code" Text "the rule",
        "status" Text "pass, fail, cannot-tell or not-applicable",
        "severity" Text "how much a failure matters",
        "title" Text "what is well when it passes",
        "what" Text "what was found",
        "why" Text "why it matters, or why it cannot be told",
        "fix" Text "commands, a line each",
        "profile" Text "the sort of work that was asked for",
    ]),
    table!("late_groups", "a group of late activations of a watch, with those of earlier watches of the same directory", [
        "comm" Text "the late threads' name",
        "cause" Text "the cause's code",
        "culprit" Text "the culprit, by a name that is the same each time",
        "count" Int "how many",
        "worst_ns" Int "the longest response",
        "first_unix_ns" Int "when the first one was due, since 1970",
        "last_unix_ns" Int "when the last one was",
        "period_ns" Int "the period that they keep; null: none",
        "strength" Float "how closely they keep it, 0 to 1",
    ]),
];

/// The schema as the table of its page.
pub fn page() -> String {
    let mut page = String::new();
    for table in &TABLES {
        page.push_str(&format!(
            "### {}\n\nA row is {}.\n\n| column | type | content |\n|---|---|---|\n",
            table.name, table.row
        ));
        for column in table.columns {
            page.push_str(&format!("| `{}` | {} | {} |\n", column.name, column.holds.sql(), column.about));
        }
        page.push('\n');
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_lists_every_column() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/tables.md");
        let text = std::fs::read_to_string(path).expect("the page");
        let begin = text.find("### runs").expect("the first table");
        let end = text.find("## Scale").expect("the next section");
        if std::env::var_os("WHYLATE_BLESS").is_some() {
            let blessed = format!("{}{}{}", &text[..begin], page(), &text[end..]);
            std::fs::write(path, blessed).expect("the page is written");
            return;
        }
        assert_eq!(&text[begin..end], page(), "WHYLATE_BLESS=1 writes the page anew");
    }

    /// The columns that other programs rely on.
    #[test]
    fn the_contract_of_segments_stands() {
        let segments = Table::named("segments").expect("the table");
        let names: Vec<&str> = segments.columns.iter().map(|column| column.name).take(10).collect();
        assert_eq!(
            names,
            ["machine", "run", "tid", "comm", "due_ns", "start_ns", "ns", "cause", "culprit", "where"]
        );
    }

    #[test]
    fn no_column_has_two_meanings() {
        for table in &TABLES {
            let mut names: Vec<&str> = table.columns.iter().map(|column| column.name).collect();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), table.columns.len(), "{}", table.name);
        }
    }
}
