//! Messages of one kind that are of several things.

use super::read;

#[test]
fn interrupts_without_a_handler_are_each_named() {
    let report = |irq: u32| {
        format!(
            "[ 5.1] irq {irq}: ... cared (try booting with the \"irqpoll\" option)\n[ 5.1] Call Trace:\n[ 5.1]  ? walk+0x1/0x2\n[ 5.1] handlers:\n[ 5.1] [<0000a1>] card{irq}_irq [card]\n[ 5.1] Disabling IRQ #{irq}\n"
        )
    };
    let said = read(&format!("{}{}", report(7), report(9))).to_string();
    let meaning = "the first of 2) and the other mean that no handler took interrupt 7, which was turned off after many of them (its handler: \
                   card7_irq [card]), nor interrupt 9 (its handler: card9_irq [card])";
    assert!(said.contains(meaning), "{said}");
}

#[test]
fn messages_of_several_machines_are_told_apart() {
    let line = |host: &str, pid: u32| {
        format!("Jun 10 16:03:08 {host} kernel: INFO: task app:{pid} blocked for more than 122 seconds.\n")
    };
    let said = read(&format!("{}{}", line("board-a", 7), line("board-b", 9))).to_string();
    assert!(said.contains("; these messages are of several machines, board-a and board-b"), "{said}");
    let said = read(&format!("{}{}", line("board-a", 7), line("board-a", 9))).to_string();
    assert!(!said.contains("machines"), "{said}");
}
