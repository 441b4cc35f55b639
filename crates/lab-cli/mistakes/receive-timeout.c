// title = "the timeout of a socket, which the kernel rounds to ticks, paces the loop"
// code = "tick-timeout"
// flags = ["-O2", "-g"]
// also = ["timeout-slack", "relative-sleep"]
// verified = "strace -f: setsockopt(SO_RCVTIMEO), then recvfrom = -1 EAGAIN after more than 5 ms in each cycle; the clean twin has MSG_DONTWAIT"
#include "rt.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

static int commands;
static long timeouts;

static void *control(void *unused)
{
	(void)unused;
	char command[64];
	struct timespec next = now();
	for (int cycle = 0; cycle < 150; cycle++) {
#ifdef CLEAN
		wait_period(&next, 5 * MS);
		recv(commands, command, sizeof command, MSG_DONTWAIT);
#else
		timeouts += recv(commands, command, sizeof command, 0) < 0; // MISTAKE: tick-timeout
#endif
		work(100 * US);
	}
	(void)next;
	return NULL;
}

int main(void)
{
	struct sockaddr_in address;
	memset(&address, 0, sizeof address);
	address.sin_family = AF_INET;
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	MUST(commands = socket(AF_INET, SOCK_DGRAM, 0));
	MUST(bind(commands, (struct sockaddr *)&address, sizeof address));
#ifndef CLEAN
	struct timeval timeout = {0, 5000};
	MUST(setsockopt(commands, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout)); // MISTAKE: tick-timeout
#endif
	lock_memory(MCL_CURRENT | MCL_FUTURE);
	join(start_control(control));
	return report("timeouts", timeouts);
}
