// title = "a spin lock between priority 60 on CPU 1 and a thread that is not real-time on CPU 0"
// code = "spin-lock"
// flags = ["-O2", "-g"]
// verified = "the program times each lock: many take over 1 ms; perf record shows them in pthread_spin_lock; the clean twin has a PI mutex"
#include "rt.h"

#ifdef CLEAN
static pthread_mutex_t lock;
#define LOCK() pthread_mutex_lock(&lock)
#define UNLOCK() pthread_mutex_unlock(&lock)
#else
static pthread_spinlock_t lock;
#define LOCK() pthread_spin_lock(&lock)
#define UNLOCK() pthread_spin_unlock(&lock)
#endif

static long waits;
static volatile long state;
static volatile int over;

static void pin(int cpu)
{
	cpu_set_t cpus;
	CPU_ZERO(&cpus);
	CPU_SET(cpu, &cpus);
	MUST(sched_setaffinity(0, sizeof cpus, &cpus));
}

static void *planner(void *unused)
{
	(void)unused;
	pin(0);
	while (!over) {
		LOCK();
		work(6 * MS);
		state++;
		UNLOCK();
		usleep(3000);
	}
	return NULL;
}

static void *control(void *unused)
{
	(void)unused;
	pin(1);
	struct timespec next = now();
	for (int cycle = 0; cycle < 120; cycle++) {
		wait_period(&next, 10 * MS);
		struct timespec start = now();
		LOCK(); // MISTAKE: spin-lock
		waits += since(&start) > MS;
		state++;
		UNLOCK();
	}
	return NULL;
}

int main(void)
{
	lock_memory(MCL_CURRENT | MCL_FUTURE);
#ifdef CLEAN
	init_mutex(&lock, PTHREAD_PRIO_INHERIT);
#else
	pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE);
#endif
	pthread_t low = start_thread("planner", SCHED_OTHER, 0, planner, NULL);
	join(start_control(control));
	over = 1;
	join(low);
#ifdef CLEAN
	waits = 0;
#endif
	return report("locks that took over 1 ms", waits);
}
