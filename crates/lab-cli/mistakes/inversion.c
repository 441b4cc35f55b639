// title = "a thread of priority 40 runs while one of priority 10 holds the mutex that one of priority 70 waits for"
// code = "priority-inversion"
// flags = ["-O2", "-g"]
// also = ["mutex-without-inheritance", "priority-inverted-by-role"]
// verified = "waits over 4 ms of the control thread, counted: one in nearly each cycle, nearly none in the clean twin; perf sched map: low, control, low, middle, low, control"
#include "rt.h"

#define CYCLES 70
#define PERIOD (20 * MS)

static pthread_mutex_t mutex;
static struct timespec start;
static long state, long_waits;

// After the priority, so that no other thread keeps it from the CPU.
static void pin(void)
{
	cpu_set_t cpus;
	CPU_ZERO(&cpus);
	CPU_SET(0, &cpus);
	MUST(sched_setaffinity(0, sizeof cpus, &cpus));
}

static void *low(void *unused)
{
	(void)unused;
	struct timespec next = start;
	pin();
	for (int cycle = 0; cycle < CYCLES; cycle++) {
		wait_period(&next, PERIOD);
		pthread_mutex_lock(&mutex); // MISTAKE: priority-inversion
		work(1 * MS);
		state++;
		pthread_mutex_unlock(&mutex);
	}
	return NULL;
}

static void *middle(void *unused)
{
	(void)unused;
	struct timespec next = start;
	pin();
	add(&next, 600 * US);
	for (int cycle = 0; cycle < CYCLES; cycle++) {
		wait_period(&next, PERIOD);
		work(6 * MS);
	}
	return NULL;
}

static void *control(void *unused)
{
	(void)unused;
	struct timespec next = start;
	pin();
	add(&next, 300 * US);
	for (int cycle = 0; cycle < CYCLES; cycle++) {
		wait_period(&next, PERIOD);
		struct timespec before = now();
		pthread_mutex_lock(&mutex); // MISTAKE: priority-inversion
		long_waits += since(&before) > 4 * MS;
		state++;
		pthread_mutex_unlock(&mutex);
	}
	return NULL;
}

int main(void)
{
	lock_memory(MCL_CURRENT | MCL_FUTURE);
#ifdef CLEAN
	init_mutex(&mutex, PTHREAD_PRIO_INHERIT);
#else
	init_mutex(&mutex, PTHREAD_PRIO_NONE);
#endif
	start = now();
	add(&start, 20 * MS);
	pthread_t threads[] = {
		start_thread("low", SCHED_FIFO, 10, low, NULL),
		start_thread("middle", SCHED_FIFO, 40, middle, NULL),
		start_thread("control", SCHED_FIFO, 70, control, NULL),
	};
	for (int i = 0; i < 3; i++)
		join(threads[i]);
	fprintf(stderr, "waits over 4 ms: %ld\n", long_waits);
	return report("inversions in more than a tenth of the cycles", long_waits > CYCLES / 10);
}
