//! Perfetto traces, taken apart by a reader of protocol buffers that knows nothing of the writer.

use crate::any_event::{events, kind, measured, of_tracers, source};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use std::collections::BTreeMap;
use std::path::Path;
use whylate_events::{Event, EventKind, EventSource, KindSet, TraceInfo, VecSource, drain};
use whylate_export::{Cut, Written, perfetto};
use whylate_ftrace::dat::TraceFile;
use whylate_ledger::{ChainOptions, Explanation, Instant, Options, Scope};

/// A field's value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Value<'a> {
    Number(u64),
    Fixed(u64),
    Bytes(&'a [u8]),
}

impl<'a> Value<'a> {
    pub(crate) fn number(self) -> u64 {
        let Value::Number(number) = self else { panic!("{self:?} is no number") };
        number
    }

    pub(crate) fn bytes(self) -> &'a [u8] {
        let Value::Bytes(bytes) = self else { panic!("{self:?} is no message") };
        bytes
    }

    pub(crate) fn text(self) -> &'a str {
        std::str::from_utf8(self.bytes()).expect("UTF-8")
    }
}

/// The fields of a message by number.
pub(crate) struct Fields<'a>(pub(crate) BTreeMap<u64, Vec<Value<'a>>>);

impl<'a> Fields<'a> {
    pub(crate) fn of(mut bytes: &'a [u8]) -> Fields<'a> {
        let mut fields: BTreeMap<u64, Vec<Value<'_>>> = BTreeMap::new();
        while !bytes.is_empty() {
            let key = varint(&mut bytes);
            let value = match key & 7 {
                0 => Value::Number(varint(&mut bytes)),
                1 => {
                    let (fixed, rest) = bytes.split_first_chunk().expect("8 bytes");
                    bytes = rest;
                    Value::Fixed(u64::from_le_bytes(*fixed))
                }
                2 => {
                    let length = varint(&mut bytes) as usize;
                    let (data, rest) = bytes.split_at(length);
                    bytes = rest;
                    Value::Bytes(data)
                }
                other => panic!("wire type {other}"),
            };
            fields.entry(key >> 3).or_default().push(value);
        }
        Fields(fields)
    }

    pub(crate) fn all(&self, field: u64) -> &[Value<'a>] {
        self.0.get(&field).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn one(&self, field: u64) -> Value<'a> {
        let [value] = self.all(field) else { panic!("{} of field {field}", self.all(field).len()) };
        *value
    }

    pub(crate) fn messages(&self, field: u64) -> impl Iterator<Item = Fields<'a>> {
        self.all(field).iter().map(|value| Fields::of(value.bytes()))
    }
}

fn varint(bytes: &mut &[u8]) -> u64 {
    let mut value = 0;
    for shift in (0..70).step_by(7) {
        let (&byte, rest) = bytes.split_first().expect("a byte");
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return value;
        }
    }
    panic!("a number of more than ten bytes");
}

fn written(source: &mut dyn EventSource, cut: &Cut) -> (Vec<u8>, Written, Explanation) {
    let mut out = Vec::new();
    let (written, explanation) =
        perfetto::write(source, cut, &Options::default(), &mut out).expect("written");
    (out, written, explanation)
}

/// Time, CPU, thread and own field of each event, in time order; and how many bundles follow a loss.
fn bundled(trace: &[u8]) -> (Vec<(u64, u64, u64, u64)>, usize) {
    let mut events = Vec::new();
    let mut losses = 0;
    for packet in Fields::of(trace).messages(1) {
        for bundle in packet.messages(1) {
            assert_eq!(packet.one(10).number(), 1);
            losses += bundle.all(3).len();
            let mut last = 0;
            for event in bundle.messages(2) {
                let own = *event.0.keys().find(|&&field| field > 2).expect("an own field");
                let ts = event.one(1).number();
                assert!(ts >= last, "time runs backwards in a bundle");
                last = ts;
                events.push((ts, bundle.one(1).number(), event.one(2).number(), own));
            }
        }
    }
    events.sort();
    (events, losses)
}

fn fixture(name: &str) -> TraceFile {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cli/tests/fixtures").join(name);
    TraceFile::open(path).expect("opens")
}

