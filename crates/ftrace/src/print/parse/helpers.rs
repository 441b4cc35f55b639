//! The kernel's helpers in a `print fmt` line: `__print_symbolic()`, `__get_str()` and their like.
//!
//! Source: `include/trace/stages/stage3_trace_output.h`.

use super::super::eval::constant;
use super::super::expr::{Constant, Expr, Slot};
use super::super::lex::Token;
use super::super::value::{Binary, Ty, Value};
use super::Parser;

impl Parser<'_> {
    /// A field by its bare name, as the `__get_` functions have it, up to the bracket.
    fn located_field(&mut self) -> Result<Slot, String> {
        let field = self.field_name()?;
        self.expect(")")?;
        Ok(Slot::of(field, self.long_size))
    }

    pub(super) fn call(&mut self, name: &str) -> Result<Expr, String> {
        // Places that count from the start of the record and from the field read the same way:
        // the field itself states which it is.
        match name.strip_prefix("__get_").map(|what| what.strip_prefix("rel_").unwrap_or(what)) {
            Some("str" | "dynamic_array" | "sockaddr" | "sockaddr_rel") => {
                return self.located_field().map(Expr::Bytes);
            }
            Some("dynamic_array_len") => return self.located_field().map(Expr::Length),
            Some("bitmask") => return Ok(Expr::Mask { of: self.located_field()?, list: false }),
            Some("cpumask") => return Ok(Expr::Mask { of: self.located_field()?, list: true }),
            _ => {}
        }
        match name {
            "__print_flags" | "__print_flags_u64" => {
                let value = Box::new(self.argument()?);
                let Some(Token::Text(between)) = self.next() else {
                    return Err("what stands between flags is missing".to_owned());
                };
                Ok(Expr::Flags { value, between, entries: self.entries()? })
            }
            "__print_symbolic" | "__print_symbolic_u64" => {
                let value = Box::new(self.expression()?);
                Ok(Expr::Symbol { value, entries: self.entries()? })
            }
            "__print_hex" | "__print_hex_str" => {
                let of = Box::new(self.argument()?);
                let length = Box::new(self.last_argument()?);
                Ok(Expr::Hex { of, length, blanks: name == "__print_hex" })
            }
            "__print_array" => {
                let of = Box::new(self.argument()?);
                let count = Box::new(self.argument()?);
                Ok(Expr::Numbers { of, count, size: Box::new(self.last_argument()?) })
            }
            "__print_dynamic_array" => {
                let of = Slot::of(self.field_name()?, self.long_size);
                self.expect(",")?;
                Ok(Expr::AllNumbers { of, size: Box::new(self.last_argument()?) })
            }
            "__print_ns_to_secs" | "__print_ns_without_secs" => {
                let operator = if name == "__print_ns_to_secs" { Binary::Div } else { Binary::Rem };
                let ns = Expr::Cast(Ty::U64, Box::new(self.last_argument()?));
                let second = Expr::Value(Value::new(1_000_000_000, Ty::U64));
                Ok(Expr::Binary(operator, Box::new(ns), Box::new(second)))
            }
            "__builtin_expect" => {
                let value = self.argument()?;
                self.last_argument()?;
                Ok(value)
            }
            "likely" | "unlikely" => self.last_argument(),
            "sizeof" => self.size_of(),
            _ => Err(format!("`{name}()` is the kernel's own")),
        }
    }

    fn argument(&mut self) -> Result<Expr, String> {
        let argument = self.expression()?;
        self.expect(",")?;
        Ok(argument)
    }

    fn last_argument(&mut self) -> Result<Expr, String> {
        let argument = self.expression()?;
        self.expect(")")?;
        Ok(argument)
    }

    /// `, { value, "text" }, ...)`
    fn entries(&mut self) -> Result<Vec<Constant>, String> {
        let mut entries = Vec::new();
        while self.accept(",") {
            // Tables made by macros may end in a comma, and hold entries in double braces.
            if self.is(")") {
                break;
            }
            self.expect("{")?;
            if self.accept("}") {
                continue;
            }
            let (start, depth) = (self.at, self.depth);
            let operators = std::mem::take(&mut self.operators);
            let value = match self.expression() {
                Ok(value) => Some(constant(&value).ok_or("a value is not constant")?.bits),
                // A name that was left in: the entry is known to be there, but not when it holds.
                Err(_) => {
                    (self.at, self.depth) = (start, depth);
                    self.skip_to_comma()?;
                    None
                }
            };
            self.expect(",")?;
            let text = self.expression()?;
            self.expect("}")?;
            self.operators = operators;
            // The kernel's own tables end in an entry without a text.
            if let Expr::Text(text) = text {
                entries.push(Constant { value, text });
            }
        }
        self.expect(")")?;
        Ok(entries)
    }
}
