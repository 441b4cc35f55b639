//! Softirqs in recordings without the scheduler's events.

use super::support::{MS, Scene, fair};
use whylate_base::Severity;
use whylate_events::EventKind;

const NET_RX: u32 = 3;

/// An interrupt raises a softirq, which begins so many microseconds later in `ksoftirqd/1`; another CPU has none.
fn raised(delay: i64, with_switches: bool) -> Option<(String, Severity)> {
    let ksoftirqd = fair("ksoftirqd/1", 15);
    let raise = EventKind::SoftirqRaise { vec: NET_RX };
    let mut scene = Scene::new().cpu(1).at(0);
    if with_switches {
        scene = scene.run(fair("app", 20));
    }
    let scene = scene.at(10).irq(126, "eth0").event(raise).at(12).irq_exit(126);
    let scene = match with_switches {
        true => scene.at(9 + delay).run(ksoftirqd),
        false => scene.at(9 + delay).sign_of(ksoftirqd, Default::default()),
    };
    let scene = scene.at(10 + delay).softirq(NET_RX).at(30 + delay).softirq_exit(NET_RX);
    let explained = scene.at(5 * MS).irq(126, "eth0").irq_exit(126).explain_with(&Default::default());
    let finding = explained.finding("softirq-late")?;
    assert!(explained.0.concludes() && !explained.0.missing.is_empty());
    Some((finding.title.clone(), finding.severity))
}

#[test]
fn without_switches_the_delay_of_a_softirq_is_a_finding_without_a_culprit() {
    let (title, severity) = raised(900, false).expect("a finding");
    assert!(title.starts_with("softirq NET_RX began 900.0 us after its raise on CPU 1, in "), "{title}");
    assert_eq!(severity, Severity::Warning);
    assert_eq!(raised(60, false), None, "it follows on the interrupt");
    assert_eq!(raised(900, true), None, "the ledger charges it");
}
