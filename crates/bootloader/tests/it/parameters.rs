//! Kernel parameters of the next boot, loader by loader, in directories that are laid out as distributions do it.

use crate::root::{Root, parameter};
use proptest::prelude::*;
use whylate_bootloader::{BootError, FileChange, Files, configured, edits, value as value_of};
use whylate_host::Cmdline;

/// What is asked for, the files after it, and the commands that have to be run.
struct Case<'a> {
    files: &'a [(&'a str, &'a str)],
    wanted: &'a [&'a str],
    made: &'a [(&'a str, Option<&'a str>)],
    commands: &'a [&'a str],
}

fn check(case: &Case<'_>) {
    let root = Root::new(case.files);
    let before = root.everything();
    let changes: Vec<_> = case.wanted.iter().map(|text| parameter(text)).collect();
    let steps = edits(&changes, &root).expect("steps");
    let (commands, undo) = root.make(&steps);
    assert_eq!(commands, case.commands, "{:?}", case.files);
    for (path, text) in case.made {
        assert_eq!(root.text(path).as_deref(), *text, "{path} for {:?}", case.wanted);
    }
    let again = edits(&changes, &root).expect("steps");
    assert!(again.iter().all(|step| matches!(step.change, FileChange::Regenerate(_))), "{again:?}");
    root.undo(&undo);
    assert_eq!(root.everything(), before, "{:?}", case.wanted);
}

const MKCONFIG: (&str, &str) =
    ("/usr/sbin/grub-mkconfig", "for x in ${sysconfdir}/default/grub.d/*.cfg ; do . \"$x\"; done\n");
const MKCONFIG2: (&str, &str) = ("/usr/sbin/grub2-mkconfig", ". ${sysconfdir}/default/grub\n");
const UPDATE: (&str, &str) = ("/usr/sbin/update-grub", "exec grub-mkconfig -o /boot/grub/grub.cfg\n");
const CFG: (&str, &str) =
    ("/boot/grub/grub.cfg", "menuentry 'x' {\n\tlinux\t/vmlinuz root=UUID=1 ro  quiet\n\tinitrd /i\n}\n");
const CFG2: (&str, &str) = ("/boot/grub2/grub.cfg", CFG.1);
const DEFAULTS: &str = "GRUB_DISTRIBUTOR=`lsb_release -i -s 2> /dev/null || echo Debian`\n\
                        GRUB_CMDLINE_LINUX_DEFAULT=\"quiet\"\nGRUB_CMDLINE_LINUX=\"\"\n";
const HEAD: &str = "# Kernel parameters that `whylate apply` has set. `whylate rollback` removes them.\n";
const OWN: &str = "/etc/default/grub.d/zz-whylate.cfg";

