// title = "each cycle opens and reads a file of parameters"
// code = "file-open"
// flags = ["-O2", "-g", "-fomit-frame-pointer"]
// verified = "strace -f: openat by the control thread in each cycle; in the clean twin once, before the loop"
#include "rt.h"

static char name[] = "/tmp/mistake-config-XXXXXX";
static long opened;

static int open_parameters(void)
{
	return open(name, O_RDONLY | O_CLOEXEC); // MISTAKE: file-open
}

static void *control(void *unused)
{
	(void)unused;
	char text[64];
	int file = open_parameters();
	MUST(file);
	struct timespec next = now();
	for (int cycle = 0; cycle < 200; cycle++) {
		wait_period(&next, 5 * MS);
#ifndef CLEAN
		close(file);
		MUST(file = open_parameters());
		opened++;
#endif
		MUST(pread(file, text, sizeof text, 0));
	}
	close(file);
	return NULL;
}

int main(void)
{
	int file;
	MUST(file = mkstemp(name));
	MUST(write(file, "gain 3\n", 7));
	lock_memory(MCL_CURRENT | MCL_FUTURE);
	join(start_control(control));
	unlink(name);
	return report("files opened in the loop", opened);
}
