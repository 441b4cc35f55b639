//! A systemd unit for a watch, with no more privileges than it needs.

use std::path::Path;
use whylate_base::{systemd_service, systemd_word};

/// The text of a unit that watches with these arguments, and may write to some directories.
///
/// CAP_DAC_READ_SEARCH and CAP_DAC_OVERRIDE are for tracefs, which belongs to root alone; CAP_SYS_ADMIN for a mount of it
/// where there is none, and for /proc of other users.
pub fn unit<'p>(
    program: &str,
    arguments: &[String],
    written: impl IntoIterator<Item = &'p Path>,
    serves: bool,
) -> String {
    let command = [program, "watch"].into_iter().chain(arguments.iter().map(String::as_str));
    let network = if serves {
        [("PrivateNetwork", "no"), ("RestrictAddressFamilies", "AF_UNIX AF_INET AF_INET6")]
    } else {
        [("PrivateNetwork", "yes"), ("RestrictAddressFamilies", "AF_UNIX")]
    };
    let settings = [
        ("ExecReload", "/bin/kill -HUP $MAINPID"),
        ("Restart", "on-failure"),
        // 1 is that something was late, 3 that no thread was seen: neither is a failure of the unit.
        ("SuccessExitStatus", "1 3"),
        ("KillMode", "mixed"),
        ("TimeoutStopSec", "20"),
        ("Nice", "5"),
        ("MemoryMax", "256M"),
        ("CapabilityBoundingSet", "CAP_SYS_ADMIN CAP_DAC_OVERRIDE CAP_DAC_READ_SEARCH CAP_SYSLOG"),
        ("NoNewPrivileges", "yes"),
        ("ProtectSystem", "strict"),
        ("ProtectHome", "read-only"),
        ("PrivateTmp", "yes"),
        ("ProtectKernelModules", "yes"),
        ("ProtectControlGroups", "yes"),
        ("ProtectClock", "yes"),
        ("ReadWritePaths", "-/sys/kernel/tracing -/sys/kernel/debug/tracing"),
        ("RestrictNamespaces", "yes"),
        ("RestrictSUIDSGID", "yes"),
        ("RestrictRealtime", "yes"),
        ("LockPersonality", "yes"),
        ("MemoryDenyWriteExecute", "yes"),
        ("SystemCallArchitectures", "native"),
        ("SystemCallFilter", "@system-service @mount"),
    ];
    // systemd makes a directory below /var/lib; any other has to be there before the unit starts.
    let name_of_state = |directory: &'p Path| {
        let name = directory.strip_prefix("/var/lib/").ok()?.to_str()?;
        (!name.is_empty() && systemd_word(name) == name).then_some(name)
    };
    let (states, written): (Vec<&Path>, Vec<&Path>) =
        written.into_iter().partition(|directory| name_of_state(directory).is_some());
    let states = states.into_iter().filter_map(name_of_state).map(|name| ("StateDirectory", name));
    let settings = settings.into_iter().chain(network).chain(states);
    systemd_service("Keeps and explains late activations of real-time threads", command, settings, written)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arguments_and_the_directory_are_in_the_unit() {
        let arguments =
            ["--task".to_owned(), "ctl *".to_owned(), "--on-late".to_owned(), "echo $X".to_owned()];
        let text = unit(
            "/usr/bin/whylate",
            &arguments,
            [Path::new("/var/lib/watch"), Path::new("/srv/tables")],
            true,
        );
        for line in [
            "ExecStart=/usr/bin/whylate watch --task \"ctl *\" --on-late \"echo $$X\"",
            "StateDirectory=watch",
            "ReadWritePaths=/srv/tables",
            "RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6",
        ] {
            assert!(text.lines().any(|own| own == line), "{line}: {text}");
        }
        let text = unit("/usr/bin/whylate", &[], [], false);
        assert!(text.contains("PrivateNetwork=yes") && !text.contains("StateDirectory"));
        let text = unit("/usr/bin/whylate", &[], [Path::new("/srv/watch")], false);
        assert!(text.contains("\nReadWritePaths=/srv/watch\n") && !text.contains("StateDirectory"), "{text}");
    }
}
