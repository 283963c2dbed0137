# SPDX-License-Identifier: MIT
"""The engine's rules once more, as plainly as they can be said.

This is a second reading of docs/engine.md, made to be compared with the engine by run-model. It is
slow on purpose: a job is an object, a list of jobs is found by looking at every job, an order is a
sort. It must not learn anything from the engine's sources.

A command is the JSON object that the engine shell takes. Model.call() answers with (status, reply,
events) in the form in which the shell answers; Model.check() asserts what must be true between any
two calls.

The rules stand in the files model_NOUN.py; here they come together, with what happens by itself.
"""

from model_base import (DAY, IN_LINE, LINE_LOST, LINE_OTHER, NEVER, SECOND, TIME_MAX, Refused,
                        check_name, page)
from model_bulk import BulkRules
from model_depends import DependsRules
from model_explain import ExplainRules
from model_jobs import JobRules
from model_lanes import LaneRules
from model_leases import LeaseRules
from model_metrics import MetricsRules
from model_policies import PolicyRules
from model_queues import LISTS, ConfigRules, QueueRules, TagRules, WorkerRules
from model_recurring import RecurringRules
from model_stats import StatsRules
from model_unique import UniqueRules

__all__ = ["DAY", "SECOND", "Model"]

# The kinds of things that fall due, in the order in which they happen at the same instant.
DUE_LEASE, DUE_DEADLINE, DUE_RECURRING, DUE_SCHEDULED, DUE_PROMISE, DUE_RETIRED = range(6)
# What is due in no queue comes behind all queues.
BEHIND_ALL_QUEUES = 1 << 62
REQUESTS_FORGOTTEN_MAX = 100  # at once
AT_ONCE = 0


