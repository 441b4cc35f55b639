# title = "each cycle logs a line to a file"
# code = "file-write"
# also = ["heap-in-loop"]
# verified = "strace: a write to the file in each cycle; none in the clean twin"
import tempfile

from rt import CLEAN, MS, control, report

log = tempfile.TemporaryFile("w", buffering=1)
kept = [None] * 200
lines = 0


def cycle(number):
    global lines
    if CLEAN:
        kept[number] = number
        return False
    log.write("cycle\n")  # MISTAKE: file-write
    lines += 1
    return False


control(cycle, 200, 5 * MS)
report("lines written in the loop", lines)
