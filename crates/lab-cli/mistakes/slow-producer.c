// title = "a thread of priority 20 wakes the control thread of priority 70 through a pipe"
// code = "priority-inverted-by-role"
// flags = ["-O2", "-g"]
// verified = "strace -f: the sampler writes, the control thread reads; chrt -p: 20 and 70, in the clean twin 80 and 70"
#include "rt.h"

#ifdef CLEAN
#define SAMPLER 80
#else
#define SAMPLER 20
#endif

static int pipes[2];
static long received;

static void *sampler(void *unused)
{
	(void)unused;
	struct timespec next = now();
	for (long cycle = 0; cycle < 300; cycle++) {
		wait_period(&next, 5 * MS);
		MUST(write(pipes[1], &cycle, sizeof cycle)); // MISTAKE: priority-inverted-by-role
	}
	close(pipes[1]);
	return NULL;
}

static void *control(void *unused)
{
	(void)unused;
	long sample;
	while (read(pipes[0], &sample, sizeof sample) == sizeof sample) // MISTAKE: priority-inverted-by-role
		received++;
	return NULL;
}

int main(void)
{
	lock_memory(MCL_CURRENT | MCL_FUTURE);
	MUST(pipe(pipes));
	pthread_t controller = start_thread("control", SCHED_FIFO, 70, control, NULL);
	join(start_thread("sampler", SCHED_FIFO, SAMPLER, sampler, NULL));
	join(controller);
	return report("samples by a thread of lower priority", SAMPLER < 70 ? received : 0);
}
