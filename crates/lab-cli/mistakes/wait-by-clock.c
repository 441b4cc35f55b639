// title = "the loop waits for the end of its step by reading the clock"
// code = "busy-wait"
// flags = ["-O2", "-g", "-fomit-frame-pointer"]
// verified = "clock_gettime(CLOCK_THREAD_CPUTIME_ID): over 500 ms of CPU time in the loop, under 100 ms in the clean twin; perf record: nearly all of it in clock_gettime"
#include "rt.h"

static long used;

static void *control(void *unused)
{
	(void)unused;
	struct timespec next = now(), cpu;
	for (int cycle = 0; cycle < 150; cycle++) {
		wait_period(&next, 10 * MS);
		struct timespec end = next;
		add(&end, 5 * MS);
#ifdef CLEAN
		sleep_until(&end);
#else
		struct timespec time;
		do
			clock_gettime(CLOCK_MONOTONIC, &time); // MISTAKE: busy-wait
		while (time.tv_sec < end.tv_sec || (time.tv_sec == end.tv_sec && time.tv_nsec < end.tv_nsec));
#endif
	}
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu);
	used = cpu.tv_sec * 1000 + cpu.tv_nsec / MS;
	return NULL;
}

int main(void)
{
	lock_memory(MCL_CURRENT | MCL_FUTURE);
	join(start_control(control));
	return report("CPU time beyond 300 ms, in ms", used > 300 ? used - 300 : 0);
}
