//! From the words of a `print fmt` line to its format string and arguments.

mod helpers;

use super::expr::{Expr, Slot, combined, named_type, width};
use super::lex::{Token, tokens};
use super::value::{Binary, Ty, Value};
use crate::format::{EventFormat, Field, ValueAt};

/// Expressions in expressions that are followed; the kernel's own tables of flags have some fifty.
const DEEPEST: usize = 128;

/// Operators between values in one argument: `a + b + c` nests as well.
const MOST_OPERATORS: usize = 500;

/// Softirq and hrtimer names, which the kernels before 3.0 left in their formats.
const KNOWN_NAMES: [(&str, u64); 15] = [
    ("HI_SOFTIRQ", 0),
    ("TIMER_SOFTIRQ", 1),
    ("NET_TX_SOFTIRQ", 2),
    ("NET_RX_SOFTIRQ", 3),
    ("BLOCK_SOFTIRQ", 4),
    ("IRQ_POLL_SOFTIRQ", 5),
    ("TASKLET_SOFTIRQ", 6),
    ("SCHED_SOFTIRQ", 7),
    ("HRTIMER_SOFTIRQ", 8),
    ("RCU_SOFTIRQ", 9),
    ("HRTIMER_NORESTART", 0),
    ("HRTIMER_RESTART", 1),
    ("NULL", 0),
    ("false", 0),
    ("true", 1),
];

/// A `print fmt` line, taken apart.
pub(super) struct Parsed {
    /// The format string, escapes resolved.
    pub(super) text: Vec<u8>,
    pub(super) arguments: Vec<Expr>,
    /// Why some of the arguments are unknown.
    pub(super) unknown: Vec<String>,
}

/// Reads a line; the error has the reason why it cannot be printed.
pub(super) fn parse(format: &EventFormat, long_size: usize) -> Result<Parsed, String> {
    let mut parser =
        Parser { tokens: tokens(&format.print_fmt)?, at: 0, depth: 0, operators: 0, format, long_size };
    let Some(Token::Text(text)) = parser.next() else {
        return Err("it does not begin with a string".to_owned());
    };
    let (mut arguments, mut unknown) = (Vec::new(), Vec::new());
    while parser.accept(",") {
        let start = parser.at;
        parser.operators = 0;
        let argument = parser.expression().and_then(|argument| match parser.tokens.get(parser.at) {
            None | Some(Token::Op(",")) => Ok(argument),
            Some(token) => Err(unexpected(token)),
        });
        arguments.push(match argument {
            Ok(argument) => argument,
            Err(why) => {
                unknown.push(why);
                (parser.at, parser.depth) = (start, 0);
                parser.skip_to_comma()?;
                Expr::Unknown
            }
        });
    }
    if !unknown.is_empty() && unknown.len() == arguments.len() {
        return Err(unknown.swap_remove(0));
    }
    match parser.next() {
        // ftrace's own events were once described without arguments: all fields in order.
        None if arguments.is_empty() && format.system == "ftrace" => {
            arguments = format.own_fields().map(|field| field_expr(field, long_size)).collect();
        }
        None => {}
        Some(token) => return Err(unexpected(&token)),
    }
    Ok(Parsed { text, arguments, unknown })
}

struct Parser<'f> {
    tokens: Vec<Token<'f>>,
    at: usize,
    depth: usize,
    operators: usize,
    format: &'f EventFormat,
    long_size: usize,
}

/// A type in brackets.
struct Cast {
    /// `None` for one that is not known: the value stays as it is.
    ty: Option<Ty>,
    pointers: usize,
    is_bool: bool,
}

fn unexpected(token: &Token<'_>) -> String {
    match token {
        Token::Name(name) => format!("`{name}` is not expected"),
        Token::Op(operator) => format!("`{operator}` is not expected"),
        Token::Number { value, .. } => format!("{value} is not expected"),
        Token::Text(_) => "a string is not expected".to_owned(),
    }
}

