// title = "each cycle waits for a thread of a library, which has SCHED_OTHER"
// code = "helper-not-realtime"
// flags = ["-O2", "-g", "-no-pie", "-fomit-frame-pointer"]
// also = ["priority-inverted-by-role"]
// verified = "strace -f: the control thread waits in futex until the helper wakes it; chrt -p: the helper is SCHED_OTHER, in the clean twin SCHED_FIFO 65"
#include "rt.h"
#include <semaphore.h>

static sem_t request, reply;
static long answered;
static volatile int end;

static void *helper(void *unused)
{
	(void)unused;
	while (!sem_wait(&request) && !end) {
		work(200 * US);
		sem_post(&reply); // MISTAKE: helper-not-realtime
	}
	return NULL;
}

static void *control(void *unused)
{
	(void)unused;
	struct timespec next = now();
	for (int cycle = 0; cycle < 150; cycle++) {
		wait_period(&next, 10 * MS);
		sem_post(&request);
		sem_wait(&reply); // MISTAKE: helper-not-realtime
		answered++;
	}
	return NULL;
}

int main(void)
{
	lock_memory(MCL_CURRENT | MCL_FUTURE);
	sem_init(&request, 0, 0);
	sem_init(&reply, 0, 0);
#ifdef CLEAN
	pthread_t library = start_thread("helper", SCHED_FIFO, 65, helper, NULL);
#else
	pthread_t library = start_thread("helper", SCHED_OTHER, 0, helper, NULL); // MISTAKE: helper-not-realtime
#endif
	int policy;
	struct sched_param param;
	check(pthread_getschedparam(library, &policy, &param), "pthread_getschedparam");
	join(start_control(control));
	end = 1;
	sem_post(&request);
	join(library);
	return report("answers of a thread without priority", policy == SCHED_OTHER ? answered : 0);
}
