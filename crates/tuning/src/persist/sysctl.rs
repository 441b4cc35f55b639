//! Our file in /etc/sysctl.d (sysctl.d(5)): `kernel.timer_migration = 0`. It is read late among its neighbours.

use whylate_profiles::sysctl::{name, path};

/// Ours.
pub(super) const OWN: &str = "/etc/sysctl.d/99-whylate.conf";
const HEAD: &str = "# Set by `whylate apply`. `whylate rollback` removes it.\n";

/// The file with these values, by path below /proc/sys; what else was in it stays.
pub(super) fn merged(text: Option<&str>, wanted: &[(&str, &str)]) -> String {
    let mut made = String::new();
    for line in text.unwrap_or(HEAD).lines() {
        let key = line.split_once('=').filter(|_| !line.trim_start().starts_with(['#', ';']));
        let ours = key.is_some_and(|(key, _)| {
            wanted.iter().any(|(own, _)| path(key.trim().trim_start_matches('-')) == *own)
        });
        if !ours {
            made.push_str(line);
            made.push('\n');
        }
    }
    for (key, value) in wanted {
        made.push_str(&format!("{} = {value}\n", name(key)));
    }
    made
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn values_are_replaced_and_added() {
        let once = merged(None, &[("kernel/timer_migration", "0"), ("net/ipv4/conf/eth0.5/rp_filter", "1")]);
        assert_eq!(once, format!("{HEAD}kernel.timer_migration = 0\nnet/ipv4/conf/eth0.5/rp_filter = 1\n"));
        let twice = merged(Some(&once), &[("kernel/timer_migration", "1"), ("vm/stat_interval", "10")]);
        let rest = "net/ipv4/conf/eth0.5/rp_filter = 1\nkernel.timer_migration = 1\nvm.stat_interval = 10\n";
        assert_eq!(twice, format!("{HEAD}{rest}"));
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "\\PC*", key in "\\PC{1,8}") {
            merged(Some(&text), &[(&key, "1")]);
        }
    }
}
