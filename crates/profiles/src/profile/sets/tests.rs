//! Expressions on a machine of eight CPUs: what they mean, the laws of sets, and texts that are none.

use super::*;
use proptest::prelude::*;
use std::sync::OnceLock;
use whylate_base::Cpu;
use whylate_host::{FsRoot, Snapshot};

/// Eight CPUs: two nodes of two cores of two threads, N and N + 1; CPU 7 is offline.
fn machine() -> &'static Snapshot {
    static MACHINE: OnceLock<Snapshot> = OnceLock::new();
    MACHINE.get_or_init(read)
}

fn read() -> Snapshot {
    const SIBLINGS: &str = "topology/thread_siblings_list";
    let mut files: Vec<(String, String)> = [
        ("/sys/devices/system/cpu/present", "0-7\n"),
        ("/sys/devices/system/cpu/online", "0-6\n"),
        ("/sys/devices/system/node/node0/cpulist", "0-3\n"),
        ("/sys/devices/system/node/node1/cpulist", "4-6\n"),
    ]
    .map(|(path, text)| (path.to_owned(), text.to_owned()))
    .into();
    for cpu in 0..7 {
        let siblings = if cpu == 6 { "6".to_owned() } else { format!("{}-{}", cpu & !1, cpu | 1) };
        files.push((format!("/sys/devices/system/cpu/cpu{cpu}/{SIBLINGS}"), siblings));
    }
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    Snapshot::read(&FsRoot::memory(&files))
}

/// `isolated` is 2-3, `a` and `b` are what they are given.
struct Given(CpuSet, CpuSet);

impl Names for Given {
    fn cpus(&mut self, name: &str) -> Result<CpuSet, Mistake> {
        match name {
            "isolated" => Ok("2-3".parse().expect("a list")),
            "a" => Ok(self.0.clone()),
            "b" => Ok(self.1.clone()),
            _ => Err(Mistake::new(format!("no {name}"), "")),
        }
    }
}

fn of(text: &str, a: &CpuSet, b: &CpuSet) -> Result<CpuSet, Mistake> {
    cpus(text, Topology(machine()), &mut Given(a.clone(), b.clone()))
}

#[test]
fn sets() {
    let none = CpuSet::new();
    for (text, expected) in [
        ("2-3", "2-3"),
        ("0,2-3,5", "0,2-3,5"),
        ("0, 2-3", "0,2-3"),
        ("all", "0-7"),
        ("online", "0-6"),
        ("none", ""),
        ("cores", "0,2,4,6"),
        ("isolated", "2-3"),
        ("all - isolated", "0-1,4-7"),
        ("online - isolated", "0-1,4-6"),
        ("all - 0,1", "2-7"),
        ("all - 0, 1", "2-7"),
        ("all - (0 + 1) - 2", "3-7"),
        ("5-6 - 5", "6"),
        ("not isolated & online", "0-1,4-6"),
        ("not (isolated + 0)", "1,4-7"),
        ("siblings(2)", "2-3"),
        ("siblings(0,5)", "0-1,4-5"),
        ("siblings(7)", "7"),
        ("siblings(none)", ""),
        ("node(0)", "0-3"),
        ("node(0-1)", "0-6"),
        ("node(1) & cores", "4,6"),
        ("first(isolated)", "2"),
        ("first(2 of cores)", "0,2"),
        ("last(2 of online)", "5-6"),
        ("first(99 of isolated)", "2-3"),
        ("first(0 of all)", ""),
        ("0 + 1 & 1", "0-1"),
        ("(0 + 1) & 1", "1"),
    ] {
        let found = of(text, &none, &none).unwrap_or_else(|wrong| panic!("{text}: {wrong:?}"));
        assert_eq!(found.to_string(), expected, "{text}");
    }
}

