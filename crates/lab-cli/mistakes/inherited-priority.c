// title = "the control thread starts a helper program, which inherits SCHED_FIFO"
// code = "fork-priority"
// flags = ["-O2", "-g"]
// also = ["memory-not-locked", "memory-will-fault", "stack-not-prefaulted", "relative-sleep", "file-open"]
// verified = "sched_getscheduler of the helper, printed: SCHED_FIFO, in the clean twin SCHED_OTHER"
// # What else is true is true of the helper, a real-time program by mistake.
#include "rt.h"
#include <spawn.h>
#include <sys/wait.h>

#ifdef CLEAN
#define POLICY (SCHED_FIFO | SCHED_RESET_ON_FORK)
#else
#define POLICY SCHED_FIFO
#endif

extern char **environ;
static long inherited;

static void *control(void *unused)
{
	(void)unused;
	struct sched_param param = {.sched_priority = 60};
	char *command[] = {(char *)"sleep", (char *)"1.2", NULL};
	pid_t helper;
	MUST(sched_setscheduler(0, POLICY, &param));
	check(posix_spawnp(&helper, command[0], NULL, NULL, command, environ), "posix_spawnp"); // MISTAKE: fork-priority
	inherited = sched_getscheduler(helper) == SCHED_FIFO;
	struct timespec next = now();
	for (int cycle = 0; cycle < 300; cycle++)
		wait_period(&next, 5 * MS);
	waitpid(helper, NULL, 0);
	return NULL;
}

int main(void)
{
	lock_memory(MCL_CURRENT | MCL_FUTURE);
	join(start_thread("control", SCHED_OTHER, 0, control, NULL));
	return report("the helper is SCHED_FIFO", inherited);
}
