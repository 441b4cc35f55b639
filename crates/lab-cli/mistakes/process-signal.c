// title = "the timer's signal goes to the process, so the main thread gets it instead of the control thread"
// code = "signal-to-other-thread"
// flags = ["-O2", "-g"]
// also = ["helper-not-realtime", "priority-inverted-by-role"]
// verified = "strace -f: SIGRTMIN (SIGRT_2) is delivered to the main thread (SCHED_OTHER); gettid in the handler, counted; the clean twin has SIGEV_THREAD_ID"
#include "rt.h"
#include <semaphore.h>
#include <signal.h>
#include <sys/syscall.h>

#define CYCLES 200

static sem_t tick;
static pid_t control_tid;
static volatile long elsewhere;

static void on_timer(int number)
{
	(void)number;
	if (gettid() != control_tid)
		elsewhere++;
	sem_post(&tick); // MISTAKE: signal-to-other-thread
}

static void *control(void *unused)
{
	(void)unused;
	struct sigevent event;
	timer_t timer;
	struct itimerspec period = {{0, 5 * MS}, {0, 5 * MS}};
	memset(&event, 0, sizeof event);
	control_tid = gettid();
	event.sigev_signo = SIGRTMIN;
#ifdef CLEAN
	event.sigev_notify = SIGEV_THREAD_ID;
	event._sigev_un._tid = control_tid;
#else
	event.sigev_notify = SIGEV_SIGNAL;
#endif
	MUST(timer_create(CLOCK_MONOTONIC, &event, &timer)); // MISTAKE: signal-to-other-thread
	MUST(timer_settime(timer, 0, &period, NULL)); // MISTAKE: signal-to-other-thread
	for (int cycle = 0; cycle < CYCLES; cycle++) {
#ifdef CLEAN
		sigset_t set;
		sigemptyset(&set);
		sigaddset(&set, SIGRTMIN);
		sigwaitinfo(&set, NULL);
#else
		while (sem_wait(&tick) && errno == EINTR) {
		}
#endif
	}
	timer_delete(timer);
	return NULL;
}

int main(void)
{
	struct sigaction action;
	memset(&action, 0, sizeof action);
	lock_memory(MCL_CURRENT | MCL_FUTURE);
	sem_init(&tick, 0, 0);
#ifdef CLEAN
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
#endif
	action.sa_handler = on_timer;
	action.sa_flags = SA_RESTART;
	sigaction(SIGRTMIN, &action, NULL);
	join(start_control(control));
	return report("signals to another thread", elsewhere);
}
