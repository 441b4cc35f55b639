// title = "a condition variable wakes all eight workers for a job that one of them takes"
// code = "condvar-herd"
// flags = ["-O2", "-g"]
// verified = "strace -f: futex(FUTEX_WAKE, INT_MAX) in each cycle, FUTEX_WAKE of 1 in the clean twin; wake-ups without a job, counted"
#include "rt.h"

#define WORKERS 8
#define CYCLES 150

static pthread_mutex_t mutex;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int jobs, end;
static long useless;

static void *worker(void *unused)
{
	(void)unused;
	pthread_mutex_lock(&mutex);
	while (!end) {
		pthread_cond_wait(&condition, &mutex);
		if (jobs > 0)
			jobs--;
		else if (!end)
			useless++;
	}
	pthread_mutex_unlock(&mutex);
	return NULL;
}

static void *dispatcher(void *unused)
{
	(void)unused;
	struct timespec next = now();
	for (int cycle = 0; cycle < CYCLES; cycle++) {
		wait_period(&next, 10 * MS);
		pthread_mutex_lock(&mutex);
		jobs++;
#ifdef CLEAN
		pthread_cond_signal(&condition);
#else
		pthread_cond_broadcast(&condition); // MISTAKE: condvar-herd
#endif
		pthread_mutex_unlock(&mutex);
	}
	return NULL;
}

int main(void)
{
	pthread_t workers[WORKERS];
	lock_memory(MCL_CURRENT | MCL_FUTURE);
	init_mutex(&mutex, PTHREAD_PRIO_INHERIT);
	for (int i = 0; i < WORKERS; i++)
		workers[i] = start_thread("worker", SCHED_FIFO, 60, worker, NULL);
	join(start_thread("dispatcher", SCHED_FIFO, 70, dispatcher, NULL));
	pthread_mutex_lock(&mutex);
	end = 1;
	pthread_cond_broadcast(&condition);
	pthread_mutex_unlock(&mutex);
	for (int i = 0; i < WORKERS; i++)
		join(workers[i]);
	// A job that came before its worker waited is taken at the next wake-up; a few useless ones are no herd.
	return report("a herd", useless > 2 * CYCLES);
}