#[test]
fn grub_with_drop_ins() {
    let own = |line: &str| format!("{HEAD}{line}\n");
    let added = own(
        "GRUB_CMDLINE_LINUX_DEFAULT=\"$GRUB_CMDLINE_LINUX_DEFAULT isolcpus=managed_irq,domain,2-3 threadirqs\"",
    );
    let wanted = ["isolcpus=managed_irq,domain,2-3", "threadirqs"];
    check(&Case {
        files: &[MKCONFIG, UPDATE, CFG, ("/etc/default/grub", DEFAULTS)],
        wanted: &wanted,
        made: &[("/etc/default/grub", Some(DEFAULTS)), (OWN, Some(&added))],
        commands: &["update-grub"],
    });
    // A value of another program is changed where it is: of two isolcpus= the first would count.
    let theirs = DEFAULTS.replace("quiet", "isolcpus=1 quiet");
    check(&Case {
        files: &[MKCONFIG, CFG, ("/etc/default/grub", &theirs)],
        wanted: &wanted,
        made: &[
            ("/etc/default/grub", Some(&theirs.replace("isolcpus=1", "isolcpus=managed_irq,domain,2-3"))),
            (OWN, Some(&own("GRUB_CMDLINE_LINUX_DEFAULT=\"$GRUB_CMDLINE_LINUX_DEFAULT threadirqs\""))),
        ],
        commands: &["grub-mkconfig -o /boot/grub/grub.cfg"],
    });
    // What a later file replaces is left alone; words for init stay last.
    let cloud = "/etc/default/grub.d/50-cloudimg-settings.cfg";
    let line = "GRUB_CMDLINE_LINUX_DEFAULT=\"console=tty1 console=ttyS0 -- isolcpus=9\"\n";
    check(&Case {
        files: &[MKCONFIG, UPDATE, CFG, ("/etc/default/grub", &theirs), (cloud, line)],
        wanted: &["isolcpus=2", "console=ttyS1"],
        made: &[
            ("/etc/default/grub", Some(&theirs)),
            (cloud, Some(line)),
            (
                OWN,
                Some(&own(
                    "GRUB_CMDLINE_LINUX_DEFAULT=\"isolcpus=2 console=ttyS1 $GRUB_CMDLINE_LINUX_DEFAULT\"",
                )),
            ),
        ],
        commands: &["update-grub"],
    });
    // Taken out: in our file, which then has no content, and in theirs.
    check(&Case {
        files: &[MKCONFIG, UPDATE, CFG, ("/etc/default/grub", DEFAULTS), (OWN, &added)],
        wanted: &["-isolcpus", "-threadirqs", "-quiet"],
        made: &[("/etc/default/grub", Some(&DEFAULTS.replace("quiet", ""))), (OWN, None)],
        commands: &["update-grub"],
    });
    // The sources have it, the file that was made of them does not yet.
    check(&Case {
        files: &[MKCONFIG, UPDATE, CFG, ("/etc/default/grub", DEFAULTS), (OWN, &added)],
        wanted: &wanted,
        made: &[(OWN, Some(&added))],
        commands: &["update-grub"],
    });
    let done = CFG.1.replace("quiet", "quiet isolcpus=2");
    check(&Case {
        files: &[
            MKCONFIG,
            UPDATE,
            ("/boot/grub/grub.cfg", &done),
            ("/etc/default/grub", &DEFAULTS.replace("quiet", "isolcpus=2")),
        ],
        wanted: &["isolcpus=2"],
        made: &[],
        commands: &[],
    });
}

#[test]
fn grub_without_drop_ins() {
    let fedora = "GRUB_TIMEOUT=5\nGRUB_CMDLINE_LINUX=\"rd.lvm.lv=a/root rd.lvm.lv=a/swap rhgb quiet\"\n";
    check(&Case {
        files: &[MKCONFIG2, CFG2, ("/etc/default/grub", fedora)],
        wanted: &["isolcpus=2"],
        made: &[("/etc/default/grub", Some(&fedora.replace("rhgb quiet", "rhgb quiet isolcpus=2")))],
        commands: &["grub2-mkconfig -o /boot/grub2/grub.cfg"],
    });
    let suse = "GRUB_CMDLINE_LINUX=\"\"\nGRUB_CMDLINE_LINUX_DEFAULT='splash=silent'\nif x; then\nGRUB_CMDLINE_LINUX_DEFAULT=y\nfi\n";
    check(&Case {
        files: &[MKCONFIG2, CFG2, ("/etc/default/grub", suse)],
        wanted: &["isolcpus=2"],
        made: &[("/etc/default/grub", Some(&suse.replace("silent", "silent isolcpus=2")))],
        commands: &["grub2-mkconfig -o /boot/grub2/grub.cfg"],
    });
    check(&Case {
        files: &[MKCONFIG2, CFG2, ("/etc/default/grub", "GRUB_TIMEOUT=5")],
        wanted: &["isolcpus=2"],
        made: &[("/etc/default/grub", Some("GRUB_TIMEOUT=5\nGRUB_CMDLINE_LINUX_DEFAULT=\"isolcpus=2\"\n"))],
        commands: &["grub2-mkconfig -o /boot/grub2/grub.cfg"],
    });
}

fn block(text: &str) -> String {
    let text = format!("# GRUB Environment Block\n{text}");
    format!("{text}{}", "#".repeat(1024 - text.len()))
}

