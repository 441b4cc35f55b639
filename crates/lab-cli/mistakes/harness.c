// The threads of the cases in Rust: they are set up here, as a program in Rust has no way to do so without `unsafe`.
#include "rt.h"
#include <stdbool.h>

// Once, before the loop, with the number of its cycles.
void prepare(void);
// The work of a cycle; true if it has waited for the next period itself.
bool control_cycle(unsigned cycle);
// The work of a thread of priority 20.
void background_cycle(unsigned cycle);
// The mistake, counted: 0 in the clean twin.
unsigned long mistakes(void);

static void *control(void *unused)
{
	(void)unused;
	struct timespec next = now();
	for (unsigned cycle = 0; cycle < 280; cycle++)
		if (!control_cycle(cycle))
			wait_period(&next, 5 * MS);
	return NULL;
}

static void *background(void *unused)
{
	(void)unused;
	struct timespec next = now();
	for (unsigned cycle = 0; cycle < 200; cycle++) {
		wait_period(&next, 7 * MS);
		background_cycle(cycle);
	}
	return NULL;
}

int main(void)
{
	prepare();
	lock_memory(MCL_CURRENT | MCL_FUTURE);
	pthread_t low = start_thread("background", SCHED_FIFO, 20, background, NULL);
	join(start_control(control));
	join(low);
	return report("mistakes", (long)mistakes());
}
