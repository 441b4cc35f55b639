//! Values in all kinds of quotes.

use super::*;
use crate::edit::{Edit, edited};
use crate::line::{Parameter, changes, place};
use proptest::prelude::*;

fn values(text: &str) -> Vec<(String, String, bool)> {
    let script = parse(text);
    assert!(script.whole, "{text}");
    script.assignments.into_iter().map(|own| (own.name, own.value, own.conditional)).collect()
}

#[test]
fn assignments_are_found() {
    for (text, found) in [
        ("A=b # c\nD=\"e f\"", vec![("A", "b", false), ("D", "e f", false)]),
        ("A='b \"c'\"d\\$e\"f\\ g", vec![("A", "b \"cd$ef g", false)]),
        ("A=\"$A b\"", vec![("A", "$A b", false)]),
        ("A=\"${A:+$A }b\"", vec![("A", "${A:+$A_ b", false)]),
        (
            "A=`x -y 2> /dev/null || echo \"D\"`\nB=c",
            vec![("A", "`x_-y_2>_/dev/null_||_echo__D_`", false), ("B", "c", false)],
        ),
        ("export A=b; readonly C", vec![("A", "b", false)]),
        ("A=b command C=d", vec![]),
        ("if [ x ]; then\nA=b\nfi\nC=d", vec![("A", "b", true), ("C", "d", false)]),
        ("test x && A=b\nC=d", vec![("A", "b", true), ("C", "d", false)]),
        ("case $x in\na) A=b;;\nesac; C=d", vec![("A", "b", true), ("C", "d", false)]),
        ("f() { A=b; }\nC=d", vec![("A", "b", true), ("C", "d", false)]),
        ("for i in A=1; do B=2; done", vec![("B", "2", true)]),
        ("cat <<E\nA=b\nE\n", vec![("A", "b", true)]),
        ("A=\"b \\\n c\"", vec![("A", "b  c", false)]),
        ("#A=b\n A=\n", vec![("A", "", false)]),
        ("A=$(x ')' \"$(y)\") B=2", vec![("A", "$(x_')'__$(y)_)", false), ("B", "2", false)]),
    ] {
        let found: Vec<_> = found.into_iter().map(|(a, b, c)| (a.to_owned(), b.to_owned(), c)).collect();
        assert_eq!(values(text), found, "{text}");
    }
    assert!(!parse("A=\"b").whole);
    assert_eq!(parse("A=\"${B:+$B }$C\"").assignments[0].refers, ["B", "B", "C"]);
}

/// `isolcpus=2` made of a value, in whatever quotes it is.
fn isolated(text: &str) -> Option<String> {
    let wanted = [Parameter { name: "isolcpus".to_owned(), value: Some("2".to_owned()) }];
    let script = parse(text);
    let own = &script.assignments[0];
    let mut edits = changes(&own.value, &wanted);
    if !edits.missing.is_empty() {
        let (at, _) = place(&own.value);
        let blank = if at == 0 { "" } else { " " };
        edits.edits.push(Edit { range: at..at, text: format!("{blank}isolcpus=2") });
    }
    own.in_file(&edits.edits).map(|edits| edited(text, &edits))
}

#[test]
fn a_word_is_changed_in_its_quotes() {
    for (text, made) in [
        ("A=\"quiet\" # x", Some("A=\"quiet isolcpus=2\" # x")),
        ("A='quiet'", Some("A='quiet isolcpus=2'")),
        ("A=quiet\n", Some("A=\"quiet isolcpus=2\"\n")),
        ("A=", Some("A=isolcpus=2")),
        ("A=\"\"", Some("A=\"isolcpus=2\"")),
        ("A=$B", Some("A=$B\\ isolcpus=2")),
        ("A=\"isolcpus=1 $B\"", Some("A=\"isolcpus=2 $B\"")),
        ("A=\"$B isolcpus=$C q\"", Some("A=\"$B isolcpus=2 q\"")),
        ("A=\"${A:+$A }isolcpus=1\"", Some("A=\"${A:+$A }isolcpus=2\"")),
        ("A=\"isolcpus=1${A:+ $A}\"", Some("A=\"isolcpus=2${A:+ $A}\"")),
        ("A=\"${A:+$A }\"", Some("A=\"${A:+$A } isolcpus=2\"")),
        ("A=\"x isolcpus=\"1", None),
        ("A=\"dyndbg=\\\"f x\\\" isolcpus=1\"", Some("A=\"dyndbg=\\\"f x\\\" isolcpus=2\"")),
    ] {
        assert_eq!(isolated(text).as_deref(), made, "{text}");
    }
}

proptest! {
    #[test]
    fn no_text_panics(text in "[A-C=\"'`$(){}\\\\ \n;&|<#é-]{0,40}|\\PC*") {
        for own in parse(&text).assignments {
            prop_assert_eq!(own.sources.len(), own.value.len());
            let changed = changes(&own.value, &[Parameter { name: "A".into(), value: None }]);
            if let Some(edits) = own.in_file(&changed.edits) {
                edited(&text, &edits);
            }
        }
    }

    #[test]
    fn a_quoted_value_is_read_as_it_was(value in "[ -~é]{0,20}") {
        let text = format!("A={}\n", quoted(&value));
        prop_assert_eq!(&parse(&text).assignments[0].value, &value);
    }
}
