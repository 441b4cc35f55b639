//! Where a name fits beside its line without lying over another, or over a line.

use super::frame::Frame;
use super::scale::BOLD;

/// Height of a line of text, and the part of it above the baseline.
const LINE: f64 = 14.0;
const ASCENT: f64 = 11.0;
/// Between a point and its name.
const AWAY: f64 = 9.0;
/// Lines are obstacles every so many units.
const STEP: f64 = 3.0;

#[derive(Clone, Copy, Debug)]
struct Rect {
    left: f64,
    top: f64,
    right: f64,
    bottom: f64,
}

impl Rect {
    fn meets(&self, other: &Rect) -> bool {
        self.left < other.right
            && other.left < self.right
            && self.top < other.bottom
            && other.top < self.bottom
    }
}

/// A name at its place: the left end of its baseline.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Placed {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) text: String,
}

/// What is taken of a drawing.
#[derive(Debug)]
pub(super) struct Places {
    bounds: Rect,
    lines: Vec<(f64, f64)>,
    names: Vec<Rect>,
}

impl Places {
    /// Names may stick out to the right of the frame by `beyond`.
    pub(super) fn new(frame: &Frame, beyond: f64) -> Places {
        let bounds = Rect {
            left: frame.left + 2.0,
            top: frame.top + 1.0,
            right: frame.left + frame.width + beyond,
            bottom: frame.top + frame.height - 2.0,
        };
        Places { bounds, lines: Vec::new(), names: Vec::new() }
    }

    /// A line that no name may lie on.
    pub(super) fn line(&mut self, points: &[(f64, f64)]) {
        for pair in points.windows(2) {
            let ((x, y), (to_x, to_y)) = (pair[0], pair[1]);
            let steps = ((to_x - x).hypot(to_y - y) / STEP).ceil().clamp(1.0, 2_000.0);
            let part = |at: i32| f64::from(at) / steps;
            self.lines
                .extend((0..=steps as i32).map(|at| (x + (to_x - x) * part(at), y + (to_y - y) * part(at))));
        }
        if let [only] = points {
            self.lines.push(*only);
        }
    }

    /// Beside the first of these points where there is room; `None`: there is none.
    pub(super) fn name(&mut self, text: &str, near: &[(f64, f64)]) -> Option<Placed> {
        let width = text.chars().count() as f64 * BOLD;
        let around = |&(x, y): &(f64, f64)| {
            [
                (x + AWAY, y + 4.0),
                (x + AWAY, y - AWAY),
                (x - width / 2.0, y - AWAY - 2.0),
                (x - width - AWAY, y - AWAY),
                (x - width - AWAY, y + 4.0),
                (x + AWAY, y + AWAY + ASCENT),
                (x - width - AWAY, y + AWAY + ASCENT),
            ]
        };
        let (x, y) = near.iter().flat_map(around).find(|&(x, y)| self.is_free(&rect(x, y, width)))?;
        self.names.push(rect(x, y, width));
        Some(Placed { x, y, text: text.to_owned() })
    }

    fn is_free(&self, own: &Rect) -> bool {
        let bounds = &self.bounds;
        let inside = bounds.left <= own.left
            && own.right <= bounds.right
            && bounds.top <= own.top
            && own.bottom <= bounds.bottom;
        let crossed = |&(x, y): &(f64, f64)| {
            own.left - 2.0 < x && x < own.right + 2.0 && own.top - 1.0 < y && y < own.bottom + 1.0
        };
        inside && !self.names.iter().any(|name| name.meets(own)) && !self.lines.iter().any(crossed)
    }
}

fn rect(x: f64, y: f64, width: f64) -> Rect {
    Rect { left: x, top: y - ASCENT, right: x + width, bottom: y - ASCENT + LINE }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn no_name_lies_on_another_or_on_a_line(
            lines in prop::collection::vec(prop::collection::vec((0.0f64..400.0, 0.0f64..200.0), 1..6), 1..6),
        ) {
            let frame = Frame { left: 0.0, top: 0.0, width: 400.0, height: 200.0 };
            let mut places = Places::new(&frame, 100.0);
            lines.iter().for_each(|line| places.line(line));
            let placed: Vec<Placed> = lines.iter().filter_map(|line| places.name("CPU 12", line)).collect();
            let rects: Vec<Rect> = placed.iter().map(|one| rect(one.x, one.y, 6.0 * BOLD)).collect();
            for (at, one) in rects.iter().enumerate() {
                prop_assert!(rects[at + 1..].iter().all(|other| !one.meets(other)));
                let points = lines.iter().flatten();
                let on = |(x, y): &(f64, f64)| one.left < *x && *x < one.right && one.top < *y && *y < one.bottom;
                prop_assert!(!points.clone().any(on));
                prop_assert!(one.left >= 0.0 && one.right <= 500.0 && one.bottom <= 200.0);
            }
        }
    }

    #[test]
    fn where_there_is_no_room_there_is_no_name() {
        let frame = Frame { left: 0.0, top: 0.0, width: 30.0, height: 20.0 };
        let mut places = Places::new(&frame, 0.0);
        assert_eq!(places.name("much too long", &[(10.0, 10.0)]), None);
    }
}
