//! What an engineer reads.

use crate::{assert_current, fixture, sample};
use whylate_report::terminal::{Style, explanation, measurement};

#[test]
fn text_is_as_before() {
    for (name, style) in [
        ("story-100.txt", Style { color: false, width: 100 }),
        ("story-80.txt", Style { color: false, width: 80 }),
        ("story-color.txt", Style { color: true, width: 100 }),
    ] {
        assert_current(&fixture(name), &explanation(&sample::story(), &style));
    }
    for (name, width) in [("measure-100.txt", 100), ("measure-80.txt", 80)] {
        assert_current(&fixture(name), &measurement(&sample::measurement(), &Style { color: false, width }));
    }
    assert_current(
        &fixture("measure-poor.txt"),
        &measurement(&sample::poor_measurement(), &Style::default()),
    );
    assert_current(&fixture("empty.txt"), &explanation(&sample::empty(), &Style::default()));
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    for width in [80, 90, 100, 132, 200] {
        let style = Style { color: false, width };
        let explanations = [sample::story(), sample::hostile(), sample::empty()];
        let measurements = [sample::measurement(), sample::poor_measurement()];
        let texts = explanations.iter().map(|sample| explanation(sample, &style));
        for text in texts.chain(measurements.iter().map(|sample| measurement(sample, &style))) {
            for line in text.lines() {
                assert!(line.chars().count() <= width, "{width}: {line}");
            }
        }
    }
}

#[test]
fn colour_changes_nothing_but_colour() {
    let plain = explanation(&sample::story(), &Style { color: false, width: 100 });
    let mut colored = explanation(&sample::story(), &Style { color: true, width: 100 });
    while let Some(start) = colored.find('\x1b') {
        let end = colored[start..].find('m').expect("an escape sequence ends");
        colored.replace_range(start..=start + end, "");
    }
    assert_eq!(colored, plain);
}

#[test]
fn names_send_no_escape_sequences() {
    let text = explanation(&sample::hostile(), &Style { color: false, width: 100 });
    assert!(!text.contains('\x1b') && !text.contains('\u{202e}'));
}

#[test]
fn any_width_is_survived() {
    let (story, measured) = (sample::story(), sample::measurement());
    for width in (0..160).chain([1_000, 100_000]) {
        explanation(&story, &Style { color: true, width });
        measurement(&measured, &Style { color: true, width });
    }
}

#[test]
fn all_errors_and_the_first_others_are_written_in_full() {
    let mut sample = sample::story();
    let (error, warning) = (sample.findings[0].clone(), sample.findings[1].clone());
    sample.findings = vec![error; 6];
    sample.findings.extend(vec![warning; 3]);
    let text = explanation(&sample, &Style::default());
    assert_eq!(text.matches("find out why rtload:313 never sleeps").count(), 6);
    assert_eq!(text.matches("warning[rogue-priority]").count(), 3, "none is left out");
    assert_eq!(text.matches("It ran 5 times").count(), 0);
}
