//! Two profiles side by side, in each format.

use crate::fixture;
use crate::schema_check::violations;
use whylate_host::{FsRoot, Snapshot};
use whylate_profiles::{ConditionalSetting, DesiredSetting, DesiredState, Reasons, Selector};
use whylate_report::plan_compare::{PlanComparison, html, json, markdown, terminal};
use whylate_report::{Render, Style};
use whylate_tuning::{SettingsComparison, SideSource, compare_settings};

fn knob(path: &str, value: &str, why: &str) -> DesiredSetting {
    DesiredSetting {
        selector: Selector::Tunable { path: path.to_owned() },
        value: Some(value.to_owned()),
        reasons: Reasons { why: Some(why.to_owned()), ..Reasons::default() },
        origin: "test".to_owned(),
        optional: false,
    }
}

fn sample() -> SettingsComparison {
    let tree = FsRoot::memory(&[
        ("/proc/sys/vm/swappiness", "60\n"),
        ("/proc/sys/vm/stat_interval", "1\n"),
        ("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n"),
        ("/sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "powersave\n"),
    ]);
    let host = Snapshot::read(&tree);
    let governor = "/sys/devices/system/cpu/cpu*/cpufreq/scaling_governor";
    let swap = |value: &str| knob("/proc/sys/vm/swappiness", value, "<Swap> | late");
    let one = DesiredState {
        profile: "one".to_owned(),
        settings: vec![
            swap("10"),
            knob("/proc/sys/vm/stat_interval", "10", "Counters"),
            knob(governor, "performance", "Speed"),
        ],
        ..DesiredState::default()
    };
    let conditional = ConditionalSetting {
        setting: knob(governor, "performance", "Speed"),
        why: "only when: fast; this is not true here".to_owned(),
    };
    let two = DesiredState {
        profile: "two".to_owned(),
        settings: vec![swap("1"), knob("/proc/sys/vm/stat_interval", "10", "Counters")],
        conditional: vec![conditional],
        ..DesiredState::default()
    };
    compare_settings(SideSource::Profile(&one), SideSource::Profile(&two), ("/", &tree, &host))
}

#[test]
fn every_format_folds_what_is_the_same() {
    let comparison = sample();
    let style = Style { color: false, width: 100 };
    for all in [false, true] {
        let view = PlanComparison { comparison: &comparison, all };
        for text in [terminal::render(&view, &style), markdown::render(&view)] {
            assert!(text.contains("one against two: 3 of 4 settings differ"), "{text}");
            assert!(
                text.contains("cpu{0-1}") && text.contains("would be performance, only when: fast"),
                "{text}"
            );
            assert!(text.contains("vm.swappiness"), "{text}");
            assert_eq!(text.contains("vm.stat_interval"), all, "{text}");
            assert!(text.contains("1 setting is the same in both"), "{text}");
        }
        let page = html::render(&view);
        assert!(
            page.contains("vm.stat_interval") && page.contains("&lt;Swap&gt;"),
            "the page has all, and no markup"
        );
        assert_eq!(page.contains("<details open"), all);
    }
    let table = markdown::render(&PlanComparison { comparison: &comparison, all: false });
    assert!(table.contains("| `vm.swappiness` | `10` | `1` | `60` |"), "{table}");
    assert!(PlanComparison::FORMATS.iter().all(|&format| {
        PlanComparison { comparison: &comparison, all: false }.render(format, &style).is_some()
    }));
}

#[test]
fn the_document_obeys_its_schema_and_reads_back() {
    let document = json::render(&sample());
    assert_eq!(violations(&json::schema(), &document), Vec::<String>::new());
    let read: json::Document = serde_json::from_value(document.clone()).expect("our own document");
    assert_eq!(serde_json::to_value(&read).expect("plain data"), document);
    assert_eq!(read.totals.settings, read.totals.same + read.totals.different + read.totals.cannot_tell);
    assert!(fixture("plan-compare-1-first.json").is_file());
}
