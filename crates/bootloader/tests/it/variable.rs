//! Variables of configuration files, and units at boot.

use crate::root::Root;
use whylate_bootloader::{
    ConfigurationChange, ConfigurationSubject, FileChange, FileEntry, Files, VariableError, variable,
    variable_edits,
};

const WANTS: &str = "/etc/systemd/system/multi-user.target.wants";

fn change(subject: ConfigurationSubject, value: Option<&str>) -> ConfigurationChange {
    ConfigurationChange { subject, value: value.map(str::to_owned), setting: "a setting".to_owned() }
}

fn enabled(unit: &str, value: &str) -> ConfigurationChange {
    change(ConfigurationSubject::UnitAtBoot { unit: unit.to_owned() }, Some(value))
}

fn set(file: &str, section: Option<&str>, name: &str, value: Option<&str>) -> ConfigurationChange {
    let subject = ConfigurationSubject::Variable {
        file: file.to_owned(),
        section: section.map(str::to_owned),
        name: name.to_owned(),
    };
    change(subject, value)
}

#[test]
fn variables_of_files() {
    let irqbalance = "/etc/default/irqbalance";
    let text = "# CPUs\n#IRQBALANCE_BANNED_CPULIST=\nIRQBALANCE_ARGS='-p 4'\n";
    let root = Root::new(&[
        (irqbalance, text),
        ("/run/systemd/system/x", ""),
        ("/etc/systemd/system.conf", "[Manager]\nCPUAffinity=0\n"),
    ]);
    let before = root.everything();
    let changes = [
        set(irqbalance, None, "IRQBALANCE_BANNED_CPULIST", Some("2-3")),
        set(irqbalance, None, "IRQBALANCE_ARGS", Some("-p 5")),
        set("/etc/systemd/system.conf", Some("Manager"), "CPUAffinity", Some("0-1")),
    ];
    let steps = variable_edits(&changes, &root).expect("steps");
    let (commands, undo) = root.make(&steps);
    assert!(commands.iter().any(|command| command == "systemctl try-restart irqbalance.service"));
    assert_eq!(commands.last().map(String::as_str), Some("systemctl daemon-reload"));
    let made = text.replace("'-p 4'", "\"-p 5\"") + "IRQBALANCE_BANNED_CPULIST=2-3\n";
    assert_eq!(root.text(irqbalance), Some(made));
    let own = root.text("/etc/systemd/system.conf.d/zz-whylate.conf").expect("a drop-in");
    assert!(own.ends_with("[Manager]\nCPUAffinity=\nCPUAffinity=0-1\n"));
    let read = |file, section, name| variable(&root.tree(), file, section, name).value;
    assert_eq!(read("/etc/systemd/system.conf", Some("Manager"), "CPUAffinity"), Ok(Some("0-1".to_owned())));
    assert_eq!(read(irqbalance, None, "IRQBALANCE_BANNED_CPULIST"), Ok(Some("2-3".to_owned())));
    assert_eq!(variable_edits(&changes, &root), Ok(Vec::new()));
    let released = set("/etc/systemd/system.conf", Some("Manager"), "CPUAffinity", None);
    let steps = variable_edits(&[released], &root).expect("steps");
    assert!(matches!(steps[0].change, FileChange::Set(FileEntry::Absent)));
    root.undo(&undo);
    assert_eq!(root.everything(), before);
    let missing = set("/etc/sysconfig/irqbalance", None, "A", Some("1"));
    assert!(matches!(variable_edits(&[missing], &root), Err(VariableError::NoFile { .. })));
}

#[test]
fn units_at_boot() {
    let unit = "/usr/lib/systemd/system/irqbalance.service";
    let text = "[Service]\nExecStart=/x\n[Install]\nWantedBy=multi-user.target graphical.target\nAlias=balance.service\n";
    let root = Root::new(&[
        (unit, text),
        ("/usr/lib/systemd/system/static.service", "[Service]\n"),
        ("/run/systemd/system/x", ""),
    ]);
    root.link(&format!("{WANTS}/irqbalance.service"), unit);
    root.link("/etc/systemd/system/balance.service", unit);
    let before = root.everything();
    let links = || {
        let paths = [
            "multi-user.target.wants/irqbalance.service",
            "graphical.target.wants/irqbalance.service",
            "balance.service",
            "irqbalance.service",
        ];
        let target = |path: &str| std::fs::read_link(root.path(&format!("/etc/systemd/system/{path}"))).ok();
        paths.map(|path| target(path).map(|target| target.to_string_lossy().into_owned()))
    };
    let there = || Some(unit.to_owned());
    let steps = |name: &str, then: &str| variable_edits(&[enabled(name, then)], &root);
    let make = |then: &str| root.make(&steps("irqbalance.service", then).expect("steps"));
    let (commands, first) = make("disabled");
    assert_eq!(links(), [None, None, None, None]);
    assert!(commands.iter().all(|command| command == "systemctl daemon-reload") && commands.len() == 2);
    let (_, second) = make("masked");
    assert_eq!(links(), [None, None, None, Some("/dev/null".to_owned())]);
    assert!(make("masked").0.is_empty(), "it is masked");
    let (_, third) = make("enabled");
    assert_eq!(links(), [there(), there(), there(), None]);
    for undo in [third, second, first] {
        root.undo(&undo);
    }
    assert_eq!(root.everything(), before);
    for (name, then) in [
        ("static.service", "enabled"),
        ("gone.service", "enabled"),
        ("a/b.service", "masked"),
        ("x.service", "on"),
    ] {
        assert!(matches!(steps(name, then), Err(VariableError::Unit { .. })), "{name} {then}");
    }
    std::fs::write(root.path("/etc/systemd/system/own.service"), text).expect("a unit");
    assert!(matches!(steps("own.service", "masked"), Err(VariableError::Unit { .. })));
    let entry = root.entry("/etc/systemd/system/own.service");
    assert!(matches!(entry, Ok(FileEntry::File(_))));
}
