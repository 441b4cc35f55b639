// title = "each cycle receives a UDP message, and the socket does not give its time of arrival"
// code = "socket-without-timestamp"
// flags = ["-O2", "-g"]
// verified = "strace -f: 200 recvmsg in the loop without a control message and no SO_TIMESTAMPNS; in the clean twin each has one, which the program counts"
#include "rt.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

static int sender, receiver;
static long without_time;

static void *feed(void *unused)
{
	(void)unused;
	struct timespec next = now();
	for (int cycle = 0; cycle < 200; cycle++) {
		wait_period(&next, 5 * MS);
		MUST(send(sender, "sample", 6, 0));
	}
	return NULL;
}

static void *control(void *unused)
{
	(void)unused;
	char data[64], room[128];
	for (int cycle = 0; cycle < 200; cycle++) {
		struct iovec part = {data, sizeof data};
		struct msghdr message;
		memset(&message, 0, sizeof message);
		message.msg_iov = &part;
		message.msg_iovlen = 1;
		message.msg_control = room;
		message.msg_controllen = sizeof room;
		MUST(recvmsg(receiver, &message, 0)); // MISTAKE: socket-without-timestamp
		without_time += CMSG_FIRSTHDR(&message) == NULL;
	}
	return NULL;
}

int main(void)
{
	struct sockaddr_in address;
	socklen_t length = sizeof address;
	memset(&address, 0, sizeof address);
	address.sin_family = AF_INET;
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	MUST(receiver = socket(AF_INET, SOCK_DGRAM, 0));
	MUST(bind(receiver, (struct sockaddr *)&address, sizeof address));
	MUST(getsockname(receiver, (struct sockaddr *)&address, &length));
	MUST(sender = socket(AF_INET, SOCK_DGRAM, 0));
	MUST(connect(sender, (struct sockaddr *)&address, length));
#ifdef CLEAN
	int yes = 1;
	MUST(setsockopt(receiver, SOL_SOCKET, SO_TIMESTAMPNS, &yes, sizeof yes));
#endif
	lock_memory(MCL_CURRENT | MCL_FUTURE);
	pthread_t reader = start_control(control);
	join(start_thread("feed", SCHED_FIFO, 50, feed, NULL));
	join(reader);
	return report("messages without a time", without_time);
}
