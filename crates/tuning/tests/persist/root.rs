//! A machine that is a directory, and what is done to it.

use std::fs;
use std::path::PathBuf;
use whylate_host::FsRoot;
use whylate_profiles::Reasons;
use whylate_tuning::{Change, LiveSystem, Plan, Setting, Step, StepAction, System, Target, TargetState};

pub(crate) struct Root {
    pub(crate) directory: tempfile::TempDir,
    pub(crate) system: LiveSystem,
}

pub(crate) fn change(setting: Setting, then: Option<&str>) -> Change {
    Change {
        setting,
        now: None,
        then: then.map(str::to_owned),
        reasons: Reasons::default(),
        origin: "a test".to_owned(),
        note: None,
    }
}

/// `isolcpus=2-3`, `threadirqs`, or `-quiet` for one that is not to be there.
pub(crate) fn parameter(text: &str) -> Change {
    let (name, then) = match (text.strip_prefix('-'), text.split_once('=')) {
        (Some(name), _) => (name, None),
        (None, Some((name, value))) => (name, Some(value)),
        (None, None) => (text, Some("")),
    };
    change(Setting::Parameter { name: name.to_owned() }, then)
}

impl Root {
    pub(crate) fn new(files: &[(&str, &str)]) -> Root {
        let directory = tempfile::tempdir().expect("a directory");
        fs::create_dir_all(directory.path().join("etc")).expect("etc");
        for (path, text) in files {
            let path = directory.path().join(path.trim_start_matches('/'));
            fs::create_dir_all(path.parent().expect("a parent")).expect("its directory");
            fs::write(path, text).expect("a file");
        }
        let system = LiveSystem::open(directory.path()).expect("a root");
        Root { directory, system }
    }

    pub(crate) fn link(&self, path: &str, target: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("its directory");
        std::os::unix::fs::symlink(target, path).expect("a link");
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.directory.path().join(path.trim_start_matches('/'))
    }

    pub(crate) fn text(&self, path: &str) -> Option<String> {
        fs::read_to_string(self.path(path)).ok()
    }

    pub(crate) fn tree(&self) -> FsRoot {
        self.system.tree()
    }

    /// Makes the steps; gives the commands, and what undoes it all.
    pub(crate) fn make(&self, steps: &[Step]) -> (Vec<String>, Vec<(Target, TargetState)>) {
        let (mut commands, mut before) = (Vec::new(), Vec::new());
        for step in steps {
            before.push((step.target.clone(), self.system.read(&step.target).expect("its state")));
            match &step.action {
                StepAction::Set(state) => self.system.write(&step.target, state).expect("it is set"),
                StepAction::Make(command) => commands.push(command.join(" ")),
            }
            commands.extend(step.notify.iter().map(|notify| notify.join(" ")));
        }
        (commands, before)
    }

    pub(crate) fn undo(&self, before: &[(Target, TargetState)]) {
        for (target, state) in before.iter().rev() {
            self.system.write(target, state).expect("it is put back");
        }
    }

    /// Every file and link with its content.
    pub(crate) fn everything(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut found = Vec::new();
        let mut open = vec![self.directory.path().to_owned()];
        while let Some(directory) = open.pop() {
            for entry in fs::read_dir(&directory).expect("a directory").map(|entry| entry.expect("an entry"))
            {
                let path = entry.path();
                match entry.file_type().expect("its type") {
                    kind if kind.is_dir() => {
                        found.push((path.clone(), Vec::new()));
                        open.push(path);
                    }
                    kind if kind.is_symlink() => {
                        let target = fs::read_link(&path).expect("a link");
                        found.push((path, target.to_string_lossy().into_owned().into_bytes()));
                    }
                    _ => found.push((path.clone(), fs::read(&path).expect("a file"))),
                }
            }
        }
        found.sort();
        found
    }
}

pub(crate) fn plan(changes: Vec<Change>) -> Plan {
    Plan { changes, ..Plan::default() }
}
