//! Every event that has a type of its own, by table.

mod cpus;
mod interrupts;
mod programs;
mod scheduling;
mod timers;

use crate::decode;

#[test]
fn every_event_with_a_type() {
    let cases = [scheduling::cases(), interrupts::cases(), timers::cases(), programs::cases(), cpus::cases()]
        .concat();
    for (system, name, declarations, values, expected) in cases {
        let (kind, event) = decode(system, name, declarations, values);
        assert_eq!(event, expected, "{name}");
        assert_eq!(kind, Some(expected.kind()), "{name}");
    }
}
