//! Whatever the task set is, a simulation ends, and its numbers fit together.

use proptest::prelude::*;
use whylate_base::Ns;
use whylate_simulate::taskset::{Overrides, read};
use whylate_simulate::{RunOptions, simulate};

fn policy() -> impl Strategy<Value = String> {
    prop_oneof![
        (1u8..=99).prop_map(|priority| format!("policy = \"fifo\"\npriority = {priority}")),
        (1u8..=99).prop_map(|priority| format!("policy = \"rr\"\npriority = {priority}")),
        (-20i8..=19).prop_map(|nice| format!("nice = {nice}")),
        Just("policy = \"idle\"".to_owned()),
        Just("policy = \"stop\"".to_owned()),
    ]
}

fn steps() -> impl Strategy<Value = String> {
    let step = prop_oneof![
        4 => (1u32..5_000).prop_map(|us| format!("\"run {us}us\"")),
        1 => (1u32..3_000).prop_map(|us| format!("\"suspend 0..{us}us\"")),
        1 => (1u32..500).prop_map(|us| format!("\"irqs-off {us}us\"")),
        1 => (1u32..500).prop_map(|us| format!("\"preempt-off {us}us\"")),
        1 => (0u8..3, 1u32..2_000).prop_map(|(lock, us)| format!("\"lock m{lock}\", \"run {us}us\", \"unlock m{lock}\"")),
    ];
    (prop::collection::vec(step, 0..4), 1u32..3_000)
        .prop_map(|(steps, us)| format!("steps = [\"run {us}us\", {}]", steps.join(", ")))
}

fn arrival() -> impl Strategy<Value = String> {
    prop_oneof![
        (1u32..30, 0u32..10).prop_map(|(ms, offset)| format!("period = \"{ms}ms\"\noffset = \"{offset}ms\"")),
        (1u32..30).prop_map(|ms| format!("period = \"{ms}ms\"\nlate = \"skip\"")),
        (1u32..5, 5u32..30).prop_map(|(least, most)| format!("gap = \"{least}ms..{most}ms\"")),
        Just("after = \"first\"".to_owned()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_simulation_ends_and_adds_up(
        tasks in prop::collection::vec((policy(), arrival(), steps(), prop::option::of(0u32..3)), 1..8),
        cpus in 1u32..4,
        kernel in prop_oneof![Just("5.4"), Just("6.1"), Just("6.12")],
        clock in prop_oneof![Just("precise"), Just("tick")],
        protocol in prop_oneof![Just("none"), Just("inherit"), Just("protect")],
        cost in prop_oneof![Just(0u32), 1u32..20],
        seed in any::<u64>(),
    ) {
        let mut text = format!("[machine]\nkernel = \"{kernel}\"\ncpus = {cpus}\nclock = \"{clock}\"\n");
        if cost > 0 {
            text += &format!("costs = {{ switch = \"{cost}us\", timer = \"{cost}us\", tick = \"{cost}us\", idle-exit = \"{cost}us\" }}\n");
        }
        for lock in 0..3 {
            text += &format!("[[lock]]\nname = \"m{lock}\"\nprotocol = \"{protocol}\"\n");
        }
        text += "[[interrupt]]\nname = \"dev\"\ngap = \"2ms..9ms\"\nrun = \"10us..100us\"\nsoftirq = \"NET_RX\"\nsoftirq-run = \"50us\"\n";
        text += "[[task]]\nname = \"first\"\npriority = 10\nperiod = \"10ms\"\nrun = \"1ms\"\n";
        for (at, (policy, arrival, steps, cpu)) in tasks.iter().enumerate() {
            text += &format!("[[task]]\nname = \"t{at}\"\n{policy}\n{arrival}\n{steps}\n");
            if let Some(cpu) = cpu {
                text += &format!("cpus = \"{}\"\n", cpu % cpus);
            }
        }
        let read = read(&text, &Overrides::default()).map_err(|error| format!("{error}"));
        // Threads of SCHED_DEADLINE have no ceilings.
        prop_assume!(!read.as_ref().is_err_and(|error| error.contains("use `inherit`")));
        let model = read.map_err(|error| TestCaseError::fail(format!("{error}\n{text}")))?;
        let duration = Ns::from_ms(200);
        let report = simulate(&model, RunOptions { duration, seed, worst: 2 });
        let ran: Ns = report.tasks.iter().map(|task| task.tally.ran).sum();
        prop_assert!(ran.0 <= duration.0 * i64::from(cpus), "{ran} on {cpus} CPUs\n{text}");
        for activation in &report.explanation.activations {
            let charged: Ns = activation.ledger.iter().map(|segment| segment.length()).sum();
            prop_assert_eq!(charged, activation.end - activation.due);
        }
        // A CPU that nothing holds back is never idle while a thread waits: what was asked for and not done, waits.
        for task in &report.tasks {
            prop_assert!(task.tally.waited <= duration, "{}\n{text}", task.name);
        }
    }
}
