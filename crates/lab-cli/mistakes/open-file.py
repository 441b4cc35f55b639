# title = "each cycle opens and reads a file of parameters"
# code = "file-open"
# also = ["heap-in-loop"]
# verified = "strace: openat in each cycle; in the clean twin none after the first wait"
import os
import tempfile

from rt import CLEAN, MS, control, report

made, name = tempfile.mkstemp()
os.write(made, b"gain 3\n")
opened = 0


def cycle(number):
    global opened
    if CLEAN:
        os.pread(made, 64, 0)
        return False
    with open(name) as parameters:  # MISTAKE: file-open
        parameters.read()
    opened += 1
    return False


control(cycle, 200, 5 * MS)
os.unlink(name)
report("files opened in the loop", opened)
