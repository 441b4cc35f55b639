//! Quoted-printable, in which mails keep their lines short (RFC 2045, 6.7): `=3D` is `=`, and a `=` at the end of a line
//! joins it to the next.

use std::io::{self, Read};

/// So much of a text shows whether it is encoded.
const SHOWN_BY: usize = 64 * 1024;
/// A quote's marks are not longer.
const LONGEST_MARK: usize = 16;

/// True of a text in which each `=` is an escape, and some can be nothing else: `prev_pid=12` alone proves nothing.
pub(crate) fn is_quoted_printable(start: &[u8]) -> bool {
    let start = start.get(..SHOWN_BY).unwrap_or(start);
    if says_so(start) {
        return true;
    }
    let mut is_certain = false;
    for equals in memchr::memchr_iter(b'=', start) {
        let rest = start.get(equals + 1..).unwrap_or_default();
        match rest {
            // The end may have been cut off.
            [] | [_] => {}
            [b'\n', ..] | [b'\r', b'\n', ..] => {
                is_certain |= equals > 0 && start.get(equals - 1) != Some(&b'=')
            }
            [high, low, ..] => match escaped(*high, *low) {
                Some(b'=' | b'\t' | 0x80..) => is_certain = true,
                Some(b' ') if matches!(rest.get(2), Some(b'\n' | b'\r')) => is_certain = true,
                Some(b'\r' | b'\n' | b' '..=b'~') => {}
                _ => return false,
            },
        }
    }
    is_certain
}

/// A mail with its header.
fn says_so(start: &[u8]) -> bool {
    let header = b"content-transfer-encoding: quoted-printable";
    start
        .split(|byte| *byte == b'\n')
        .any(|line| line.get(..header.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(header)))
}

/// The byte that two hexadecimal digits stand for; encoders write capitals.
fn escaped(high: u8, low: u8) -> Option<u8> {
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'A'..=b'F' => Some(byte - b'A' + 10),
        _ => None,
    };
    Some(digit(high)? << 4 | digit(low)?)
}

/// Decodes what it reads. An escape that is none is left as it is.
pub(crate) struct Decoded<R> {
    encoded: R,
    /// What was read and is not decoded yet.
    input: Vec<u8>,
    /// What was decoded and is not handed out yet, from `at` on.
    output: Vec<u8>,
    at: usize,
    has_ended: bool,
    line: Position,
}

/// Where in a line the decoder is.
#[derive(Default)]
struct Position {
    /// The quote's mark at the line's start, and whether it may still grow.
    mark: Vec<u8>,
    is_begun: bool,
    /// A mark that is repeated behind a soft break is left out: what of it was met.
    repeated: Option<usize>,
}

impl<R: Read> Decoded<R> {
    pub(crate) fn new(encoded: R) -> Self {
        Decoded {
            encoded,
            input: Vec::new(),
            output: Vec::new(),
            at: 0,
            has_ended: false,
            line: Position::default(),
        }
    }

    /// Decodes what is certain: an escape at the end of the input waits for the rest of it.
    fn decode(&mut self) {
        let mut at = 0;
        while let Some(&byte) = self.input.get(at) {
            let rest = self.input.get(at + 1..).unwrap_or_default();
            if byte == b'=' && rest.len() < 2 && !self.has_ended {
                break;
            }
            at += 1;
            let decoded = match (byte, rest) {
                (b'=', [b'\r', b'\n', ..]) => {
                    at += 2;
                    self.line.repeated = Some(0);
                    continue;
                }
                (b'=', [b'\n', ..]) => {
                    at += 1;
                    self.line.repeated = Some(0);
                    continue;
                }
                (b'=', [high, low, ..]) => escaped(*high, *low).inspect(|_| at += 2),
                _ => None,
            };
            self.line.take(decoded.unwrap_or(byte), &mut self.output);
        }
        self.input.drain(..at);
    }
}

impl Position {
    fn take(&mut self, byte: u8, output: &mut Vec<u8>) {
        if let Some(met) = self.repeated {
            if self.mark.contains(&b'>') && self.mark.get(met) == Some(&byte) {
                self.repeated = Some(met + 1);
                return;
            }
            self.repeated = None;
        }
        output.push(byte);
        if byte == b'\n' {
            *self = Position::default();
        } else if !self.is_begun && matches!(byte, b'>' | b' ') && self.mark.len() < LONGEST_MARK {
            self.mark.push(byte);
        } else {
            self.is_begun = true;
        }
    }
}

impl<R: Read> Read for Decoded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.at == self.output.len() && !self.has_ended {
            self.output.clear();
            self.at = 0;
            let held = self.input.len();
            self.input.resize(held + 8192, 0);
            let read = self.encoded.read(self.input.get_mut(held..).unwrap_or_default());
            self.input.truncate(held + *read.as_ref().unwrap_or(&0));
            self.has_ended = read? == 0;
            self.decode();
        }
        let ready = self.output.get(self.at..).unwrap_or_default();
        let count = ready.len().min(buffer.len());
        buffer.iter_mut().zip(ready).for_each(|(to, from)| *to = *from);
        self.at += count;
        Ok(count)
    }
}
