# SPDX-License-Identifier: MIT
"""What commands are made up from: few names of everything, mostly of what is there."""

import json

from model import SECOND

QUEUES = ["mail", "web", "slow", "späť"]
JIDS = [f"j{i}" for i in range(24)]
WORKERS = ["w0", "w1", "w2", "w3"]
TAGS = ["red", "green", "blue", "grün", "x"]
GROUPS = ["boom", "bust", "failed-retries-mail"]
RECURRING = ["r0", "r1", "r2"]
KLASSES = ["Klass", "Other", "Recurring", "Changed"]
DOMAINS = ["a.example", "b.example", "c"]
LIMIT_DOMAINS = ["", "*", "*.example", "a*", "*a*e*", *DOMAINS]
STATES = ["scheduled", "depends", "waiting", "running", "stalled", "complete", "failed"]
ZONES = ["Test/One", "Test/Two"]
LONG = "n" * 256
ODD = "no\x1btext\n"
START = 1_700_000_000 * SECOND

BACKOFFS = ["fixed", "linear", "exponential", "list"]
DEPENDENCY_POLICIES = ["hold", "cancel", "fail", "run"]


class Names:
    """Draws of all kinds. A class that inherits has `rng`, `model`, `clock` and `now`."""

    def chance(self, share):
        return self.rng.random() < share

    def some(self, items, most):
        return [self.rng.choice(items) for _ in range(self.rng.randint(1, most))]

    def few(self, items):
        return self.rng.sample(items, self.rng.randint(1, len(items)))

    def jid(self, *states):
        """The jid of a job, mostly one in one of the states."""
        roll = self.rng.random()
        if roll < 0.80:
            jobs = [jid for jid, job in self.model.jobs.items()
                    if not states or job.state in states]
            if jobs:
                return self.rng.choice(jobs)
        if roll < 0.95:
            return self.rng.choice(JIDS)
        return self.rng.choice(["nobody", "r0-1", "r1-2"])

    def queue(self):
        """One of them is crowded."""
        return QUEUES[0] if self.chance(0.4) else self.rng.choice(QUEUES)

    def queue_or_bad(self):
        roll = self.rng.random()
        return "" if roll < 0.003 else LONG if roll < 0.006 else self.queue()

    def queue_or_all(self):
        return "" if self.chance(0.3) else self.queue()

    def worker(self):
        return self.rng.choice(WORKERS)

    def tags(self):
        tags = self.some(TAGS, 3)
        if self.chance(0.01):
            tags.append(self.rng.choice(["", LONG]))
        return tags

    def group(self):
        known = list(self.model.groups)
        return self.rng.choice(known) if known and self.chance(0.6) else self.rng.choice(GROUPS)

    def message(self):
        if self.chance(0.02):
            return "m" * 1500  # longer than a history keeps
        return self.rng.choice(["it broke", "", "no such host"])

    def data(self):
        return json.dumps({"n": self.rng.randint(0, 99)})

    def delay(self):
        return self.rng.choice([1, SECOND, 5 * SECOND, 60 * SECOND, 3600 * SECOND])

    def held(self, queue_too=False):
        """Who claims to hold a lease, mostly rightly."""
        jid = self.jid("running")
        job = self.model.jobs.get(jid)
        arguments = {"jid": jid, "worker": self.worker()}
        if job and job.worker and self.chance(0.85):
            arguments["worker"] = job.worker
        if job and job.token and self.chance(0.3):
            arguments["token"] = job.token
        elif self.chance(0.05):
            arguments["token"] = self.rng.randint(1, self.model.leases_given + 2)
        if queue_too and self.chance(0.3):
            arguments["queue"] = job.queue if job and job.queue and self.chance(0.8) \
                else self.queue()
        return arguments

    def page(self):
        arguments = {}
        if self.chance(0.3):
            arguments["offset"] = self.rng.randint(0, 4)
        if self.chance(0.5):
            arguments["count"] = self.rng.randint(0, 6)
        return arguments

    # How jobs are run

    def options(self):
        rng = self.rng
        options = {}
        if self.chance(0.5):
            options["backoff"] = self.backoff()
        if self.chance(0.3):
            options["timeout_us"] = rng.choice([1, 3, 20, 20, 100, -1]) * SECOND
        if self.chance(0.35):
            options["result_ttl_us"] = rng.choice([SECOND, 5 * SECOND, 600 * SECOND, -1])
        if self.chance(0.35):
            options["crashes_max"] = rng.choice([1, 1, 2, 3, -1])
        if self.chance(0.3):
            options["lease_us"] = self.lease() if self.chance(0.9) else -1
        if self.chance(0.6):
            options["dependency_policy"] = rng.choice(DEPENDENCY_POLICIES)
        return options

    def priority(self):
        if self.chance(0.1):
            return self.rng.choice([-2**31, -2**31 + 1, -2**31 + 2, 2**31 - 1])
        return self.rng.randint(-3, 3)

    def lease(self):
        """The length of a lease; now and then one that may not be."""
        if self.chance(0.02):
            return self.rng.choice([1, 999, 100 * 366 * 86400 * SECOND + 1])
        return self.rng.choice([1000, SECOND, 5 * SECOND, 90 * SECOND, 3600 * SECOND, 0])

    def backoff(self):
        rng = self.rng
        backoff = {"kind": rng.choice(BACKOFFS)}
        if backoff["kind"] == "list":
            backoff["list_us"] = [rng.choice([0, 1, SECOND, 2_345_678, 30 * SECOND])
                                  for _ in range(rng.randint(1, 4))]
        else:
            backoff["base_us"] = rng.choice([0, 1, 333_333, SECOND, 5 * SECOND, 60 * SECOND])
        if self.chance(0.4):
            backoff["cap_us"] = rng.choice([1, 3 * SECOND, 3600 * SECOND])
        if self.chance(0.6):
            backoff["jitter_percent"] = rng.choice([1, 10, 50, 100])
        if self.chance(0.02):
            backoff["jitter_percent"] = 101
        if self.chance(0.02) and "base_us" in backoff:
            backoff = {"kind": backoff["kind"], "base_us": rng.choice([250, 300]) * 10**9 * SECOND}
        return backoff
