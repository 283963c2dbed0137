# SPDX-License-Identifier: MIT
"""How jobs are run: their own options, those of their klass and their queue, and the backoff."""

from model_base import TIME_MAX, Refused, check_lease, check_name, full_options

BACKOFF_LIST_MAX = 16
MASK = 2**64 - 1


def check_options(options):
    """The options as they are kept: what is below 0 is -1, what does not count is 0."""
    backoff = options["backoff"]
    if not 0 <= backoff["jitter_percent"] <= 100:
        raise Refused("invalid")
    times = [backoff["base_us"], backoff["cap_us"]]
    if backoff["kind"] == "list":
        times += backoff["list_us"]
        if not 1 <= len(backoff["list_us"]) <= BACKOFF_LIST_MAX:
            raise Refused("invalid")
        backoff = {**backoff, "base_us": 0}
    else:
        backoff = {**backoff, "list_us": []}
    if min(times) < 0 or max(options["timeout_us"], options["result_ttl_us"], *times) > TIME_MAX:
        raise Refused("invalid")
    if options["lease_us"] > 0:
        check_lease(options["lease_us"])
    if backoff["kind"] == "unset":
        backoff = full_options({})["backoff"]
    kept = {name: max(-1, options[name])
            for name in ("timeout_us", "result_ttl_us", "crashes_max", "lease_us")}
    return {**options, **kept, "backoff": backoff}


def says_something(name, value):
    """Whether an option is given at all."""
    if name == "backoff":
        return value["kind"] != "unset"
    return value not in (0, "unset")


def splitmix64(x):
    x = (x + 0x9E3779B97F4A7C15) & MASK
    z = x
    z = ((z ^ z >> 30) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ z >> 27) * 0x94D049BB133111EB) & MASK
    return z ^ z >> 31


class PolicyRules:
    def in_effect(self, job, name):
        """An option of the job, else of its klass, else of its queue."""
        layers = [job.options, self.policies.get(("klass", job.klass)),
                  self.policies.get(("queue", job.queue))]
        for options in layers:
            if options and says_something(name, options[name]):
                return options[name]
        return full_options({})[name]

    def backoff_us(self, job, now, seed):
        """How long it waits after the run that ends now."""
        backoff = self.in_effect(job, "backoff")
        run = job.attempts
        delay = {
            "unset": lambda: 0,
            "fixed": lambda: backoff["base_us"],
            "linear": lambda: run * backoff["base_us"],
            "exponential": lambda: 2 ** (run - 1) * backoff["base_us"],
            "list": lambda: backoff["list_us"][min(run, len(backoff["list_us"])) - 1],
        }[backoff["kind"]]()
        if backoff["cap_us"] > 0:
            delay = min(delay, backoff["cap_us"])
        delay = min(delay, TIME_MAX - now)
        share = backoff["jitter_percent"] * (splitmix64(seed + job.id) % 1001)
        return delay - (delay // 100_000 * share + delay % 100_000 * share // 100_000)

    def call_policy_set(self, command):
        self.begin(command)
        check_name(command["name"])
        options = check_options(full_options(command["options"]))
        key = (command["scope"], command["name"])
        if any(says_something(name, options[name]) for name in options):
            self.policies[key] = options
        else:
            self.policies.pop(key, None)

    def call_policies(self, command):
        return [{"scope": scope, "name": name, "options": options}
                for (scope, name), options in self.policies.items()]
