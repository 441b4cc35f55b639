//! Static probes of a program (`--usdt`).

use super::{place, record};
use crate::support::answer::{answer, list, number};
use crate::support::run::whylate;
use crate::support::tracefs::Tracefs;
use std::ffi::OsStr;
use std::fs;
use std::process::Command;
use whylate_testing::{Need, skip};

/// Twelve cycles between two static probes, in the form that `<sys/sdt.h>` gives them: the begin has two places, and a
/// semaphore, without which the program passes it over. The ninth cycle sleeps.
const PROBED: &str = r#"
#include <unistd.h>
#define PROBE(name, semaphore) __asm__ volatile( \
    "990: nop\n" \
    ".pushsection .note.stapsdt,\"\",\"note\"\n" \
    ".balign 4\n.4byte 992f-991f, 994f-993f, 3\n" \
    "991: .asciz \"stapsdt\"\n992: .balign 4\n" \
    "993: .8byte 990b\n.8byte base_of_probes\n.8byte " semaphore "\n" \
    ".asciz \"motion\"\n.asciz \"" name "\"\n.asciz \"\"\n994: .balign 4\n" \
    ".popsection\n")
__asm__(".pushsection .stapsdt.base,\"aG\",\"progbits\",.stapsdt.base,comdat\n"
        "base_of_probes: .space 1\n.size base_of_probes, 1\n.popsection\n");
volatile unsigned short begin_semaphore __attribute__((section(".probes"), used));
int main(void) {
    for (int i = 0; i < 12; i++) {
        usleep(5000);
        if (begin_semaphore) {
            if (i & 1) PROBE("begin", "begin_semaphore");
            else PROBE("begin", "begin_semaphore");
        }
        for (volatile int n = 0; n < 100000;) n++;
        if (i == 8) usleep(8000);
        PROBE("end", "0");
    }
    return 0;
}
"#;

#[test]
fn activations_go_from_one_static_probe_to_another() {
    let Some(_tracefs) = Tracefs::open() else { return };
    if !whylate_testing::has_program("cc") {
        return;
    }
    let probes = || fs::read_to_string("/sys/kernel/tracing/uprobe_events");
    let Ok(before) = probes() else {
        return skip(Need::Machine, "this kernel cannot probe programs (CONFIG_UPROBE_EVENTS)");
    };
    let (directory, file) = place();
    let (source, program) = (directory.path().join("motion.c"), directory.path().join("motion"));
    fs::write(&source, PROBED).expect("written");
    let mut cc = Command::new("cc");
    cc.args(["-O1", "-o"]).arg(&program).arg(&source);
    assert!(cc.status().expect("cc").success());
    let program = program.to_string_lossy();
    let explained = |names: &str| {
        let run = record(&file, &["--usdt", &format!("motion:{names}"), "--", &program]);
        assert_eq!(run.code, Some(0), "{run:#?}");
        // The recording knows by itself what its activations are.
        let run = whylate([OsStr::new("explain"), "--json".as_ref(), file.as_os_str()]);
        answer(&run.stdout)
    };
    let both = explained("begin,end");
    let tasks = list(&both["tasks"]);
    assert_eq!((tasks.len(), number(&tasks[0]["activations"])), (1, 12), "{tasks:#?}");
    let worst = &list(&both["activations"])[0];
    assert_eq!(worst["verdict"]["cause"], "own-wait", "{worst:#}");
    assert!(number(&worst["response_ns"]) >= 8_000_000, "{worst:#}");
    // Up to the next begin, the 5 ms between two cycles belong to each.
    let from_begin_to_begin = explained("begin");
    let least = list(&from_begin_to_begin["activations"]).iter().map(|one| number(&one["response_ns"])).min();
    assert!(least >= Some(5_000_000), "{least:?}");
    assert_eq!(probes().expect("a list"), before);
    let run = record(&file, &["--usdt", "motion:begin", "-d", "100ms"]);
    assert_eq!(run.code, Some(2), "{run:#?}");
    assert!(run.stderr.contains("give it, --usdt FILE:motion:begin"), "{run:#?}");
    let run = record(&file, &["--usdt", &format!("{program}:motion:start"), "--", "true"]);
    assert_eq!(run.code, Some(2), "{run:#?}");
    assert!(
        run.stderr.contains("has no static probe motion:start; it has motion:begin, motion:end"),
        "{run:#?}"
    );
}
