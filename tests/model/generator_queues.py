# SPDX-License-Identifier: MIT
"""Commands about queues, lanes, policies, bulk acts, tags, workers, options, what is measured."""

from generator_names import DOMAINS, KLASSES, LIMIT_DOMAINS, LONG, QUEUES, STATES, TAGS, WORKERS
from model import DAY, SECOND
from model_queues import LISTS

OPTIONS = {
    "heartbeat": ["60", "30", "5", "1.5", "0.25", "0"],
    "grace-period": ["10", "3", "0.5", "0", "-1"],
    "stats-history": ["0", "1", "3", "30"],
    "histogram-history": ["0", "1", "7"],
    "jobs-history": ["0", "60", "3600", "604800"],
    "jobs-history-count": ["0", "1", "-1", "5", "20", "50000"],
    "request-history": ["0", "1", "60", "86400"],
    "request-history-count": ["0", "3", "20", "100000"],
    "max-worker-age": ["60", "3600", "86400"],
    "max-job-history": ["0", "-1", "1", "2", "5", "100"],
    "max-job-log": ["1", "2", "5", "100"],
    "missed-after": ["0", "0.5", "5", "60", "3600"],
    "rate-catch-up": ["0", "0.25", "1", "30", "60", "61", "-1"],
    "application": ["test", "{}"],
    "colour": ["", "blue"],
}


