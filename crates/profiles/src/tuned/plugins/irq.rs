//! The plugins irq and irqbalance: where interrupts go.

use super::super::cpulist;
use super::super::error::TunedError;
use super::super::merge::Unit;
use super::super::output::{Must, Output, is_of};
use super::options::unknown;
use super::scheduler::cpus_among_online;
use crate::Selector;
use whylate_host::Why;

/// The plugin irq (since 2.24): each interrupt is a device, `irq16`; `DEFAULT` are those to come.
pub(super) fn carry_over(unit: &Unit, out: &mut Output<'_, '_>) -> Result<(), TunedError> {
    let find = |name: &str| unit.options.iter().find(|item| item.name == name);
    for item in unit.options.iter().filter(|item| !matches!(item.name.as_str(), "affinity" | "mode")) {
        unknown(item, unit, out);
    }
    let Some(item) = find("affinity") else { return Ok(()) };
    let Some(value) = out.value(item)? else { return Ok(()) };
    let Some(cpus) = cpus_among_online(&value, item, out)?.filter(|cpus| !cpus.is_empty()) else {
        return Ok(());
    };
    if Output::is_for_all(unit) {
        // There is no mode here that widens where interrupts may go.
        out.setting(Selector::Irqs, cpulist::packed(&cpus), item, Must::Exist);
        return Ok(());
    }
    let rules = match &unit.devices {
        Some(devices) => out.value(devices)?.unwrap_or_default(),
        None => return Ok(()),
    };
    let numbers: Vec<u32> = match out.variables.facts.host.irqs.each.need() {
        Ok(irqs) => irqs
            .iter()
            .map(|irq| irq.number)
            .filter(|number| is_of(&format!("irq{number}"), &rules))
            .collect(),
        Err(unread) => {
            out.leave(item, unread.to_string());
            return Ok(());
        }
    };
    for number in numbers {
        let path = format!("/proc/irq/{number}/smp_affinity_list");
        out.tunable(&path, &cpulist::packed(&cpus), item, Must::Perhaps);
    }
    if is_of("DEFAULT", &rules) {
        out.tunable("/proc/irq/default_smp_affinity", &cpulist::mask(&cpus), item, Must::Exist);
    }
    Ok(())
}

/// The variable that irqbalance(1) reads, in the file that it is given by its unit.
pub(super) fn balancer(unit: &Unit, out: &mut Output<'_, '_>) -> Result<(), TunedError> {
    for item in &unit.options {
        if item.name != "banned_cpus" {
            unknown(item, unit, out);
            continue;
        }
        let Some(value) = out.value(item)? else { continue };
        let Some(cpus) = cpus_among_online(&value, item, out)? else { continue };
        let files = &out.variables.facts.host.irqs.balancer;
        let file = files.iter().find(|file| file.value.is_ok()).map(|file| file.path.clone());
        let refused = files.iter().find_map(|file| match &file.value {
            Ok(_) | Err(Why::Missing) => None,
            Err(why) => Some(format!("{}: {why}", file.path)),
        });
        match (file, refused) {
            (Some(file), _) => {
                let name = "IRQBALANCE_BANNED_CPUS".to_owned();
                out.setting(
                    Selector::Variable { file, section: None, name },
                    cpulist::mask(&cpus),
                    item,
                    Must::Perhaps,
                );
            }
            (None, Some(why)) => out.leave(item, why),
            (None, None) => out.leave(item, "irqbalance has no configuration file: it is not installed"),
        }
    }
    Ok(())
}
