// title = "no memory is locked"
// code = "memory-not-locked"
// without-line = true
// flags = ["-O2", "-g"]
// also = ["memory-will-fault"]
// verified = "/proc/PID/status: VmLck is 0 kB; strace: no mlock, no mlockall"
#include "rt.h"

static char *state;

static void *control(void *unused)
{
	(void)unused;
	struct timespec next = now();
	for (int cycle = 0; cycle < 300; cycle++) {
		wait_period(&next, 5 * MS);
		state[cycle % PAGE] ^= 1;
	}
	return NULL;
}

// As start_thread() in rt.h, with memory that is touched before the loop, but not locked.
static pthread_t start_unlocked(void)
{
	pthread_t thread;
	pthread_attr_t attributes;
	struct sched_param param = {.sched_priority = 60};
	char *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	pthread_attr_init(&attributes);
	check(pthread_attr_setstack(&attributes, stack, STACK), "pthread_attr_setstack");
	pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED);
	pthread_attr_setschedpolicy(&attributes, SCHED_FIFO);
	pthread_attr_setschedparam(&attributes, &param);
	check(pthread_create(&thread, &attributes, control, NULL), "pthread_create");
	pthread_setname_np(thread, "control");
	return thread;
}

int main(void)
{
#ifdef CLEAN
	lock_memory(MCL_CURRENT | MCL_FUTURE);
#endif
	state = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	pthread_t thread = start_unlocked();
	long locked = status_value("VmLck:");
	join(thread);
	return report("nothing is locked", locked == 0);
}
