//! Measurements as mails quote them.

use super::{HISTOGRAM, OSLAT, RTLA};
use std::path::Path;
use whylate_base::Ns;

#[test]
fn measurements_in_mails_are_read_as_they_were() {
    let plain = "T: 0 (24683) P:99 I:1000 C:   2000 Min:      1 Act:    6 Avg:    2 Max:    1771\n\
        T: 1 (24684) P:99 I:1500 C:   1333 Min:      1 Act:    5 Avg:    3 Max:     958\n";
    let read = |text: &str| super::super::read(Path::new("run"), text.as_bytes()).expect("a measurement");
    let run = read(plain);
    assert_eq!(run.threads[0].histogram.max(), Some(Ns::from_us(1771)));
    for mail in [
        plain.replace("Max:    1771", "Max:   =\n 1771").replace("Max:     958", "Max:    =\n 958"),
        plain.replace("T:", "> > T:"),
        plain.replace("Max:    1771", "Max:\n   1771"),
        plain.replace("T:", "> T:").replace("Max:    1771", "Max:\n>    1771"),
        plain.replace("  ", "\u{a0} "),
        plain.replace("T:", "[   12.345678] T:"),
    ] {
        assert_eq!(read(&mail).threads, run.threads, "{mail}");
    }
    for text in [HISTOGRAM, RTLA, OSLAT, "       0:       0:      21\n       0:       1:      20\n"] {
        let quoted: String = text.lines().map(|line| format!("> {line}\n")).collect();
        assert_eq!(read(&quoted).threads, read(text).threads, "{quoted}");
    }
}
