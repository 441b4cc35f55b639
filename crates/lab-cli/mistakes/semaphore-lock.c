// title = "a semaphore serves as the lock between priorities 60 and 20: it has no owner to inherit a priority"
// code = "lock-by-semaphore"
// flags = ["-O2", "-g"]
// also = ["priority-inverted-by-role", "priority-inversion"]
// verified = "strace -f: futex(FUTEX_WAIT_BITSET) by the control thread in sem_wait; waits counted by sem_trywait; the clean twin has a PI mutex"
#include "rt.h"
#include <semaphore.h>

#ifdef CLEAN
static pthread_mutex_t mutex;
#define TRY() pthread_mutex_trylock(&mutex)
#define LOCK() pthread_mutex_lock(&mutex)
#define UNLOCK() pthread_mutex_unlock(&mutex)
#else
static sem_t semaphore;
#define TRY() sem_trywait(&semaphore)
#define LOCK() sem_wait(&semaphore)
#define UNLOCK() sem_post(&semaphore)
#endif

static long state, waits;

static void *logger(void *unused)
{
	(void)unused;
	struct timespec next = now();
	for (int cycle = 0; cycle < 200; cycle++) {
		wait_period(&next, 7 * MS);
		LOCK(); // MISTAKE: lock-by-semaphore
		work(3 * MS);
		state++;
		UNLOCK();
	}
	return NULL;
}

static void *control(void *unused)
{
	(void)unused;
	struct timespec next = now();
	for (int cycle = 0; cycle < 280; cycle++) {
		wait_period(&next, 5 * MS);
		if (TRY()) {
			waits++;
			LOCK(); // MISTAKE: lock-by-semaphore
		}
		state++;
		UNLOCK();
	}
	return NULL;
}

int main(void)
{
	lock_memory(MCL_CURRENT | MCL_FUTURE);
#ifdef CLEAN
	init_mutex(&mutex, PTHREAD_PRIO_INHERIT);
#else
	sem_init(&semaphore, 0, 1);
#endif
	pthread_t low = start_thread("logger", SCHED_FIFO, 20, logger, NULL);
	join(start_control(control));
	join(low);
#ifdef CLEAN
	waits = 0;
#endif
	return report("waits for the semaphore", waits);
}
