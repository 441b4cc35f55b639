// After a byte of input, a vector grows until it has faulted many pages.
#include <unistd.h>
#include <vector>

volatile unsigned long sum;

struct Sample {
	double values[64];
};

namespace plant {
class Queue {
public:
	__attribute__((noinline)) void push(const Sample &sample)
	{
		samples.push_back(sample); // line: push
		sum = sum + 1;
	}

private:
	std::vector<Sample> samples;
};
} // namespace plant

int main()
{
	char byte;
	plant::Queue queue;
	Sample sample = {};
	if (read(0, &byte, 1) != 1)
		return 1;
	for (int i = 0; i < 40000; i++)
		queue.push(sample);
	return 0;
}
