// title = "mlockall locks a catalogue of 512 MB that the control thread never uses"
// code = "memory-all-locked"
// flags = ["-O2", "-g"]
// verified = "/proc/PID/status: VmLck is over 500 MB, in the clean twin a few MB; strace: mlockall(MCL_CURRENT|MCL_FUTURE)"
#include "rt.h"

#define SIZE (512L * 1024 * 1024)

static char *state;

static void *control(void *unused)
{
	(void)unused;
	struct timespec next = now();
	for (int cycle = 0; cycle < 300; cycle++) {
		wait_period(&next, 5 * MS);
		state[cycle % PAGE] ^= 1;
	}
	return NULL;
}

int main(void)
{
#ifdef CLEAN
	lock_memory(MCL_CURRENT);
#else
	lock_memory(0);
	MUST(mlockall(MCL_CURRENT | MCL_FUTURE)); // MISTAKE: memory-all-locked
#endif
	// Read by the program's other threads alone.
	char *catalogue = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (catalogue == MAP_FAILED)
		give_up("mmap");
	for (long at = 0; at < SIZE; at += PAGE)
		catalogue[at] = 1;
	state = resident(PAGE);
	pthread_t thread = start_control(control);
	long locked = status_value("VmLck:");
	join(thread);
	return report("the catalogue is locked", locked > SIZE / 1024);
}
