// title = "saves its state, a mapped file, with msync in each cycle"
// code = "file-sync"
// flags = ["-O2", "-g", "-no-pie"]
// also = ["fault-file"]
// verified = "strace: msync(MS_SYNC) in each cycle of the thread; in the clean twin by a thread without priority"
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

struct state {
	long cycle;
	double joints[6];
};

static struct state *saved;
static struct state current;
static atomic_int running = 1;
static int saves;

static void save(void)
{
	*saved = current;
	msync(saved, 4096, MS_SYNC); // MISTAKE: file-sync
	saves++;
}

static void *motion(void *arg)
{
	struct timespec t;
	(void)arg;
	clock_gettime(CLOCK_MONOTONIC, &t);
	for (int i = 0; i < 150; i++) {
		t.tv_nsec += 10000000;
		if (t.tv_nsec > 999999999) {
			t.tv_nsec -= 1000000000;
			t.tv_sec++;
		}
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
		current.cycle++;
		current.joints[i % 6] += 0.1;
#ifndef CLEAN
		save();
#endif
	}
	return NULL;
}

#ifdef CLEAN
static void *saver(void *arg)
{
	(void)arg;
	while (running) {
		usleep(50000);
		save();
	}
	return NULL;
}
#endif

int main(void)
{
	static char stack[128 * 1024] __attribute__((aligned(4096)));
	char name[] = "stateXXXXXX";
	int fd = mkstemp(name);
	if (fd < 0 || ftruncate(fd, 4096))
		return 3;
	unlink(name);
	saved = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
	if (saved == MAP_FAILED || mlockall(MCL_CURRENT | MCL_FUTURE))
		return 3;
	saved->cycle = 0;
	pthread_attr_t a;
	struct sched_param p = { .sched_priority = 50 };
	pthread_t t;
	pthread_attr_init(&a);
	pthread_attr_setstack(&a, stack, sizeof stack);
	pthread_attr_setinheritsched(&a, PTHREAD_EXPLICIT_SCHED);
	pthread_attr_setschedpolicy(&a, SCHED_FIFO);
	pthread_attr_setschedparam(&a, &p);
	if (pthread_create(&t, &a, motion, NULL))
		return 3;
#ifdef CLEAN
	pthread_t s;
	pthread_create(&s, NULL, saver, NULL);
#endif
	pthread_join(t, NULL);
	running = 0;
#ifdef CLEAN
	pthread_join(s, NULL);
#endif
	fprintf(stderr, "%d saves\n", saves);
	return saves > 5 ? 0 : 3;
}
