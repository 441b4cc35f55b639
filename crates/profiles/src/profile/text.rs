//! `${...}` in texts: a variable, or CPUs as a list. `$$` is a dollar sign.

use super::error::Mistake;
use super::grammar::{WORDS, is_of_name};
use super::value::VariableValue;
use whylate_base::CpuSet;

const POSSIBLE: &str =
    "`${name}` stands for a variable, `${all - isolated}` for CPUs, `$$` for a dollar sign";

/// The longest text that is made: variables that double each other would else make any length.
const LONGEST: usize = 64 * 1024;

/// What stands for names and sets in texts.
pub(super) trait Scope {
    /// The value of a variable.
    fn value(&mut self, name: &str) -> Result<VariableValue, Mistake>;

    /// The CPUs of a set in words.
    fn cpus_of(&mut self, text: &str) -> Result<CpuSet, Mistake>;

    /// That the isolated CPUs leave none for everything else, and what to do.
    fn none_left(&mut self) -> Option<(String, &'static str)>;
}

/// A text in pieces.
enum Piece<'t> {
    Plain(&'t str),
    Filled(&'t str),
}

/// A text with everything filled in.
pub(super) fn filled(text: &str, scope: &mut dyn Scope) -> Result<String, Mistake> {
    let mut filled = String::new();
    for piece in pieces(text)? {
        match piece {
            Piece::Plain(plain) => filled.push_str(plain),
            Piece::Filled(inner) if inner.split_whitespace().next() == Some("each") => {
                return Err(Mistake::new(
                    "`${each ...}` stands for each CPU in turn",
                    "use it only in paths of [files] and names of [threads]",
                ));
            }
            Piece::Filled(inner) => filled.push_str(&value(inner, scope)?),
        }
        if filled.len() > LONGEST {
            return Err(Mistake::new(
                "the text becomes too long",
                format!("at most {LONGEST} bytes are possible"),
            ));
        }
    }
    Ok(filled)
}

/// A name with everything filled in: once for each CPU where it has `${each ...}`.
pub(super) fn each(text: &str, scope: &mut dyn Scope) -> Result<Vec<String>, Mistake> {
    let mut all = vec![String::new()];
    let mut is_many = false;
    for piece in pieces(text)? {
        match piece {
            Piece::Plain(plain) => all.iter_mut().for_each(|one| one.push_str(plain)),
            Piece::Filled(inner) => match inner.trim_start().strip_prefix("each ") {
                Some(_) if is_many => {
                    return Err(Mistake::new("there are two `${each ...}`", "use only one"));
                }
                Some(set) => {
                    is_many = true;
                    let cpus = some(set, scope)?;
                    let begun = all.pop().unwrap_or_default();
                    all = cpus.iter().map(|cpu| format!("{begun}{cpu}")).collect();
                }
                None => {
                    let value = value(inner, scope)?;
                    all.iter_mut().for_each(|one| one.push_str(&value));
                }
            },
        }
    }
    Ok(all)
}

/// A path for each of these CPUs where it has `${each ...}`; for whatever else is to be filled in, `*`.
pub(super) fn for_each(text: &str, cpus: &CpuSet) -> Vec<String> {
    let mut all = vec![String::new()];
    for piece in pieces(text).unwrap_or_default() {
        match piece {
            Piece::Filled(inner) if inner.trim_start().starts_with("each ") => {
                let of = |one: &String| cpus.iter().map(|cpu| format!("{one}{cpu}")).collect::<Vec<_>>();
                all = all.iter().flat_map(of).collect();
            }
            Piece::Filled(_) => all.iter_mut().for_each(|one| one.push('*')),
            Piece::Plain(plain) => all.iter_mut().for_each(|one| one.push_str(plain)),
        }
    }
    all
}

fn value(inner: &str, scope: &mut dyn Scope) -> Result<String, Mistake> {
    let name = inner.trim();
    if !WORDS.contains(&name)
        && name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(is_of_name)
    {
        return match scope.value(name)? {
            VariableValue::Cpus(_) => Ok(some(name, scope)?.to_string()),
            other => Ok(other.show()),
        };
    }
    Ok(some(inner, scope)?.to_string())
}

/// An empty list means "all" to some files and is an error to others. If it is empty because every CPU would be
/// isolated, the message is that of the plan's refusal.
pub(super) fn some(text: &str, scope: &mut dyn Scope) -> Result<CpuSet, Mistake> {
    let cpus = scope.cpus_of(text)?;
    if !cpus.is_empty() {
        return Ok(cpus);
    }
    let what = format!("`{}` has no CPU", text.trim());
    Err(match scope.none_left() {
        Some((why, fix)) => Mistake::new(format!("{what}: {why}"), fix),
        None => Mistake::new(
            what,
            "choose other CPUs, or give the entry `when = \"VARIABLE\"`, which is true where there are CPUs",
        ),
    })
}

fn pieces(text: &str) -> Result<Vec<Piece<'_>>, Mistake> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        pieces.push(Piece::Plain(&rest[..at]));
        let after = &rest[at + 1..];
        if let Some(more) = after.strip_prefix('$') {
            pieces.push(Piece::Plain("$"));
            rest = more;
        } else if let Some(inner) = after.strip_prefix('{') {
            let Some((inner, more)) = inner.split_once('}') else {
                return Err(Mistake::new(format!("`{rest}` has no `}}`"), POSSIBLE));
            };
            pieces.push(Piece::Filled(inner));
            rest = more;
        } else {
            return Err(Mistake::new(format!("`$` stands alone in `{text}`"), POSSIBLE));
        }
    }
    pieces.push(Piece::Plain(rest));
    Ok(pieces)
}
