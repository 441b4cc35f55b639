// title = "two processes share a robust mutex without priority inheritance"
// code = "mutex-without-inheritance"
// flags = ["-O2", "-g", "-fno-omit-frame-pointer"]
// also = ["priority-inversion", "priority-inverted-by-role"]
// verified = "strace -f: futex(FUTEX_WAIT) by the control thread, FUTEX_LOCK_PI in the clean twin; waits counted by trylock"
#include "rt.h"
#include <sys/wait.h>

struct shared {
	pthread_mutex_t mutex;
	long state;
};

static struct shared *shared;
static long waits;

static void *recorder(void *unused)
{
	(void)unused;
	struct timespec next = now();
	for (int cycle = 0; cycle < 200; cycle++) {
		wait_period(&next, 7 * MS);
		pthread_mutex_lock(&shared->mutex); // MISTAKE: mutex-without-inheritance
		work(3 * MS);
		shared->state++;
		pthread_mutex_unlock(&shared->mutex);
	}
	return NULL;
}

static void *control(void *unused)
{
	(void)unused;
	struct timespec next = now();
	for (int cycle = 0; cycle < 280; cycle++) {
		wait_period(&next, 5 * MS);
		if (pthread_mutex_trylock(&shared->mutex)) {
			waits++;
			pthread_mutex_lock(&shared->mutex); // MISTAKE: mutex-without-inheritance
		}
		shared->state++;
		pthread_mutex_unlock(&shared->mutex);
	}
	return NULL;
}

int main(void)
{
	pthread_mutexattr_t attributes;
	shared = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
#ifdef CLEAN
	pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
#endif
	check(pthread_mutex_init(&shared->mutex, &attributes), "pthread_mutex_init");
	pid_t child = fork();
	lock_memory(MCL_CURRENT | MCL_FUTURE);
	if (child == 0) {
		join(start_thread("recorder", SCHED_FIFO, 20, recorder, NULL));
		_exit(0);
	}
	join(start_control(control));
	waitpid(child, NULL, 0);
#ifdef CLEAN
	waits = 0;
#endif
	return report("waits for the mutex", waits);
}
