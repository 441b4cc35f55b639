//! A recording of some CPUs: which of those that were asked for the machine has.

use super::error::RecordError;
use whylate_base::CpuSet;

/// The CPUs that are online; all of `possible` where the list cannot be read.
pub(super) fn online(possible: &CpuSet) -> CpuSet {
    let list = std::fs::read_to_string("/sys/devices/system/cpu/online").ok();
    list.and_then(|list| list.trim().parse().ok()).unwrap_or_else(|| possible.clone())
}

/// Checks the CPUs that were asked for; returns those that are offline.
///
/// # Errors
/// [`RecordError::Cpus`] where the machine does not have one of them, or none is online.
pub(super) fn offline(asked: &CpuSet, possible: &CpuSet, online: CpuSet) -> Result<CpuSet, RecordError> {
    let error = |why: String, online| Err(RecordError::Cpus { asked: asked.clone(), why, online });
    let absent = asked.without(possible);
    if !absent.is_empty() {
        return error(format!("this machine has no CPU {absent}"), online);
    }
    let offline = asked.without(&online);
    if offline.len() == asked.len() {
        return error("none of them is online".to_owned(), online);
    }
    Ok(offline)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_recorded_is_refused() {
        let set = |list: &str| list.parse::<CpuSet>().expect("a list");
        let check = |asked: &str| {
            let checked = offline(&set(asked), &set("0-7"), set("0-3"));
            checked.map(|offline| offline.to_string()).map_err(|error| error.to_string())
        };
        assert_eq!(check("1-2"), Ok(String::new()));
        assert_eq!(check("3-4"), Ok("4".to_owned()));
        let refused = |why| Err(format!("cannot record CPUs {why}; choose of CPUs 0-3, which are online"));
        assert_eq!(check("3,8-9"), refused("3,8-9: this machine has no CPU 8-9"));
        assert_eq!(check("5-6"), refused("5-6: none of them is online"));
    }
}
