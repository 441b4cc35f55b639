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
