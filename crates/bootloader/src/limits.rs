//! Resource limits of a login: lines `DOMAIN TYPE ITEM VALUE` of /etc/security (limits.conf(5), read by pam_limits(8)).

use crate::edit::{Edit, edited};
use std::ops::Range;
use whylate_host::{FsRoot, Why};

const MAIN: &str = "/etc/security/limits.conf";
const DIRECTORY: &str = "/etc/security/limits.d";

/// Whether a file has such lines.
pub(crate) fn has_limits(file: &str) -> bool {
    file == MAIN || file.strip_prefix(DIRECTORY).is_some_and(|rest| rest.starts_with('/'))
}

/// A line that sets a limit.
struct Line<'a> {
    domain: &'a str,
    /// `soft`, `hard`, or `-` for both.
    kind: &'a str,
    item: &'a str,
    value: &'a str,
    /// With its newline.
    range: Range<usize>,
}

fn lines(text: &str) -> Vec<Line<'_>> {
    let mut start = 0;
    let mut found = Vec::new();
    for whole in text.split_inclusive('\n') {
        let range = start..start + whole.len();
        start = range.end;
        let content = whole.split('#').next().unwrap_or_default();
        let mut words = content.split_whitespace();
        if let (Some(domain), Some(kind), Some(item), Some(value), None) =
            (words.next(), words.next(), words.next(), words.next(), words.next())
        {
            found.push(Line { domain, kind, item, value, range });
        }
    }
    found
}

/// The limit that all files together give to a domain: a user, `@GROUP`, or `*`. Files of the directory come after the main
/// one, in the order of their names, and a later line replaces an earlier one. `None`: there is none.
pub(crate) fn effective(tree: &FsRoot, domain: &str, item: &str) -> Result<Option<String>, Why> {
    let mut names = match tree.list(DIRECTORY).value {
        Ok(names) => names,
        Err(why) if why.is_absent() => Vec::new(),
        Err(why) => return Err(why),
    };
    names.retain(|name| name.ends_with(".conf"));
    names.sort();
    let paths = names.iter().map(|name| format!("{DIRECTORY}/{name}"));
    let (mut soft, mut hard) = (None, None);
    let mut seen = false;
    for path in std::iter::once(MAIN.to_owned()).chain(paths) {
        let text = match tree.text(&path).value {
            Ok(text) => text,
            // Newer systems have it in /usr/share/pam, with nothing but comments in it.
            Err(why) if why.is_absent() && path == MAIN => continue,
            Err(why) => return Err(why),
        };
        seen = true;
        for line in lines(&text).into_iter().filter(|line| line.domain == domain && line.item == item) {
            let value = Some(line.value.to_owned());
            match line.kind {
                "soft" => soft = value,
                "hard" => hard = value,
                "-" => (soft, hard) = (value.clone(), value),
                _ => {}
            }
        }
    }
    // Without the directory that both are in, nothing reads them.
    if !seen {
        tree.list("/etc/security").value?;
    }
    Ok(match (soft, hard) {
        (None, None) => None,
        (Some(soft), Some(hard)) if soft == hard => Some(soft),
        (soft, hard) => {
            let shown = |limit: Option<String>| limit.unwrap_or_else(|| "not set".to_owned());
            Some(format!("soft {}, hard {}", shown(soft), shown(hard)))
        }
    })
}

/// Gives a domain this limit in a text, soft and hard, and no other of the item; `None`: it is taken out.
pub(crate) fn set(text: &str, domain: &str, item: &str, value: Option<&str>) -> String {
    let own = lines(text).into_iter().filter(|line| line.domain == domain && line.item == item);
    let mut edits: Vec<Edit> = own.map(|line| Edit { range: line.range, text: String::new() }).collect();
    let written = value.map(|value| format!("{domain} - {item} {value}\n")).unwrap_or_default();
    match edits.last_mut() {
        Some(last) => last.text = written,
        None => {
            let newline =
                if written.is_empty() || text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
            edits.push(Edit { range: text.len()..text.len(), text: format!("{newline}{written}") });
        }
    }
    edited(text, &edits)
}

/// Whether a text sets no limit at all.
pub(crate) fn is_without_limits(text: &str) -> bool {
    lines(text).is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_last_line_of_all_files_counts() {
        let main = (MAIN, "#@audio - rtprio 1\n@audio hard rtprio 10\n@audio soft rtprio 5 # low\n");
        let later = ("/etc/security/limits.d/b.conf", "@audio\t-\trtprio\t95\n* soft core 0\n");
        let earlier = ("/etc/security/limits.d/a.conf", "@audio - rtprio 90\n@audio - memlock unlimited\n");
        let not_read = ("/etc/security/limits.d/c.conf.bak", "@audio - rtprio 2\n");
        let read = |files: &[(&str, &str)], item| effective(&FsRoot::memory(files), "@audio", item);
        assert_eq!(read(&[main], "rtprio"), Ok(Some("soft 5, hard 10".to_owned())));
        assert_eq!(read(&[main, later, earlier, not_read], "rtprio"), Ok(Some("95".to_owned())));
        assert_eq!(read(&[main, later, earlier], "memlock"), Ok(Some("unlimited".to_owned())));
        assert_eq!(read(&[main, later, earlier], "core"), Ok(None));
        assert_eq!(read(&[("/etc/passwd", "")], "rtprio"), Err(Why::Missing));
    }

    #[test]
    fn a_limit_is_set_where_it_is() {
        let text = "# x\n@audio soft rtprio 1\n@audio - memlock 5\n@audio hard rtprio 2\n";
        for (item, value, made) in [
            ("rtprio", Some("95"), "# x\n@audio - memlock 5\n@audio - rtprio 95\n"),
            ("rtprio", None, "# x\n@audio - memlock 5\n"),
            (
                "nice",
                Some("-11"),
                "# x\n@audio soft rtprio 1\n@audio - memlock 5\n@audio hard rtprio 2\n@audio - nice -11\n",
            ),
            ("nice", None, text),
        ] {
            assert_eq!(set(text, "@audio", item, value), made, "{item} {value:?}");
        }
        assert_eq!(set("* - core 0", "@a", "nice", Some("1")), "* - core 0\n@a - nice 1\n");
    }

    proptest! {
        #[test]
        fn what_is_set_is_read(text in "((@a|b) (soft|hard|-) (nice|rtprio) [0-9]\n|#@a - nice 1\n|\n){0,12}") {
            let once = set(&text, "@a", "nice", Some("7"));
            let tree = FsRoot::memory(&[(MAIN, once.as_str())]);
            prop_assert_eq!(effective(&tree, "@a", "nice"), Ok(Some("7".to_owned())));
            prop_assert_eq!(set(&once, "@a", "nice", Some("7")), once);
        }

        #[test]
        fn no_text_panics(text in "\\PC*|[@a \t#\n-]{0,30}") {
            set(&text, "a", "a", Some("1"));
        }
    }
}
