"""Sleeps in many places of Python, 20 times in each, and waits until its input ends."""
import sys
import time


def sleep():
    time.sleep(0.0005)  # line: sleep


def log(value):
    with open("/dev/null", "w") as out:
        out.write(f"{value}\n")
        out.flush()
        time.sleep(0.0005)  # line: log


class Loop:
    def step(self):
        sleep()
        time.sleep(0.0005)  # line: Loop.step

    def __enter__(self):
        time.sleep(0.0005)  # line: Loop.__enter__

    def __exit__(self, *_):
        time.sleep(0.0005)  # line: Loop.__exit__


def numbers():
    yield 1
    time.sleep(0.0005)  # line: numbers
    yield 2


def nap(*_, seconds):
    time.sleep(seconds)  # line: nap


def main():
    loop = Loop()
    sys.stdin.buffer.read(1)
    for number in range(20):
        loop.step()
        log(number)
        time.sleep(0.0005)  # line: main
        with loop:
            time.sleep(  # line: wrapped
                0.0005
            )
        sorted([2], key=lambda number: time.sleep(0.0005) or number)  # line: main.<locals>.<lambda>
        sum(numbers())
        list(map(time.sleep, [0.0005]))  # line: mapped
        nap(*[1, 2], **{"seconds": 0.0005})
    print("done", flush=True)
    sys.stdin.buffer.read()


main()
