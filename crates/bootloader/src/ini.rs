//! Files of `[section]` lines and `key=value` lines under them, as systemd's (systemd.syntax(7)): read, and changed
//! line by line, every other byte kept.

use crate::edit::{Edit, edited};
use std::ops::Range;

/// A line that assigns.
struct Line<'a> {
    section: &'a str,
    key: &'a str,
    value: &'a str,
    /// With its newline, and lines it goes on in.
    range: Range<usize>,
}

/// What is assigned in a text, and where a section's last line ends.
struct Lines<'a> {
    assigned: Vec<Line<'a>>,
    /// Every section's name with the end of its last line that is not empty.
    ends: Vec<(&'a str, usize)>,
}

fn lines(text: &str) -> Lines<'_> {
    let mut found = Lines { assigned: Vec::new(), ends: Vec::new() };
    let (mut start, mut section, mut goes_on) = (0, "", false);
    for whole in text.split_inclusive('\n') {
        let end = start + whole.len();
        let line = whole.trim();
        let comment = line.starts_with(['#', ';']);
        if goes_on && !comment {
            if let Some(last) = found.assigned.last_mut() {
                last.range.end = end;
            }
        } else if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            section = name;
            found.ends.push((section, end));
        } else if !comment && let Some((key, value)) = line.split_once('=') {
            found.assigned.push(Line { section, key: key.trim(), value: value.trim(), range: start..end });
        }
        goes_on = if comment { goes_on } else { line.ends_with('\\') };
        if !line.is_empty()
            && let Some(last) = found.ends.last_mut()
        {
            last.1 = end;
        }
        start = end;
    }
    found
}

/// Every value of a key, in order.
pub(crate) fn values<'a>(text: &'a str, section: &str, key: &str) -> Vec<&'a str> {
    let all = lines(text).assigned.into_iter();
    all.filter(|line| line.section == section && line.key == key).map(|line| line.value).collect()
}

/// Gives a key these values and no others, where it is, or at the end of its section; none: it is taken out.
pub(crate) fn set(text: &str, section: &str, key: &str, values: &[String]) -> String {
    let found = lines(text);
    let own: Vec<&Line<'_>> =
        found.assigned.iter().filter(|line| line.section == section && line.key == key).collect();
    let written: String = values.iter().map(|value| format!("{key}={value}\n")).collect();
    let mut edits: Vec<Edit> =
        own.iter().map(|line| Edit { range: line.range.clone(), text: String::new() }).collect();
    match (edits.last_mut(), found.ends.iter().rev().find(|(name, _)| *name == section)) {
        (Some(last), _) => last.text = written,
        (None, _) if written.is_empty() => {}
        (None, Some(&(_, end))) => {
            let newline = if text[..end].ends_with('\n') { "" } else { "\n" };
            edits.push(Edit { range: end..end, text: format!("{newline}{written}") });
        }
        (None, None) => {
            let newline = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
            let text_end = text.len();
            edits.push(Edit { range: text_end..text_end, text: format!("{newline}[{section}]\n{written}") });
        }
    }
    edited(text, &edits)
}

/// Whether anything at all is assigned.
pub(crate) fn is_without_settings(text: &str) -> bool {
    lines(text).assigned.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn keys_are_set_where_they_are() {
        let text = "# x\n[A]\nk=1\n#k=9\nk = 2 \\\n  3\nother=y\n\n[B]\nk=4\n";
        for (section, key, values, made) in [
            ("A", "k", vec!["5"], "# x\n[A]\n#k=9\nk=5\nother=y\n\n[B]\nk=4\n"),
            (
                "A",
                "new",
                vec!["", "5"],
                "# x\n[A]\nk=1\n#k=9\nk = 2 \\\n  3\nother=y\nnew=\nnew=5\n\n[B]\nk=4\n",
            ),
            ("B", "k", vec![], "# x\n[A]\nk=1\n#k=9\nk = 2 \\\n  3\nother=y\n\n[B]\n"),
            ("C", "k", vec!["5"], "# x\n[A]\nk=1\n#k=9\nk = 2 \\\n  3\nother=y\n\n[B]\nk=4\n[C]\nk=5\n"),
            ("C", "k", vec![], text),
        ] {
            let values: Vec<String> = values.into_iter().map(str::to_owned).collect();
            assert_eq!(set(text, section, key, &values), made, "[{section}] {key}={values:?}");
        }
        assert_eq!(set("[A]", "A", "k", &["1".into()]), "[A]\nk=1\n");
    }

    proptest! {
        #[test]
        fn what_is_set_is_read(text in "(\\[[AB]\\]\n|[kl]=[0-9]\n|#k=1\n|\n){0,12}", value in "[0-9]") {
            let once = set(&text, "A", "k", std::slice::from_ref(&value));
            prop_assert_eq!(values(&once, "A", "k"), [value.as_str()]);
            prop_assert_eq!(values(&once, "B", "k"), values(&text, "B", "k"));
            prop_assert_eq!(values(&once, "A", "l"), values(&text, "A", "l"));
            prop_assert_eq!(&set(&once, "A", "k", &[value]), &once);
        }

        #[test]
        fn no_text_panics(text in "\\PC*|[\\[\\]A=\\\\\n#]{0,30}") {
            set(&text, "A", "A", &["1".into()]);
        }
    }
}
