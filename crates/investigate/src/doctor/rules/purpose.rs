//! What a system call is part of, by the functions of its stack: a library's name says more than its calls.

use crate::doctor::facts::{Call, Observation};
use whylate_events::StackId;

/// The functions of netdb.h(0p) that resolve names, and the resolver's (resolver(3)).
const RESOLVERS: [&str; 9] = [
    "getaddrinfo",
    "getnameinfo",
    "gethostbyname",
    "gethostbyaddr",
    "res_query",
    "res_search",
    "res_send",
    "res_nsend",
    "getservbyname",
];
/// The functions of syslog(3) and of sd_journal_print(3).
const LOGGERS: [&str; 5] = ["syslog", "vsyslog", "syslog_chk", "vsyslog_chk", "sd_journal_send"];

/// The functions that read a clock; the vDSO's have its name in front (vdso(7)).
const CLOCK_READS: [&str; 3] = ["clock_gettime", "gettimeofday", "kernel_clock_gettime"];

/// True for a call that resolves a name.
pub(super) fn is_name_resolution(observation: &Observation, call: &Call) -> bool {
    observation.functions(call.stack).any(|function| {
        let plain = plain(function);
        RESOLVERS.iter().any(|name| {
            plain
                .strip_prefix(name)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('_') || rest == "2")
        }) || plain.ends_with("to_socket_addrs")
    })
}

/// True for a call that logs.
pub(super) fn is_logging(observation: &Observation, call: &Call) -> bool {
    observation.functions(call.stack).any(|function| LOGGERS.contains(&plain(function)))
}

/// True for a wait for a reader-writer lock: in pthread_rwlock_rdlock(3p) and its relatives, which C++'s `std::shared_mutex`
/// uses, or in Rust's `RwLock`.
pub(super) fn is_rwlock(observation: &Observation, call: &Call) -> bool {
    observation.functions(call.stack).any(|function| {
        let of_pthreads =
            plain(function).strip_prefix("pthread_rwlock_").is_some_and(|rest| !rest.starts_with("unlock"));
        of_pthreads || function.contains("RwLock") && function.contains("_contended")
    })
}

/// True for a stack in pthread_spin_lock(3).
pub(super) fn is_spin_lock(observation: &Observation, stack: StackId) -> bool {
    observation.functions(Some(stack)).any(|function| plain(function) == "pthread_spin_lock")
}

/// True for a stack in a function that reads a clock.
pub(super) fn is_clock_read(observation: &Observation, stack: StackId) -> bool {
    // Whatever calls them comes behind them.
    observation.functions(Some(stack)).take(2).any(|function| {
        let plain = plain(function);
        CLOCK_READS.contains(&plain.strip_prefix("vdso_").unwrap_or(plain))
    })
}

/// A function's public name: without the underscores and `GI_` of glibc's internal aliases, and without its version.
fn plain(function: &str) -> &str {
    let name = function.trim_start_matches('_');
    let name = name.strip_prefix("GI_").unwrap_or(name).trim_start_matches('_');
    name.split('@').next().unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn internal_names_are_those_of_the_manual() {
        for (function, name) in [
            ("getaddrinfo", "getaddrinfo"),
            ("__GI_getaddrinfo", "getaddrinfo"),
            ("__GI___res_send", "res_send"),
            ("getaddrinfo@@GLIBC_2.2.5", "getaddrinfo"),
            ("__", ""),
        ] {
            assert_eq!(plain(function), name);
        }
    }
}
