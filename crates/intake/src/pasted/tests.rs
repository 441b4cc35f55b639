//! Each thing that is taken off, and lines that only look as if something were.

use super::*;

fn text_of(line: &str) -> String {
    printed(line).text.into_owned()
}

#[test]
fn quotes_entities_and_prefixes_are_taken_off() {
    let line = "<idle>-0     3d.s2    0us+: _raw_spin_lock_irq <-run_timer_softirq";
    for dressed in [
        "  <idle>-0     3d.s2    0us+: _raw_spin_lock_irq <-run_timer_softirq\r",
        "> <idle>-0     3d.s2    0us+: _raw_spin_lock_irq <-run_timer_softirq",
        "+  <idle>-0     3d.s2    0us+: _raw_spin_lock_irq <-run_timer_softirq",
        "> +  <idle>-0     3d.s2    0us+: _raw_spin_lock_irq <-run_timer_softirq",
        "+> <idle>-0     3d.s2    0us+: _raw_spin_lock_irq <-run_timer_softirq",
        ">>>>   <idle>-0     3d.s2    0us+: _raw_spin_lock_irq <-run_timer_softirq",
        "> > >  <idle>-0     3d.s2    0us+: _raw_spin_lock_irq <-run_timer_softirq",
        "JK> <idle>-0     3d.s2    0us+: _raw_spin_lock_irq <-run_timer_softirq",
        "&lt;idle&gt;-0     3d.s2    0us+: _raw_spin_lock_irq &lt;-run_timer_softirq",
        "&gt; &lt;idle&gt;-0     3d.s2    0us+: _raw_spin_lock_irq &lt;-run_timer_softirq",
        "&amp;lt;idle&amp;gt;-0&nbsp;    3d.s2    0us+: _raw_spin_lock_irq &#60;-run_timer_softirq",
        "&#x3c;idle&#x3E;-0     3d.s2    0us+: _raw_spin_lock_irq &lt;-run_timer_softirq",
        "\\<idle\\>-0     3d.s2    0us+: \\_raw\\_spin\\_lock\\_irq \\<-run\\_timer\\_softirq",
        "[   12.345678]   <idle>-0     3d.s2    0us+: _raw_spin_lock_irq <-run_timer_softirq",
        "<4>[   12.345678][    T1]   <idle>-0     3d.s2    0us+: _raw_spin_lock_irq <-run_timer_softirq",
        "> [12345.345678] [  C12] <idle>-0     3d.s2    0us+: _raw_spin_lock_irq <-run_timer_softirq",
        "[Sun Nov 22 10:11:12 2026] <idle>-0     3d.s2    0us+: _raw_spin_lock_irq <-run_timer_softirq",
        "kern  :warn  : [   12.345678] <idle>-0     3d.s2    0us+: _raw_spin_lock_irq <-run_timer_softirq",
        "Nov 22 10:11:12 box kernel: [   12.345678] <idle>-0     3d.s2    0us+: _raw_spin_lock_irq <-run_timer_softirq",
        "Nov  2 10:11:12 box kernel: <idle>-0     3d.s2    0us+: _raw_spin_lock_irq <-run_timer_softirq",
        "2026-11-22T10:11:12.1+00:00 box kernel: <idle>-0     3d.s2    0us+: _raw_spin_lock_irq <-run_timer_softirq",
        "<idle>-0     3d.s2    0us+: _raw_spin_lock_irq <-run_timer_softirq<br />\r",
        "<pre>&lt;idle&gt;-0     3d.s2    0us+: _raw_spin_lock_irq &lt;-run_timer_softirq<br>",
        "\x1b[1m<idle>-0\x1b[0m     3d.s2    0us+: _raw_spin_lock_irq <-run_timer_softirq\x1b[K",
        "Nov 22 10:11:12 box logger[123]: <idle>-0     3d.s2    0us+: _raw_spin_lock_irq <-run_timer_softirq",
        "2026-11-22T10:11:12.123456789Z <idle>-0     3d.s2    0us+: _raw_spin_lock_irq <-run_timer_softirq",
        "  <idle>-0     3d.s2    0us+: _raw_spin_lock_irq <-run_timer_softirq\\n\\",
        "   \"  <idle>-0     3d.s2    0us+: _raw_spin_lock_irq <-run_timer_softirq\\n\",",
        "'<idle>-0     3d.s2    0us+: _raw_spin_lock_irq <-run_timer_softirq\\n'",
    ] {
        assert_eq!(text_of(dressed), line, "{dressed}");
    }
}

#[test]
fn what_a_program_printed_stays() {
    for line in [
        "",
        "=> do_idle",
        "<idle>-0 [000] 1.5: x: a=&b; c & d &unknown; &#7; &#x1b;",
        "<...>-12 [000] 1.5: x",
        "[000]   swapper/0:0",
        "[12.5] [a] [T] [99999999999999999999.5]",
        "IRQ latency:  1.41 us",
        "Nov is a month, and the kernel: no",
        "kern-1 [000] 1.5: sched_switch: a:1 [120] S ==> b:2 [98]",
        "0)   1.532 us    |    f();",
        "+ 12.345 us   |    f();",
        "++",
    ] {
        assert_eq!(text_of(line), line);
        assert!(matches!(printed(line).text, Cow::Borrowed(_)), "{line}");
    }
}

