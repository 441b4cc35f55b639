//! A terminal's control sequences (ECMA-48), where a console's output was copied with its colours or a session was
//! logged by script(1): `ESC [ 31 m`, `ESC ] 0 ; title BEL`, `ESC ( B`.

use memchr::memchr;
use std::borrow::Cow;

const ESC: char = '\x1b';

pub(super) fn removed(line: Cow<'_, str>) -> Cow<'_, str> {
    if memchr(0x1b, line.as_bytes()).is_none() {
        return line;
    }
    let mut text = String::with_capacity(line.len());
    let mut rest = line.as_ref();
    while let Some((before, after)) = rest.split_once(ESC) {
        text.push_str(before);
        rest = behind_sequence(after);
    }
    text.push_str(rest);
    Cow::Owned(text)
}

/// What follows a control sequence, of which the `ESC` was read. One that has no end takes the rest of the line.
fn behind_sequence(text: &str) -> &str {
    let end = match text.bytes().next() {
        // CSI: parameters, then a final byte.
        Some(b'[') => text.bytes().skip(1).position(|byte| (0x40..=0x7e).contains(&byte)).map(|at| at + 2),
        // OSC: up to BEL, or to ESC and a backslash.
        Some(b']') => {
            let bell = text.find('\x07').map(|at| at + 1);
            bell.or_else(|| text.find("\x1b\\").map(|at| at + 2))
        }
        // Intermediate bytes, then a final one.
        Some(_) => text.bytes().position(|byte| !(0x20..=0x2f).contains(&byte)).map(|at| at + 1),
        None => None,
    };
    end.and_then(|end| text.get(end..)).unwrap_or("")
}

#[cfg(test)]
mod tests {
    use super::removed;
    use std::borrow::Cow;

    #[test]
    fn sequences_go_and_the_text_between_them_stays() {
        for (line, bare) in [
            ("\x1b[31m-  bash\x1b[0m-12", "-  bash-12"),
            ("\x1b[38;5;196mx\x1b[K", "x"),
            ("\x1b]0;title\x07x", "x"),
            ("\x1b]8;;file\x1b\\x", "x"),
            ("\x1b(Bx\x1b=y", "xy"),
            ("x\x1b[31", "x"),
            ("x\x1b", "x"),
            ("x\x1b]0;no end", "x"),
            ("\x1bäx", ""),
        ] {
            assert_eq!(removed(Cow::Borrowed(line)), bare, "{line:?}");
        }
        assert!(matches!(removed(Cow::Borrowed("bash-12 [000]")), Cow::Borrowed(_)));
    }
}
