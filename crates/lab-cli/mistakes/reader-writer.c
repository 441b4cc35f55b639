// title = "a reader-writer lock between priorities 60 and 20: it has no priority inheritance"
// code = "rwlock-without-inheritance"
// flags = ["-O2", "-g"]
// also = ["priority-inverted-by-role", "priority-inversion"]
// verified = "strace -f: futex(FUTEX_WAIT_BITSET) by the control thread in pthread_rwlock_wrlock; waits counted by pthread_rwlock_trywrlock; the clean twin has a PI mutex"
#include "rt.h"

#ifdef CLEAN
static pthread_mutex_t lock;
#define READ() pthread_mutex_lock(&lock)
#define TRY() pthread_mutex_trylock(&lock)
#define WRITE() pthread_mutex_lock(&lock)
#define UNLOCK() pthread_mutex_unlock(&lock)
#else
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
#define READ() pthread_rwlock_rdlock(&lock)
#define TRY() pthread_rwlock_trywrlock(&lock)
#define WRITE() pthread_rwlock_wrlock(&lock)
#define UNLOCK() pthread_rwlock_unlock(&lock)
#endif

static volatile long table;
static long waits;

static void *display(void *unused)
{
	(void)unused;
	struct timespec next = now();
	long shown = 0;
	for (int cycle = 0; cycle < 200; cycle++) {
		wait_period(&next, 7 * MS);
		READ(); // MISTAKE: rwlock-without-inheritance
		work(3 * MS);
		shown += table;
		UNLOCK();
	}
	return (void *)shown;
}

static void *control(void *unused)
{
	(void)unused;
	struct timespec next = now();
	for (int cycle = 0; cycle < 280; cycle++) {
		wait_period(&next, 5 * MS);
		if (TRY()) {
			waits++;
			WRITE(); // MISTAKE: rwlock-without-inheritance
		}
		table++;
		UNLOCK();
	}
	return NULL;
}

int main(void)
{
	lock_memory(MCL_CURRENT | MCL_FUTURE);
#ifdef CLEAN
	init_mutex(&lock, PTHREAD_PRIO_INHERIT);
#endif
	pthread_t low = start_thread("display", SCHED_FIFO, 20, display, NULL);
	join(start_control(control));
	join(low);
#ifdef CLEAN
	waits = 0;
#endif
	return report("waits for the lock", waits);
}
