//! After a byte of input, sorts in a method of a generic type, called by a closure through a trait.

use std::hint::black_box;
use std::io::Read;

trait Step {
    fn step(&mut self) -> u64;
}

struct Control<T>(Vec<T>);

impl<T: Ord + Copy + Into<u64>> Step for Control<T> {
    #[inline(never)]
    fn step(&mut self) -> u64 {
        let mut values = self.0.clone();
        values.sort_unstable_by_key(|value| black_box(*value)); // line: sort
        black_box(values)[0].into() + 1
    }
}

#[inline(never)]
fn run(control: &mut dyn Step) -> u64 {
    let mut all = 0;
    let mut once = || {
        all += control.step(); // line: closure
        black_box(all)
    };
    (0..100).map(|_| once()).sum()
}

fn main() {
    let mut byte = [0];
    std::io::stdin().read_exact(&mut byte).expect("a byte");
    let mut state = 1u32;
    let values = (0..20_000).map(|_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state
    });
    let mut control = Control(values.collect());
    black_box(run(&mut control)); // line: main
}
