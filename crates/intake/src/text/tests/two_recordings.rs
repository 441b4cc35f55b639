//! Texts with a latency trace, and rows of another recording below it.

use super::*;

const TRACE: &str = "# tracer: wakeup_rt\n#\n# wakeup_rt latency trace v1.1.5 on 6.5.0-rt6\n\
    # latency: 1210 us, #4/4, CPU#0 | (M:preempt_rt VP:0, KP:0, SP:0 HP:0 #P:4)\n\
    #    | task: mill-117 (uid:0 nice:0 policy:1 rt_prio:99)\n\
    load-132         0dn.h413    1us+:      132:120:R   + [000]     117:  0:R mill\n\
    load-132         0dn.h413    9us#: 0\n\
    load-132         0d...3.. 1201us : __schedule\n\
    load-132         0d...3.. 1206us+:      132:120:R ==> [000]     117:  0:R mill\n";
const PROSE: &str = "\nI had more detail with another option:\n\n...\n";
const GRAPH: &str = "      710 us |   0)  load--104   |  .n..1.. |   3.000 us    |  lock_it();\n\
    \u{20}     1290 us |   0)  load--104   |  .n..1.. |   2.000 us    |  unlock_it();\n";
const ROW: &str = "load-132         0d...3..  700us : lock_it <-caller\n";

/// How many events are read, whether another recording is reported, and whether lines are left out.
fn read(text: &str) -> (usize, bool, bool) {
    let (events, info) = all(text);
    let is_further = info.damage.iter().any(|damage| damage.what.starts_with("another recording follows"));
    (events.len(), is_further, !info.left_out.is_empty())
}

#[test]
fn rows_below_a_whole_latency_trace_are_of_another_recording_where_their_times_go_back() {
    let (whole, ..) = read(TRACE);
    for below in [GRAPH, ROW] {
        assert_eq!(read(&format!("{TRACE}{PROSE}{below}")), (whole, true, false), "{below}");
    }
    // Without prose, or later, they may be its own.
    for text in [format!("{TRACE}{ROW}"), format!("{TRACE}{PROSE}{}", ROW.replace(" 700", "1300"))] {
        let (events, is_further, _) = read(&text);
        assert_eq!((events > whole, is_further), (true, false), "{text}");
    }
}

#[test]
fn rows_in_another_form_are_of_another_recording_where_entries_are_missing() {
    let cut = TRACE.replace("#4/4", "#9/9");
    let (whole, ..) = read(&cut);
    let (events, is_further, leaves_out) = read(&format!("{cut}{PROSE}{GRAPH}"));
    assert_eq!((events, is_further, leaves_out), (whole, true, true));
    let (events, is_further, _) = read(&format!("{cut}{PROSE}{ROW}"));
    assert_eq!((events > whole, is_further), (true, false));
}
