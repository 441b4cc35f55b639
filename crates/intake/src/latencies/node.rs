//! A JSON document in little memory: what a histogram consists of, numbers by numbers, is kept as such.
//! A `serde_json::Value` of a histogram with millions of classes takes ten times the length of its text.

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Index;

/// The members of an object that is no histogram.
pub(super) type Members = BTreeMap<String, Node>;

/// A value of a document.
#[derive(Debug, PartialEq)]
pub(super) enum Node {
    /// Also true and false, which no measurement needs.
    Null,
    Count(u64),
    Number(f64),
    Text(Box<str>),
    /// A list of counts.
    Counts(Vec<u64>),
    List(Vec<Node>),
    /// An object whose keys are numbers and whose values are counts.
    Classes(Vec<(u64, u64)>),
    Object(Members),
}

impl Node {
    pub(super) fn as_u64(&self) -> Option<u64> {
        match self {
            Node::Count(count) => Some(*count),
            _ => None,
        }
    }

    pub(super) fn as_f64(&self) -> Option<f64> {
        match self {
            Node::Count(count) => Some(*count as f64),
            Node::Number(number) => Some(*number),
            _ => None,
        }
    }

    pub(super) fn as_str(&self) -> Option<&str> {
        match self {
            Node::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The members of an object that is no histogram.
    pub(super) fn members(&self) -> Option<&Members> {
        match self {
            Node::Object(members) => Some(members),
            _ => None,
        }
    }

    /// The classes of a histogram, with their counts; other members are left out.
    pub(super) fn classes(&self) -> Vec<(u64, u64)> {
        match self {
            Node::Classes(classes) => classes.clone(),
            Node::Object(members) => {
                members.iter().filter_map(|(key, value)| Some((key.parse().ok()?, value.as_u64()?))).collect()
            }
            _ => Vec::new(),
        }
    }

    /// A list of counts; `None` for anything else.
    pub(super) fn counts(&self) -> Option<&[u64]> {
        match self {
            Node::Counts(counts) => Some(counts),
            _ => None,
        }
    }

    /// The items of a list that is none of counts; no item for anything else.
    pub(super) fn items(&self) -> &[Node] {
        match self {
            Node::List(items) => items,
            _ => &[],
        }
    }
}

impl Index<&str> for Node {
    type Output = Node;

    /// The member, or `Null` where there is none.
    fn index(&self, key: &str) -> &Node {
        self.members().and_then(|members| members.get(key)).unwrap_or(&Node::Null)
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Node, D::Error> {
        deserializer.deserialize_any(Reader)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Node, E> {
        Ok(Node::Null)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Node, E> {
        Ok(Node::Null)
    }

    fn visit_u64<E>(self, count: u64) -> Result<Node, E> {
        Ok(Node::Count(count))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Node, E> {
        Ok(Node::Number(number as f64))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Node, E> {
        Ok(Node::Number(number))
    }

    fn visit_str<E>(self, text: &str) -> Result<Node, E> {
        Ok(Node::Text(text.into()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Node, A::Error> {
        let mut counts = Vec::new();
        while let Some(item) = list.next_element()? {
            let Node::Count(count) = item else {
                let mut items: Vec<Node> = counts.into_iter().map(Node::Count).collect();
                items.push(item);
                while let Some(item) = list.next_element()? {
                    items.push(item);
                }
                return Ok(Node::List(items));
            };
            counts.push(count);
        }
        Ok(Node::Counts(counts))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Node, A::Error> {
        let mut classes: Vec<(u64, u64)> = Vec::new();
        while let Some(key) = object.next_key::<String>()? {
            let value = object.next_value()?;
            match (key.parse(), value) {
                (Ok(class), Node::Count(count)) => classes.push((class, count)),
                (_, value) => {
                    let text = |(class, count): (u64, u64)| (class.to_string(), Node::Count(count));
                    let mut members: Members = classes.into_iter().map(text).collect();
                    members.insert(key, value);
                    while let Some((key, value)) = object.next_entry()? {
                        members.insert(key, value);
                    }
                    return Ok(Node::Object(members));
                }
            }
        }
        Ok(Node::Classes(classes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Node {
        serde_json::from_str(text).expect("JSON")
    }

    #[test]
    fn histograms_are_compact_and_the_rest_is_as_it_was_written() {
        let document = read(
            r#"{"thread": {"0": {"histogram": {"7": 2, "12": 5}, "avg": 7.5, "min": -1}}, "axis": [0, 1, 2],
                "cores": [[0, 1], [2, 3]], "mixed": [1, "a", null, true], "some": {"1": 2, "x": 3, "4": 5}, "none": {}}"#,
        );
        let thread = &document["thread"]["0"];
        assert_eq!(thread["histogram"], Node::Classes(vec![(7, 2), (12, 5)]));
        assert_eq!((thread["avg"].as_f64(), thread["min"].as_f64()), (Some(7.5), Some(-1.0)));
        assert_eq!(thread["min"].as_u64(), None);
        assert_eq!(document["axis"].counts(), Some([0, 1, 2].as_slice()));
        let cores: Vec<Option<&[u64]>> = document["cores"].items().iter().map(Node::counts).collect();
        assert_eq!(cores, [Some([0, 1].as_slice()), Some([2, 3].as_slice())]);
        let mixed = [Node::Count(1), Node::Text("a".into()), Node::Null, Node::Null];
        assert_eq!(document["mixed"].items(), mixed);
        assert_eq!(document["some"].classes(), [(1, 2), (4, 5)]);
        assert_eq!(document["some"]["x"].as_u64(), Some(3));
        assert_eq!(document["none"].classes(), []);
        assert_eq!(document["absent"]["deeper"], Node::Null);
    }

    #[test]
    fn what_is_nested_too_deep_is_an_error() {
        let text = "[".repeat(100_000);
        assert!(serde_json::from_str::<Node>(&text).is_err());
    }
}
