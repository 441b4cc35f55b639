// A control loop of 2 ms with eight mistakes. FIX=n mends the first n of them:
//
//     gcc -O2 -g -DFIX=0 control.c -o control -pthread && sudo ./control
//
// It prints three distributions: the work of a cycle (from its wake-up to its end), how far its wake-ups are from the
// grid of 2 ms that the first one began, and how long a message took to its reader.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#ifndef FIX
#define FIX 0
#endif
#define CYCLES 1500
#define PERIOD 2000000L
#define HISTORY 2048

struct message {
	long sent;
	char body[24];
};

static pthread_mutex_t mutex;
static int sender, receiver;
static long work_ns[CYCLES], grid_ns[CYCLES], message_ns[CYCLES];
static long shared, position;
static double *history;

static long now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000L + time.tv_nsec;
}

static void compute(long ns)
{
	for (long end = now() + ns; now() < end;)
		;
}

static void wait_for(long instant)
{
	struct timespec time = {instant / 1000000000L, instant % 1000000000L};
#if FIX < 1
	time = (struct timespec){0, PERIOD};
	clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL);
#else
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL);
#endif
}

static void send_message(void)
{
	struct message message = {now(), "position"};
#if FIX < 6
	send(sender, &message.sent, sizeof message.sent, MSG_DONTWAIT);
	send(sender, message.body, sizeof message.body, MSG_DONTWAIT);
#else
	send(sender, &message, sizeof message, MSG_DONTWAIT);
#endif
}

static void *control(void *unused)
{
	(void)unused;
	long start = now();
	for (long cycle = 0; cycle < CYCLES; cycle++) {
		wait_for(start + (cycle + 1) * PERIOD);
		long woken = now();
		grid_ns[cycle] = labs(woken - (start + (cycle + 1) * PERIOD));
		pthread_mutex_lock(&mutex);
		position = shared++;
		pthread_mutex_unlock(&mutex);
		for (long at = 0; at < HISTORY; at += 512)
			history[cycle * HISTORY + at] = position;
		compute(100000);
#if FIX < 4
		printf("cycle %ld: position %ld\n", cycle, position);
		fflush(stdout);
#endif
#if FIX < 5
		for (int turn = 0; turn < 5; turn++)
			sched_yield();
#endif
		send_message();
		work_ns[cycle] = now() - woken;
	}
	shutdown(sender, SHUT_WR);
	return NULL;
}

// Stores what the control thread has computed, every 10 ms.
static void *logger(void *unused)
{
	(void)unused;
	for (int turn = 0; turn < CYCLES / 5; turn++) {
		pthread_mutex_lock(&mutex);
		compute(300000);
		shared++;
		pthread_mutex_unlock(&mutex);
		usleep(9000);
	}
	return NULL;
}

// Looks at pictures: 3 ms of work every 17 ms.
static void *vision(void *unused)
{
	(void)unused;
	long next = now();
	for (int turn = 0; turn < CYCLES * 2 / 17; turn++) {
		struct timespec time = {(next += 17000000L) / 1000000000L, next % 1000000000L};
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL);
		compute(3000000);
	}
	return NULL;
}

static void *reader(void *unused)
{
	(void)unused;
	struct message message;
	for (long count = 0; recv(receiver, &message, sizeof message, MSG_WAITALL) == sizeof message; count++)
		message_ns[count] = now() - message.sent;
	return NULL;
}

static void connect_both(void)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t length = sizeof address;
	int listener = socket(AF_INET, SOCK_STREAM, 0);
	bind(listener, (struct sockaddr *)&address, sizeof address);
	listen(listener, 1);
	getsockname(listener, (struct sockaddr *)&address, &length);
	sender = socket(AF_INET, SOCK_STREAM, 0);
	connect(sender, (struct sockaddr *)&address, length);
	receiver = accept(listener, NULL, NULL);
#if FIX >= 6
	int yes = 1;
	setsockopt(sender, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
#endif
}

static pthread_t start(void *(*body)(void *), int priority, int cpu)
{
	pthread_t thread;
	pthread_attr_t attributes;
	struct sched_param param = {priority};
	cpu_set_t cpus;
	CPU_ZERO(&cpus);
	CPU_SET(cpu, &cpus);
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 256 * 1024);
	pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED);
	pthread_attr_setschedpolicy(&attributes, priority ? SCHED_FIFO : SCHED_OTHER);
	pthread_attr_setschedparam(&attributes, &param);
	pthread_attr_setaffinity_np(&attributes, sizeof cpus, &cpus);
	if (pthread_create(&thread, &attributes, body, NULL))
		exit((perror("pthread_create: run it as root"), 2));
	return thread;
}

static int ascending(const void *one, const void *other)
{
	long difference = *(const long *)one - *(const long *)other;
	return (difference > 0) - (difference < 0);
}

static void report(const char *what, long *ns)
{
	qsort(ns, CYCLES, sizeof *ns, ascending);
	fprintf(stderr, "%-8s p50 %8.1f us   p99 %8.1f us   max %8.1f us\n", what, ns[CYCLES / 2] / 1e3,
		ns[CYCLES * 99 / 100] / 1e3, ns[CYCLES - 1] / 1e3);
}

int main(void)
{
	pthread_mutexattr_t attributes;
	pthread_mutexattr_init(&attributes);
#if FIX >= 3
	pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
#endif
	pthread_mutex_init(&mutex, &attributes);
#if FIX >= 2
	mlockall(MCL_CURRENT | MCL_FUTURE);
#endif
	history = mmap(NULL, CYCLES * HISTORY * sizeof *history, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	connect_both();
	int last = sysconf(_SC_NPROCESSORS_ONLN) - 1;
	pthread_t threads[] = {
		start(reader, 50, 0),
		start(logger, 0, last),
		start(vision, 40, last),
		start(control, FIX < 7 ? 99 : 60, last),
	};
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	report("work", work_ns);
	report("grid", grid_ns);
	report("message", message_ns);
	return 0;
}