#[test]
fn a_recording_with_its_explanation() {
    let file = fixture("6.1-throttle.dat");
    let (trace, written, explanation) = written(&mut file.events(KindSet::ALL), &Cut::default());
    let (events, _) = bundled(&trace);
    assert_eq!(events.len() as u64, written.events);
    assert_eq!(written.read, written.events + written.no_form);
    assert_eq!(written.activations, explanation.activations.len() as u64);

    // Tracks by their number, and how their slices open and close.
    let mut names = BTreeMap::new();
    let mut open: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    let (mut outer, mut inner) = (0, 0);
    let mut verdicts = Vec::new();
    for packet in Fields::of(&trace).messages(1) {
        for track in packet.messages(60) {
            names.insert(track.one(1).number(), track.one(2).text().to_owned());
        }
        for event in packet.messages(11) {
            let (track, ts) = (event.one(11).number(), packet.one(8).number());
            assert!(names.contains_key(&track), "a track is described before it is used");
            let stack = open.entry(track).or_default();
            match event.one(9).number() {
                1 => {
                    assert!(stack.last().is_none_or(|&begin| begin <= ts));
                    if stack.is_empty() {
                        outer += 1;
                        verdicts.push(event.one(23).text().to_owned());
                    } else {
                        inner += 1;
                    }
                    stack.push(ts);
                }
                2 => assert!(stack.pop().is_some_and(|begin| begin <= ts), "an end without its beginning"),
                3 => assert_eq!(names[&track], "whylate: findings"),
                other => panic!("type {other}"),
            }
        }
    }
    assert!(open.values().all(Vec::is_empty), "a slice stays open");
    assert_eq!(outer, explanation.activations.len());
    let segments = explanation.activations.iter().flat_map(|activation| &activation.ledger);
    assert_eq!(inner, segments.filter(|segment| segment.end > segment.start).count());
    assert!(names.values().any(|name| name.starts_with("whylate: victim:")), "{names:?}");
    assert!(verdicts.iter().any(|verdict| verdict.starts_with("rt-throttled: hog:")), "{verdicts:?}");
}

/// Perfetto has no name for the clock `mono`: a snapshot of clocks defines it.
#[test]
fn the_monotonic_clock_is_defined() {
    let mut file = fixture("6.1-throttle.dat").events(KindSet::ALL);
    assert_eq!(file.info().clock.as_deref(), Some("mono"));
    let events: Vec<Event> = drain(&mut file).collect();
    for (clock, expected) in [(Some("mono"), "mono"), (Some("boot"), "boot"), (None, "boot")] {
        let info = TraceInfo { clock: clock.map(str::to_owned), ..file.info().clone() };
        let mut source = VecSource::new(events.clone(), info, true);
        let (trace, ..) = written(&mut source, &Cut::default());
        let read =
            whylate_intake::from_reader(std::io::Cursor::new(trace), "here", KindSet::ALL).expect("a trace");
        assert_eq!(read.info().clock.as_deref(), Some(expected), "{clock:?}");
    }
}

/// Arrows lead from each hop of a chain to the next.
#[test]
fn chains_have_rows_and_arrows() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cli/tests/fixtures/6.18-pipeline.dat.gz");
    let mut source = whylate_intake::open(&path, KindSet::ALL).expect("opens");
    let options = Options { chains: Some(ChainOptions::default()), ..Options::default() };
    let mut trace = Vec::new();
    let (_, explanation) =
        perfetto::write(&mut *source, &Cut::default(), &options, &mut trace).expect("written");
    let chains = explanation.chains.expect("chains").found;
    let instances = chains.iter().flat_map(|chain| &chain.worst);
    let expected: usize = instances
        .map(|instance| instance.hops.iter().filter(|hop| hop.end > hop.start).count().saturating_sub(1))
        .sum();
    assert!(expected > 0);

    let mut rows = BTreeMap::new();
    let (mut begun, mut ended) = (BTreeMap::new(), BTreeMap::new());
    for packet in Fields::of(&trace).messages(1) {
        for track in packet.messages(60) {
            rows.insert(track.one(1).number(), track.one(2).text().to_owned());
        }
        for event in packet.messages(11) {
            let at = (packet.one(8).number(), event.one(11).number());
            for (field, known) in [(47, &mut begun), (48, &mut ended)] {
                for id in event.all(field) {
                    let Value::Fixed(id) = *id else { panic!("{id:?}") };
                    assert!(known.insert(id, at).is_none(), "arrow {id} twice");
                }
            }
        }
    }
    assert_eq!((begun.len(), ended.len()), (expected, expected));
    for (id, (from, row)) in begun {
        let (to, next) = ended[&id];
        assert!(from < to && row != next, "arrow {id}: {from} on {row} to {to} on {next}");
        assert!(rows[&row].starts_with("whylate: chain ") && rows[&next].starts_with("whylate: chain "));
    }
}