/// The binary operators, with how strongly they bind.
fn binary(operator: &str) -> Option<(u8, Binary)> {
    Some(match operator {
        "*" => (10, Binary::Mul),
        "/" => (10, Binary::Div),
        "%" => (10, Binary::Rem),
        "+" => (9, Binary::Add),
        "-" => (9, Binary::Sub),
        "<<" => (8, Binary::Shl),
        ">>" => (8, Binary::Shr),
        "<" => (7, Binary::Less),
        "<=" => (7, Binary::LessEqual),
        ">" => (7, Binary::Greater),
        ">=" => (7, Binary::GreaterEqual),
        "==" => (6, Binary::Equal),
        "!=" => (6, Binary::NotEqual),
        "&" => (5, Binary::And),
        "^" => (4, Binary::Xor),
        "|" => (3, Binary::Or),
        "&&" => (2, Binary::AndAlso),
        "||" => (1, Binary::OrElse),
        _ => return None,
    })
}

pub(super) fn field_expr(field: &Field, long_size: usize) -> Expr {
    let offset = field.offset;
    if field.array || field.place != ValueAt::Here || !matches!(field.size, 1 | 2 | 4 | 8) {
        return Expr::Bytes(Slot::of(field, long_size));
    }
    let ty = Ty { bytes: width(field.size), signed: field.signed };
    // trace-cmd's readers take any integer as wide as a pointer for one, where a string is asked for.
    match field.size == long_size {
        true => Expr::Pointer { offset, ty },
        false => Expr::Int { offset, ty },
    }
}

