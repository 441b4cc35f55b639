# title = "the loop sleeps with time.sleep"
# code = "relative-sleep"
# verified = "strace: clock_nanosleep by time.sleep in each cycle; the clean twin calls clock_nanosleep(TIMER_ABSTIME) of its own"
# # time.sleep of Python 3.11 and later uses TIMER_ABSTIME itself, with a time relative to the call: it drifts alike.
import time

from rt import CLEAN, MS, control, report

sleeps = 0


def cycle(number):
    global sleeps
    if CLEAN:
        return False
    sleeps += 1
    time.sleep(0.005)  # MISTAKE: relative-sleep
    return True


control(cycle, 250, 5 * MS)
report("relative sleeps", sleeps)
