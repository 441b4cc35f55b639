// title = "starts a thread for each tenth cycle, and waits for it"
// code = "start-in-loop"
// flags = ["-O2", "-g"]
// also = ["heap-in-loop", "helper-not-realtime", "memory-will-fault", "fault-stack", "fault-first-touch"]
// verified = "strace -f: clone3 by the control thread in each tenth cycle; the program counts the threads; in the clean twin one thread, started before, does the jobs"
#include "rt.h"

static long started;
static volatile long done;

#ifdef CLEAN
static pthread_mutex_t mutex;
static volatile int job, over;

static void *worker(void *unused)
{
	(void)unused;
	struct timespec next = now();
	while (!over) {
		wait_period(&next, 10 * MS);
		pthread_mutex_lock(&mutex);
		done += job;
		job = 0;
		pthread_mutex_unlock(&mutex);
	}
	return NULL;
}
#else
static void *worker(void *unused)
{
	done++;
	return unused;
}
#endif

static void *control(void *unused)
{
	(void)unused;
	struct timespec next = now();
	for (int cycle = 0; cycle < 500; cycle++) {
		wait_period(&next, 2 * MS);
		work(100 * US);
		if (cycle % 10)
			continue;
#ifdef CLEAN
		pthread_mutex_lock(&mutex);
		job = 1;
		pthread_mutex_unlock(&mutex);
#else
		pthread_t thread;
		check(pthread_create(&thread, NULL, worker, NULL), "pthread_create"); // MISTAKE: start-in-loop
		started++;
		join(thread);
#endif
	}
	return NULL;
}

int main(void)
{
	lock_memory(MCL_CURRENT | MCL_FUTURE);
#ifdef CLEAN
	init_mutex(&mutex, PTHREAD_PRIO_INHERIT);
	pthread_t helper = start_thread("worker", SCHED_FIFO, 40, worker, NULL);
#endif
	join(start_control(control));
#ifdef CLEAN
	over = 1;
	join(helper);
#endif
	return report("threads that were started", started);
}
