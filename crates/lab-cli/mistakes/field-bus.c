// title = "a field bus master: absolute periods shifted towards a reference clock, process data in and out each cycle"
// clean = true
// flags = ["-O2", "-g"]
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define CYCLE 2000000L

struct datagram {
	uint64_t time;
	uint32_t counter;
	int16_t targets[8], actuals[8];
};

static int out, in;
static int received;
static uint32_t histogram[100];

static int64_t ns(const struct timespec *t)
{
	return t->tv_sec * 1000000000LL + t->tv_nsec;
}

// A controller for the offset between this clock and the bus.
static long shift(int64_t reference, int64_t now)
{
	static int64_t integral;
	int64_t error = (now - reference) % CYCLE;
	if (error > CYCLE / 2)
		error -= CYCLE;
	integral += (error > 0) - (error < 0);
	return -(error / 100) - integral / 20;
}

static void *cyclic(void *arg)
{
	struct datagram data = { 0 }, answer;
	struct timespec next, now;
	int64_t reference;
	(void)arg;
	clock_gettime(CLOCK_MONOTONIC, &next);
	reference = ns(&next) + 12345;
	for (int cycle = 0; cycle < 900; cycle++) {
		int64_t at = ns(&next) + CYCLE + shift(reference, ns(&next));
		next.tv_sec = at / 1000000000;
		next.tv_nsec = at % 1000000000;
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
		clock_gettime(CLOCK_MONOTONIC, &now);
		long late = (ns(&now) - at) / 1000;
		histogram[late < 99 ? (late < 0 ? 0 : late) : 99]++;
		while (recv(in, &answer, sizeof answer, MSG_DONTWAIT) == sizeof answer) {
			memcpy(data.actuals, answer.targets, sizeof data.actuals);
			received++;
		}
		for (int axis = 0; axis < 8; axis++)
			data.targets[axis] += (data.actuals[axis] < 1000) - (data.actuals[axis] > 1000);
		data.counter++;
		data.time = ns(&now);
		send(out, &data, sizeof data, MSG_DONTWAIT);
	}
	return NULL;
}

int main(void)
{
	static char stack[128 * 1024] __attribute__((aligned(4096)));
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t length = sizeof address;
	struct sched_param param = { .sched_priority = 80 };
	pthread_attr_t attr;
	pthread_t thread;

	in = socket(AF_INET, SOCK_DGRAM, 0);
	out = socket(AF_INET, SOCK_DGRAM, 0);
	if (bind(in, (struct sockaddr *)&address, sizeof address) || getsockname(in, (struct sockaddr *)&address, &length) ||
	    connect(out, (struct sockaddr *)&address, sizeof address))
		return 3;
	if (mlockall(MCL_CURRENT | MCL_FUTURE))
		return 3;
	pthread_attr_init(&attr);
	pthread_attr_setstack(&attr, stack, sizeof stack);
	pthread_attr_setinheritsched(&attr, PTHREAD_EXPLICIT_SCHED);
	pthread_attr_setschedpolicy(&attr, SCHED_FIFO);
	pthread_attr_setschedparam(&attr, &param);
	if (pthread_create(&thread, &attr, cyclic, NULL))
		return 3;
	pthread_setname_np(thread, "bus");
	pthread_join(thread, NULL);
	for (int us = 0; us < 100; us++)
		if (histogram[us])
			printf("%d us: %u\n", us, histogram[us]);
	return received > 500 ? 0 : 3;
}
