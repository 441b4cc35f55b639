// title = "the control thread forks a child that saves the state to a file, and keeps SCHED_FIFO without an exec"
// code = "fork-priority"
// flags = ["-O2", "-g"]
// also = ["fault-copy-on-write", "memory-not-locked", "memory-will-fault", "stack-not-prefaulted"]
// verified = "the child prints its own policy: SCHED_FIFO, in the clean twin SCHED_OTHER; strace: it opens, writes and synchronizes a file"
#include "rt.h"
#include <sys/wait.h>

#ifdef CLEAN
#define POLICY (SCHED_FIFO | SCHED_RESET_ON_FORK)
#else
#define POLICY SCHED_FIFO
#endif

static char state[4096];
static long inherited;

static int save(void)
{
	char name[] = "/tmp/snapshot-XXXXXX";
	int file = mkstemp(name);
	if (file < 0)
		return 2;
	unlink(name);
	for (int part = 0; part < 64; part++)
		if (write(file, state, sizeof state) < 0)
			return 2;
	fsync(file);
	return sched_getscheduler(0) == SCHED_FIFO;
}

static void *control(void *unused)
{
	(void)unused;
	struct sched_param param = {.sched_priority = 60};
	MUST(sched_setscheduler(0, POLICY, &param));
	pid_t child = fork(); // MISTAKE: fork-priority
	if (child == 0)
		_exit(save());
	struct timespec next = now();
	for (int cycle = 0; cycle < 300; cycle++)
		wait_period(&next, 5 * MS);
	int status;
	waitpid(child, &status, 0);
	inherited = WEXITSTATUS(status) == 1;
	return NULL;
}

int main(void)
{
	lock_memory(MCL_CURRENT | MCL_FUTURE);
	join(start_thread("control", SCHED_OTHER, 0, control, NULL));
	return report("the child is SCHED_FIFO", inherited);
}
