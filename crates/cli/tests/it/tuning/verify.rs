//! `whylate verify`: drift of what an apply set, of what was already set, and of the boot menu.

use super::root::{CMDLINE, Root, json};
use std::fs;

/// A change in the middle of an apply.
const CUT_AT: u64 = 40;

/// No command runs for a directory's root: what GRUB reads is not regenerated there.
#[test]
fn a_boot_menu_that_was_not_regenerated_is_drift() {
    const MENU: &str = "/boot/grub/grub.cfg";
    let root = Root::new();
    for path in ["/boot/firmware/config.txt", CMDLINE] {
        fs::remove_file(root.path(path)).expect("no firmware");
    }
    let put = |path: &str, text: &str| {
        fs::create_dir_all(root.path(path).parent().expect("a directory above")).expect("directories");
        fs::write(root.path(path), text).expect("a file");
    };
    put(MENU, "menuentry 'x' {\n\tlinux /vmlinuz ro quiet\n}\n");
    put("/etc/default/grub", "GRUB_CMDLINE_LINUX_DEFAULT=\"quiet\"\n");
    put("/usr/sbin/update-grub", "");
    assert_eq!(root.apply(&[]).code, Some(0));
    let run = root.run(&["verify"]);
    assert!(run.code == Some(1) && run.stdout.contains("drift: kernel parameter nohz_full"), "{run:#?}");
    assert!(run.stdout.contains("run update-grub") && run.stdout.contains("chroot"), "{run:#?}");
    assert!(!run.stdout.contains("After the next reboot"), "{run:#?}");
    put(MENU, "menuentry 'x' {\n\tlinux /vmlinuz ro quiet nohz_full=2-3 skew_tick=1\n}\n");
    let run = root.run(&["verify"]);
    assert!(run.code == Some(0) && run.stdout.contains("After the next reboot"), "{run:#?}");
}

#[test]
fn verify_reports_interrupted_applies_drift_of_unchanged_settings_and_new_devices() {
    let root = Root::new();
    fs::write(root.path("/proc/sys/vm/stat_interval"), "10\n").expect("already set");
    let profile = fs::read_to_string(&root.profile).expect("a profile");
    let more = "\n[files]\n\"/sys/class/net/*/threaded\" = 1\n";
    fs::write(&root.profile, profile + more).expect("a profile");
    fs::create_dir_all(root.path("/sys/class/net/eth0")).expect("a directory");
    fs::write(root.path("/sys/class/net/eth0/threaded"), "0\n").expect("a file");
    let cut = root.run_killed(CUT_AT, &root.apply_words());
    assert_eq!(cut.code(), None);
    let run = root.run(&["verify"]);
    assert!(run.code == Some(1) && run.stdout.contains("interrupted"), "{run:#?}");
    assert_eq!(root.run(&["apply", "--resume"]).code, Some(0));
    assert_eq!(root.run(&["verify"]).code, Some(0));
    // A card that came since was never set: that is no drift.
    fs::create_dir_all(root.path("/sys/class/net/eth1")).expect("a directory");
    fs::write(root.path("/sys/class/net/eth1/threaded"), "0\n").expect("a file");
    let run = root.run(&["verify", "--json"]);
    assert_eq!(run.code, Some(0), "{run:#?}");
    let uncovered = json(&run)["uncovered"].clone();
    assert_eq!(uncovered[0]["setting"], "/sys/class/net/eth1/threaded");
    assert_eq!((&uncovered[0]["now"], &uncovered[0]["wished"]), (&"0".into(), &"1".into()));
    // What needed no change and does now is.
    fs::write(root.path("/proc/sys/vm/stat_interval"), "1\n").expect("another program");
    fs::write(root.path("/etc/sysctl.d/20-their.conf"), "vm.stat_interval = 1\n").expect("another program");
    let run = root.run(&["verify"]);
    assert!(run.code == Some(1) && run.stdout.contains("already set before the apply"), "{run:#?}");
    assert!(run.stdout.contains("20-their.conf sets it so"), "{run:#?}");
    assert!(run.stdout.contains("drift: vm.stat_interval"), "{run:#?}");
}
