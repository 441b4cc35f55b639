// What every program of the suite does right, so that its mistake is the only one: memory locked, a thread with
// SCHED_FIFO and a resident stack, absolute sleeps, mutexes with priority inheritance. A program that leaves one of these
// out does so in its own file.
#ifndef RT_H
#define RT_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define MS 1000000L
#define US 1000L
#define PAGE 4096L
#define STACK (256L * 1024)

// Ends the program with exit code 3, "the mistake cannot take place here": no root, or another kernel.
static inline void give_up(const char *what)
{
	perror(what);
	exit(3);
}

#define MUST(call) \
	do { \
		if ((call) < 0) \
			give_up(#call); \
	} while (0)

static inline void check(int error, const char *what)
{
	if (error) {
		errno = error;
		give_up(what);
	}
}

// Locks memory; malloc returns nothing to the kernel from here on, and its first heap is resident.
static inline void lock_memory(int flags)
{
	mallopt(M_MMAP_MAX, 0);
	mallopt(M_TRIM_THRESHOLD, 0x7fffffff);
	// Through a volatile pointer: compilers leave out what is freed unused.
	void *volatile first = malloc(64);
	free(first);
	if (flags)
		MUST(mlockall(flags));
}

// New memory that is resident and stays so.
static inline char *resident(size_t size)
{
	int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE | MAP_LOCKED;
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, flags, -1, 0);
	if (memory == MAP_FAILED)
		give_up("mmap");
	return (char *)memory;
}

// A thread with a resident stack. SCHED_OTHER takes priority 0.
static inline pthread_t start_thread(const char *name, int policy, int priority, void *(*body)(void *), void *argument)
{
	pthread_t thread;
	pthread_attr_t attributes;
	struct sched_param param;
	memset(&param, 0, sizeof param);
	param.sched_priority = priority;
	pthread_attr_init(&attributes);
	check(pthread_attr_setstack(&attributes, resident(STACK), STACK), "pthread_attr_setstack");
	pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED);
	pthread_attr_setschedpolicy(&attributes, policy);
	pthread_attr_setschedparam(&attributes, &param);
	check(pthread_create(&thread, &attributes, body, argument), "pthread_create");
	pthread_attr_destroy(&attributes);
	pthread_setname_np(thread, name);
	return thread;
}

static inline pthread_t start_control(void *(*body)(void *))
{
	return start_thread("control", SCHED_FIFO, 60, body, NULL);
}

static inline void join(pthread_t thread)
{
	check(pthread_join(thread, NULL), "pthread_join");
}

static inline void init_mutex(pthread_mutex_t *mutex, int protocol)
{
	pthread_mutexattr_t attributes;
	pthread_mutexattr_init(&attributes);
	check(pthread_mutexattr_setprotocol(&attributes, protocol), "pthread_mutexattr_setprotocol");
	check(pthread_mutex_init(mutex, &attributes), "pthread_mutex_init");
	pthread_mutexattr_destroy(&attributes);
}

static inline struct timespec now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return time;
}

static inline long since(const struct timespec *start)
{
	struct timespec time = now();
	return (time.tv_sec - start->tv_sec) * 1000000000L + (time.tv_nsec - start->tv_nsec);
}

static inline void add(struct timespec *time, long ns)
{
	time->tv_nsec += ns;
	while (time->tv_nsec >= 1000000000L) {
		time->tv_nsec -= 1000000000L;
		time->tv_sec++;
	}
}

static inline void sleep_until(const struct timespec *time)
{
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, time, NULL) == EINTR) {
	}
}

// The wait for the next period of a thread.
static inline void wait_period(struct timespec *next, long ns)
{
	add(next, ns);
	sleep_until(next);
}

// Computes for so long; at most 20 ms in this suite.
static inline void work(long ns)
{
	struct timespec start = now();
	while (since(&start) < ns) {
	}
}

// Page faults of the calling thread so far, as the kernel counts them.
static inline long thread_faults(void)
{
	struct rusage usage;
	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_minflt + usage.ru_majflt;
}

// A value of /proc/self/status, in its own unit.
static inline long status_value(const char *key)
{
	char line[256];
	long value = -1;
	FILE *status = fopen("/proc/self/status", "r");
	if (!status)
		give_up("/proc/self/status");
	while (fgets(line, sizeof line, status))
		if (!strncmp(line, key, strlen(key)))
			value = atol(line + strlen(key));
	fclose(status);
	return value;
}

// The exit code: 0 if the mistake took place, or did not take place in the clean twin; 3 otherwise. `figure` counts the
// mistake.
static inline int report(const char *what, long figure)
{
	fprintf(stderr, "%s: %ld\n", what, figure);
#ifdef CLEAN
	return figure == 0 ? 0 : 3;
#else
	return figure > 0 ? 0 : 3;
#endif
}

#endif