#[test]
fn mistakes_are_named() {
    let none = CpuSet::new();
    for (text, part) in [
        ("", "missing at the end"),
        ("2-", "missing at the end"),
        ("3-2", "`3-2` is not a list"),
        ("2 3", "`3` is unexpected"),
        ("all isolated", "`isolated` is unexpected"),
        ("- 2", "before `-`"),
        ("(all", "`)` is missing"),
        ("siblings 2", "not followed by `(`"),
        ("node(all)", "numbers of nodes"),
        ("node(5)", "no NUMA node 5"),
        ("first(x of all)", "`)` is missing"),
        ("8", "no CPU 8"),
        ("99999999999", "not a list of numbers"),
        ("2|3", "`|` is not part"),
        ("all-isolated", "no all-isolated"),
        ("of", "a set of CPUs is missing"),
    ] {
        let wrong = of(text, &none, &none).expect_err(text);
        assert!(wrong.what.contains(part), "{text}: {wrong:?}");
    }
}

#[test]
fn no_depth_is_too_much() {
    for text in
        ["(".repeat(5000), "not ".repeat(1000), "1+".repeat(1500), "1 ,".repeat(1000), "1 & ".repeat(1000)]
    {
        assert!(SETS.parse(&text).is_err());
    }
}

#[test]
fn a_machine_of_which_little_is_known() {
    let host = Snapshot::read(&FsRoot::memory(&[("/sys/devices/system/cpu/present", "0-1\n")]));
    let ask = |text| cpus(text, Topology(&host), &mut Given(CpuSet::new(), CpuSet::new()));
    assert_eq!(ask("not 0").map(|cpus| cpus.to_string()), Ok("1".to_owned()));
    for text in ["online", "cores", "siblings(0)"] {
        assert!(ask(text).expect_err(text).what.contains("/sys/devices/system/cpu/online"), "{text}");
    }
}

fn sets_of_cpus() -> impl Strategy<Value = CpuSet> {
    prop::collection::btree_set(0u32..8, 0..8).prop_map(|set| set.into_iter().map(Cpu).collect())
}

proptest! {
    #[test]
    fn laws_of_sets(a in sets_of_cpus(), b in sets_of_cpus()) {
        for (one, other) in [
            ("a + b", "b + a"),
            ("a & b", "b & a"),
            ("a, b", "a + b"),
            ("a - b", "a & not b"),
            ("not (a + b)", "not a & not b"),
            ("not (a & b)", "not a + not b"),
            ("not not a", "a"),
            ("(a - b) + (a & b)", "a"),
            ("a - b - a", "none"),
            ("a + (a & b)", "a"),
            ("a & (a + b)", "a"),
            ("first(a) + (a - first(a))", "a"),
            ("first(99 of a)", "last(99 of a)"),
            ("siblings(siblings(a))", "siblings(a)"),
            ("a - siblings(a)", "none"),
            ("siblings(a + b)", "siblings(a) + siblings(b)"),
        ] {
            prop_assert_eq!(of(one, &a, &b), of(other, &a, &b), "{} = {}", one, other);
        }
        let (united, common) = (of("a + b", &a, &b).expect("a set"), of("a & b", &a, &b).expect("a set"));
        prop_assert_eq!(united.len() + common.len(), a.len() + b.len());
    }

    /// What a list prints as means itself.
    #[test]
    fn lists_mean_themselves(a in sets_of_cpus()) {
        prop_assume!(!a.is_empty());
        prop_assert_eq!(of(&a.to_string(), &a, &a), Ok(a));
    }

    #[test]
    fn no_text_is_too_much(text in "\\PC{0,200}") {
        let _ = SETS.parse(&text);
    }

    #[test]
    fn words_in_any_order(words in prop::collection::vec(
        prop::sample::select(vec![
            "all", "none", "a", "2-3", "2", "not", "(", ")", "-", "+", "&", ",", "of", "first(", "node(", "siblings(",
        ]),
        0..80,
    )) {
        let none = CpuSet::new();
        let _ = of(&words.join(" "), &none, &none);
    }
}