#[test]
fn grub_with_entries() {
    let cfg = ("/boot/grub2/grub.cfg", "insmod blscfg\nblscfg\n");
    let entry = "title Fedora\nversion 6.12\nlinux /vmlinuz-6.12\noptions root=UUID=1 ro rhgb quiet $tuned_params\ngrub_class fedora\n";
    let rescue = "title Rescue\nlinux /vmlinuz-0\noptions root=UUID=1 ro\n";
    let path = "/boot/loader/entries/1-6.12.conf";
    let files = [
        cfg,
        (path, entry),
        ("/boot/loader/entries/1-0-rescue.conf", rescue),
        ("/etc/kernel/cmdline", "root=UUID=1 ro rhgb quiet\n"),
        ("/etc/default/grub", "GRUB_CMDLINE_LINUX=\"rhgb quiet\"\n"),
        MKCONFIG2,
    ];
    check(&Case {
        files: &files,
        wanted: &["isolcpus=2", "-rhgb"],
        made: &[
            (path, Some(&entry.replace("rhgb quiet $tuned_params", "quiet $tuned_params isolcpus=2"))),
            ("/boot/loader/entries/1-0-rescue.conf", Some(rescue)),
            ("/etc/kernel/cmdline", Some("root=UUID=1 ro quiet isolcpus=2\n")),
            ("/etc/default/grub", Some("GRUB_CMDLINE_LINUX=\"quiet isolcpus=2\"\n")),
        ],
        commands: &[],
    });
    // RHEL 8: the command line is in the environment.
    let entry = "linux /vmlinuz\noptions $kernelopts $tuned_params\n";
    let environment = block("saved_entry=1-6.12\nkernelopts=root=UUID=1 ro quiet\nboot_success=0\n");
    let made = block("saved_entry=1-6.12\nkernelopts=root=UUID=1 ro quiet isolcpus=2\nboot_success=0\n");
    let files = [cfg, (path, entry), ("/boot/grub2/grubenv", &environment)];
    check(&Case {
        files: &files,
        wanted: &["isolcpus=2"],
        made: &[(path, Some(entry)), ("/boot/grub2/grubenv", Some(&made))],
        commands: &[],
    });
    let root = Root::new(&files);
    let line = configured(&root.tree());
    assert_eq!(line.path, path);
    assert_eq!(line.need().map(Cmdline::to_string).as_deref(), Ok("root=UUID=1 ro quiet"));
    // TuneD's own variable is not ours to write.
    let tuned = block("kernelopts=ro\ntuned_params=isolcpus=1\n");
    let root = Root::new(&[cfg, (path, entry), ("/boot/grub2/grubenv", &tuned)]);
    assert!(matches!(edits(&[parameter("isolcpus=2")], &root), Err(BootError::Tuned { .. })));
    assert_eq!(configured(&root.tree()).need().map(Cmdline::to_string).as_deref(), Ok("ro isolcpus=1"));
    let full = block(&format!("kernelopts=a={}\n", "x".repeat(960)));
    let root = Root::new(&[cfg, (path, entry), ("/boot/grub2/grubenv", &full)]);
    let long = parameter(&format!("isolcpus={}", "2,".repeat(30)));
    assert!(matches!(edits(&[long], &root), Err(BootError::Full { .. })));
}

