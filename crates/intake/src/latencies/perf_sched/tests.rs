//! Tables of newer and older perf, whole, wrapped and cut.

use super::read;
use whylate_base::Ns;
use whylate_stats::Run;

/// Of newer and older perf, commented, and wrapped by a mail.
pub(crate) const TABLES: [&str; 4] = [
    "  Task                  |   Runtime ms  |  Count   | Avg delay ms    | Max delay ms    | Max delay start           | Max delay end          |\n\
     ----------------------------------------------------------------------------------------\n\
       app:71                |     30.125 ms |       12 | avg:   0.052 ms | max:   0.402 ms | max start:    80.000100 s | max end:    80.000502 s\n\
       dd:(3)                |      1.125 ms |        2 | avg:   7.500 ms | max:  12.250 ms | max start:    81.100000 s | max end:    81.112250 s\n\
     -----------------------------------------------------------------------------------------\n\
       TOTAL:                |     31.250 ms |       14 |\n\
     ---------------------------------------------------\n\
       INFO: 0.100% lost events (3 out of 3000, in 1 chunks)\n",
    "  Task                  |   Runtime ms  | Switches | Average delay ms | Maximum delay ms | Maximum delay at       |\n\
       app:71                |     30.125 ms |       12 | avg:    0.052 ms | max:    0.402 ms | max at:     80.000502 s\n\
       dd:72                 |      1.125 ms |        2 | avg:    7.500 ms | max:   12.250 ms | max at:     81.112250 s\n\
       TOTAL:                |     31.250 ms |       14 |\n",
    "# app:71                |     30.125 ms |       12 | avg:    0.052 ms | max:    0.402 ms |\n\
     # dd:72                 |      1.125 ms |        2 | avg:    7.500 ms | max:   12.250 ms |\n\
     # TOTAL:                |     31.250 ms |       14 |\n",
    "app:71                |     30.125 ms |       12 | avg:   0.052 ms |\n\
     max:   0.402 ms | max start:    80.000100 s | max end:    80.000502\n\
     s\n\
     dd:72                 |      1.125 ms |        2 | avg:   7.500 ms |\n\
     max:  12.250 ms | sum:  15.000 ms | max start:    81.100000 s |\n\
     max end:    81.112250 s\n\
     TOTAL:                |     31.250 ms |       14 |\n",
];

fn run(text: &str) -> Run {
    let mut runs = read(text);
    assert_eq!(runs.len(), 1, "{text}");
    runs.remove(0).unwrap_or_else(|broken| panic!("{}: {text}", broken.why))
}

#[test]
fn rows_are_threads_with_mean_and_maximum() {
    for text in TABLES {
        let run = run(text);
        let of = |at: usize| {
            let histogram = &run.threads[at].histogram;
            (histogram.count(), histogram.min(), histogram.mean(), histogram.max())
        };
        assert_eq!(of(0), (12, None, Some(Ns::from_us(52)), Some(Ns::from_us(402))), "{text}");
        assert_eq!(of(1), (2, None, Some(Ns::from_us(7_500)), Some(Ns::from_us(12_250))), "{text}");
        assert_eq!(run.threads[0].histogram.tail(0.5), None);
        assert!(run.notes.contains(&"only mean and maximum are known".to_owned()), "{:?}", run.notes);
    }
}

#[test]
fn a_single_sample_of_a_thread_is_no_minimum_of_the_table() {
    let one = TABLES[1].replace("       2 | avg:    7.500 ms", "       1 | avg:   12.250 ms");
    let run = run(&one);
    assert_eq!(run.threads[1].histogram.min(), Some(Ns::from_us(12_250)));
    assert!(run.notes.contains(&"only mean and maximum are known".to_owned()), "{:?}", run.notes);
}

#[test]
fn the_worst_is_named_with_its_instants() {
    let expected = [
        "12.250 ms, of dd:(3), from 81.100000 s to 81.112250 s",
        "12.250 ms, of dd:72, until 81.112250 s",
        "12.250 ms, of dd:72",
        "12.250 ms, of dd:72, from 81.100000 s to 81.112250 s",
    ];
    for (text, expected) in TABLES.iter().zip(expected) {
        assert_eq!(run(text).notes[0], format!("the largest delay is {expected}"));
    }
    let notes = run(TABLES[0]).notes.join("\n");
    assert!(
        notes.contains("stands for so many threads") && notes.contains("INFO: 0.100% lost events"),
        "{notes}"
    );
}

#[test]
fn what_is_missing_is_a_thread_of_which_nothing_is_known() {
    let unknown = |text: &str| {
        let threads = run(text).threads;
        let unknown = threads.into_iter().filter(|thread| thread.histogram.count() == 0);
        unknown.map(|thread| thread.name).collect::<Vec<String>>()
    };
    let [_, old, ..] = TABLES;
    assert_eq!(unknown(old), [""; 0]);
    assert_eq!(unknown(&old.replace("max:   12.250 ms", "max:   12.2")), ["dd:72, whose row is not whole"]);
    assert_eq!(
        unknown(&old.replace("max:   12.250 ms", "max:   1\n2.250 ms")),
        ["dd:72, whose row is not whole"]
    );
    // A mean above the maximum: a number was changed.
    assert_eq!(unknown(&old.replace("12.250 ms", "2.250 ms")), ["dd:72, whose row is not whole"]);
    assert_eq!(unknown(&format!("{old}...\n")), ["threads of rows that were left out"]);
    let (rows, _) = old.split_once("TOTAL:").expect("a sum");
    for cut in
        [rows.to_owned(), format!("{rows}   ------------\n"), format!("{rows}\nI then changed one task:\n")]
    {
        assert_eq!(unknown(&cut), ["threads of rows below the last one, without the line TOTAL"], "{cut}");
        assert!(run(&cut).notes.iter().any(|note| note.starts_with("the line TOTAL")), "{cut}");
    }
}

#[test]
fn prose_or_the_same_thread_begins_another_table() {
    let rows: String = TABLES[3].to_owned();
    for between in ["I then changed one task:\n", ""] {
        let both = format!("{rows}{between}{rows}");
        let most: Vec<Option<Ns>> =
            read(&both).into_iter().map(|run| run.ok().and_then(|run| run.all().max())).collect();
        assert_eq!(most, [Some(Ns::from_us(12_250)); 2]);
    }
    assert!(read("app:71 | 1.2 ms of 3 | avg\nTOTAL:  |  1.200 ms |  3 |\n").is_empty());
}

#[test]
fn a_number_in_front_of_a_row_is_no_part_of_the_name() {
    let row = |number: u32, max: u32| {
        format!(" {number} app:(5)  | 846.956 ms | 779 | avg: 0.273 ms | max: {max}.337 ms | sum: 1.5 ms |\n")
    };
    let run = run(&format!("{}{}{}", row(1, 58), row(2, 92), row(3, 71)));
    assert_eq!(run.notes[0], "the largest delay is 92.337 ms, of app:(5) #2");
}
