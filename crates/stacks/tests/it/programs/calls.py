"""Calls from many places of Python, each of which sleeps, and waits until its input ends."""
import sys
import time


def sleep():
    time.sleep(0.0005)  # line: sleep


class Loop:
    def step(self):
        sleep()
        for _ in range(2):
            time.sleep(0.0005)  # line: Loop.step

    def __enter__(self):
        time.sleep(0.0005)  # line: Loop.__enter__

    def __exit__(self, *_):
        time.sleep(0.0005)  # line: Loop.__exit__


def numbers():
    for number in range(2):
        time.sleep(0.0005)  # line: numbers
        yield number


def main():
    loop = Loop()
    sys.stdin.buffer.read(1)  # line: begin
    for _ in range(20):
        loop.step()
        with loop:
            time.sleep(  # line: wrapped
                # The call begins in the line before.
                0.0005
            )
        sorted([2, 1], key=lambda number: time.sleep(0.0005) or number)  # line: main.<locals>.<lambda>
        sum(numbers())
        list(map(time.sleep, [0.0005]))  # line: main
    print("done", flush=True)
    sys.stdin.buffer.read()  # line: end


main()