#[test]
fn loaders_of_entries_menus_and_firmware() {
    let path = "/efi/loader/entries/x.conf";
    check(&Case {
        files: &[
            (path, "title x\r\nlinux /x\r\noptions root=1\r\noptions quiet -- single\r\n"),
            ("/etc/kernel/cmdline", "# ours\nroot=1\nquiet"),
        ],
        wanted: &["isolcpus=2"],
        made: &[
            (path, Some("title x\r\nlinux /x\r\noptions root=1\r\noptions quiet isolcpus=2 -- single\r\n")),
            ("/etc/kernel/cmdline", Some("# ours\nroot=1\nquiet isolcpus=2")),
        ],
        commands: &[],
    });
    check(&Case {
        files: &[(path, "linux /x")],
        wanted: &["isolcpus=2", "a"],
        made: &[(path, Some("linux /x\noptions isolcpus=2 a\n"))],
        commands: &[],
    });
    let menu = "/boot/extlinux/extlinux.conf";
    let text = "default l0\nlabel l0\n\tlinux /x\n\tappend root=/dev/a ro quiet\nlabel l0r\n\tappend root=/dev/a single\n";
    check(&Case {
        files: &[(menu, text), ("/etc/default/u-boot", "#U_BOOT_PARAMETERS=\"ro quiet\"\n")],
        wanted: &["isolcpus=2"],
        made: &[
            (menu, Some(&text.replace("quiet", "quiet isolcpus=2"))),
            (
                "/etc/default/u-boot",
                Some("#U_BOOT_PARAMETERS=\"ro quiet\"\nU_BOOT_PARAMETERS=\"ro quiet isolcpus=2\"\n"),
            ),
        ],
        commands: &[],
    });
    check(&Case {
        files: &[(menu, text), ("/etc/default/u-boot", "U_BOOT_PARAMETERS='ro isolcpus=1'\n")],
        wanted: &["isolcpus=2", "a"],
        made: &[("/etc/default/u-boot", Some("U_BOOT_PARAMETERS='ro isolcpus=2 a'\n"))],
        commands: &[],
    });
    let line = "/boot/firmware/cmdline.txt";
    check(&Case {
        files: &[
            ("/boot/firmware/config.txt", "arm_64bit=1\n"),
            (line, "console=serial0,115200 console=tty1 root=PARTUUID=1 rootwait\n"),
            ("/boot/cmdline.txt", "DO NOT EDIT THIS FILE\n"),
        ],
        wanted: &["isolcpus=3"],
        made: &[(line, Some("console=serial0,115200 console=tty1 root=PARTUUID=1 rootwait isolcpus=3\n"))],
        commands: &[],
    });
}

#[test]
fn what_the_next_boot_has() {
    for (files, path, line) in [
        (vec![CFG], "/boot/grub/grub.cfg", "root=UUID=1 ro quiet"),
        (
            vec![(
                "/boot/grub/grub.cfg",
                "set tuned_params=\"isolcpus=1\"\nmenuentry x {\nlinux /v ro $tuned_params\n}\n",
            )],
            "/boot/grub/grub.cfg",
            "ro isolcpus=1",
        ),
        (vec![("/boot/config.txt", ""), ("/boot/cmdline.txt", "a b\nc\n")], "/boot/cmdline.txt", "a b"),
    ] {
        let reading = configured(&Root::new(&files).tree());
        assert_eq!(reading.path, path);
        assert_eq!(reading.need().map(Cmdline::to_string).as_deref(), Ok(line));
    }
    assert!(configured(&Root::new(&[("/etc/x", "")]).tree()).value.is_err());
    let cmdline = configured(
        &Root::new(&[("/boot/config.txt", ""), ("/boot/cmdline.txt", "x=1 x=2 console=a console=b")]).tree(),
    );
    let cmdline = cmdline.need().expect("parameters");
    let value = |name: &str, wanted: Option<&str>| value_of(cmdline, name, wanted);
    assert_eq!(value("console", Some("a")).as_deref(), Some("a"));
    assert_eq!(value("console", Some("c")).as_deref(), Some("b"));
    assert_eq!(value("x", Some("2")).as_deref(), Some("1 x=2"));
    assert_eq!(value("y", Some("2")), None);
}

#[test]
fn what_is_not_understood_is_left() {
    let steps = |files: &[(&str, &str)], wanted: &str| edits(&[parameter(wanted)], &Root::new(files));
    let grub = |defaults: &str, wanted: &str| {
        steps(&[MKCONFIG, UPDATE, CFG, ("/etc/default/grub", defaults)], wanted).map(|steps| steps.len())
    };
    for (defaults, wanted) in [
        ("GRUB_CMDLINE_LINUX=\"quiet\n", "isolcpus=2"),
        ("GRUB_CMDLINE_LINUX=\"a isolcpus=\"1\n", "isolcpus=2"),
        ("GRUB_CMDLINE_LINUX='x=\"a'\n", "isolcpus=2"),
    ] {
        assert!(matches!(grub(defaults, wanted), Err(BootError::NotPlain { .. })), "{defaults}");
    }
    for wanted in ["a=$b", "a=b;c", "a=b c"] {
        assert!(matches!(grub(DEFAULTS, wanted), Err(BootError::Unwritable { .. })), "{wanted}");
    }
    // Behind a condition it is changed too, and ours is added, as it may not be there.
    assert_eq!(grub("test x && GRUB_CMDLINE_LINUX=isolcpus=1\n", "isolcpus=2"), Ok(4));
    let missing = steps(&[CFG, ("/etc/default/grub", DEFAULTS)], "isolcpus=2");
    assert!(matches!(missing, Err(BootError::NoCommand { .. })));
}

