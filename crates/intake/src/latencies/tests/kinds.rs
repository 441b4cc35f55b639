//! Histograms of different things in one text.

use super::*;

const HEAD: &str = "     msecs           : count     distribution\n";

fn part(name: &str, class: &str) -> String {
    format!("{name}\n{HEAD}     {class}   : 9        |****************************************|\n")
}

fn try_read(text: &str) -> Result<Run, LatenciesError> {
    read(Path::new("irqs.txt"), text.as_bytes())
}

fn refusal(text: &str) -> String {
    try_read(text).expect_err("two kinds").to_string()
}

#[test]
fn interrupts_off_and_softirqs_off_are_not_one_distribution() {
    let (hard, soft) = (part("hardirq-off:", "640 -> 1279"), part("softirq-off:", "10 -> 19"));
    let both = refusal(&format!("{hard}{soft}"));
    for words in [
        "trace-irqoff (hardirq-off time)",
        "trace-irqoff (softirq-off time)",
        "between 640.0 ms and 1.280 s in trace-irqoff (hardirq-off time)",
    ] {
        assert!(both.contains(words), "{both}");
    }
    let alone = try_read(&hard).expect("one kind");
    assert_eq!(
        (alone.tool.as_str(), alone.probe.as_str(), alone.measures_time()),
        ("trace-irqoff", "hardirq-off time", true)
    );
    // Two looks at the same.
    let twice = try_read(&format!("{hard}{hard}")).expect("one kind");
    assert_eq!((twice.threads.len(), twice.probe.as_str()), (2, "hardirq-off time"));
}

#[test]
fn maps_of_a_script_are_of_different_things() {
    let map = |name: &str| format!("@{name}:\n[8, 16)   134 |@@@@@@@@@@@@@@@@|\n");
    assert!(refusal(&format!("{}{}", map("read_us"), map("write_us"))).contains("read_us"));
    let one = try_read(&format!("{}{}", map("us[app]"), map("us[cc1]"))).expect("one map");
    assert_eq!(one.threads.len(), 2);
}

const CLASS: &str = "8 -> 15";

#[test]
fn what_a_mail_and_a_program_add_to_histograms_is_no_part_of_them() {
    let whole = |text: &str| {
        let run = try_read(text).unwrap_or_else(|error| panic!("{error} in {text}"));
        let names: Vec<String> = run.threads.iter().map(|thread| thread.name.clone()).collect();
        (run.all().count(), names.join(", "))
    };
    let table = part("", CLASS);
    for footnote in
        ["[1]: https://example.org/a", "[1] what I changed", "(1) first", "(0.5 ms) at least", "1. first"]
    {
        assert_eq!(whole(&format!("{table}\n{footnote}\n")), (9, "all".to_owned()), "{footnote}");
    }
    let sum = "\navg = 9 msecs, total: 81 msecs, count: 9\n\n";
    let two = format!("# ./funclatency.py -m take_it\n{table}{sum}{table}{sum}");
    assert_eq!(whole(&two), (18, "histogram 1, histogram 2".to_owned()));
    let run = try_read(&two).expect("two of one kind");
    assert_eq!((run.tool.as_str(), run.probe.as_str()), ("funclatency", "function time"));
    // Another name still is one.
    assert_eq!(whole(&format!("pid = 7\n{table}{sum}pid = 8\n{table}")).1, "pid = 7, pid = 8");
    let map = "10:11:12 @wait_ns:\n[1K, 2K)             7\n|@@@@@@@@@@@@@@@@@@@@|\n[2K, 4K)             2 |@@@@    |\n";
    assert_eq!(whole(map), (9, "all".to_owned()));
    // A class without its count, and one that was cut.
    assert!(refusal(&format!("{table}[1]\n")).contains("no class with its count"));
}

#[test]
fn a_map_of_sizes_or_counts_is_not_to_be_renamed() {
    for name in ["sz_hist", "interrupts_per_run"] {
        let refused =
            refusal(&format!("@{name}:\n[1, 2)   134 |@@@@@@@@@@@@@@@@|\n[2, 3)    11 |@               |\n"));
        assert!(refused.contains("is that of a size or a count"), "{refused}");
        assert!(!refused.contains("name the map"), "{refused}");
    }
}

