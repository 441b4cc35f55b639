//! Lines of a program's source that are strings: `RAW = " app-7 ...\n"`, `"app-7 ...", "app-8 ...",`; and strings of which the next
//! line holds the rest: `"app-7 [000] 1.000000: "` above `"sched_switch: ..."`.

use memchr::memchr3;

/// No assignment or call in front of a string is longer.
const LONGEST_PREFIX: usize = 80;
/// How the code in front of a string ends.
const OPENS: [&str; 6] = ["=", "(", "[", "{", "<<", "return"];
/// What may stand behind the last string of a line, with a comment behind that.
const CLOSES: &[char] = &[',', ';', ')', ']', '}', ':', ' ', '\t'];

/// The strings of a line that has nothing else.
#[derive(Debug, PartialEq)]
pub(crate) struct Literals<'a> {
    /// As they are written, without their quotes.
    pub(crate) texts: Vec<&'a str>,
    /// The first one begins the line: it may be the rest of one above.
    pub(crate) may_continue: bool,
    /// The last one ends the line, and no line of its text: the next one may hold the rest.
    pub(crate) may_go_on: bool,
}

/// The strings of `line`; `None` where it is none of a program's source, or has more in it.
pub(crate) fn literals(line: &str) -> Option<Literals<'_>> {
    let line = line.trim();
    let at = memchr3(b'"', b'\'', b'`', line.as_bytes())?;
    let (prefix, mut rest) = line.split_at_checked(at)?;
    // Python marks raw strings and formats, Rust bytes.
    let prefix = prefix.trim_end_matches(['r', 'b', 'f', 'u', 'R', 'B', 'F', 'U']).trim_end();
    if !prefix.is_empty() && !is_code(prefix) {
        return None;
    }
    let mut texts = Vec::new();
    loop {
        let (text, behind) = string(rest)?;
        texts.push(text);
        let behind = behind.trim_start();
        let next = behind.strip_prefix(',').map_or("", str::trim_start);
        if next.starts_with(['"', '\'', '`']) {
            rest = next;
            continue;
        }
        let ends = text.ends_with("\\n");
        let may_go_on = !ends && !text.is_empty() && matches!(behind, "" | "+" | "\\" | "..");
        let close = behind.trim_start_matches(CLOSES);
        let is_end = may_go_on || matches!(close, "" | "+" | "\\") || close.starts_with(['#', '/']);
        return is_end.then_some(Literals { texts, may_continue: prefix.is_empty(), may_go_on });
    }
}

/// `RAW: str =`, `const auto parsed = parse(`, `[`: what stands in front of a string. A row has its thread, CPU and time there.
fn is_code(prefix: &str) -> bool {
    let is_name = |sign: char| sign.is_alphanumeric() || sign == '_' || sign == ' ';
    let (name, rest) = prefix.split_once(": ").unwrap_or((prefix, ""));
    let begins = match rest.is_empty() {
        true => name.starts_with(|first: char| first.is_alphabetic() || first == '_'),
        false => name.chars().all(is_name),
    };
    let is_open = prefix.chars().all(|sign| "([{".contains(sign));
    prefix.len() <= LONGEST_PREFIX
        && (is_open || begins && !rest.contains(": ") && OPENS.iter().any(|end| prefix.ends_with(end)))
}

/// The string with which `text` begins, and what stands behind it.
fn string(text: &str) -> Option<(&str, &str)> {
    let quote = text.chars().next().filter(|first| matches!(first, '"' | '\'' | '`'))?;
    let inside = text.get(1..)?;
    let mut is_escaped = false;
    let end = inside.find(|sign| {
        let is_end = sign == quote && !is_escaped;
        is_escaped = sign == '\\' && !is_escaped;
        is_end
    })?;
    Some((inside.get(..end)?, inside.get(end + 1..)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_strings_has_no_more_than_code_around_them() {
        for (line, texts) in [
            (r#"    "  app-7 x\n""#, &[r"  app-7 x\n"][..]),
            (r#"NEW = " 900 [009] x\n""#, &[r" 900 [009] x\n"]),
            (r#"RAW: str = (r"a \"q\" b","#, &[r#"a \"q\" b"#]),
            (r#""CPU:2 [LOST 7 EVENTS]", "", "words"):"#, &["CPU:2 [LOST 7 EVENTS]", "", "words"]),
            ("'app-7 x', // the first", &["app-7 x"]),
            ("`app-7 x`,", &["app-7 x"]),
        ] {
            assert_eq!(literals(line).map(|found| found.texts).as_deref(), Some(texts), "{line}");
        }
        for line in [
            "app-7 [000] 1.000000: print: 0xff: \"words\"",
            "app-7 [000] 1.000000: sys_open: name=\"words\"",
            "\"key\": \"value\",",
            "'tis what it does, isn't it",
            "say \"words\"",
            "\"",
            "app-7",
            "[0:0:1.5] (+0.5) box my_module: { cpu_id = 3 }, { s = \"}, {\" }",
            "On this machine, `7.0.0-14-generic`",
        ] {
            assert_eq!(literals(line), None, "{line}");
        }
    }

    #[test]
    fn a_string_goes_on_where_neither_a_line_end_nor_a_comma_ends_it() {
        for (line, goes_on) in [
            ("\"app-7 \"", true),
            ("\"app-7 \" +", true),
            ("\"app-7 \" \\", true),
            ("\"app-7\\n\"", false),
            ("\"app-7\",", false),
            ("f(\"app-7\")", false),
        ] {
            assert_eq!(literals(line).is_some_and(|found| found.may_go_on), goes_on, "{line}");
        }
        assert!(literals("\"b\"").is_some_and(|found| found.may_continue));
        assert!(literals("x = \"b\"").is_some_and(|found| !found.may_continue));
    }
}