#[test]
fn an_escaped_backslash_escapes_nothing() {
    let marker = r"app-1  [000]  0.000001: tracing_mark_write: \>a\_b";
    for line in [r#"{"comm": "a\\_b"}"#, r"#     \   /        |||||  \    |   /", marker] {
        assert_eq!(text_of(line), line);
    }
}

#[test]
fn blanks_of_all_kinds_are_ordinary_ones() {
    let (text, is_utf8) = decoded("a\u{a0}b\u{2007}c\u{200b}d\u{feff}".as_bytes());
    assert_eq!((text.as_ref(), is_utf8), ("a b cd", true));
    // Of a one-byte character set.
    let (text, is_utf8) = decoded(b"a\xa0\xa0b\xe9");
    assert_eq!((text.as_ref(), is_utf8), ("a  b\u{fffd}", false));
}

#[test]
fn quoted_printable_is_known_by_its_escapes() {
    for (text, expected) in [
        ("a =3D b", true),
        ("T: 0 Max:   =\n 1771\n", true),
        ("a=20\r\nb=C2=A0c\r\n", true),
        ("Content-Transfer-Encoding: Quoted-Printable\n\n--=_x\na =3D b", true),
        ("", false),
        ("no sign", false),
        ("prev_pid=12 prev_prio=98", false),
        ("irq=16 name=eth0", false),
        ("a =3D b, c=def", false),
        ("Title\n=====\nText\n", false),
        ("# --policy=", false),
    ] {
        assert_eq!(is_quoted_printable(text.as_bytes()), expected, "{text}");
    }
}

#[test]
fn quoted_printable_is_decoded_in_pieces_of_any_size() {
    struct Slow<'a>(&'a [u8], usize);
    impl Read for Slow<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let count = self.1.min(self.0.len()).min(buffer.len());
            let (now, later) = self.0.split_at(count);
            buffer[..count].copy_from_slice(now);
            self.0 = later;
            Ok(count)
        }
    }
    let encoded = b"> a =3D b=20\n> Max:   =\n>  1771\n=\nc=\r\nd =zz=E2=82=AC =";
    let expected = "> a = b \n> Max:    1771\ncd =zz\u{20ac} =";
    for size in 1..encoded.len() {
        let mut decoded = Vec::new();
        Decoded::new(Slow(encoded, size)).read_to_end(&mut decoded).expect("memory reads");
        assert_eq!(String::from_utf8_lossy(&decoded), expected, "{size}");
    }
}

#[test]
fn a_text_is_restored_as_a_whole_or_left_alone() {
    assert_eq!(restored(b"> T: 0 Max:   =\n>  1771\n"), "T: 0 Max:    1771\n");
    assert_eq!(restored(b"> # a\n> T: 0 P:9 Max: &lt;\n"), "# a\nT: 0 P:9 Max: <\n");
    let plain = "  # Histogram\n000001 5\n\n";
    assert!(matches!(restored(plain.as_bytes()), Cow::Borrowed(text) if text == plain));
}

#[test]
fn broken_lines_are_joined_where_their_lengths_allow_it() {
    let cut = |line: &str| line.ends_with("Max:");
    let own = |line: &str| line.starts_with('T');
    let long = "T: 0 (24683) P:99 I:1000 C: 785036 Min:      1 Act:    6 Avg:    2 Max:";
    let whole = Some(format!("{long} 1771\nT: 1\n"));
    assert_eq!(rejoined(&format!("{long}\n   1771\nT: 1\n"), cut, own), whole);
    assert_eq!(rejoined(&format!("{long}\nT: 1\n"), cut, own), Some(format!("{long}\nT: 1\n")));
    assert_eq!(rejoined("T: 0 Max:\n1771\n", cut, own), Some("T: 0 Max:\n1771\n".to_owned()));
    assert_eq!(rejoined("T: 0\n", cut, own), None);
    // The word would have fitted.
    assert!(!may_continue(40, "short"));
    assert!(may_continue(40, "a_word_of_more_than_twenty_characters"));
    assert!(!may_continue(120, "short") && !may_continue(70, ""));
}

#[test]
fn the_sign_of_a_least_number_is_no_mark_of_a_quote() {
    for (line, expected) in [
        (
            ">13333us 515 times, consider switching to WQ_UNBOUND",
            ">13333us 515 times, consider switching to WQ_UNBOUND",
        ),
        ("> >10000us 7 times", ">10000us 7 times"),
        (">12us later", "12us later"),
        ("> 12us 3 times", "12us 3 times"),
    ] {
        assert_eq!(printed(line).text, expected);
    }
}
