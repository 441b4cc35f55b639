// title = "a CAN node's loop: frames of another process, with time stamps, each answered"
// clean = true
// flags = ["-O2", "-g", "-fomit-frame-pointer"]
#define _GNU_SOURCE
#include <linux/can.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int fifo(int priority)
{
	struct sched_param param = { .sched_priority = priority };
	return sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &param);
}

// The other node: a frame each 5 ms.
static int peer(int socket)
{
	struct can_frame frame = { .can_id = 0x181, .can_dlc = 8 };
	struct timespec next;
	mlockall(MCL_CURRENT | MCL_FUTURE);
	if (fifo(60))
		return 3;
	clock_gettime(CLOCK_MONOTONIC, &next);
	for (int i = 0; i < 300; i++) {
		next.tv_nsec += 5000000;
		if (next.tv_nsec >= 1000000000) {
			next.tv_nsec -= 1000000000;
			next.tv_sec++;
		}
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
		frame.data[0] = i;
		if (send(socket, &frame, sizeof frame, MSG_DONTWAIT) < 0)
			return 1;
		struct can_frame answer;
		while (recv(socket, &answer, sizeof answer, MSG_DONTWAIT) > 0)
			;
	}
	frame.can_id = 0;
	send(socket, &frame, sizeof frame, 0);
	return 0;
}

int main(void)
{
	int pair[2], on = 1, answered = 0;
	long latest = 0;
	if (socketpair(AF_UNIX, SOCK_DGRAM, 0, pair))
		return 3;
	setsockopt(pair[0], SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on);
	pid_t child = fork();
	if (child == 0)
		_exit(peer(pair[1]));
	if (mlockall(MCL_CURRENT | MCL_FUTURE) || fifo(50))
		return 3;
	for (;;) {
		struct can_frame frame;
		char control[128];
		struct iovec part = { &frame, sizeof frame };
		struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control };
		if (recvmsg(pair[0], &message, 0) != sizeof frame || frame.can_id == 0)
			break;
		for (struct cmsghdr *c = CMSG_FIRSTHDR(&message); c; c = CMSG_NXTHDR(&message, c))
			if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SO_TIMESTAMPNS) {
				struct timespec stamp, now;
				memcpy(&stamp, CMSG_DATA(c), sizeof stamp);
				clock_gettime(CLOCK_REALTIME, &now);
				long age = (now.tv_sec - stamp.tv_sec) * 1000000000 + now.tv_nsec - stamp.tv_nsec;
				latest = age > latest ? age : latest;
			}
		frame.can_id = 0x201;
		frame.data[1] = frame.data[0] * 3;
		if (send(pair[0], &frame, sizeof frame, MSG_DONTWAIT) == sizeof frame)
			answered++;
	}
	struct sched_param none = { 0 };
	sched_setscheduler(0, SCHED_OTHER, &none);
	waitpid(child, NULL, 0);
	fprintf(stderr, "%d answers, the oldest frame %ld ns\n", answered, latest);
	return answered > 200 ? 0 : 3;
}