#[test]
fn a_link_stays_and_the_file_it_leads_to_is_changed() {
    let root = Root::new(&[MKCONFIG2, CFG2, ("/etc/sysconfig/real", "GRUB_CMDLINE_LINUX=quiet\n")]);
    root.link("/etc/default/grub", "../sysconfig/real");
    let steps = edits(&[parameter("isolcpus=2")], &root).expect("steps");
    root.make(&steps);
    assert_eq!(
        root.text("/etc/sysconfig/real").as_deref(),
        Some("GRUB_CMDLINE_LINUX=\"quiet isolcpus=2\"\n")
    );
    assert!(root.path("/etc/default/grub").is_symlink());
}

fn assignment() -> impl Strategy<Value = String> {
    let words = || {
        proptest::collection::vec("[ab](=[12])?|console=[ab]|quiet", 0..4).prop_map(|words| words.join(" "))
    };
    let variable = prop_oneof![Just("GRUB_CMDLINE_LINUX"), Just("GRUB_CMDLINE_LINUX_DEFAULT")];
    (variable, words(), 0..5u8).prop_map(|(name, words, shape)| match shape {
        0 => format!("{name}=\"{words}\"\n"),
        1 => format!("{name}='{words}' # x\n"),
        2 => format!("{name}=\"${name} {words}\"\n"),
        3 => format!("{name}=\"${{{name}:+${name} }}{words}\"\nOTHER=\"b=9\"\n"),
        _ => format!("{name}={}\n", words.replace(' ', "\\ ")),
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// A shell reads what was made: what was asked for is there, and nothing else is gone.
    #[test]
    fn the_shell_finds_what_is_wanted(
        defaults in proptest::collection::vec(assignment(), 0..4).prop_map(|lines| lines.concat()),
        other in proptest::option::of(assignment()),
        drop_ins in any::<bool>(),
        wanted in proptest::sample::subsequence(vec!["a=3", "b", "-quiet", "c=4", "console=c"], 1..=4),
    ) {
        let mkconfig = if drop_ins { MKCONFIG } else { ("/usr/sbin/grub-mkconfig", "") };
        let mut files = vec![mkconfig, UPDATE, CFG, ("/etc/default/grub", defaults.as_str())];
        if let Some(text) = other.as_deref().filter(|_| drop_ins) {
            files.push(("/etc/default/grub.d/50-x.cfg", text));
        }
        let root = Root::new(&files);
        let (before, everything) = (root.grub_line(), root.everything());
        let changes: Vec<_> = wanted.iter().map(|text| parameter(text)).collect();
            let (_, undo) = root.make(&edits(&changes, &root).expect("steps"));
        let after = root.grub_line();
        let name = |word: &str| word.split('=').next().unwrap_or_default().to_owned();
        let (before, after): (Vec<&str>, Vec<&str>) = (before.split_whitespace().collect(), after.split_whitespace().collect());
        for text in &wanted {
            let own: Vec<&&str> = after.iter().filter(|word| name(word) == name(text)).collect();
            match text.strip_prefix('-') {
                Some(gone) => prop_assert!(!after.contains(&gone), "{after:?}"),
                None if text.starts_with("console") => prop_assert!(own.contains(&text), "{after:?}"),
                None => prop_assert!(!own.is_empty() && own.iter().all(|word| *word == text), "{after:?}"),
            }
        }
        let asked: Vec<String> = wanted.iter().map(|text| name(text.trim_start_matches('-'))).collect();
        let others = |words: &[&str]| -> Vec<String> {
            words.iter().filter(|word| !asked.contains(&name(word)) || word.starts_with("console=")).filter(|word| **word != "console=c").map(|&word| word.to_owned()).collect()
        };
        prop_assert_eq!(others(&before), others(&after));
        root.undo(&undo);
        prop_assert_eq!(root.everything(), everything);
    }
}
