// title = "each cycle sends a head and a body by two writes to a TCP socket without TCP_NODELAY"
// code = "tcp-small-writes"
// flags = ["-O2", "-g"]
// verified = "strace -f: two sendto of 8 and 24 bytes in each cycle and no TCP_NODELAY; the clean twin sets it and sends once"
#include "rt.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

static int sender, receiver;
static long sent;

static void *server(void *unused)
{
	(void)unused;
	char data[256];
	while (recv(receiver, data, sizeof data, 0) > 0) {
	}
	return NULL;
}

static void *control(void *unused)
{
	(void)unused;
	char message[32] = "sample";
	struct timespec next = now();
	for (int cycle = 0; cycle < 200; cycle++) {
		wait_period(&next, 5 * MS);
#ifdef CLEAN
		MUST(send(sender, message, 32, MSG_DONTWAIT));
#else
		MUST(send(sender, message, 8, MSG_DONTWAIT)); // MISTAKE: tcp-small-writes
		MUST(send(sender, message + 8, 24, MSG_DONTWAIT)); // MISTAKE: tcp-small-writes
		sent += 2;
#endif
	}
	shutdown(sender, SHUT_WR);
	return NULL;
}

int main(void)
{
	struct sockaddr_in address;
	socklen_t length = sizeof address;
	memset(&address, 0, sizeof address);
	address.sin_family = AF_INET;
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	int listener;
	MUST(listener = socket(AF_INET, SOCK_STREAM, 0));
	MUST(bind(listener, (struct sockaddr *)&address, sizeof address));
	MUST(listen(listener, 1));
	MUST(getsockname(listener, (struct sockaddr *)&address, &length));
	MUST(sender = socket(AF_INET, SOCK_STREAM, 0));
	MUST(connect(sender, (struct sockaddr *)&address, length));
	MUST(receiver = accept(listener, NULL, NULL));
#ifdef CLEAN
	int yes = 1;
	MUST(setsockopt(sender, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes));
#endif
	lock_memory(MCL_CURRENT | MCL_FUTURE);
	pthread_t reader = start_thread("server", SCHED_OTHER, 0, server, NULL);
	join(start_control(control));
	join(reader);
	return report("small writes", sent);
}
