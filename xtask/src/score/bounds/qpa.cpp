// The largest cost that the last task may have under EDF, by the test of SchedCAT, for `cargo xtask score --bounds`.
//
// A line of the input is a task set: cost, deadline and period of each task in nanoseconds. A line of the output has the largest
// cost of the last task with which all deadlines are met, up to its deadline; 0 where there is none.

#include "tasks.h"
#include "schedulability.h"
#include "edf/qpa.h"

#include <algorithm>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

int main()
{
    std::string line;
    while (std::getline(std::cin, line)) {
        std::istringstream words(line);
        std::vector<unsigned long> costs, deadlines, periods;
        for (unsigned long cost, deadline, period; words >> cost >> deadline >> period;) {
            costs.push_back(cost);
            deadlines.push_back(deadline);
            periods.push_back(period);
        }
        if (costs.empty()) {
            std::cerr << "not a task set: " << line << std::endl;
            return 2;
        }
        unsigned long least = 0, most = std::min(deadlines.back(), periods.back());
        while (least < most) {
            unsigned long cost = least + (most - least + 1) / 2;
            costs.back() = cost;
            TaskSet set;
            for (size_t at = 0; at < costs.size(); at++)
                set.add_task(costs[at], periods[at], deadlines[at]);
            if (QPATest(1).is_schedulable(set))
                least = cost;
            else
                most = cost - 1;
        }
        std::cout << least << std::endl;
    }
    return 0;
}
