//! Markdown (GitHub's dialect): for an issue, a pull request, a wiki.

mod compare;
mod plan;

pub use compare::compared;
pub use plan::planned;

use crate::answers::{Groups, facts, way_out_line};
use crate::words;
use whylate_checks::{Answer, Answered, Report};

/// How much evidence is shown of one answer; JSON has all of it.
const PROOFS: usize = 6;

/// The answers about a machine as Markdown. Ends with a line break.
pub fn checked(report: &Report) -> String {
    let groups = Groups::of(report);
    let mut text = format!("# whylate check: {}\n\n", groups.title());
    let facts: Vec<String> = facts(report).iter().map(|fact| escape(fact)).collect();
    text += &format!("{}\n", facts.join(" · "));
    if !groups.failed.is_empty() {
        text += "\n## Not as it should be\n";
        for (answered, answer) in &groups.failed {
            text += &failure(answered, answer);
        }
    }
    if !groups.unknown.is_empty() {
        text += "\n## Cannot tell\n\n| rule | what is not known | why |\n|---|---|---|\n";
        for (answered, unknown) in &groups.unknown {
            text += &format!(
                "| {} | {} | {} |\n",
                code(answered.rule.code),
                in_table(&code(&unknown.path)),
                escape(&unknown.why)
            );
        }
    }
    for (title, answers) in [("As it should be", &groups.passed), ("Does not apply", &groups.beside)] {
        if !answers.is_empty() {
            text += &format!("\n<details><summary>{title}: {}</summary>\n\n", answers.len());
            text += "| rule | what was found |\n|---|---|\n";
            for (answered, answer) in answers {
                text += &format!("| {} | {} |\n", code(answered.rule.code), escape(&answer.what));
            }
            text += "\n</details>\n";
        }
    }
    text
}

fn failure(answered: &Answered, answer: &Answer) -> String {
    let mut text = format!(
        "\n### {}: {}\n\n{} ({})\n",
        answered.severity(),
        escape(&answer.what),
        escape(&answer.why),
        code(answered.rule.code)
    );
    if !answer.evidence.is_empty() {
        text += "\nSeen:\n\n";
        for proof in answer.evidence.iter().take(PROOFS) {
            text += &format!("- {}\n", code(&format!("{} = {}", proof.path, proof.value)));
        }
        if answer.evidence.len() > PROOFS {
            text += &format!("- and {} more\n", answer.evidence.len() - PROOFS);
        }
    }
    if !answer.fixes.is_empty() {
        text += "\nWhat to do:\n\n";
        for (i, fix) in answer.fixes.iter().enumerate() {
            text += &format!("{}. {}\n", i + 1, escape(&way_out_line(fix)));
        }
    }
    text
}

/// Text that is to read as it is written: nothing in it becomes markup, or a heading or a link.
fn escape(text: &str) -> String {
    let text = words::clean(text);
    let mut escaped = String::with_capacity(text.len());
    let mut before = None;
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let in_word = |c: Option<&char>| c.is_some_and(|c| c.is_alphanumeric());
        match c {
            // Within a word it is no emphasis (CommonMark 6.2), and names of settings stay readable.
            '_' if in_word(before.as_ref()) && in_word(rest.peek()) => escaped.push(c),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '#' => escaped.extend(['\\', c]),
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '&' => escaped += "&amp;",
            // A mention would call somebody; "tty@1" is none.
            '@' if !in_word(before.as_ref()) => escaped += "&#64;",
            c => escaped.push(c),
        }
        before = Some(c);
    }
    escaped
}

/// Text as code: between more backticks than it has in a row (CommonMark 6.1).
fn code(text: &str) -> String {
    let text = words::clean(text);
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    let pad = if longest > 0 { " " } else { "" };
    format!("{fence}{pad}{text}{pad}{fence}")
}

/// A bar ends a cell even within code (GitHub's tables).
fn in_table(text: &str) -> String {
    text.replace('|', "\\|")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_reads_as_it_is_written() {
        for (text, escaped) in [
            ("kernel.sched_rt_runtime_us=-1", "kernel.sched_rt_runtime_us=-1"),
            ("__init__", "\\_\\_init\\_\\_"),
            ("a|b *c* [d](e) <script>", "a\\|b \\*c\\* \\[d\\](e) &lt;script&gt;"),
            ("by @ann, getty@tty1", "by &#64;ann, getty@tty1"),
            ("a\nb", "a\u{fffd}b"),
        ] {
            assert_eq!(escape(text), escaped);
        }
    }

    #[test]
    fn code_ends_where_it_should() {
        assert_eq!(code("a = 1"), "`a = 1`");
        assert_eq!(code("a`b``c"), "``` a`b``c ```");
        assert_eq!(in_table(&code("a|b")), "`a\\|b`");
    }
}
