//! A machine that is a directory, and what is done to it.

use std::ops::Deref;
use whylate_host::FsRoot;
use whylate_profiles::Reasons;
use whylate_testing::TestRoot;
use whylate_tuning::{ApplyStep, Change, LiveSystem, Plan, Setting, StepAction, System, Target, TargetState};

pub(crate) struct Root {
    files: TestRoot,
    pub(crate) system: LiveSystem,
}

pub(crate) fn change(setting: Setting, then: Option<&str>) -> Change {
    Change {
        setting,
        now: None,
        then: then.map(str::to_owned),
        reasons: Reasons::default(),
        origin: "a test".to_owned(),
        optional: false,
        prediction: None,
        note: None,
    }
}

/// As [`whylate_testing::parameter`] reads it.
pub(crate) fn parameter(text: &str) -> Change {
    let (name, then) = whylate_testing::parameter(text);
    change(Setting::Parameter { name: name.to_owned() }, then)
}

impl Root {
    pub(crate) fn new(files: &[(&str, &str)]) -> Root {
        let files = TestRoot::new(files);
        let system = LiveSystem::open(files.directory()).expect("a root");
        Root { files, system }
    }

    pub(crate) fn tree(&self) -> FsRoot {
        self.system.tree()
    }

    /// Makes the steps; gives the commands, and what undoes it all.
    pub(crate) fn make(&self, steps: &[ApplyStep]) -> (Vec<String>, Vec<(Target, TargetState)>) {
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
}

impl Deref for Root {
    type Target = TestRoot;

    fn deref(&self) -> &TestRoot {
        &self.files
    }
}

pub(crate) fn plan(changes: Vec<Change>) -> Plan {
    Plan { changes, ..Plan::default() }
}
