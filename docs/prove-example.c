/* The program of docs/prove.md: `ctl` (SCHED_FIFO 50) works for 200 us of every 5 ms, and `hog` (SCHED_FIFO 60) for 6 ms of
 * every 50 ms on the same CPU. Needs root.
 *
 * gcc -O1 -static -pthread prove-example.c -o two; ./two SECONDS [CPU]
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static int cpu = 1;

static void become(const char *name, int priority)
{
	struct sched_param param = { .sched_priority = priority };
	cpu_set_t cpus;

	pthread_setname_np(pthread_self(), name);
	if (sched_setscheduler(0, SCHED_FIFO, &param)) {
		perror("sched_setscheduler");
		exit(1);
	}
	CPU_ZERO(&cpus);
	CPU_SET(cpu, &cpus);
	sched_setaffinity(0, sizeof cpus, &cpus);
}

static void spin(long us)
{
	struct timespec begun, now;

	clock_gettime(CLOCK_MONOTONIC, &begun);
	do
		clock_gettime(CLOCK_MONOTONIC, &now);
	while ((now.tv_sec - begun.tv_sec) * 1000000L + (now.tv_nsec - begun.tv_nsec) / 1000 < us);
}

static void loop(long period_us, long work_us)
{
	struct timespec next;

	clock_gettime(CLOCK_MONOTONIC, &next);
	for (;;) {
		next.tv_nsec += period_us * 1000;
		while (next.tv_nsec >= 1000000000L) {
			next.tv_nsec -= 1000000000L;
			next.tv_sec++;
		}
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
		spin(work_us);
	}
}

static void *hog(void *unused)
{
	become("hog", 60);
	loop(50000, 6000);
	return unused;
}

static void *ctl(void *unused)
{
	become("ctl", 50);
	loop(5000, 200);
	return unused;
}

int main(int count, char **arguments)
{
	pthread_t threads[2];

	alarm(count > 1 ? atoi(arguments[1]) : 60);
	if (count > 2)
		cpu = atoi(arguments[2]);
	pthread_create(&threads[0], NULL, hog, NULL);
	pthread_create(&threads[1], NULL, ctl, NULL);
	pthread_join(threads[0], NULL);
	return 0;
}