#[test]
fn a_map_without_a_unit_is_not_to_be_renamed_where_its_program_counts_another_one() {
    let map = "@late:\n[1, 2)   134 |@@@@@@@@@@@@@@@@|\n[2, 3)    11 |@               |\n";
    assert!(refusal(map).contains("name the map @usecs"));
    let with = refusal(&format!(
        "{map}\nbpftrace -e 'kfunc:f {{ @late = lhist(jiffies - args->t->expires, 0, 16, 1); }}'\n"
    ));
    assert!(with.contains("counts `jiffies - args->t->expires`") && !with.contains("name the map"), "{with}");
}

#[test]
fn functions_and_units_are_of_different_things() {
    let of = |function: &str, class: &str, mean: u32| {
        let sum = format!("\navg = {mean} msecs, total: 81 msecs, count: 9\n");
        part(&format!("Tracing 1 functions for \"{function}\"... Hit Ctrl-C to end.\n^C"), class) + &sum
    };
    let both = refusal(&format!("index = 3;\n{}{}", of("take_it", CLASS, 9), of("give_it", "16 -> 31", 17)));
    for words in [
        "between 8.00 ms and 16.00 ms in funclatency (take_it: function time)",
        "between 16.00 ms and 32.00 ms in funclatency (give_it: function time)",
        "of funclatency (give_it: function time) the mean that the program printed is 17.00 ms",
    ] {
        assert!(both.contains(words), "{both}");
    }
    let twice =
        try_read(&format!("{}{}", of("take_it", CLASS, 9), of("take_it", CLASS, 8))).expect("one function");
    assert_eq!(twice.threads.len(), 2);
    let mean = "the mean that the program printed is 9.00 ms in histogram 1, 8.00 ms in histogram 2";
    assert!(twice.notes.iter().any(|note| note == mean), "{:?}", twice.notes);
    let nanoseconds = part("disk = a", CLASS).replace("msecs", "nsecs");
    let units =
        refusal(&format!("{}{nanoseconds}{}", part("op = read", CLASS), part("op = write", "16 -> 31")));
    for words in [
        "between 16.00 ms and 32.00 ms in bcc or bpftrace (milliseconds: histogram), op = write",
        "8 ns in bcc or bpftrace (nanoseconds: histogram)",
        "compares each with its like",
    ] {
        assert!(units.contains(words), "{units}");
    }
}

#[test]
fn labels_that_occur_again_are_told_apart() {
    let names = |text: &str| {
        let run = try_read(text).unwrap_or_else(|error| panic!("{error} in {text}"));
        run.threads.iter().map(|thread| thread.name.clone()).collect::<Vec<_>>().join(", ")
    };
    let two = format!("{}{}{}", part("pid = 7", CLASS), part("pid = 8", CLASS), part("pid = 7", CLASS));
    assert_eq!(names(&two), "pid = 7, pid = 8, pid = 7 (2)");
    let notes = try_read(&two).expect("one kind").notes;
    assert!(notes.iter().any(|note| note.ends_with("its number behind it: pid = 7 (2)")), "{notes:?}");
    // The key of a map is the name of what was measured.
    let map = |key: &str| format!("@usecs{key}:\n[8, 16)   134 |@@@@@@@@@@@@@@@@|\n\n");
    let maps = format!("{}{}{}", map("[take_it]"), map("[give_it, 7]"), map("[]"));
    assert_eq!(names(&maps), "take_it, give_it, 7, histogram 3");
    // A line far above is no label, and code is none.
    let far = format!("limit = 3\nThe results are:\n{}{}", part("", CLASS), part("a = b;", CLASS));
    assert_eq!(names(&far), "histogram 1, histogram 2");
}

#[test]
fn a_program_that_divides_the_clock_shows_the_unit_of_its_map() {
    let map = "@delta:\n[8, 16)   134 |@@@@@@@@@@@@@@@@|\n";
    let run =
        try_read(&format!("{{ @delta = hist((nsecs - @start[tid]) / 1000); }}\n\n{map}")).expect("a unit");
    assert_eq!((run.probe.as_str(), run.all().max()), ("delta: time", Some(whylate_base::Ns(8_000))));
    assert!(run.notes.iter().any(|note| note.contains("program in the text")), "{:?}", run.notes);
}