impl<'f> Parser<'f> {
    fn next(&mut self) -> Option<Token<'f>> {
        let token = self.tokens.get(self.at).cloned();
        self.at += 1;
        token
    }

    fn is(&self, operator: &str) -> bool {
        matches!(self.tokens.get(self.at), Some(Token::Op(found)) if *found == operator)
    }

    fn accept(&mut self, operator: &str) -> bool {
        let found = self.is(operator);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, operator: &str) -> Result<(), String> {
        match self.accept(operator) {
            true => Ok(()),
            false => Err(format!("`{operator}` is missing")),
        }
    }

    fn expression(&mut self) -> Result<Expr, String> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err("there are too many brackets in brackets".to_owned());
        }
        let condition = self.binary(1)?;
        let expression = if self.accept("?") {
            let yes = self.expression()?;
            self.expect(":")?;
            let no = self.expression()?;
            Expr::Choose(Box::new([condition, yes, no]))
        } else {
            condition
        };
        self.depth -= 1;
        Ok(expression)
    }

    fn binary(&mut self, weakest: u8) -> Result<Expr, String> {
        let mut left = self.unary()?;
        while let Some(Token::Op(operator)) = self.tokens.get(self.at)
            && let Some((strength, operator)) = binary(operator)
            && strength >= weakest
        {
            self.at += 1;
            self.operators += 1;
            if self.operators > MOST_OPERATORS {
                return Err("there are too many operators in one argument".to_owned());
            }
            let right = self.binary(strength + 1)?;
            left = match (operator, element_of(&left)) {
                (Binary::Add, Some(element)) => {
                    Expr::Skip { of: Box::new(left), by: Box::new(right), element }
                }
                _ => Expr::Binary(operator, Box::new(left), Box::new(right)),
            };
        }
        Ok(left)
    }

    fn unary(&mut self) -> Result<Expr, String> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err("there are too many brackets in brackets".to_owned());
        }
        let operator = match self.tokens.get(self.at) {
            Some(Token::Op(operator @ ("!" | "~" | "-" | "+" | "*" | "&"))) => *operator,
            _ => "",
        };
        self.at += usize::from(!operator.is_empty());
        let expression = match operator {
            "!" => Expr::Not(Box::new(self.unary()?)),
            "~" => Expr::Invert(Box::new(self.unary()?)),
            "-" => Expr::Negate(Box::new(self.unary()?)),
            "+" => self.unary()?,
            "*" => {
                let of = self.unary()?;
                let ty = element_of(&of).ok_or("a pointer cannot be followed")?;
                Expr::Element { of: Box::new(of), index: Box::new(Expr::Value(Value::int(0))), ty }
            }
            "&" => match self.unary()? {
                bytes @ Expr::Bytes(_) => bytes,
                Expr::Int { offset, ty } | Expr::Pointer { offset, ty } => {
                    let size = usize::from(ty.bytes);
                    Expr::Bytes(Slot { offset, size, place: ValueAt::Here, element: ty })
                }
                Expr::Element { of, index, ty } => Expr::Skip { of, by: index, element: ty },
                _ => return Err("an address is asked for".to_owned()),
            },
            _ => match self.cast() {
                Some(cast) => self.converted(&cast)?,
                None => self.postfix()?,
            },
        };
        self.depth -= 1;
        Ok(expression)
    }

    /// Takes a type in brackets, if that is what stands here.
    fn cast(&mut self) -> Option<Cast> {
        let mut at = self.at;
        let Some(Token::Op("(")) = self.tokens.get(at) else { return None };
        at += 1;
        let mut words = Vec::new();
        while let Some(Token::Name(word)) = self.tokens.get(at) {
            words.push(*word);
            at += 1;
        }
        let pointers = self.tokens[at..].iter().take_while(|token| **token == Token::Op("*")).count();
        at += pointers;
        if words.is_empty() || words.contains(&"REC") || self.tokens.get(at) != Some(&Token::Op(")")) {
            return None;
        }
        at += 1;
        let ty = combined(&words, self.long_size);
        // A name alone may also be a constant in brackets: then an operator or the end follows.
        let operand = matches!(
            self.tokens.get(at),
            Some(Token::Name(_) | Token::Number { .. } | Token::Text(_) | Token::Op("(" | "~" | "!"))
        );
        let signed_operand = matches!(self.tokens.get(at), Some(Token::Op("-" | "+" | "*" | "&")));
        let is_type = ty.is_some() || pointers > 0 || words.len() > 1;
        if !(operand || is_type && signed_operand) {
            return None;
        }
        self.at = at;
        Some(Cast { ty, pointers, is_bool: words.contains(&"bool") || words.contains(&"_Bool") })
    }

    fn converted(&mut self, cast: &Cast) -> Result<Expr, String> {
        let operand = self.unary()?;
        if cast.pointers > 0 {
            let element = match (cast.pointers, cast.ty) {
                (1, Some(ty)) => ty,
                (1, None) => Ty::U8,
                _ => Ty::unsigned(self.long_size as u8),
            };
            return Ok(match operand {
                Expr::Bytes(slot) => Expr::Bytes(Slot { element, ..slot }),
                Expr::Skip { .. } => {
                    let by = Box::new(Expr::Value(Value::int(0)));
                    Expr::Skip { of: Box::new(operand), by, element }
                }
                // It may still be shown as a string.
                Expr::Pointer { .. } | Expr::Text(_) | Expr::Choose(_) => operand,
                other => Expr::Cast(Ty::unsigned(self.long_size as u8), Box::new(other)),
            });
        }
        Ok(match cast.ty {
            _ if cast.is_bool => Expr::Truth(Box::new(operand)),
            Some(ty) => Expr::Cast(ty, Box::new(operand)),
            None => operand,
        })
    }

    fn postfix(&mut self) -> Result<Expr, String> {
        let mut expression = self.primary()?;
        while self.accept("[") {
            let index = Box::new(self.expression()?);
            self.expect("]")?;
            let ty = element_of(&expression).ok_or("what is no array has an index")?;
            expression = Expr::Element { of: Box::new(expression), index, ty };
        }
        match self.is("->") || self.is(".") {
            true => Err("a pointer cannot be followed".to_owned()),
            false => Ok(expression),
        }
    }

    fn primary(&mut self) -> Result<Expr, String> {
        match self.next() {
            Some(Token::Number { value, unsigned, long }) => {
                Ok(Expr::Value(Value::new(value, Ty { bytes: if long { 8 } else { 4 }, signed: !unsigned })))
            }
            Some(Token::Text(text)) => Ok(Expr::Text(text)),
            Some(Token::Op("(")) => {
                // `(REC)->field`
                if self.tokens.get(self.at..self.at + 2) == Some(&[Token::Name("REC"), Token::Op(")")]) {
                    self.at += 2;
                    return self.member();
                }
                let inner = self.expression()?;
                self.expect(")")?;
                Ok(inner)
            }
            Some(Token::Name("REC")) => self.member(),
            Some(Token::Name(name)) if self.accept("(") => self.call(name),
            Some(Token::Name(name)) => constant(name)
                .map(Expr::Value)
                .ok_or_else(|| format!("the kernel did not say what `{name}` is")),
            Some(token) => Err(unexpected(&token)),
            None => Err("it ends too early".to_owned()),
        }
    }

    fn member(&mut self) -> Result<Expr, String> {
        self.expect("->")?;
        let field = self.field_name()?;
        Ok(field_expr(field, self.long_size))
    }

    fn field_name(&mut self) -> Result<&'f Field, String> {
        match self.next() {
            Some(Token::Name(name)) => {
                self.format.field(name).ok_or_else(|| format!("there is no field `{name}`"))
            }
            _ => Err("a field's name is missing".to_owned()),
        }
    }

    /// Passes over an expression that is not understood, up to the comma behind it or the end.
    fn skip_to_comma(&mut self) -> Result<(), String> {
        let mut open = 0usize;
        while let Some(token) = self.tokens.get(self.at) {
            match token {
                Token::Op("(" | "[" | "{") => open += 1,
                Token::Op(")" | "]" | "}") => {
                    open = open.checked_sub(1).ok_or("a value in a table is missing")?;
                }
                Token::Op(",") if open == 0 => return Ok(()),
                _ => {}
            }
            self.at += 1;
        }
        Ok(())
    }

    fn size_of(&mut self) -> Result<Expr, String> {
        let size = match self.tokens.get(self.at) {
            Some(Token::Name("REC")) => {
                self.at += 1;
                self.expect("->")?;
                let field = self.field_name()?;
                match self.accept("[") {
                    true => {
                        self.expression()?;
                        self.expect("]")?;
                        usize::from(Slot::of(field, self.long_size).element.bytes)
                    }
                    false => field.size,
                }
            }
            _ => {
                let mut words = Vec::new();
                while let Some(Token::Name(word)) = self.tokens.get(self.at) {
                    words.push(*word);
                    self.at += 1;
                }
                let pointer = self.accept("*");
                while self.accept("*") {}
                match combined(&words, self.long_size).or_else(|| named_type(words.first()?, self.long_size))
                {
                    _ if pointer => self.long_size,
                    Some(ty) => usize::from(ty.bytes),
                    None => return Err(format!("the size of `{}` is not known", words.join(" "))),
                }
            }
        };
        self.expect(")")?;
        Ok(Expr::Value(Value::new(size as u64, Ty::unsigned(self.long_size as u8))))
    }
}

fn constant(name: &str) -> Option<Value> {
    KNOWN_NAMES.iter().find(|(known, _)| *known == name).map(|&(_, value)| Value::int(value as i64))
}

/// What an index into it counts; `None` for what is no bytes of the record.
fn element_of(expression: &Expr) -> Option<Ty> {
    match expression {
        Expr::Bytes(slot) => Some(slot.element),
        Expr::Skip { element, .. } => Some(*element),
        _ => None,
    }
}
