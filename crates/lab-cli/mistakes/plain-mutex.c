// title = "threads of priority 60 and 20 share a mutex without priority inheritance"
// code = "mutex-without-inheritance"
// flags = ["-O2", "-g"]
// also = ["priority-inversion", "priority-inverted-by-role"]
// verified = "strace -f: futex(FUTEX_WAIT_PRIVATE) by the control thread, FUTEX_LOCK_PI_PRIVATE in the clean twin; waits counted by trylock"
#include "rt.h"

static pthread_mutex_t mutex;
static long state, waits;

static void *logger(void *unused)
{
	(void)unused;
	struct timespec next = now();
	for (int cycle = 0; cycle < 200; cycle++) {
		wait_period(&next, 7 * MS);
		pthread_mutex_lock(&mutex); // MISTAKE: mutex-without-inheritance
		work(3 * MS);
		state++;
		pthread_mutex_unlock(&mutex);
	}
	return NULL;
}

static void *control(void *unused)
{
	(void)unused;
	struct timespec next = now();
	for (int cycle = 0; cycle < 280; cycle++) {
		wait_period(&next, 5 * MS);
		if (pthread_mutex_trylock(&mutex)) {
			waits++;
			pthread_mutex_lock(&mutex); // MISTAKE: mutex-without-inheritance
		}
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
	pthread_t low = start_thread("logger", SCHED_FIFO, 20, logger, NULL);
	join(start_control(control));
	join(low);
#ifdef CLEAN
	waits = 0;
#endif
	return report("waits for the mutex", waits);
}