class Model(ConfigRules, JobRules, DependsRules, UniqueRules, PolicyRules, LaneRules, LeaseRules,
            RecurringRules, TagRules, QueueRules, WorkerRules, StatsRules, BulkRules, ExplainRules,
            MetricsRules):
    def __init__(self, clock):
        self.clock = clock
        self.last = 0
        self.line_floor = 0  # the latest time before it was set back
        self.events = []
        self.jobs = {}
        self.kept_locks = {}  # (by, key): a job that is gone
        self.kept_results = {}  # jid: a job that is gone
        self.requests = []  # (id, when, digest, answer) of those that are remembered
        self.done = {}  # jids of complete jobs that are gone, and by which token and worker
        self.recurrings = {}
        self.zones = {}
        self.workers = {}
        self.waiters = {}  # waiter: the jid it waits for
        self.config = {}
        self.policies = {}  # (scope, name): options
        self.limits = {}  # (queue, domain): limit
        self.buckets = {}  # lane: Bucket; without one it is full
        self.turns = {}  # lane: its turn, as long as it has jobs in line and the queue is fair
        self.turn_clocks = {}
        self.tags = {}  # tag: {jid: when it got it}
        self.groups = {}  # group: jids in the order in which they failed; never empty
        self.to_deal_with = set()  # failed jobs on which others may depend
        self.tracked = {}  # jid: when
        self.paused = set()
        self.queues = {}  # name: its number, in the order of first sight
        self.queues_seen = 0
        self.listed = {}  # name: when it came onto the list
        self.stats = {}  # queue: {day: StatsDay}
        self.metrics = {}  # queue, or "" for all: Metrics
        self.series = {}  # queue, or "" for all: Series
        self.second = -1  # of the last thing that happened
        self.bulks = []
        self.bulks_begun = 0
        self.numbers_given = 0  # to jobs and recurring jobs, as they are made
        self.leases_given = 0
        self.failures_counted = 0
        self.instant = 0  # by which what happens now happens

    def call(self, command):
        self.events = []
        try:
            reply = self.call_once(command) if "request" in command else self.perform(command)
            status = "ok"
        except Refused as refused:
            status, reply = refused.status, None
        if len(self.queues) > len(self.listed):
            self.drop_queues()
        return status, reply, self.events

    def perform(self, command):
        return getattr(self, "call_" + command["cmd"])(command)

    def forget_requests(self, now):
        oldest = now - self.option_us("request-history")
        for _ in range(REQUESTS_FORGOTTEN_MAX):
            if self.requests and self.requests[0][1] <= oldest:
                del self.requests[0]

    def call_once(self, command):
        """A call that is repeated with the id of its request is answered as the first time."""
        now = self.begin(command)
        check_name(command["request"])
        kept = self.option_us("request-history")
        self.forget_requests(now)
        self.requests = [each for each in self.requests
                         if each[0] != command["request"] or each[1] > now - kept]
        for request, _, digest, answer in self.requests:
            if request == command["request"]:
                if digest != command["digest"]:
                    raise Refused("invalid")
                return answer
        keep = self.option_int("request-history-count") if kept > 0 else 0
        reply = self.perform(command)
        if keep:
            self.requests.append((command["request"], now, command["digest"], command["jid"]))
            del self.requests[:min(max(len(self.requests) - keep, 0), REQUESTS_FORGOTTEN_MAX)]
        return reply

    def tell(self, kind, channels, when, jid="", queue="", worker="", to="", group="", message="",
             option="", value=""):
        """One event for each channel; the tracker is told of tracked jobs, and only the jid."""
        for channel in channels:
            if channel == "tracker":
                self.events.append([kind, channel, when, jid])
            else:
                self.events.append(
                    [kind, channel, when, jid, queue, worker, to, group, message, option, value])

    def tell_tracker(self, kind, when, job):
        if job.jid in self.tracked:
            self.tell(kind, ["tracker"], when, jid=job.jid)

    # -----------------------------------------------------------------------------------------
    # Time

    def begin(self, command):
        """What each call does that may change something: moves time, and does what is due."""
        now = command["now"]
        if not 0 <= now <= TIME_MAX:
            raise Refused("invalid")
        self.instant = max(now, self.last) if self.clock == "server" else now
        self.deal_with_failed()
        if self.clock == "server":
            now = max(now, self.last)
            self.last = now
            self.happen(now)
            self.instant = now
            self.forget_workers(now)
            self.forget_requests(now)
        self.pass_second(now)
        return now

    def things_to_come(self):
        """(when, queue, kind, made) of all that will happen by itself, with what it is."""
        things = []
        for job in self.jobs.values():
            order = self.queues.get(job.queue, -1)
            if job.state == "running":
                things.append((job.end, order, DUE_LEASE, job.id, job))
            elif job.state == "scheduled":
                things.append((job.due, order, DUE_SCHEDULED, job.id, job))
            if self.has_deadline(job):
                things.append((job.deadline, order, DUE_DEADLINE, job.id, job))
        for when, _, _, end in self.promises()[:1]:
            things.append((when, BEHIND_ALL_QUEUES, DUE_PROMISE, 0, end))
        for recurring in self.recurrings.values():
            order = self.queues[recurring.queue]
            things.append((recurring.next, order, DUE_RECURRING, recurring.id, recurring))
        oldest_first = self.complete_jobs()[::-1]
        kept = self.option_int("jobs-history-count")
        too_many = len(oldest_first) - kept if kept >= 0 else 0
        for rank, job in enumerate(oldest_first):
            when = AT_ONCE if rank < too_many else job.time + self.option_us("jobs-history")
            things.append((when, BEHIND_ALL_QUEUES, DUE_RETIRED, rank, job))
        return things

    def happen(self, now):
        """Server clock: what is due by now happens, each at its own time."""
        while True:
            thing = min(self.things_to_come(), key=lambda thing: thing[:4], default=None)
            if thing is None or thing[0] > now:
                return
            when, _, kind, _, subject = thing
            self.instant = when
            if kind == DUE_SCHEDULED:
                self.join_line(subject, when)
            elif kind == DUE_DEADLINE:
                self.deadline_passes(subject, when)
            elif kind == DUE_PROMISE:
                subject()
            elif kind == DUE_RETIRED:
                self.remove(subject)
            elif kind == DUE_RECURRING:
                self.skip_missed(subject, now)
                if subject.next <= now:
                    self.run_recurring(subject)
            elif not subject.grace and self.grace_us() > 0:
                self.lease_runs_out(subject, when)
            else:
                if not subject.grace:
                    self.lease_runs_out(subject, when)
                if self.lease_is_lost(subject, when):
                    self.stall(subject, LINE_LOST, when)
            self.deal_with_failed()

    def due_bound(self, now, enough):
        """At most so many things would happen by now; for the generator of commands. Not
        counted on when there are more than enough."""
        bound = 0
        for when, _, kind, _, subject in self.things_to_come():
            if when <= now and bound <= enough:
                bound += 1
                if kind == DUE_LEASE:
                    bound += 1
                elif kind == DUE_RECURRING:
                    bound += self.runs_due(subject, now, enough)
        return bound

    def call_tick(self, command):
        now = self.begin(command)
        if self.clock == "client":
            return NEVER
        times = [thing[0] for thing in self.things_to_come()] + self.lanes_to_come(now)
        return min(times, default=NEVER)

    def call_set_time(self, command):
        """Spans of time keep what is left of them, moments stay."""
        to = command["to"]
        if self.clock == "client":
            raise Refused("state")
        if not 0 <= to <= TIME_MAX:
            raise Refused("invalid")
        change = to - self.begin(command)
        if change < 0:
            self.line_floor = max(self.line_floor, self.last)
            if to // SECOND < self.second:
                self.series = {}
                self.second = to // SECOND
        self.last = to
        for job in self.in_state("running"):
            job.expires += change
            job.end += change
            job.run_ends += change if job.run_ends else 0
            job.time += change
        for recurring in self.recurrings.values():
            if recurring.interval:
                recurring.next += change
            elif change < 0:
                recurring.next = recurring.expression.next(to)
        for bucket in self.buckets.values():
            bucket.time += change

    # -----------------------------------------------------------------------------------------
    # Commands of the shell's own

    def call_dump(self, command):
        names = self.call_queue_names(command)
        queues = []
        for queue in command["queues"]:
            now = self.begin(command)
            dump = {"counts": self.queue_view(queue, now)}
            dump["length"] = self.call_length({"queue": queue})
            for name in LISTS:
                jobs = self.list_jobs(name, queue, now)
                dump[name] = page([self.view(job) for job in jobs], {})
            dump["recurring"] = [self.recurring_view(each) for each in self.recurring_in(queue)]
            dump["stats"] = [self.stats_view(queue, day) for day in command["days"]]
            queues.append(dump)
        held = []
        for worker in command["workers"]:
            for name in ("running", "expired", "unexpired"):
                jobs = self.worker_jobs(worker, name, command["now"])
                held.append(page([job.jid for job in jobs], {}))
        return {
            "names": names,
            "queues": queues,
            **{name: page([self.view(job) for job in self.list_jobs(name, "", command["now"])], {})
               for name in ("running", "complete", "failed")},
            "failures": [
                [[group, len(jids)], page([self.view(self.jobs[jid]) for jid in jids[::-1]], {})]
                for group, jids in self.groups.items()],
            "tags": [page(self.tagged(tag), {}) for tag in command["tags"]],
            "top": self.call_tag_top(command),
            "tracked": self.call_tracked(command),
            "workers": self.workers_view(command["now"]),
            "held": held,
            "config": self.call_config_all(command),
        }

    def call_save_load(self, command):
        """Waiters, times and rates are not saved."""
        self.waiters = {}
        self.metrics = {}
        self.series = {}
        self.second = -1
        return {"saved": True, "stored": True}

    def call_check(self, command):
        self.check()
        return {"sentences": [], "count": 0}

    # -----------------------------------------------------------------------------------------

    def check(self):
        """What is true between any two calls."""
        ids = set()
        for jid, job in self.jobs.items():
            assert job.jid == jid and job.id not in ids and job.id <= self.numbers_given
            ids.add(job.id)
            self.check_job(job)
            for dependency in job.dependencies:
                assert jid in self.jobs[dependency].dependents
                assert self.jobs[dependency].state != "complete"
            for dependent in job.dependents:
                assert jid in self.jobs[dependent].dependencies
            assert not self.depends_on(jid, jid)
        tokens = [job.token for job in self.jobs.values() if job.token]
        assert len(tokens) == len(set(tokens))
        for jids in list(self.groups.values()) + list(self.tags.values()):
            assert jids and len(jids) == len(set(jids)) and all(jid in self.jobs for jid in jids)
        for jid in self.waiters.values():
            assert self.jobs[jid].state not in ("complete", "failed")
        for jid in self.to_deal_with:
            assert self.jobs[jid].state == "failed"
        self.check_unique()
        self.check_lanes()

    def check_job(self, job):
        running = job.state == "running"
        assert job.state in ("scheduled", "depends", "waiting", "running", "stalled", "complete",
                             "failed")
        assert running == bool(job.token) == bool(job.worker)
        assert running or not (job.expires or job.end or job.run_ends or job.grace or job.started)
        assert not job.run_ends or job.expires <= job.run_ends
        assert job.state != "depends" or job.dependencies
        assert job.state in ("depends", "failed") or not job.dependencies
        assert job.queue
        assert job.state != "complete" or not job.dependents
        assert job.state != "scheduled" or job.due > 0
        assert job.state in ("scheduled", "depends") or job.due == 0
        assert (job.state == "failed") == any(job.jid in jids for jids in self.groups.values())
        assert job.state != "failed" or job.jid in self.groups[job.group]
        assert job.state == "failed" or job.remaining >= 0
        assert len(job.tags) == len(set(job.tags))
        assert all(job.jid in self.tags[tag] for tag in job.tags)
        assert job.queue == "" or job.queue in self.queues
        assert job.history
        assert job.state not in IN_LINE or (job.place[0] == LINE_OTHER) == (job.state == "waiting")
        assert not (running or job.state == "stalled") or (job.attempts and not job.deadline)
        assert not job.result_until or (job.state == "complete" and job.result)