#[test]
fn verdicts_have_their_numbers() {
    let file = fixture("6.1-throttle.dat");
    let (trace, _, explanation) = written(&mut file.events(KindSet::ALL), &Cut::default());
    let mut found = Vec::new();
    for event in Fields::of(&trace).messages(1).flat_map(|packet| packet.messages(11).collect::<Vec<_>>()) {
        let annotations: BTreeMap<String, Value<'_>> = event
            .messages(4)
            .map(|annotation| {
                let value = [4, 5, 6].into_iter().find_map(|field| annotation.all(field).first().copied());
                (annotation.one(10).text().to_owned(), value.expect("a value"))
            })
            .collect();
        if let (Some(response), Some(share), Some(why)) =
            (annotations.get("response_ns"), annotations.get("share"), annotations.get("why"))
        {
            let Value::Fixed(share) = *share else { panic!("{share:?}") };
            found.push((response.number() as i64, f64::from_bits(share), why.text().to_owned()));
        }
    }
    let mut expected: Vec<_> = explanation
        .activations
        .iter()
        .map(|a| (a.response().0, a.verdict.share, a.verdict.why.clone()))
        .collect();
    let by_response = |a: &(i64, f64, String), b: &(i64, f64, String)| a.partial_cmp(b).expect("no NaN");
    found.sort_by(by_response);
    expected.sort_by(by_response);
    assert_eq!(found, expected);
}

#[test]
fn a_cut_leaves_the_explanation_whole() {
    let file = fixture("6.1-throttle.dat");
    let (_, _, explanation) = written(&mut file.events(KindSet::ALL), &Cut::default());
    let of_victim = |activation: &&whylate_ledger::Activation| activation.comm.as_str() == "victim";
    let worst = explanation.activations.iter().find(of_victim).expect("an activation");
    let cut = Cut {
        scope: Scope {
            from: Some(Instant::Clock(worst.due)),
            to: Some(Instant::Clock(worst.end)),
            ..Scope::default()
        },
        events: vec!["sched_switch".parse().expect("a choice")],
        ..Cut::default()
    };
    let (trace, within, again) = written(&mut file.events(KindSet::ALL), &cut);
    assert_eq!(again.activations.len(), explanation.activations.len());
    assert!(within.activations >= 1 && within.activations < explanation.activations.len() as u64);
    let (events, _) = bundled(&trace);
    let span = worst.due.0 as u64..=worst.end.0 as u64;
    assert!(!events.is_empty() && events.iter().all(|event| event.3 == 4 && span.contains(&event.0)));
}

proptest! {
    #![proptest_config(ProptestConfig { rng_seed: RngSeed::Fixed(0x7066_7472), cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn what_tracers_measured_comes_back(events in events(measured(), false)) {
        let (trace, written, _) = written(&mut source(events.clone(), None), &Cut::default());
        prop_assert_eq!((written.events, written.no_form), (events.len() as u64, 0));
        let mut read = whylate_intake::from_reader(std::io::Cursor::new(trace), "here", KindSet::ALL)
            .expect("a trace");
        prop_assert_eq!(drain(&mut *read).collect::<Vec<_>>(), events);
        prop_assert_eq!(&read.info().damage, &[]);
    }

    #[test]
    fn every_event_is_in_a_bundle(events in events(prop_oneof![8 => kind(), 1 => of_tracers()], true)) {
        let expected = |event: &&Event| !matches!(event.kind, EventKind::Other);
        let mut expected: Vec<(u64, u64, u64)> = events
            .iter()
            .filter(expected)
            .map(|event| (event.ts.0 as u64, event.cpu.0.into(), event.context.tid.0 as u64))
            .collect();
        expected.sort();
        let (trace, written, _) = written(&mut source(events.clone(), None), &Cut::default());
        let (found, _) = bundled(&trace);
        prop_assert_eq!(found.iter().map(|&(ts, cpu, tid, _)| (ts, cpu, tid)).collect::<Vec<_>>(), expected);
        prop_assert_eq!(written.events + written.no_form, events.len() as u64);
    }
}
