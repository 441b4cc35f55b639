//! `--snapshot PATH`: the machine of a task set, as it is.

use anyhow::{Context, Result, bail};
use std::path::Path;
use whylate_base::Ns;
use whylate_host::{FsRoot, Snapshot};
use whylate_simulate::model::{FairServer, KernelSeries};
use whylate_simulate::taskset::{MachineSettings, Overrides};

/// Puts the machine of a snapshot into `overrides`, except what is set there. Returns what the snapshot does not have, a
/// sentence each.
///
/// # Errors
/// If it cannot be opened, or has neither a kernel's version nor CPUs.
pub(super) fn machine(path: &Path, overrides: &mut Overrides) -> Result<Vec<String>> {
    let host = Snapshot::read(&FsRoot::open(path)?);
    let name = path.display();
    if overrides.kernel.is_none() {
        let release =
            host.kernel.release.need().with_context(|| format!("--snapshot {name}: the kernel's version"))?;
        let series: KernelSeries =
            release.parse().with_context(|| format!("--snapshot {name}: `{release}`"))?;
        let is_rt = host.kernel.is_realtime().unwrap_or_else(|_| release.contains("rt"));
        overrides.kernel = Some((series, is_rt));
    }
    if overrides.cpus.is_none() {
        let online = host.cpus.online.need().with_context(|| format!("--snapshot {name}: its CPUs"))?;
        let Some(last) = online.iter().last() else { bail!("--snapshot {name}: no CPU is online") };
        overrides.cpus = Some(last.0 + 1);
    }
    let (sched, mut unknown) = (&host.sched, Vec::new());
    let mut known = |what: &str, is_known: bool| {
        if !is_known {
            unknown.push(format!(
                "the snapshot does not have {what}: that of the task set, or the usual one, is taken"
            ));
        }
    };
    let config = host.kernel.config.known();
    let hz = config.and_then(|config| config.get("CONFIG_HZ")?.parse::<i64>().ok()).filter(|hz| *hz > 0);
    let runtime = sched.rt_runtime_us.known().copied();
    known("sched_rt_runtime_us", runtime.is_some());
    known("CONFIG_HZ", hz.is_some());
    let server = sched.fair_servers.known().and_then(|servers| {
        let first = servers.first()?;
        let nanoseconds = |value: &u64| i64::try_from(*value).ok().map(Ns);
        let runtime = nanoseconds(first.runtime_ns.known()?)?;
        Some(FairServer { runtime, period: nanoseconds(first.period_ns.known()?)? })
    });
    if !matches!(sched.fair_servers.if_present(), Ok(None)) {
        known("the fair server (debugfs, as root)", server.is_some());
    }
    overrides.settings = MachineSettings {
        rt_runtime: runtime.map(|us| (us >= 0).then(|| Ns::from_us(us))),
        rt_period: sched.rt_period_us.known().map(|&us| Ns::from_us(us)).filter(|period| *period > Ns::ZERO),
        rr_slice: sched.rr_timeslice_ms.known().map(|&ms| Ns::from_ms(ms)).filter(|slice| *slice > Ns::ZERO),
        tick: hz.map(|hz| Ns(1_000_000_000 / hz)),
        rt_group_sched: config.map(|config| config.has("CONFIG_RT_GROUP_SCHED")),
        isolated: host.cpus.isolated.known().cloned(),
        fair_server: server,
    };
    Ok(unknown)
}
