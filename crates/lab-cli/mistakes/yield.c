// title = "the control thread waits with sched_yield for a thread of lower priority"
// code = "sched-yield"
// flags = ["-O2", "-g", "-fomit-frame-pointer"]
// verified = "perf trace -s: thousands of sched_yield by the control thread, none in the clean twin"
#include "rt.h"

#define CYCLES 150

static struct timespec start;
static volatile int ready;
static long yields;

static void *estimator(void *unused)
{
	(void)unused;
	struct timespec next = start;
	for (int cycle = 0; cycle < CYCLES; cycle++) {
		wait_period(&next, 10 * MS);
		work(300 * US);
		ready = 1;
	}
	return NULL;
}

static void *control(void *unused)
{
	(void)unused;
	struct timespec next = start;
	for (int cycle = 0; cycle < CYCLES; cycle++) {
		wait_period(&next, 10 * MS);
#ifndef CLEAN
		for (int tries = 0; !ready && tries < 500; tries++) {
			sched_yield(); // MISTAKE: sched-yield
			yields++;
		}
#endif
		ready = 0;
	}
	return NULL;
}

int main(void)
{
	lock_memory(MCL_CURRENT | MCL_FUTURE);
	start = now();
	add(&start, 20 * MS);
	pthread_t low = start_thread("estimator", SCHED_FIFO, 20, estimator, NULL);
	join(start_control(control));
	join(low);
	return report("calls of sched_yield", yields);
}
