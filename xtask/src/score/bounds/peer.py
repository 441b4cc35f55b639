"""Response times of pyCPA and of SchedCAT, for `cargo xtask score --bounds`.

    peer.py pycpa CHECKOUT < sets > responses
    peer.py schedcat CHECKOUT < sets > responses

A line of the input is a task set (JSON), in order of decreasing priority; all times are whole nanoseconds. A line of the
output has the longest response of each task, or null where the peer gives none.
"""

import importlib.util
import json
import logging
import sys


def pycpa(checkout):
    sys.path.insert(0, checkout)
    from pycpa import analysis, model, options, propagation, schedulers

    logging.disable(logging.CRITICAL)
    options.init_pycpa(implicit=True)
    options.set_opt("propagation", "jitter")
    options.set_opt("max_iterations", 100_000)

    def responses(tasks):
        system = model.System()
        cpus = {}
        made = []
        for task in tasks:
            cpu = task["cpu"]
            if cpu not in cpus:
                equal = schedulers.prio_high_wins_equal_fifo
                cpus[cpu] = system.bind_resource(model.Resource("cpu%d" % cpu, schedulers.SPPScheduler(equal)))
            # A chain may pass a job on at once: what bounds it is the longest response alone.
            own = model.Task(task["name"], wcet=task["cost"], bcet=0, scheduling_parameter=task["priority"],
                             OutEventModelClass=propagation.JitterPropagationEventModel)
            made.append(cpus[cpu].bind_task(own))
        for task, own in zip(tasks, made):
            if task["after"] is None:
                own.in_event_model = model.PJdEventModel(P=task["period"], J=task["jitter"])
            else:
                made[task["after"]].link_dependent_task(own)
        try:
            results = analysis.analyze_system(system)
            # It may stop before the fixed point: a task whose input comes in larger bursts, and whose own response stays as it
            # was, does not have its successors analysed again (`analyze_system` looks at the response alone).
            known = None
            while known != (now := [results[own].wcrt for own in made]):
                known = now
                for own in made:
                    analysis._propagate(own, results)
                for own in made:
                    analysis.analyze_task(own, results)
        except analysis.NotSchedulableException:
            return [None] * len(tasks)
        return [longest(task, results[own]) for task, own in zip(tasks, made)]

    def longest(task, result):
        if task["after"] is not None:
            return int(result.wcrt)
        # pyCPA counts from the arrival; a release is up to the jitter later than its period has it.
        jobs = enumerate(result.busy_times[1:])
        return int(max(busy - job * task["period"] + task["jitter"] for job, busy in jobs))

    return responses


def schedcat(checkout):
    # The package as a whole is for Python 2; this module is for both.
    spec = importlib.util.spec_from_file_location("rta", checkout + "/schedcat/sched/fp/rta.py")
    rta = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(rta)

    class Task:
        pass

    class TaskSet(list):
        def only_constrained_deadlines(self):
            return all(task.deadline <= task.period for task in self)

    def responses(tasks):
        made = TaskSet()
        for task in tasks:
            own = Task()
            own.cost, own.period, own.deadline = task["cost"], task["period"], task["period"]
            own.jitter, own.suspended, own.prio_inversion = task["jitter"], task["suspended"], task["blocking"]
            made.append(own)
        rta.bound_response_times(1, made)
        return [getattr(own, "response_time", None) for own in made]

    return responses


def main():
    peer = {"pycpa": pycpa, "schedcat": schedcat}[sys.argv[1]](sys.argv[2])
    for line in sys.stdin:
        print(json.dumps(peer(json.loads(line))))


main()
