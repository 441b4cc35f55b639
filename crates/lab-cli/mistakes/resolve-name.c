// title = "every tenth cycle resolves the name of the server"
// code = "name-resolution"
// flags = ["-O2", "-g"]
// also = ["file-open", "heap-in-loop"]
// verified = "strace -f: openat(/etc/hosts) by the control thread in each tenth cycle; in the clean twin before the loop"
#include "rt.h"
#include <netdb.h>
#include <sys/socket.h>

static long resolved;

static void resolve(void)
{
	struct addrinfo hints, *found = NULL;
	memset(&hints, 0, sizeof hints);
	hints.ai_socktype = SOCK_DGRAM;
	int error = getaddrinfo("localhost", "9", &hints, &found); // MISTAKE: name-resolution
	if (!error)
		freeaddrinfo(found);
}

static void *control(void *unused)
{
	(void)unused;
	struct timespec next = now();
#ifdef CLEAN
	resolve();
#endif
	for (int cycle = 0; cycle < 150; cycle++) {
		wait_period(&next, 10 * MS);
#ifndef CLEAN
		if (cycle % 10 == 9) {
			resolve();
			resolved++;
		}
#endif
	}
	return NULL;
}

int main(void)
{
	lock_memory(MCL_CURRENT | MCL_FUTURE);
	join(start_control(control));
	return report("resolutions in the loop", resolved);
}
