//! Plans that were saved to a file, and are applied later.

use super::root::{Root, standings};
use std::fs;

#[test]
fn a_plan_is_applied_only_where_its_old_values_still_hold() {
    let root = Root::new();
    let plan = root.directory.path().join("plan.json");
    let (plan, profile) = (plan.to_str().expect("UTF-8"), root.profile.to_str().expect("UTF-8"));
    let run = root.run(&["plan", "--profile", profile, "-o", plan]);
    assert_eq!(run.code, Some(1), "{run:#?}");
    fs::write(root.path("/proc/sys/vm/swappiness"), "50\n").expect("another program");
    let before = root.everything();
    let run = root.run(&["apply", plan, "--yes"]);
    assert!(
        run.code == Some(1) && run.stderr.contains("vm.swappiness: planned 60 -> 10; now 50 -> 10"),
        "{run:#?}"
    );
    assert_eq!((root.everything(), standings(&root)), (before, vec![]));
    fs::write(root.path("/proc/sys/vm/swappiness"), "60\n").expect("another program");
    let run = root.run(&["apply", plan]);
    assert!(
        run.code == Some(2) && run.stderr.contains("--yes"),
        "standard input is not a terminal: {run:#?}"
    );
    let run = root.run(&["apply", plan, "--yes"]);
    assert_eq!(run.code, Some(0), "{run:#?}");
    let made = root.everything();
    let run = root.run(&["apply", plan, "--yes"]);
    assert!(run.code == Some(0) && run.stderr.contains("nothing to change"), "it is made already: {run:#?}");
    assert_eq!((root.everything(), standings(&root)), (made, vec!["applied".to_owned()]));
    fs::write(root.path("/x.json"), "{}").expect("a file");
    let run = root.run(&["apply", root.path("/x.json").to_str().expect("UTF-8"), "--yes"]);
    assert!(run.code == Some(2) && run.stderr.contains("is not a plan"), "{run:#?}");
    let run = root.run(&["apply", "--yes"]);
    assert!(run.code == Some(2) && run.stderr.contains("nothing to apply is given"), "{run:#?}");
    // As of `plan`, the profile is realtime unless another one is given.
    let run = root.run(&["apply", "--isolated", "1"]);
    assert!(run.stdout.starts_with("realtime: "), "{run:#?}");
}

#[test]
fn a_partly_applied_plan_is_completed_although_irqbalance_moves_interrupts() {
    let root = Root::new();
    let plan = root.directory.path().join("plan.json");
    let (plan, profile) = (plan.to_str().expect("UTF-8"), root.profile.to_str().expect("UTF-8"));
    let irq = |number: u32| format!("/proc/irq/{number}/smp_affinity_list");
    for (number, cpus) in [(24, "0-3\n"), (25, "1\n")] {
        fs::create_dir_all(root.path(&format!("/proc/irq/{number}/card")))
            .expect("an interrupt with a driver");
        fs::write(root.path(&irq(number)), cpus).expect("its CPUs");
    }
    assert_eq!(root.run(&["plan", "--profile", profile, "-o", plan]).code, Some(1));
    // Both are moved: the one that the plan sets, and the one that was already set.
    fs::write(root.path(&irq(24)), "3\n").expect("its CPUs");
    fs::write(root.path(&irq(25)), "2\n").expect("its CPUs");
    fs::write(root.path("/proc/sys/vm/swappiness"), "10\n").expect("as planned");
    let before = root.everything();
    let run = root.run(&["apply", plan, "--yes"]);
    assert!(run.code == Some(1) && run.stderr.contains("/proc/irq/25"), "another program moved it: {run:#?}");
    assert!(!run.stderr.contains("swappiness"), "{run:#?}");
    fs::create_dir_all(root.path("/proc/70")).expect("a process");
    fs::write(root.path("/proc/70/comm"), "irqbalance\n").expect("its name");
    let run = root.run(&["apply", plan, "--yes"]);
    assert_eq!(run.code, Some(0), "{run:#?}");
    assert_eq!((root.text(&irq(24)).trim(), root.text(&irq(25)).trim()), ("0-1", "0-1"));
    // What the undo puts back is how it was then, not how it was planned.
    assert_eq!(root.run(&["rollback"]).code, Some(0));
    fs::remove_dir_all(root.path("/proc/70")).expect("the process");
    assert_eq!(root.everything(), before);
}

#[test]
fn a_plan_of_another_machine_is_reported_and_one_that_is_too_long_is_refused() {
    let root = Root::new();
    let plan = root.directory.path().join("plan.json");
    let (name, profile) = (plan.to_str().expect("UTF-8"), root.profile.to_str().expect("UTF-8"));
    assert_eq!(root.run(&["plan", "--profile", profile, "-o", name]).code, Some(1));
    fs::write(root.path("/sys/devices/system/cpu/online"), "0-7\n").expect("another machine");
    fs::write(root.path("/proc/sys/vm/swappiness"), "50\n").expect("another machine");
    let run = root.run(&["apply", name, "--yes"]);
    assert!(run.code == Some(1) && run.stderr.contains("with the CPUs 0-3, and this is"), "{run:#?}");
    // The difference is reported even where the changes are the same.
    fs::write(root.path("/proc/sys/vm/swappiness"), "60\n").expect("another machine");
    let run = root.run(&["apply", name]);
    assert!(run.code == Some(2) && run.stderr.contains("note: the plan was made for"), "{run:#?}");
    let file = fs::OpenOptions::new().write(true).open(&plan).expect("the plan");
    file.set_len(65 << 20).expect("a sparse file");
    let run = root.run(&["apply", name, "--yes"]);
    assert!(run.code == Some(2) && run.stderr.contains("longer than 64 MiB"), "{run:#?}");
}
