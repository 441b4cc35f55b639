//! Our units of systemd.

use super::{LATENCY_UNIT, PersistError, TUNING_UNIT};
use crate::draft::Draft;
use crate::{Cell, Change, State};

const ETC: &str = "/etc/systemd/system";
const TARGET: &str = "multi-user.target";
pub(super) const RELOAD: Option<&[&str]> = Some(&["systemctl", "daemon-reload"]);

/// After those who would set the same things, and once udev has loaded the drivers of the devices that are there, whose
/// threads, interrupts and workqueues would be missed otherwise; an application can order itself behind this unit.
/// `udevadm settle` is asked here and not ordered behind: systemd-udev-settle.service would hold up the whole boot.
pub(super) fn tuning(draft: &mut Draft<'_>, program: &str, id: u64) -> Result<(), PersistError> {
    let text = format!(
        "# Written by `whylate apply`, number {id} of `whylate history`. `whylate rollback` takes it back.\n\
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
    place(draft, TUNING_UNIT, text)
}

/// The holder: written, enabled, and started; one that holds another value is stopped first.
pub(super) fn latency(
    draft: &mut Draft<'_>,
    program: &str,
    change: &Change,
    running: bool,
) -> Result<(), PersistError> {
    let settings = [change.setting.to_string()];
    let unit = Cell::UnitActive { unit: LATENCY_UNIT.to_owned() };
    let path = format!("{ETC}/{LATENCY_UNIT}");
    let text = match &change.then {
        None => None,
        Some(value) => match value.parse::<u32>() {
            Ok(us) if i32::try_from(us).is_ok() => Some(held(program, us)),
            _ => return Err(PersistError::NoLatency { value: value.clone() }),
        },
    };
    let same = draft.text(&path)? == text;
    // Of a directory's root no unit runs.
    let can_start = running && draft.can_tell(&unit)?;
    if can_start && !same && draft.is_there(&path)? {
        let mark = draft.mark();
        draft.set(unit.clone(), State::Value("inactive".to_owned()))?;
        draft.label(mark, &settings, None);
    }
    let mark = draft.mark();
    match text {
        Some(text) => place(draft, LATENCY_UNIT, text)?,
        None => {
            draft.remove(&enabling(LATENCY_UNIT))?;
            draft.remove(&path)?;
        }
    }
    draft.label(mark, &settings, RELOAD.filter(|_| running));
    if can_start && change.then.is_some() {
        let mark = draft.mark();
        draft.set(unit, State::Value("active".to_owned()))?;
        draft.label(mark, &settings, None);
    }
    Ok(())
}

/// It needs one device and nothing else of the machine. `notify`: it has started when the request is made.
fn held(program: &str, us: u32) -> String {
    format!(
        "# Written by `whylate apply`. `whylate rollback` takes it back.\n\
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

fn place(draft: &mut Draft<'_>, unit: &str, text: String) -> Result<(), PersistError> {
    let path = format!("{ETC}/{unit}");
    draft.write(&path, text)?;
    Ok(draft.link(&enabling(unit), &path)?)
}
