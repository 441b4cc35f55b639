/* Waits in read(), three calls deep; the innermost of its own functions is inlined. */
#include <unistd.h>

volatile int sum;

static inline __attribute__((always_inline)) int take(int fd)
{
	char byte;
	return (int)read(fd, &byte, 1); /* line: take */
}

__attribute__((noinline)) static int wait_for_input(int fd)
{
	int taken = take(fd); /* line: wait_for_input */
	sum += taken;
	return taken;
}

__attribute__((noinline)) int control_loop(int rounds)
{
	int all = 0;
	for (int i = 0; i < rounds; i++)
		all += wait_for_input(0); /* line: control_loop */
	return all;
}

int main(int argc, char **argv)
{
	(void)argv;
	sum += control_loop(argc); /* line: main */
	return sum == 0;
}
