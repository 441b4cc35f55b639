//! Mutexes of a program, read while its threads wait for them.

use crate::program::compile;
use crate::sampled::sample;
use whylate_base::Tid;
use whylate_events::{MutexProtocol, SampleKind};
use whylate_testing::{Need, skip};

#[test]
fn the_mutex_that_a_thread_waits_for_has_its_name_its_protocol_and_its_owner() {
    let directory = tempfile::tempdir().expect("a directory");
    let program = directory.path().join("locks");
    let made = compile("locks.c", &["-lpthread"], &program);
    let Some((stacks, pid)) = made.and_then(|()| sample(&program, &[])) else { return };
    if !stacks.samples.iter().any(|sample| sample.kind == SampleKind::SwitchOut) {
        return skip(Need::Root, "switches are in the kernel, which needs privileges");
    }
    let pid = Tid(pid as i32);
    for (symbol, protocol) in [("queue_lock", MutexProtocol::None), ("table+0x8", MutexProtocol::Inherit)] {
        let of_symbol = |one: &&whylate_events::MutexReading| one.symbol.as_deref() == Some(symbol);
        let reading = stacks.mutexes.iter().find(of_symbol);
        let reading = reading.unwrap_or_else(|| panic!("{symbol}: {:?}", stacks.mutexes));
        assert_eq!((reading.protocol, reading.owner, reading.pid), (protocol, pid, pid));
        assert!(reading.waiter != pid && reading.from <= reading.to, "{reading:?}");
    }
}
