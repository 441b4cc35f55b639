//! Our units of systemd.

use super::error::PersistError;
use super::names::{LATENCY_UNIT, RESUME_UNIT, TUNING_UNIT};
use crate::{ApplyStep, Change, StepAction, System, Target, TargetState};
use whylate_bootloader::StagedEdits;

const ETC: &str = "/etc/systemd/system";
const TARGET: &str = "multi-user.target";
pub(super) const RELOAD: Option<&[&str]> = Some(&["systemctl", "daemon-reload"]);

/// After those who would set the same things, and once udev has loaded the drivers of the devices that are there, whose
/// threads, interrupts and workqueues would be missed otherwise; an application can order itself behind this unit.
/// `udevadm settle` is asked here and not ordered behind: systemd-udev-settle.service would hold up the whole boot.
pub(super) fn tuning(staged: &mut StagedEdits<'_>, program: &str, id: u64) -> Result<(), PersistError> {
    let text = format!(
        "# Written by `whylate apply`, number {id} of `whylate history`. `whylate rollback` removes it.\n\
         [Unit]\n\
         Description=Real-time tuning by whylate\n\
         After=systemd-sysctl.service systemd-modules-load.service network.target\n\
         After=irqbalance.service tuned.service cpupower.service cpufrequtils.service rtirq.service\n\
         RequiresMountsFor=/var/lib/whylate\n\
         ConditionPathExists=/var/lib/whylate/tuning\n\
         \n\
         [Service]\n\
         Type=oneshot\n\
         RemainAfterExit=yes\n\
         ExecStartPre=-udevadm settle --timeout=30\n\
         ExecStart={program} apply --boot\n\
         TimeoutStartSec=2min\n\
         \n\
         [Install]\n\
         WantedBy={TARGET}\n"
    );
    place(staged, TUNING_UNIT, text)
}

/// When everything else has started: what is measured is the machine as it runs. A boot is not held up by it. Exit codes 1 and 3 are
/// verdicts.
pub(super) fn resume(staged: &mut StagedEdits<'_>, program: &str) -> Result<(), PersistError> {
    let text = format!(
        "# Written by `whylate prove --across-reboots`. `whylate prove --abandon` removes it.\n\
         [Unit]\n\
         Description=Goes on with whylate prove after a reboot\n\
         After={TARGET} {TUNING_UNIT}\n\
         RequiresMountsFor=/var/lib/whylate\n\
         ConditionPathExists=/var/lib/whylate/prove/state.json\n\
         \n\
         [Service]\n\
         Type=simple\n\
         ExecStart={program} prove-resume\n\
         SuccessExitStatus=1 3\n\
         \n\
         [Install]\n\
         WantedBy={TARGET}\n"
    );
    place(staged, RESUME_UNIT, text)
}

/// The steps around the holder's files.
pub(super) struct HolderSteps {
    /// Stops one that holds another value.
    pub(super) stop: Option<ApplyStep>,
    /// Starts it.
    pub(super) start: Option<ApplyStep>,
}

/// The holder: written and enabled, and the steps that restart it.
pub(super) fn latency(
    staged: &mut StagedEdits<'_>,
    system: &dyn System,
    program: &str,
    change: &Change,
    running: bool,
) -> Result<HolderSteps, PersistError> {
    let settings = [change.setting.to_string()];
    let path = format!("{ETC}/{LATENCY_UNIT}");
    let text = match &change.then {
        None => None,
        Some(value) => match value.parse::<u32>() {
            Ok(us) if i32::try_from(us).is_ok() => Some(held(program, us)),
            _ => return Err(PersistError::NoLatency { value: value.clone() }),
        },
    };
    let same = staged.text(&path)? == text;
    // Of a directory's root no unit runs.
    let now = if running { state(system)? } else { None };
    let stops = now.is_some() && !same && staged.exists(&path)?;
    let starts = now.is_some() && change.then.is_some();
    let mark = staged.mark();
    match text {
        Some(text) => place(staged, LATENCY_UNIT, text)?,
        None => {
            staged.remove(&enabling(LATENCY_UNIT))?;
            staged.remove(&path)?;
        }
    }
    staged.label(mark, &settings, RELOAD.filter(|_| running));
    let step = |state: &TargetState| ApplyStep {
        target: holder(),
        action: StepAction::Set(state.clone()),
        notify: None,
        settings: settings.to_vec(),
        optional: false,
    };
    let [active, inactive] = ["active", "inactive"].map(|state| TargetState::Value(state.to_owned()));
    let stop = (stops && now.as_ref() != Some(&inactive)).then(|| step(&inactive));
    let is_active = stop.is_none() && now.as_ref() == Some(&active);
    Ok(HolderSteps { start: (starts && !is_active).then(|| step(&active)), stop })
}

fn holder() -> Target {
    Target::UnitActive { unit: LATENCY_UNIT.to_owned() }
}

/// Whether the holder runs; `None`: this machine has no units that run.
fn state(system: &dyn System) -> Result<Option<TargetState>, PersistError> {
    match system.read(&holder()) {
        Ok(state) => Ok(Some(state)),
        Err(error) if error.gone => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// It needs one device and nothing else of the machine. `notify`: it has started when the request is made.
fn held(program: &str, us: u32) -> String {
    format!(
        "# Written by `whylate apply`. `whylate rollback` removes it.\n\
         [Unit]\n\
         Description=Request of {us} us on /dev/cpu_dma_latency, held by whylate\n\
         ConditionPathExists=/dev/cpu_dma_latency\n\
         \n\
         [Service]\n\
         Type=notify\n\
         ExecStart={program} hold-latency {us}\n\
         Restart=on-failure\n\
         OOMScoreAdjust=-1000\n\
         CapabilityBoundingSet=\n\
         NoNewPrivileges=yes\n\
         DevicePolicy=closed\n\
         DeviceAllow=/dev/cpu_dma_latency rw\n\
         ProtectSystem=strict\n\
         ProtectHome=yes\n\
         RestrictAddressFamilies=AF_UNIX\n\
         MemoryDenyWriteExecute=yes\n\
         \n\
         [Install]\n\
         WantedBy={TARGET}\n"
    )
}

fn enabling(unit: &str) -> String {
    format!("{ETC}/{TARGET}.wants/{unit}")
}

fn place(staged: &mut StagedEdits<'_>, unit: &str, text: String) -> Result<(), PersistError> {
    let path = format!("{ETC}/{unit}");
    staged.write(&path, text)?;
    Ok(staged.link(&enabling(unit), &path)?)
}
