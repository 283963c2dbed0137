# SPDX-License-Identifier: MIT
"""What is measured: counts of jobs, how long things took, how many jobs came and ran lately."""

from collections import Counter

from model_base import SECOND

HISTOGRAM_BUCKETS = 176
SPAN_SECONDS = 15
WINDOW = 60  # full seconds, or full spans

HISTOGRAMS = ("lifetime", "time_to_completion", "time_to_failure", "runtime", "latency", "attempts")
METERS = ("queued", "run")
ENDS = ("completed", "failed", "canceled", "retried", "lost")
# Not failures: what fails because of something else counts for the second in which the engine comes to it.
THINGS = ("put", "popped", "completed", "retried", "lost")


def bucket_of(value):
    """0 to 7 have a bucket each; above that each power of two has four."""
    value = max(0, value)
    shift = max(0, value.bit_length() - 3)
    return min(4 * shift + (value >> shift), HISTOGRAM_BUCKETS - 1)


class Meter:
    """How many there were in each second; time does not go back."""

    def __init__(self):
        self.newest = 0
        self.seconds = Counter()

    def add(self, now):
        self.newest = max(self.newest, now // SECOND)
        self.seconds[self.newest] += 1
        for second in [each for each in self.seconds if each < self.newest - 1000]:
            del self.seconds[second]

    def between(self, first, end):
        return sum(count for second, count in self.seconds.items() if first <= second < end)

    def rates(self, now):
        """Of the last full second, 60 full seconds, 60 full spans."""
        second = max(self.newest, now // SECOND)
        span = second // SPAN_SECONDS * SPAN_SECONDS
        return [
            float(self.between(second - 1, second)),
            self.between(second - WINDOW, second) / WINDOW,
            self.between(span - WINDOW * SPAN_SECONDS, span) / (WINDOW * SPAN_SECONDS),
        ]


class Metrics:
    def __init__(self):
        self.histograms = {name: Counter() for name in HISTOGRAMS}
        self.meters = {name: Meter() for name in METERS}
        self.ends = dict.fromkeys(ENDS, 0)

    def view(self, now):
        view = {}
        for name, buckets in self.histograms.items():
            view[name] = {"count": sum(buckets.values()),
                          "buckets": {str(bucket): buckets[bucket] for bucket in sorted(buckets)}}
        for name, meter in self.meters.items():
            view[name] = meter.rates(now)
        view["ends"] = dict(self.ends)
        return view


class Series:
    """How often each thing happened in each second."""

    def __init__(self):
        self.things = {name: Counter() for name in THINGS}

    def add(self, thing, second):
        self.things[thing][second] += 1
        for each in [each for each in self.things[thing] if each < second - 2 * WINDOW]:
            del self.things[thing][each]

    def between(self, first, end):
        return [sum(count for second, count in self.things[name].items() if first <= second < end)
                for name in THINGS]


class MetricsRules:
    def happens(self, thing, queue, when):
        """It counts for the second of the call, or of when it was due; time does not go back."""
        self.pass_second(when)
        for name in (queue, ""):
            self.series.setdefault(name, Series()).add(thing, self.second)

    def pass_second(self, now):
        self.second = max(self.second, now // SECOND)

    def call_rates(self, command):
        second = max(self.second, command["now"] // SECOND)
        series = self.series.get(command["queue"], Series())
        return {"minute": series.between(second - WINDOW, second),
                "second": series.between(second - 1, second)}

    def measures(self, queue):
        """Those of the queue and those of all."""
        return [self.metrics.setdefault(name, Metrics()) for name in (queue, "")]

    def measure(self, what, queue, value):
        for metrics in self.measures(queue):
            metrics.histograms[what][bucket_of(value)] += 1

    def meter(self, what, queue, when):
        for metrics in self.measures(queue):
            metrics.meters[what].add(when)

    def ends(self, how, queue):
        for metrics in self.measures(queue):
            metrics.ends[how] += 1

    def measure_complete(self, job, now):
        """A job that is done for good, before anything of it has changed."""
        runs = [entry[0] for entry in job.history if entry[1] == "popped" and entry[3]]
        first_run = runs[0] if runs else job.created
        self.measure("lifetime", job.queue, now - job.created)
        self.measure("time_to_completion", job.queue, now - first_run)
        self.measure("attempts", job.queue, job.attempts)
        self.ends("completed", job.queue)

    def call_metrics(self, command):
        metrics = self.metrics.get(command["queue"]) or (
            None if command["queue"] else Metrics())
        return metrics.view(command["now"]) if metrics else None

    def filtered(self, command):
        queue = command.get("queue", "")
        return [job for job in self.jobs.values()
                if (not queue or job.queue == queue)
                and job.priority == command.get("priority", job.priority)
                and job.state == command.get("state", job.state)]

    def call_count(self, command):
        if "tried" in command or "started" in command:
            jobs = self.filtered({**command, "state": "running"} if "started" in command else
                                 {name: command[name] for name in command if name != "state"})
            return sum(job.started for job in jobs) if "started" in command else sum(
                job.attempts > 0 and job.state not in ("running", "complete", "failed")
                for job in jobs)
        return len(self.filtered(command))

    def call_priorities(self, command):
        return sorted({job.priority for job in self.filtered({"queue": command["queue"]})})
