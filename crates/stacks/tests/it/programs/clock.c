/* After a byte of input, reads the clock many times: most of it is in the vDSO. */
#include <time.h>
#include <unistd.h>

volatile long sum;

__attribute__((noinline)) static void look(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now); /* line: look */
	sum += now.tv_nsec;
}

int main(void)
{
	char byte;
	if (read(0, &byte, 1) != 1)
		return 1;
	for (int i = 0; i < 3000000; i++)
		look();
	return 0;
}