class QueueCommands:
    def make_queue(self):
        return {"queue": self.queue()}

    def make_queue_names(self):
        return {}

    def make_length(self):
        return {"queue": self.queue()}

    def make_jobs(self):
        queue = "" if self.chance(0.2) else self.queue()
        return {"list": self.rng.choice(LISTS), "queue": queue, **self.page()}

    def make_pause(self):
        return {"queues": self.few(QUEUES[:3])}

    def make_unpause(self):
        return {"queues": self.few(QUEUES)}

    def make_forget(self):
        return {"queues": self.some(QUEUES, 2)}

    def make_stats(self):
        return {"queue": self.queue(), "date": self.now - self.rng.randint(0, 3) * DAY}

    # Lanes and policies

    def domain(self):
        return "" if self.chance(0.15) else self.rng.choice(DOMAINS)

    def domain_or_bad(self):
        return LONG if self.chance(0.003) else self.domain()

    def limit(self):
        rng = self.rng
        limit = {}
        if self.chance(0.6) and self.rates:
            limit["rate_count"] = rng.choice([1, 1, 1, 2, 3, 5])
            limit["rate_period_us"] = rng.choice([1, 3, 5, 10, 10, 60]) * SECOND
            limit["burst"] = rng.choice([1, 1, 2, 4])
            if self.chance(0.1):
                limit.update({"rate_count": 0, "rate_period_us": 0, "burst": 0})
            elif self.chance(0.1):
                limit["rate_period_us"] = 1_234_567
        if self.chance(0.4):
            limit["concurrency"] = rng.choice([0, 1, 1, 2])
        if self.chance(0.4) or not limit:
            limit["weight"] = rng.choice([1, 2, 3, 7, 11, 1000])
        if self.chance(0.02):
            limit.update(rng.choice([{"weight": 0}, {"weight": 1001}, {"concurrency": -1}]))
        return limit

    def make_limit_set(self):
        return {"queue": self.queue_or_all() if self.chance(0.99) else LONG,
                "domain": self.rng.choice(LIMIT_DOMAINS) if self.chance(0.99) else LONG,
                "limit": self.limit()}

    def make_limit_unset(self):
        known = list(self.model.limits)
        if known and self.chance(0.9):
            queue, domain = self.rng.choice(known)
            return {"queue": queue, "domain": domain}
        return {"queue": self.queue_or_all(), "domain": self.rng.choice(LIMIT_DOMAINS)}

    def make_limits(self):
        return {}

    def make_lane(self):
        return {"queue": self.queue(), "domain": self.domain()}

    def make_policy_set(self):
        scope = self.rng.choice(["klass", "queue"])
        name = self.rng.choice(KLASSES if scope == "klass" else QUEUES)
        if self.chance(0.01):
            name = self.rng.choice(["", LONG])
        return {"scope": scope, "name": name,
                "options": self.options() if self.chance(0.65) else {}}

    def make_policies(self):
        return {}

    # Bulk

    def make_bulk(self):
        rng = self.rng
        wanted = {}
        if self.chance(0.4):
            wanted["queue"] = self.queue()
        if self.chance(0.25):
            wanted["klass"] = rng.choice(KLASSES)
        if self.chance(0.2):
            wanted["tag"] = rng.choice(TAGS)
        if self.chance(0.12):
            wanted["group"] = self.group()
        if self.chance(0.4):
            wanted["states"] = rng.sample(STATES, rng.choice([1, 1, 2, 3]))
        if self.chance(0.06):
            wanted["worker"] = rng.choice(WORKERS)
        if self.chance(0.06):
            wanted["domain"] = rng.choice(DOMAINS)
        if self.chance(0.15):
            wanted["older_us"] = rng.choice([0, 1, 10, 3600]) * SECOND
        if self.chance(0.15):
            wanted["newer_us"] = rng.choice([0, 1, 10, 3600]) * SECOND
        if self.chance(0.01):
            wanted["queue"] = LONG
        act = rng.choice(["cancel", "retry", "retry", "move", "move", "tag", "tag", "tag", "untag", "delete",
                          "priority", "timeout"])
        arguments = {"filter": wanted, "act": act}
        if act == "move":
            arguments["to"] = self.queue_or_bad()
        elif act in ("tag", "untag"):
            arguments["tags"] = self.tags()
        elif act == "priority":
            arguments["priority"] = rng.choice([-1, 0, 0, 1, 7])
        if self.chance(0.9 if act in ("cancel", "delete") and len(wanted) < 2 else 0.3):
            arguments["dry_run"] = True
        return arguments

    def make_bulk_get(self):
        return {"id": self.rng.randint(0, self.model.bulks_begun + 1)}

    def make_bulks(self):
        return {}

    def make_bulk_stop(self):
        return self.make_bulk_get()

    # What is measured

    def make_count(self):
        arguments = {}
        if self.chance(0.5):
            arguments["queue"] = self.queue()
        if self.chance(0.5):
            arguments["priority"] = self.rng.randint(-2, 2)
        if self.chance(0.5):
            arguments["state"] = self.rng.choice(STATES)
        if self.chance(0.3):
            arguments[self.rng.choice(["tried", "started"])] = True
        return arguments

    def make_priorities(self):
        return {"queue": self.queue_or_all()}

    def make_metrics(self):
        return {"queue": self.queue_or_all()}

    def make_rates(self):
        # With the client clock time goes back, and the newest second is that of any call.
        return {"queue": self.queue_or_all() if self.clock == "server" else "none"}

    # Failures, tags, tracked jobs

    def make_failure_groups(self):
        return {}

    def make_failed(self):
        return {"group": self.group(), **self.page()}

    def make_tag_add(self):
        return {"jid": self.jid(), "tags": self.tags()}

    def make_tag_remove(self):
        return {"jid": self.jid(), "tags": self.some(TAGS, 3)}

    def make_tagged(self):
        return {"tag": self.rng.choice(TAGS), **self.page()}

    def make_tag_top(self):
        return {}

    def make_track(self):
        return {"jid": self.jid()}

    def make_untrack(self):
        tracked = list(self.model.tracked)
        return {"jid": self.rng.choice(tracked) if tracked and self.chance(0.7) else self.jid()}

    def make_tracked(self):
        return {}

    # Workers

    def make_workers(self):
        return {}

    def make_worker_jobs(self):
        return {"worker": self.worker(), "list": self.rng.choice(["running", "expired", "unexpired"]), **self.page()}

    def make_worker_deregister(self):
        return {"workers": self.some(WORKERS + ["stranger"], 2)}

    def make_worker_offline(self):
        return {"worker": self.worker()}

    # Configuration

    def option(self):
        """A name of an option and a value that it may have."""
        roll = self.rng.random()
        if roll < 0.15:
            name = self.queue() + "-heartbeat"
        elif roll < 0.25:
            name = "heartbeat-" + self.queue()
        elif roll < 0.4:
            return self.queue() + "-max-concurrency", self.rng.choice(["0", "1", "2", "5"])
        elif roll < 0.55:
            return self.queue() + "-fair", self.rng.choice(["0", "1", "1", "2"])
        else:
            name = self.rng.choice(list(OPTIONS))
        values = OPTIONS.get(name, OPTIONS["heartbeat"])
        if "heartbeat" in name and self.clock == "client":
            values = values + ["-10"]
        return name, self.rng.choice(values)

    def make_config_get(self):
        return {"option": self.option()[0]}

    def make_config_all(self):
        return {}

    def make_config_set(self):
        name, value = self.option()
        return {"option": name, "value": value}

    def make_config_unset(self):
        known = list(self.model.config)
        if known and self.chance(0.8):
            return {"option": self.rng.choice(known)}
        return {"option": self.option()[0]}
