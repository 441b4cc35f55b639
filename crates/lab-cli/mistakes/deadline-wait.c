// title = "the period is a timed wait for a condition by the wall clock"
// code = "realtime-clock"
// flags = ["-O2", "-g", "-fomit-frame-pointer"]
// verified = "strace: futex with FUTEX_CLOCK_REALTIME in each period; without it in the clean twin"
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#ifdef CLEAN
#define CLOCK CLOCK_MONOTONIC
#else
#define CLOCK CLOCK_REALTIME
#endif

static pthread_mutex_t mutex;
static pthread_cond_t stop;
static int stopping, timeouts;

static void *regulator(void *unused)
{
	struct timespec until;
	(void)unused;
	clock_gettime(CLOCK, &until);
	pthread_mutex_lock(&mutex);
	for (int i = 0; i < 300 && !stopping; i++) {
		until.tv_nsec += 5 * 1000 * 1000;
		if (until.tv_nsec >= 1000000000) {
			until.tv_nsec -= 1000000000;
			until.tv_sec += 1;
		}
		if (pthread_cond_timedwait(&stop, &mutex, &until) != 0) // MISTAKE: realtime-clock
			timeouts++;
	}
	pthread_mutex_unlock(&mutex);
	return NULL;
}

int main(void)
{
	static char stack[128 * 1024] __attribute__((aligned(4096)));
	pthread_mutexattr_t pi;
	pthread_condattr_t cond;
	pthread_attr_t attr;
	struct sched_param param = { .sched_priority = 40 };
	pthread_t thread;

	if (mlockall(MCL_CURRENT | MCL_FUTURE)) {
		perror("mlockall");
		return 3;
	}
	pthread_mutexattr_init(&pi);
	pthread_mutexattr_setprotocol(&pi, PTHREAD_PRIO_INHERIT);
	pthread_mutex_init(&mutex, &pi);
	pthread_condattr_init(&cond);
	pthread_condattr_setclock(&cond, CLOCK);
	pthread_cond_init(&stop, &cond);
	pthread_attr_init(&attr);
	pthread_attr_setstack(&attr, stack, sizeof(stack));
	pthread_attr_setinheritsched(&attr, PTHREAD_EXPLICIT_SCHED);
	pthread_attr_setschedpolicy(&attr, SCHED_FIFO);
	pthread_attr_setschedparam(&attr, &param);
	if (pthread_create(&thread, &attr, regulator, NULL))
		return 3;
	pthread_join(thread, NULL);
	fprintf(stderr, "%d periods\n", timeouts);
	return timeouts > 100 ? 0 : 3;
}
