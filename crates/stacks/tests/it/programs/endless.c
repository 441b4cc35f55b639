/* Waits in read(); to find the caller of wait_for_input, an expression has to be evaluated that jumps to itself. */
#include <unistd.h>

volatile int sum;

__attribute__((noinline)) int wait_for_input(int fd)
{
	char byte;
	/* DW_CFA_def_cfa_expression, 3 bytes: DW_OP_skip -3 */
	__asm__ volatile(".cfi_escape 0x0f, 0x03, 0x2f, 0xfd, 0xff");
	sum += (int)read(fd, &byte, 1); /* line: wait_for_input */
	return sum;
}

int main(int argc, char **argv)
{
	(void)argv;
	for (int i = 0; i < argc; i++)
		sum += wait_for_input(0);
	return sum == 0;
}
