# SPDX-License-Identifier: MIT
"""Random commands, made up from the model's own state, so that most of them hit something."""

from generator_jobs import JobCommands
from generator_names import DOMAINS, LONG, QUEUES, RECURRING, START, STATES, TAGS, WORKERS, ZONES, Names
from generator_queues import QueueCommands
from generator_recurring import RecurringCommands
from model import DAY, SECOND

DUE_MAX = 60  # things that may fall due in one step; the engine's slice is 1,000
RUNS_MAX = 300  # runs of a recurring job that may be due with the client clock
JOBS_MAX = 70


class Generator(Names, JobCommands, QueueCommands, RecurringCommands):
    """Makes up the next command from the model's state."""

    def __init__(self, rng, model):
        self.rng = rng
        self.model = model
        self.clock = model.clock
        self.now = START
        self.calm = 0  # so many more steps without leaps
        # Rates keep the client's clock from going back, so that only some runs have them.
        self.rates = self.clock == "server" or self.chance(0.5)
        # Commands that have to come first.
        self.waiting = [self.command("zone_set", **self.zone_around(name)) for name in ZONES]
        self.settlings = []  # of late, with their tokens
        self.requests = []

    # Each with how often it comes.
    WEIGHTS = {
        "put": 200, "pop": 170, "take": 30, "kick": 12, "complete": 90, "heartbeat": 40, "fail": 35, "retry": 50,
        "start": 12, "timeout": 12, "return": 12, "held": 4, "get": 15, "result_kept": 8,
        "cancel": 20, "delete": 12, "priority": 20,
        "update_data": 6, "log": 15, "depends_on": 15, "depends_off": 15, "depends_off_all": 6,
        "peek": 20, "unfail": 18, "unfail_job": 8, "failure_groups": 5, "failed": 8,
        "tag_add": 15, "tag_remove": 12, "tagged": 8, "tag_top": 5, "track": 12, "untrack": 6, "tracked": 3,
        "queue": 20, "queue_names": 3, "length": 4, "jobs": 25, "pause": 3, "unpause": 12,
        "forget": 3, "stats": 10, "recur": 14, "unrecur": 6, "recur_pause": 5, "recur_run": 3, "recurring_get": 5,
        "recur_update": 8, "recur_tag": 3, "recur_untag": 3, "recurring": 5, "workers": 8,
        "worker_jobs": 8, "worker_deregister": 2, "worker_offline": 4, "config_get": 4,
        "config_all": 2, "config_set": 18, "config_unset": 14, "tick": 25,
        "progress": 18, "checkpoint": 10, "log_line": 12, "wait": 20, "wait_end": 4,
        "limit_set": 16, "limit_unset": 12, "limits": 2, "lane": 15, "policy_set": 10,
        "policies": 2, "zone_set": 4, "recurring_runs": 5, "cron_runs": 8, "bulk": 16,
        "bulk_get": 4, "bulks": 2, "bulk_stop": 2, "explain": 40, "count": 10, "priorities": 4,
        "metrics": 6, "rates": 8, "set_time": 6,
    }
    NAMES = list(WEIGHTS)
    CUMULATIVE = []
    for _weight in WEIGHTS.values():
        CUMULATIVE.append(_weight + (CUMULATIVE[-1] if CUMULATIVE else 0))

    def next(self):
        if not self.waiting:
            self.thin_out()
        if self.waiting:
            return self.waiting.pop()
        self.advance()
        name = self.rng.choices(self.NAMES, cum_weights=self.CUMULATIVE)[0]
        arguments = getattr(self, "make_" + name)()
        if name in ("put", "recur") and self.chance(0.3):
            arguments = self.once(name, arguments)
        return self.command(name, **arguments)

    def once(self, name, arguments):
        """As a request with an id; or one from before, sometimes with other words."""
        if self.requests and self.chance(0.4):
            again = self.rng.choice(self.requests)
            if again[0] == name and self.chance(0.9):
                return again[1]
            return {**arguments, "request": again[1]["request"],
                    "digest": again[1]["digest"] if self.chance(0.5) else self.rng.getrandbits(63)}
        request = self.rng.choice(["", LONG]) if self.chance(0.01) else \
            f"r{self.rng.getrandbits(40)}"
        arguments = {**arguments, "request": request, "digest": self.rng.getrandbits(63)}
        self.requests = [*self.requests[-20:], (name, arguments)]
        return arguments

    def command(self, name, /, **arguments):
        return {"cmd": name, "now": self.given_now(name), **arguments}

    def make_tick(self):
        return {}

    def make_set_time(self):
        if self.chance(0.05):
            return {"to": self.rng.choice([-1, 253402300800000000])}
        step = self.rng.choice([1, 59, 61, 3600, 86400, 40 * 86400]) * SECOND
        step += self.rng.randint(0, SECOND)
        if self.chance(0.6) or self.model.due_bound(self.now + step, DUE_MAX) > DUE_MAX:
            step = -step
        before = self.now
        if self.clock == "server":
            self.now += step
        return {"now": before, "to": before + step}

    # Time

    def advance(self):
        rng, roll = self.rng, self.rng.random()
        if self.calm == 0 and self.chance(0.01):
            self.calm = rng.randint(50, 200)
        if self.calm:
            self.calm -= 1
            step = 0 if roll < 0.7 else rng.randint(1, 3 * SECOND)
        elif roll < 0.55:
            step = 0
        elif roll < 0.80:
            step = rng.randint(1, 5) * SECOND
        elif roll < 0.88:
            step = rng.randint(1, 2 * SECOND)
        elif roll < 0.95:
            step = rng.choice([10, 30, 60, 70]) * SECOND
        elif roll < 0.97:
            step = rng.randint(1, 60) * 60 * SECOND
        elif roll < 0.985:
            step = rng.randint(1, 24) * 3600 * SECOND
        elif roll < 0.99:
            step = rng.randint(1, 40) * DAY
        elif self.clock == "client":
            step = -rng.choice([1, 5, 60, 3600, 86400, 40 * 86400]) * SECOND
        else:
            step = 0
        if self.clock == "client" and rng.random() < 0.03:
            step = -rng.randint(1, 100) * SECOND
        if self.clock == "server":
            while step > 0 and self.model.due_bound(self.now + step, DUE_MAX) > DUE_MAX:
                if self.chance(0.1):
                    self.waiting = [self.command("unrecur", jid=jid) for jid in RECURRING]
                step //= 2
        elif step < 0 and self.model.forgets_by(self.now, self.now + step):
            step = 0  # when exactly a lane is forgotten is the engine's affair
        elif self.crowded(self.now + step):
            self.waiting = [self.command("unrecur", jid=jid) for jid in RECURRING]
            step = 0
        self.now += step

    def crowded(self, now):
        """Client clock: whether very many runs would be due that have to be looked at singly."""
        singly = [each for each in self.model.recurrings.values()
                  if each.cron or each.overlap == "skip"]
        return any(self.model.runs_due(each, now, RUNS_MAX) > RUNS_MAX for each in singly)

    def given_now(self, name):
        """What the caller says; with the server's clock it may lag behind."""
        roll = self.rng.random()
        if name in ("lane", "metrics", "rates"):
            return self.now
        if roll < 0.001 and name != "tick":
            return self.rng.choice([-1, 253402300800000000])
        if self.clock == "server" and roll < 0.05:
            return self.now - self.rng.randint(0, 100 * SECOND)
        return self.now

    def thin_out(self):
        """Keeps the number of jobs down, so that the lists stay short enough to compare."""
        if len(self.model.jobs) <= JOBS_MAX:
            return
        complete = [job.jid for job in self.model.in_state("complete")]
        live = [jid for jid, job in self.model.jobs.items() if job.state != "complete"]
        self.waiting = [self.command("delete", jid=jid)
                        for jid in self.rng.sample(complete, len(complete) // 2)]
        for _ in range(3):
            jids = self.rng.sample(live, min(40, len(live) // 4))
            self.waiting.append(self.command("cancel", jids=self.closure(jids)[:200]))

    def closure(self, jids):
        """With all that depend on them."""
        found = list(jids)
        for jid in found:
            if jid in self.model.jobs:
                found += [other for other in self.model.jobs[jid].dependents if other not in found]
        self.rng.shuffle(found)
        return found

    # The whole of what can be seen, in several commands

    def dump(self):
        commands = [
            {"cmd": "dump", "queues": QUEUES, "tags": TAGS, "workers": WORKERS,
             "days": [self.now - days * DAY for days in range(5)]},
            {"cmd": "limits"}, {"cmd": "policies"}, {"cmd": "bulks"}, {"cmd": "count"},
        ]
        for queue in QUEUES:
            commands += [{"cmd": "lane", "queue": queue, "domain": domain}
                         for domain in ["", *DOMAINS]]
        for queue in ["", *QUEUES]:
            commands += [{"cmd": "count", "queue": queue, "state": state} for state in STATES]
            commands += [{"cmd": "priorities", "queue": queue}, {"cmd": "metrics", "queue": queue},
                         {"cmd": "rates", "queue": queue if self.clock == "server" else "none"}]
        return [{**command, "now": self.now} for command in commands]

    def zones_again(self):
        """What the host hands over after the engine was loaded."""
        return [{"cmd": "zone_set", "now": self.now, **self.zone_around(name)} for name in ZONES]
