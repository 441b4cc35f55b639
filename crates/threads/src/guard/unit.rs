//! The systemd unit of a guard (systemd.exec(5), systemd.service(5)).

use std::path::Path;
use whylate_base::systemd_service;

/// The unit's text, with the guard's arguments. Its process has no right but those that it needs; of the directories it may
/// write to `written`.
pub fn unit(program: &str, arguments: &[String], written: Option<&Path>) -> String {
    let command = [program, "guard"].into_iter().chain(arguments.iter().map(String::as_str));
    let settings = [
        ("Restart", "on-failure"),
        // The guard restores at SIGTERM; its watchdog ends with it.
        ("KillMode", "mixed"),
        ("TimeoutStopSec", "10"),
        ("OOMScoreAdjust", "-1000"),
        ("LimitMEMLOCK", "infinity"),
        ("CapabilityBoundingSet", "CAP_SYS_NICE CAP_IPC_LOCK"),
        ("RuntimeDirectory", "whylate"),
        ("RuntimeDirectoryPreserve", "yes"),
        ("NoNewPrivileges", "yes"),
        ("ProtectSystem", "strict"),
        ("ProtectHome", "yes"),
        ("PrivateTmp", "yes"),
        ("PrivateNetwork", "yes"),
        ("ProtectKernelTunables", "yes"),
        ("ProtectKernelModules", "yes"),
        ("ProtectKernelLogs", "yes"),
        ("ProtectControlGroups", "yes"),
        ("ProtectClock", "yes"),
        ("RestrictAddressFamilies", "AF_UNIX"),
        ("RestrictNamespaces", "yes"),
        ("RestrictSUIDSGID", "yes"),
        ("LockPersonality", "yes"),
        ("MemoryDenyWriteExecute", "yes"),
        ("SystemCallArchitectures", "native"),
        ("SystemCallFilter", "@system-service @resources"),
    ];
    systemd_service("Lends CPU time to starving threads", command, settings, written)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arguments_and_the_directory_are_in_the_unit() {
        let arguments = ["--threshold".to_owned(), "kworker* 5s".to_owned()];
        let text = unit("/usr/bin/whylate", &arguments, Some(Path::new("/var/lib/metrics")));
        for line in [
            "ExecStart=/usr/bin/whylate guard --threshold \"kworker* 5s\"",
            "ReadWritePaths=/var/lib/metrics",
            "KillMode=mixed",
        ] {
            assert!(text.lines().any(|own| own == line), "{line}: {text}");
        }
        assert!(!unit("/usr/bin/whylate", &[], None).contains("ReadWritePaths"));
    }
}
