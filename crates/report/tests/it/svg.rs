//! Drawings as files of their own: whole, self-contained, and safe whatever a thread calls itself.

use crate::{assert_current, fixture, sample};
use whylate_report::{explain, measure};

#[test]
fn drawings_are_as_before() {
    assert_current(&fixture("story.svg"), &explain::svg::render(&sample::story()).expect("an activation"));
    assert_current(&fixture("measure.svg"), &measure::svg::render(&sample::measurement()).expect("wake-ups"));
}

#[test]
fn it_shows_the_worst_activation_and_its_verdict() {
    let drawing = explain::svg::render(&sample::story()).expect("an activation");
    for text in ["rtload:312", "46.90 ms", "rt-throttled", ">CPU 1<", ">idle<"] {
        assert!(drawing.contains(text), "{text}");
    }
}

#[test]
fn nothing_is_drawn_of_nothing() {
    assert_eq!(explain::svg::render(&sample::empty()), None);
}

#[test]
fn names_cannot_become_markup_and_nothing_is_loaded() {
    let drawing = explain::svg::render(&sample::hostile()).expect("an activation");
    assert!(!drawing.contains("<script") && !drawing.contains(['\x1b', '\u{202e}']));
    let drawing = drawing.replace("http://www.w3.org/2000/svg", "");
    for outside in ["http:", "https:", "src=", "url(", "@import", "href"] {
        assert!(!drawing.contains(outside), "{outside}");
    }
}
