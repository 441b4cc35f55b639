//! Another tool's measurement.
#![no_main]

#[path = "../../crates/cli/tests/entry/mod.rs"]
#[allow(dead_code, reason = "each target uses one entry point")]
mod entry;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    entry::latencies(bytes);
});
