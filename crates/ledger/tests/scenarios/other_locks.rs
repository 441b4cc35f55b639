//! Locks of programs that are no mutexes: of pthreads' read-write locks, conditions and semaphores.

use super::support::{Explained, MS, Scene, Thread, assert_blames, fair, rt, sys};
use whylate_ledger::Cause;

const READER: Thread = rt("loop", 10, 60);
const HOLDER: Thread = fair("holder", 11);
const WRITER: Thread = fair("writer", 12);
const WORD: u64 = 0x7f00_0000;
const WAKE: [u64; 3] = [WORD, 0x81, 1];
/// FUTEX_WAIT_BITSET with FUTEX_CLOCK_REALTIME and FUTEX_PRIVATE_FLAG.
const BITSET: u64 = 0x189;
/// FUTEX_WAIT with FUTEX_PRIVATE_FLAG.
const WAIT: u64 = 0x80;

/// The reader waits by this operation for what the holder has for 5 ms, and the writer before by a word that lies so much behind.
fn waits_by(op: u64, distance: u64) -> Explained {
    waits_for(op, distance, WAKE)
}

/// The same, where the holder lets it go on by this call.
fn waits_for(op: u64, distance: u64, wake: [u64; 3]) -> Explained {
    const CLONE: i64 = 56;
    let scene = Scene::new().cpu(1).at(0).run(HOLDER).at(5).call(CLONE, [0x1_0100, 0, 0]).at(6);
    let scene = scene.fork(HOLDER, READER).at(7).fork(HOLDER, WRITER).at(8).ret(CLONE).at(10).wake(READER, 1);
    let scene = scene.at(15).run(READER).at(30).call(sys::CLOCK_NANOSLEEP, sys::UNTIL).at(40).sleep(HOLDER);
    let scene = scene.at(50).wake(WRITER, 1).at(9 * MS).run(WRITER);
    let scene = scene.at(9 * MS + 10).call(sys::FUTEX, [WORD + distance, BITSET, 2]);
    let scene = scene.at(9 * MS + 20).sleep(HOLDER).at(10 * MS).timer_wakes(READER).at(10 * MS + 5);
    let scene = scene.run(READER).ret(sys::CLOCK_NANOSLEEP).at(10 * MS + 20).call(sys::FUTEX, [WORD, op, 2]);
    let scene = scene.at(10 * MS + 30).sleep(HOLDER).at(15 * MS).call(sys::FUTEX, wake).wake(READER, 1);
    let scene = scene.at(15 * MS + 5).run(READER).ret(sys::FUTEX).at(15 * MS + 50);
    scene.call(sys::CLOCK_NANOSLEEP, sys::UNTIL).at(15 * MS + 60).sleep(HOLDER).explain("loop")
}

#[test]
fn a_lock_that_is_no_mutex_has_no_advice_about_the_protocol_of_one() {
    let told = |explained: &Explained| {
        assert_blames(explained.worst(), Cause::LockWait, Some(HOLDER));
        let verdict = &explained.worst().verdict;
        let fixes = verdict.fix.iter().map(|fix| fix.text.clone());
        let seen = verdict.evidence.iter().map(|seen| seen.what.clone());
        fixes.chain(seen).collect::<Vec<_>>().join("; ")
    };
    let mutex = told(&waits_by(WAIT, 8));
    assert!(mutex.contains("PTHREAD_PRIO_INHERIT") && !mutex.contains("writer:12"), "{mutex}");
    let other = told(&waits_by(BITSET, 8));
    assert!(other.contains("it is no mutex") && !other.contains("PTHREAD_PRIO_INHERIT"), "{other}");
    assert!(other.contains("writer:12 (nice 0) waited for it before"), "{other}");
    assert!(other.contains("writer:12 (nice 0) waited for that lock as well"), "{other}");
    // Another lock.
    let far = told(&waits_by(BITSET, 4096));
    assert!(far.contains("it is no mutex") && !far.contains("writer:12"), "{far}");
}

/// As pthread_once() does, which waits by the operation of a mutex, and the guard of a local static variable of C++.
#[test]
fn what_lets_all_go_on_that_wait_is_no_mutex() {
    const WAKE_ALL: [u64; 3] = [WORD, 0x81, 0x7fff_ffff];
    let explained = waits_for(WAIT, 8, WAKE_ALL);
    assert_blames(explained.worst(), Cause::LockWait, Some(HOLDER));
    let fixes: Vec<_> = explained.worst().verdict.fix.iter().map(|fix| fix.text.as_str()).collect();
    let fixes = fixes.join("; ");
    assert!(fixes.contains("pthread_once") && !fixes.contains("PTHREAD_PRIO_INHERIT"), "{fixes}");
    // Another word than that on which it waits.
    let other = waits_for(WAIT, 8, [WORD + 4, 0x81, 0x7fff_ffff]);
    assert!(other.worst().verdict.fix.iter().all(|fix| !fix.text.contains("made once")));
}
