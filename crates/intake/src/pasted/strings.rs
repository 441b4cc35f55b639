//! The texts that stand in the strings of a JSON document or of a program's source: `"output": "# Histogram\n..."`, or a string of which
//! each line of the source holds a part. A whole text is looked at, as a string's parts and an array's elements go over lines.

use super::string_lines::string_lines;

/// With fewer lines it is a message, and no output of a program.
const FEWEST_LINES: usize = 3;
/// More texts are not kept.
const MOST: usize = 64;

/// The texts of several lines in the strings of `text`, in order. One that the end of `text` cuts off has the mark of lines that were
/// left out behind it.
pub(crate) fn texts_of_strings(text: &str) -> Vec<String> {
    let (mut texts, mut one) = (Vec::new(), String::new());
    let mut rest = text;
    while let Some((_, inside)) = rest.split_once('"').filter(|_| texts.len() < MOST) {
        let Some((string, behind)) = string(inside) else {
            // A quote in prose.
            keep(&mut texts, &mut one);
            rest = inside;
            continue;
        };
        rest = behind.unwrap_or_default();
        let next = rest.trim_start();
        if next.starts_with(':') {
            // The name of a value.
            keep(&mut texts, &mut one);
            continue;
        }
        one.push_str(&string_lines(string).join("\n"));
        if behind.is_none() {
            one.push_str("\n...\n");
        }
        let element = next.strip_prefix(',').map(str::trim_start);
        let part = next.trim_start_matches(['+', '\\']).trim_start();
        if element.is_some_and(|next| next.starts_with('"')) {
            if !one.ends_with('\n') {
                one.push('\n');
            }
        } else if !part.starts_with('"') {
            keep(&mut texts, &mut one);
        }
    }
    keep(&mut texts, &mut one);
    texts
}

fn keep(texts: &mut Vec<String>, one: &mut String) {
    let text = std::mem::take(one);
    if text.lines().count() >= FEWEST_LINES {
        texts.push(text);
    }
}

/// What stands before the quote that ends a string, and what stands behind it, unless the text ends before; `None` where the line ends
/// before.
fn string(inside: &str) -> Option<(&str, Option<&str>)> {
    let mut is_escaped = false;
    let end = inside.find(|sign| {
        let is_end = matches!(sign, '"' | '\n') && !is_escaped;
        is_escaped = sign == '\\' && !is_escaped;
        is_end
    });
    match end {
        None => Some((inside, None)),
        Some(end) => {
            // A text that is cut off may have a line end.
            let is_last = inside.get(end..).is_some_and(|behind| behind.trim().is_empty());
            let behind = inside.get(end..)?.strip_prefix('"');
            (behind.is_some() || is_last).then_some((inside.get(..end)?, behind))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::texts_of_strings;

    #[test]
    fn strings_hold_texts() {
        for (text, expected) in [
            (r#"{"name": "a", "output": "x\n\ty\n\"z\"\n", "code": 0}"#, &["x\n\ty\n\"z\"\n"][..]),
            ("text = (\"x\\n\"\n   \"y\\nz\\n\")\nassert f(\"x\")\n", &["x\ny\nz\n"]),
            ("[\"x\",\n \"y\",\n \"z\"]", &["x\ny\nz"]),
            ("\"tail\": \"x\\ny\\nz 0", &["x\ny\nz 0\n...\n"]),
            ("\"tail\": \"x\\ny\\nz 0\n", &["x\ny\nz 0\n...\n"]),
            ("{\"a\": \"x\\ny\\nz\", \"b\": \"1\\n2\\n3\"}", &["x\ny\nz\n", "1\n2\n3"]),
            ("a 3\" disk\nx\ny\nz\n", &[]),
            ("say \"words\"\n", &[]),
            ("", &[]),
        ] {
            assert_eq!(texts_of_strings(text), expected, "{text}");
        }
    }
}
