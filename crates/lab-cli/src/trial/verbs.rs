//! The command lines of the program under test, and of the rig.

use super::TuningRequest;

/// The installed program in the guest, for the unit that runs it at boot.
pub(super) const PROGRAM: &str = "/usr/local/bin/whylate";

/// This program in the guest, during a job.
const RIG: &str = "/run/whylate-lab/whylate-lab";

/// Installs the program of the job.
pub(super) fn install() -> String {
    format!("install -m 755 /run/whylate-lab/whylate {PROGRAM}")
}

/// Writes the machine's state to a file of `/out`.
pub(super) fn state(name: &str) -> String {
    format!("{RIG} state > /out/{name}.json")
}

fn profile(request: &TuningRequest) -> String {
    let source = if request.of_tuned { "--tuned" } else { "--profile" };
    let mut words = format!("{source} {}", quoted(&request.profile));
    let isolated = (!request.isolated.is_empty()).then_some(("--isolated", &request.isolated));
    let given = request.given.iter().map(|given| ("--set", given));
    let allow = request.allow.iter().map(|code| ("--allow", code));
    for (option, value) in isolated.into_iter().chain(given).chain(allow) {
        words.push_str(&format!(" {option} {}", quoted(value)));
    }
    words
}

/// Writes the plan as JSON.
pub(super) fn plan(request: &TuningRequest) -> String {
    format!("{PROGRAM} plan {} --json > /out/plan.json", profile(request))
}

/// Applies without a question; `kill_at`: the number of the change before which it is killed.
pub(super) fn apply(request: &TuningRequest, kill_at: Option<u32>) -> String {
    let killed = kill_at.map(|step| format!("{RIG} kill-at {step} -- ")).unwrap_or_default();
    format!("{killed}{PROGRAM} apply {} --yes", profile(request))
}

/// Verifies that the settings are in place.
pub(super) fn verify() -> String {
    format!("{PROGRAM} verify")
}

/// Undoes all changes.
pub(super) fn rollback() -> String {
    format!("{PROGRAM} rollback")
}

/// Measures wake-up latencies for some seconds.
pub(super) fn measure(name: &str, seconds: u32) -> String {
    format!("{PROGRAM} measure --duration {seconds}s --json > /out/{name}.json")
}

/// As one word of a shell.
pub(super) fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stay_words() {
        let request = TuningRequest {
            profile: "my own's".into(),
            isolated: "2-3".into(),
            given: vec!["own=a b".into()],
            allow: vec!["no-net".into()],
            ..TuningRequest::default()
        };
        let line = apply(&request, Some(7));
        let words = r"--profile 'my own'\''s' --isolated '2-3' --set 'own=a b' --allow 'no-net' --yes";
        assert!(
            line.contains("kill-at 7 -- /usr/local/bin/whylate apply") && line.ends_with(words),
            "{line}"
        );
        assert!(plan(&TuningRequest { of_tuned: true, ..request.clone() }).contains(r"--tuned 'my own"));
        assert!(!apply(&request, None).contains("kill"));
    }
}
