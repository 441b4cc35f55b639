// title = "the timeout of epoll_wait is the period"
// code = "timeout-slack"
// flags = ["-O2", "-g", "-fomit-frame-pointer"]
// also = ["relative-sleep"]
// verified = "strace: epoll_wait with timeout 4 returns 0 in each period; -1 in the clean twin, which has a timerfd"
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/timerfd.h>
#include <unistd.h>

static int epoll, commands;
static long ticks;

static void *server(void *arg)
{
	struct epoll_event event;
	(void)arg;
	for (int i = 0; i < 400; i++) {
#ifdef CLEAN
		uint64_t count;
		if (epoll_wait(epoll, &event, 1, -1) == 1 && read(event.data.fd, &count, sizeof count) > 0)
			ticks++;
#else
		int n = epoll_wait(epoll, &event, 1, 4); // MISTAKE: timeout-slack
		if (n == 0)
			ticks++;
#endif
	}
	return NULL;
}

int main(void)
{
	static char stack[128 * 1024] __attribute__((aligned(4096)));
	struct epoll_event event = { .events = EPOLLIN };
	epoll = epoll_create1(0);
	commands = eventfd(0, EFD_NONBLOCK);
	event.data.fd = commands;
	epoll_ctl(epoll, EPOLL_CTL_ADD, commands, &event);
#ifdef CLEAN
	struct itimerspec period = { { 0, 4000000 }, { 0, 4000000 } };
	int timer = timerfd_create(CLOCK_MONOTONIC, 0);
	timerfd_settime(timer, 0, &period, NULL);
	event.data.fd = timer;
	epoll_ctl(epoll, EPOLL_CTL_ADD, timer, &event);
#endif
	if (epoll < 0 || commands < 0 || mlockall(MCL_CURRENT | MCL_FUTURE))
		return 3;
	pthread_attr_t attr;
	struct sched_param param = { .sched_priority = 42 };
	pthread_t thread;
	pthread_attr_init(&attr);
	pthread_attr_setstack(&attr, stack, sizeof stack);
	pthread_attr_setinheritsched(&attr, PTHREAD_EXPLICIT_SCHED);
	pthread_attr_setschedpolicy(&attr, SCHED_FIFO);
	pthread_attr_setschedparam(&attr, &param);
	if (pthread_create(&thread, &attr, server, NULL))
		return 3;
	pthread_join(thread, NULL);
	fprintf(stderr, "%ld ticks\n", ticks);
	return ticks > 200 ? 0 : 3;
}
