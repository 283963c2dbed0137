# SPDX-License-Identifier: MIT
"""The engine's rules once more, as plainly as they can be said.

This is a second reading of docs/engine.md, made to be compared with the engine by run-model. It is
slow on purpose: a job is an object, a list of jobs is found by looking at every job, an order is a
sort. It must not learn anything from the engine's sources.

A command is the JSON object that tests/model/engine_shell.c takes. Model.call() answers with
(status, reply, events) in the form in which the shell answers; Model.check() asserts what must be
true between any two calls.
"""

import math
from decimal import ROUND_HALF_UP, Decimal

SECOND = 1_000_000
DAY = 86_400 * SECOND
TIME_MAX = 253402300799999999
NEVER = 2**63 - 1
NAME_SIZE_MAX = 255
RETIRE_MAX = 100

DEFAULTS = {
    "grace-period": "10",
    "heartbeat": "60",
    "histogram-history": "7",
    "jobs-history": "604800",
    "jobs-history-count": "50000",
    "max-depends": "10000",
    "max-job-history": "100",
    "max-tags": "100",
    "max-worker-age": "86400",
    "stats-history": "30",
}

# The kinds of things that fall due, in the order in which they happen at the same instant.
DUE_LEASE, DUE_RECURRING, DUE_SCHEDULED = range(3)

# The classes of a line: who lost a lease, who was timed out, all others.
LINE_LOST, LINE_TIMED_OUT, LINE_OTHER = range(3)


class Refused(Exception):
    """The call fails with this status and changes nothing."""

    def __init__(self, status):
        super().__init__(status)
        self.status = status


class Job:
    def __init__(self, number, jid):
        self.id = number
        self.jid = jid
        self.klass = ""
        self.data = ""
        self.queue = ""
        self.worker = ""
        self.result = ""
        self.spawned_from = ""
        self.state = ""
        self.priority = 0
        self.retries = 5
        self.remaining = 5
        self.crashes = 0
        self.time = 0
        self.tags = []
        self.dependencies = []
        self.dependents = []
        self.history = []
        # The lease: it ends at `end`, which is `expires` and, in the grace, the end of the grace.
        self.token = 0
        self.expires = 0
        self.end = 0
        self.grace = False
        self.started = False
        self.pid = 0
        # When it is due: in the state scheduled, or, in depends, once nothing holds it.
        self.due = 0
        # Its place in line, or among those that depend.
        self.place = None
        # How it failed last.
        self.group = ""
        self.message = ""
        self.failure_worker = ""
        self.failure_when = 0



class Recurring:
    def __init__(self, jid):
        self.jid = jid
        self.count = 0


class Worker:
    def __init__(self):
        self.seen = 0
        self.listens = set()  # offline when it listens to none


class Series:
    """A count, a mean and a standard deviation by Welford's method, and a histogram."""

    def __init__(self):
        self.count = 0
        self.mean = 0.0
        self.vk = 0.0
        self.histogram = {}  # None once its time is over

    def add(self, us):
        value = us / SECOND
        self.count += 1
        if self.count == 1:
            self.mean = value
        else:
            old = self.mean
            self.mean += (value - old) / self.count
            self.vk += (value - self.mean) * (value - old)
        if self.histogram is not None:
            bucket = self.bucket(us // SECOND)
            self.histogram[bucket] = self.histogram.get(bucket, 0) + 1

    @staticmethod
    def bucket(seconds):
        """60 seconds, 59 minutes, 23 hours, 6 days; what lies outside is in the first or last."""
        if seconds < 0:
            return 0
        if seconds < 60:
            return seconds
        if seconds < 3600:
            return 60 + seconds // 60 - 1
        if seconds < 86400:
            return 119 + seconds // 3600 - 1
        return 142 + min(6, seconds // 86400) - 1

    def view(self):
        std = math.sqrt(self.vk / (self.count - 1)) if self.count > 1 else 0.0
        return {
            "count": self.count,
            "mean": self.mean,
            "std": std,
            "histogram": [list(item) for item in sorted((self.histogram or {}).items())],
        }


class StatsDay:
    def __init__(self):
        self.retries = 0
        self.failed = 0
        self.failures = 0
        self.wait = Series()
        self.run = Series()

    def view(self):
        return {
            "retries": self.retries,
            "failed": self.failed,
            "failures": self.failures,
            "wait": self.wait.view(),
            "run": self.run.view(),
        }


def check_name(name):
    if not 1 <= len(name.encode()) <= NAME_SIZE_MAX:
        raise Refused("invalid")


def page(items, command):
    """The whole count, and the items from `offset` on, at most `count`."""
    offset = command.get("offset", 0)
    count = command.get("count", len(items))
    return {"total": len(items), "jobs": items[offset : offset + count]}


class Model:
    def __init__(self, clock):
        self.clock = clock
        self.last = 0
        self.events = []
        self.jobs = {}
        self.recurrings = {}
        self.workers = {}
        self.config = {}
        self.tags = {}  # tag: {jid: when it got it}
        self.groups = {}  # group: jids in the order in which they failed; never empty
        self.tracked = {}  # jid: when
        self.paused = set()
        self.queues = {}  # name: its number, in the order of first sight
        self.queues_seen = 0
        self.listed = {}  # name: when it came onto the list
        self.stats = {}  # queue: {day: StatsDay}
        self.numbers_given = 0  # to jobs and recurring jobs, as they are made
        self.leases_given = 0

    def call(self, command):
        self.events = []
        try:
            reply = getattr(self, "call_" + command["cmd"])(command)
            status = "ok"
        except Refused as refused:
            status, reply = refused.status, None
        if len(self.queues) > len(self.listed):
            self.drop_queues()
        return status, reply, self.events

    # -----------------------------------------------------------------------------------------
    # Time

    def begin(self, command):
        """What each call does that may change something: moves time, and does what is due."""
        now = command["now"]
        if not 0 <= now <= TIME_MAX:
            raise Refused("invalid")
        if self.clock == "server":
            now = max(now, self.last)
            self.last = now
            self.happen(now)
        return now

    def things_to_come(self):
        """(when, queue, kind, made) of all that will happen by itself, with what it is."""
        things = []
        for job in self.jobs.values():
            if job.state == "running":
                when, kind = job.end, DUE_LEASE
            elif job.state == "scheduled":
                when, kind = job.due, DUE_SCHEDULED
            else:
                continue
            things.append((when, self.queues[job.queue], kind, job.id, job))
        for recurring in self.recurrings.values():
            order = self.queues[recurring.queue]
            things.append((recurring.next, order, DUE_RECURRING, recurring.id, recurring))
        return things

    def happen(self, now):
        """Server clock: what is due by now happens, each at its own time."""
        while True:
            thing = min(self.things_to_come(), key=lambda thing: thing[:4], default=None)
            if thing is None or thing[0] > now:
                return
            when, _, kind, _, subject = thing
            if kind == DUE_SCHEDULED:
                self.join_line(subject, when)
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

    def due_bound(self, now):
        """At most so many things would happen by now; for whoever makes up the commands."""
        bound = 0
        for when, _, kind, _, subject in self.things_to_come():
            if when <= now:
                bound += 1
                if kind == DUE_LEASE:
                    bound += 1
                elif kind == DUE_RECURRING:
                    bound += (now - when) // subject.interval
        return bound

    def call_tick(self, command):
        if self.clock == "client":
            return NEVER
        self.begin(command)
        return min((thing[0] for thing in self.things_to_come()), default=NEVER)

    # -----------------------------------------------------------------------------------------
    # Configuration

    def option(self, name):
        return self.config.get(name, DEFAULTS.get(name))

    def option_us(self, name, default=None):
        value = self.option(name)
        if value is None:
            value = default
        return int((Decimal(value) * SECOND).quantize(Decimal(1), rounding=ROUND_HALF_UP))

    def option_int(self, name, default=None):
        value = self.option(name)
        return int(default if value is None else value)

    def grace_us(self):
        return self.option_us("grace-period")

    def lease_us(self, queue):
        for name in (queue + "-heartbeat", "heartbeat-" + queue):
            if self.option(name) is not None:
                return self.option_us(name)
        return self.option_us("heartbeat")

    def call_config_get(self, command):
        return self.option(command["option"]) or ""

    def call_config_all(self, command):
        values = {**DEFAULTS, **self.config}
        return [[name, values[name]] for name in sorted(values)]

    def call_config_set(self, command):
        now = self.begin(command)
        check_name(command["option"])
        self.config[command["option"]] = command["value"]
        self.tell("config_set", ["log"], now, option=command["option"], value=command["value"])

    def call_config_unset(self, command):
        now = self.begin(command)
        check_name(command["option"])
        self.config.pop(command["option"], None)
        self.tell("config_unset", ["log"], now, option=command["option"])

    # -----------------------------------------------------------------------------------------
    # What the rules share

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

    def find(self, jid):
        job = self.jobs.get(jid)
        if job is None:
            raise Refused("not_found")
        return job

    def find_held(self, command, queue_too=False):
        """The job, if the caller holds its lease."""
        job = self.find(command["jid"])
        if job.state != "running":
            raise Refused("state")
        if job.worker != command["worker"]:
            raise Refused("stale")
        if command.get("token", 0) not in (0, job.token):
            raise Refused("stale")
        if queue_too and command.get("queue", "") not in ("", job.queue):
            raise Refused("stale")
        return job

    def number_queue(self, name):
        """The order of queues is that of their first pop, pause, job or recurring job."""
        if name not in self.queues:
            self.queues[name] = self.queues_seen
            self.queues_seen += 1

    def drop_queues(self):
        """A queue of which nothing is left is seen anew the next time."""
        used = set(self.listed) | self.paused | set(self.stats)
        used |= {job.queue for job in self.jobs.values()}
        used |= {recurring.queue for recurring in self.recurrings.values()}
        for worker in self.workers.values():
            used |= worker.listens
        for name in self.queues.keys() - used:
            del self.queues[name]

    def see_queue(self, name, now):
        """A queue is listed from its first job or recurring job on."""
        self.number_queue(name)
        self.listed.setdefault(name, now)

    def see_worker(self, name, now):
        worker = self.workers.setdefault(name, Worker())
        worker.seen = now
        return worker

    def write_history(self, job, when, what, queue="", worker="", group="", data=""):
        job.history.append([when, what, queue, worker, group, data])
        keep = self.option_int("max-job-history", 100)
        if keep > 0:
            while len(job.history) > keep:
                # The first always stays; of the others the oldest goes.
                del job.history[1 if len(job.history) > 1 else 0]

    def in_state(self, state, queue=None):
        return [job for job in self.jobs.values()
                if job.state == state and (queue is None or job.queue == queue)]

    def line(self, queue):
        jobs = [job for job in self.jobs.values()
                if job.queue == queue and job.state in ("waiting", "stalled")]
        return sorted(jobs, key=lambda job: (job.place, job.id))

    def join_line(self, job, when):
        job.state = "waiting"
        job.due = 0
        job.place = (LINE_OTHER, job.priority, when)

    def stall(self, job, line_class, when):
        """The lease is gone for good; the job is before all others in line."""
        self.end_lease(job)
        job.state = "stalled"
        job.place = (line_class, when)

    def end_lease(self, job):
        job.worker = ""
        job.token = 0
        job.expires = 0
        job.end = 0
        job.grace = False
        job.started = False
        job.pid = 0

    def settle(self, job, queue, now, delay=0):
        """Into the queue: depends, scheduled or waiting. A delay of 0 or below is none."""
        self.see_queue(queue, now)
        job.queue = queue
        job.due = now + delay if delay > 0 else 0
        if job.dependencies:
            job.state = "depends"
            job.place = now
        else:
            self.ready(job, now)

    def ready(self, job, now):
        """Nothing but time holds it any more."""
        if job.due > now:
            job.state = "scheduled"
            job.place = None
        else:
            self.join_line(job, now)

    def undepend(self, job, dependency, now):
        """One dependency less; the last one lets the job go."""
        job.dependencies.remove(dependency)
        if not job.dependencies:
            self.ready(job, now)

    # Dependencies

    def check_depends(self, jid, depends):
        for dependency in depends:
            check_name(dependency)
        for dependency in depends:
            if dependency == jid or self.depends_on(dependency, jid):
                raise Refused("invalid")

    def depends_on(self, jid, other):
        """Whether the job waits for the other, directly or through others."""
        job = self.jobs.get(jid)
        if job is None:
            return False
        return any(dependency == other or self.depends_on(dependency, other)
                   for dependency in job.dependencies)

    def add_dependencies(self, job, depends):
        for dependency in depends:
            other = self.jobs.get(dependency)
            if other is None or other.state == "complete" or dependency in job.dependencies:
                continue
            job.dependencies.append(dependency)
            other.dependents.append(job.jid)

    def drop_dependency(self, job, dependency):
        job.dependencies.remove(dependency)
        self.jobs[dependency].dependents.remove(job.jid)

    # Tags

    def add_tag(self, job, tag, when):
        if tag not in job.tags:
            job.tags.append(tag)
            self.tags.setdefault(tag, {})[job.jid] = when

    def remove_tag(self, job, tag):
        if tag in job.tags:
            job.tags.remove(tag)
            del self.tags[tag][job.jid]
            if not self.tags[tag]:
                del self.tags[tag]

    def tagged(self, tag):
        """By when they got it; among equals who got it first."""
        jobs = self.tags.get(tag, {})
        return sorted(jobs, key=lambda jid: jobs[jid])

    # Failures

    def fail(self, job, queue, when, group, message, worker):
        """Failed, in that queue and group."""
        self.end_lease(job)
        job.state = "failed"
        job.queue = queue
        job.place = None
        job.group = group
        job.message = message
        job.failure_worker = worker
        job.failure_when = when
        self.groups.setdefault(group, []).append(job.jid)
        self.count(queue, when, "failures")
        self.count(queue, when, "failed")

    def unfail(self, job):
        """Takes a failed job out of its group; the words stay with it."""
        members = self.groups[job.group]
        members.remove(job.jid)
        if not members:
            del self.groups[job.group]
        day = self.stats.get(job.queue, {}).get(job.failure_when // DAY)
        if day:
            day.failed -= 1

    def forget_failure(self, job):
        job.group = ""
        job.message = ""
        job.failure_worker = ""
        job.failure_when = 0

    # The end of a job

    def remove(self, job):
        """Nothing is left of it but its place on the list of tracked jids."""
        if job.state == "failed":
            self.unfail(job)
        for tag in list(job.tags):
            self.remove_tag(job, tag)
        for dependency in list(job.dependencies):
            self.drop_dependency(job, dependency)
        for dependent in job.dependents:
            self.jobs[dependent].dependencies.remove(job.jid)
        del self.jobs[job.jid]

    # Stats

    def stats_day(self, queue, when):
        """The day to count in. A day newer than all before ends the time of the oldest."""
        day = when // DAY
        days = self.stats.setdefault(queue, {})
        if day not in days:
            newest = all(day > other for other in days)
            days[day] = StatsDay()
            if newest:
                self.prune_stats(days, day)
        return days[day]

    def prune_stats(self, days, newest):
        """So many days are kept, with the newest; of it something is kept in any case."""
        keep = max(1, self.option_int("stats-history"))
        keep_histogram = max(1, self.option_int("histogram-history"))
        for day in list(days):
            if newest - day >= keep:
                del days[day]
            elif newest - day >= keep_histogram:
                days[day].wait.histogram = None
                days[day].run.histogram = None

    def count(self, queue, when, what):
        day = self.stats_day(queue, when)
        setattr(day, what, getattr(day, what) + 1)

    def count_time(self, queue, when, what, us):
        getattr(self.stats_day(queue, when), what).add(us)

    # -----------------------------------------------------------------------------------------
    # Leases

    def lease_runs_out(self, job, when):
        """The first step: the holder is told, and has the grace period left."""
        self.tell_tracker("stalled", when, job)
        self.write_history(job, when, "timed-out")
        self.tell("lock_lost", ["log", "worker"], when, jid=job.jid, worker=job.worker)
        self.count(job.queue, when, "retries")
        job.grace = True
        job.end = when + self.grace_us()

    def lease_is_lost(self, job, when):
        """The second step. Whether the job may run again; if not, it has failed."""
        worker = job.worker
        job.remaining -= 1
        job.crashes += 1
        if job.remaining >= 0:
            return True
        group = "failed-retries-" + job.queue
        message = f'Job exhausted retries in queue "{job.queue}"'
        self.write_history(job, when, "failed", group=group)
        self.fail(job, job.queue, when, group, message, "")
        self.tell_tracker("failed", when, job)
        self.tell("failed", ["log"], when, jid=job.jid, queue=job.queue, worker=worker,
                  group=group, message=message)
        return False

    def lease(self, job, worker, now):
        job.state = "running"
        job.place = None
        job.due = 0
        job.worker = worker
        job.expires = now + self.lease_us(job.queue)
        job.end = job.expires
        job.grace = False
        job.started = False
        job.pid = 0
        self.leases_given += 1
        job.token = self.leases_given

    def ran_out(self, job, now):
        """Client clock: a grace that has begun counts as a lease of its own."""
        if self.clock == "client":
            return job.end <= now
        return job.grace or job.expires <= now

    def leases(self, queue):
        return sorted(self.in_state("running", queue), key=lambda job: (job.end, job.id))

    # -----------------------------------------------------------------------------------------
    # Recurring jobs

    def skip_missed(self, recurring, now):
        """With a backlog, of more runs missed than that only the last ones are made up for."""
        behind = now - recurring.next
        if recurring.backlog > 0 and behind > recurring.backlog * recurring.interval:
            runs = -(-behind // recurring.interval) - recurring.backlog
            recurring.next += runs * recurring.interval

    def run_recurring(self, recurring):
        """Makes the next job, dated by when it was due."""
        due = recurring.next
        recurring.next += recurring.interval
        recurring.count += 1
        jid = f"{recurring.jid}-{recurring.count}"
        if jid in self.jobs:
            return
        job = self.make_job(jid)
        job.klass = recurring.klass
        job.data = recurring.data
        job.queue = recurring.queue
        job.spawned_from = recurring.jid
        job.priority = recurring.priority
        job.retries = recurring.retries
        job.remaining = recurring.retries
        job.time = due
        for tag in recurring.tags:
            self.add_tag(job, tag, due)
        self.write_history(job, due, "put", queue=recurring.queue)
        self.join_line(job, due)

    def make_job(self, jid):
        job = self.jobs[jid] = Job(self.next_number(), jid)
        return job

    def next_number(self):
        self.numbers_given += 1
        return self.numbers_given

    def recurring_in(self, queue):
        recurrings = [each for each in self.recurrings.values() if each.queue == queue]
        return sorted(recurrings, key=lambda each: (each.next, each.id))

    # Client clock: what falls due is looked at by some calls, and only then.

    def move_recurring(self, queue, now, count):
        moved = 0
        for recurring in [each for each in self.recurring_in(queue) if each.next <= now][:count]:
            if moved < count:
                self.skip_missed(recurring, now)
            while moved < count and recurring.next <= now:
                self.run_recurring(recurring)
                moved += 1

    def move_scheduled(self, queue, now, count=None):
        for job in [job for job in self.scheduled_in(queue) if job.due <= now][:count]:
            self.join_line(job, now)

    def scheduled_in(self, queue):
        return sorted(self.in_state("scheduled", queue), key=lambda job: (job.due, job.id))

    # -----------------------------------------------------------------------------------------
    # Calls: jobs

    def call_put(self, command):
        now = self.begin(command)
        queue, jid = command["queue"], command["jid"]
        for name in (queue, jid, command["klass"]):
            check_name(name)
        if command.get("must_exist") and jid not in self.jobs:
            raise Refused("not_found")
        for tag in command.get("tags", []):
            check_name(tag)
        depends = command.get("depends", [])
        self.check_depends(jid, depends)

        job = self.jobs.get(jid)
        old_worker = ""
        if job is None:
            job = self.make_job(jid)
        else:
            old_worker = job.worker
            if job.state == "failed":
                self.unfail(job)
            self.end_lease(job)
        job.klass = command["klass"]
        job.data = command["data"]
        job.result = ""
        self.forget_failure(job)
        job.priority = command.get("priority", job.priority)
        job.retries = command.get("retries", job.retries)
        job.remaining = job.retries
        job.time = now
        if "tags" in command:
            for tag in list(job.tags):
                self.remove_tag(job, tag)
            for tag in command["tags"]:
                self.add_tag(job, tag, now)
        if depends:
            for dependency in list(job.dependencies):
                if dependency not in depends:
                    self.drop_dependency(job, dependency)
            self.add_dependencies(job, depends)
        self.write_history(job, now, "put", queue=queue)
        self.settle(job, queue, now, command.get("delay", 0))

        self.tell("put", ["log"], now, jid=jid, queue=queue)
        if old_worker and old_worker != command.get("worker", ""):
            self.tell("lock_lost", ["log", "worker"], now, jid=jid, worker=old_worker)
        self.tell_tracker("put", now, job)
        return self.view(job)

    def call_get(self, command):
        job = self.jobs.get(command["jid"])
        return self.view(job) if job else None

    def view(self, job):
        return {
            "id": job.id,
            "jid": job.jid,
            "klass": job.klass,
            "data": job.data,
            "queue": job.queue,
            "worker": job.worker,
            "result": job.result,
            "spawned_from": job.spawned_from,
            "state": job.state,
            "tracked": job.jid in self.tracked,
            "grace": job.grace,
            "priority": job.priority,
            "retries": job.retries,
            "remaining": job.remaining,
            "crashes": job.crashes,
            "token": job.token,
            "expires": job.expires,
            "scheduled": job.due,
            "time": job.time,
            "started": job.started,
            "pid": job.pid,
            "failure": [job.group, job.message, job.failure_worker, job.failure_when],
            "tags": list(job.tags),
            "dependencies": list(job.dependencies),
            "dependents": list(job.dependents),
            "history": [list(entry) for entry in job.history],
        }

    def call_cancel(self, command):
        now = self.begin(command)
        jids = command["jids"]
        for jid in jids:
            if jid in self.jobs and not set(self.jobs[jid].dependents) <= set(jids):
                raise Refused("state")
        canceled = 0
        for jid in jids:
            job = self.jobs.get(jid)
            if job is None or job.state == "complete":
                continue
            channels = ["log", "worker"] if job.worker else ["log"]
            self.tell("canceled", channels, now, jid=jid, worker=job.worker, queue=job.queue)
            self.tell_tracker("canceled", now, job)
            self.remove(job)
            canceled += 1
        return canceled

    def call_delete(self, command):
        self.begin(command)
        job = self.find(command["jid"])
        if job.state not in ("complete", "failed") or job.dependents:
            raise Refused("state")
        self.remove(job)

    def call_priority(self, command):
        self.begin(command)
        job = self.find(command["jid"])
        job.priority = command["priority"]
        if job.state in ("waiting", "stalled"):
            job.place = (LINE_OTHER, job.priority, 0)

    def call_update_data(self, command):
        self.begin(command)
        self.find(command["jid"]).data = command["data"]

    def call_log(self, command):
        now = self.begin(command)
        job = self.find_held(command) if command.get("worker") else self.find(command["jid"])
        self.write_history(job, now, command["message"], data=command.get("data", ""))

    def call_timeout(self, command):
        now = self.begin(command)
        for jid in command["jids"]:
            if self.find(jid).state != "running":
                raise Refused("state")
        for jid in command["jids"]:
            job = self.jobs[jid]
            worker = job.worker
            self.write_history(job, now, "timed-out")
            self.stall(job, LINE_TIMED_OUT, now)
            self.tell("lock_lost", ["log", "worker"], now, jid=jid, worker=worker)

    def find_depending(self, command):
        job = self.find(command["jid"])
        if job.state != "depends":
            raise Refused("state")
        return job

    def call_depends_on(self, command):
        self.begin(command)
        job = self.find_depending(command)
        self.check_depends(job.jid, command["depends"])
        self.add_dependencies(job, command["depends"])

    def call_depends_off(self, command):
        now = self.begin(command)
        job = self.find_depending(command)
        for dependency in command["depends"]:
            if dependency in job.dependencies:
                self.jobs[dependency].dependents.remove(job.jid)
                self.undepend(job, dependency, now)

    def call_depends_off_all(self, command):
        now = self.begin(command)
        job = self.find_depending(command)
        for dependency in list(job.dependencies):
            self.jobs[dependency].dependents.remove(job.jid)
            self.undepend(job, dependency, now)

    # -----------------------------------------------------------------------------------------
    # Calls: work

    def call_pop(self, command):
        now = self.begin(command)
        check_name(command["worker"])
        for queue in command["queues"]:
            check_name(queue)
        for queue in command["queues"]:
            if queue not in self.paused:
                self.number_queue(queue)
                self.see_worker(command["worker"], now).listens.add(queue)
        popped = []
        if command.get("round_robin"):
            # In turn, until each has given nothing since the last job came.
            queues = command["queues"]
            turn = in_vain = 0
            while len(popped) < command["count"] and in_vain < len(queues):
                got = self.pop_from(queues[turn % len(queues)], command["worker"], now, 1)
                popped += got
                in_vain = 0 if got else in_vain + 1
                turn += 1
        else:
            for queue in command["queues"]:
                left = command["count"] - len(popped)
                if left:
                    popped += self.pop_from(queue, command["worker"], now, left)
        return [self.view(job) for job in popped]

    def pop_from(self, queue, worker, now, count):
        if queue in self.paused:
            return []
        limit = self.option_int(queue + "-max-concurrency", 0)
        if limit > 0:
            held = [job for job in self.leases(queue)
                    if self.clock == "server" or not self.ran_out(job, now)]
            count = min(count, max(0, limit - len(held)))
            if count == 0:
                return []
        jobs = []
        if self.clock == "client":
            jobs = self.take_lost(queue, now, count)
            self.move_recurring(queue, now, count - len(jobs))
            self.move_scheduled(queue, now, count - len(jobs))
        jobs += self.line(queue)[: count - len(jobs)]
        for job in jobs:
            self.write_history(job, now, "popped", worker=worker)
            self.count_time(queue, now, "wait", now - job.time)
            job.time = now
            self.lease(job, worker, now)
            self.tell_tracker("popped", now, job)
        return jobs

    def take_lost(self, queue, now, count):
        """Client clock: of `count` leases whose time has come, the jobs that may be handed out."""
        lost = []
        for job in [job for job in self.leases(queue) if job.end <= now][:count]:
            in_grace = job.grace
            if not in_grace:
                self.lease_runs_out(job, now)
            if in_grace or self.grace_us() <= 0:
                if self.lease_is_lost(job, now):
                    lost.append(job)
        return lost

    def call_peek(self, command):
        now = self.begin(command)
        queue, count = command["queue"], command["count"]
        check_name(queue)
        jobs = []
        if self.clock == "client":
            jobs = [job for job in self.leases(queue) if job.end <= now][:count]
            self.move_recurring(queue, now, count - len(jobs))
            self.move_scheduled(queue, now, count - len(jobs))
        jobs += self.line(queue)[: count - len(jobs)]
        return [job.jid for job in jobs]

    def call_heartbeat(self, command):
        now = self.begin(command)
        job = self.find_held(command)
        job.data = command.get("data") or job.data
        job.expires = now + self.lease_us(job.queue)
        job.end = job.expires
        job.grace = False
        self.see_worker(job.worker, now)
        return job.expires

    def call_start(self, command):
        self.begin(command)
        job = self.find_held(command)
        job.started = True
        job.pid = command["pid"]

    def call_complete(self, command):
        now = self.begin(command)
        next_queue = command.get("next", "")
        if not next_queue and ("delay" in command or "depends" in command):
            raise Refused("invalid")
        if next_queue:
            check_name(next_queue)
        job = self.find_held(command, queue_too=True)
        self.check_depends(job.jid, command.get("depends", []))

        old_queue = job.queue
        self.write_history(job, now, "done")
        self.count_time(old_queue, now, "run", now - job.time)
        job.time = now
        job.data = command.get("data") or job.data
        job.result = command.get("result", "")
        job.remaining = job.retries
        self.forget_failure(job)
        self.end_lease(job)
        self.tell_tracker("completed", now, job)
        if next_queue:
            self.tell("advanced", ["log"], now, jid=job.jid, queue=old_queue, to=next_queue)
            self.write_history(job, now, "put", queue=next_queue)
            self.add_dependencies(job, command.get("depends", []))
            self.settle(job, next_queue, now, command.get("delay", 0))
        else:
            self.tell("completed", ["log"], now, jid=job.jid, queue=old_queue)
            job.state = "complete"
            job.queue = ""
            dependents, job.dependents = job.dependents, []
            for dependent in dependents:
                self.undepend(self.jobs[dependent], job.jid, now)
        state = job.state
        if state == "complete":
            self.retire(now)
        return state

    def complete_jobs(self):
        """The newest first."""
        return sorted(self.in_state("complete"), key=lambda job: (job.time, job.id), reverse=True)

    def retire(self, now):
        """Retention: too old, or too many; the oldest go first."""
        oldest_first = self.complete_jobs()[::-1]
        limit = now - self.option_us("jobs-history")
        keep = self.option_int("jobs-history-count")
        too_old = [job for job in oldest_first if job.time <= limit]
        others = [job for job in oldest_first if job.time > limit]
        too_many = others[: max(0, len(others) - keep)]
        for job in (too_old + too_many)[:RETIRE_MAX]:
            self.remove(job)

    def call_fail(self, command):
        now = self.begin(command)
        check_name(command["group"])
        job = self.find_held(command)
        worker, group, message = job.worker, command["group"], command["message"]
        self.tell("failed", ["log"], now, jid=job.jid, queue=job.queue, worker=worker,
                  group=group, message=message)
        self.tell_tracker("failed", now, job)
        self.write_history(job, now, "failed", worker=worker, group=group)
        job.data = command.get("data") or job.data
        self.fail(job, job.queue, now, group, message, worker)

    def call_retry(self, command):
        now = self.begin(command)
        if "group" in command:
            check_name(command["group"])
        job = self.find_held(command)
        worker, old_queue = job.worker, job.queue
        to = command.get("to", "") or old_queue
        check_name(to)
        job.remaining -= 1
        if job.remaining < 0:
            self.see_queue(to, now)
            group, message, blamed = (
                (command["group"], command["message"], worker) if "group" in command else
                (f"failed-retries-{to}", f'Job exhausted retries in queue "{old_queue}"', ""))
            self.write_history(job, now, "failed", group=group)
            self.fail(job, to, now, group, message, blamed)
            self.tell_tracker("failed", now, job)
        else:
            self.end_lease(job)
            if "group" in command:
                job.group = command["group"]
                job.message = command["message"]
                job.failure_worker = worker
                job.failure_when = now
            self.settle(job, to, now, command.get("delay", 0))
        return job.remaining

    def call_unfail(self, command):
        now = self.begin(command)
        check_name(command["queue"])
        check_name(command["group"])
        jids = self.groups.get(command["group"], [])[: command["count"]]
        for jid in jids:
            job = self.jobs[jid]
            self.unfail(job)
            self.write_history(job, now, "put", queue=command["queue"])
            job.remaining = job.retries
            job.time = now
            self.settle(job, command["queue"], now)
        return len(jids)

    # -----------------------------------------------------------------------------------------
    # Calls: failures, tags, tracked jobs

    def call_failure_groups(self, command):
        return [[group, len(jids)] for group, jids in self.groups.items()]

    def call_failed(self, command):
        return page(self.groups.get(command["group"], [])[::-1], command)

    def call_tag_add(self, command):
        now = self.begin(command)
        job = self.find(command["jid"])
        for tag in command["tags"]:
            check_name(tag)
        for tag in command["tags"]:
            self.add_tag(job, tag, now)
        return list(job.tags)

    def call_tag_remove(self, command):
        self.begin(command)
        job = self.find(command["jid"])
        for tag in command["tags"]:
            self.remove_tag(job, tag)
        return list(job.tags)

    def call_tagged(self, command):
        return page(self.tagged(command["tag"]), command)

    def call_tag_top(self, command):
        tags = [[tag, len(jids)] for tag, jids in self.tags.items() if len(jids) >= 2]
        return sorted(tags, key=lambda tag: (-tag[1], tag[0]))

    def call_track(self, command):
        now = self.begin(command)
        jid = command["jid"]
        self.find(jid)
        self.tell("track", ["tracker"], now, jid=jid)
        if jid in self.tracked:
            return False
        self.tracked[jid] = now
        return True

    def call_untrack(self, command):
        now = self.begin(command)
        jid = command["jid"]
        if jid not in self.tracked:
            self.find(jid)
        self.tell("untrack", ["tracker"], now, jid=jid)
        if jid not in self.tracked:
            return False
        del self.tracked[jid]
        return True

    def call_tracked(self, command):
        jids = sorted(self.tracked, key=lambda jid: self.tracked[jid])
        return [[jid, jid in self.jobs] for jid in jids]

    # -----------------------------------------------------------------------------------------
    # Calls: queues

    def call_queue(self, command):
        now = self.begin(command)
        check_name(command["queue"])
        return self.queue_view(command["queue"], now)

    def queue_view(self, queue, now):
        if self.clock == "client":
            self.move_scheduled(queue, now)
        leases = self.leases(queue)
        stalled = [job for job in leases if self.ran_out(job, now)]
        return {
            "name": queue,
            "waiting": len(self.line(queue)),
            "running": len(leases) - len(stalled),
            "stalled": len(stalled),
            "scheduled": len(self.in_state("scheduled", queue)),
            "depends": len(self.in_state("depends", queue)),
            "recurring": len(self.recurring_in(queue)),
            "listeners": len([w for w in self.workers.values() if queue in w.listens]),
            "paused": queue in self.paused,
        }

    def call_queue_names(self, command):
        return sorted(self.listed, key=lambda name: self.listed[name])

    def call_length(self, command):
        queue = command["queue"]
        return (len(self.line(queue)) + len(self.leases(queue))
                + len(self.in_state("scheduled", queue)))

    def list_jobs(self, name, queue, now):
        if name == "complete":
            return self.complete_jobs()
        if name == "waiting":
            return self.line(queue)
        if name == "running":
            return [job for job in self.leases(queue) if not self.ran_out(job, now)]
        if name == "stalled":
            return [job for job in self.leases(queue) if self.ran_out(job, now)]
        if name == "scheduled":
            if self.clock == "client":
                self.move_scheduled(queue, now)
            return self.scheduled_in(queue)
        assert name == "depends"
        return sorted(self.in_state("depends", queue), key=lambda job: (job.place, job.id))

    def call_jobs(self, command):
        now = self.begin(command)
        if command["list"] != "complete":
            check_name(command["queue"])
        jobs = self.list_jobs(command["list"], command.get("queue", ""), now)
        return page([job.jid for job in jobs], command)

    def call_pause(self, command):
        self.begin(command)
        for queue in command["queues"]:
            check_name(queue)
        for queue in command["queues"]:
            self.number_queue(queue)
            self.paused.add(queue)

    def call_unpause(self, command):
        self.begin(command)
        self.paused.difference_update(command["queues"])

    def call_forget(self, command):
        self.begin(command)
        for queue in command["queues"]:
            self.listed.pop(queue, None)

    def call_stats(self, command):
        return self.stats_view(command["queue"], command["date"])

    def stats_view(self, queue, date):
        return (self.stats.get(queue, {}).get(date // DAY) or StatsDay()).view()

    # -----------------------------------------------------------------------------------------
    # Calls: recurring jobs

    def call_recur(self, command):
        now = self.begin(command)
        jid, queue = command["jid"], command["queue"]
        for name in (queue, jid, command["klass"], *command["tags"]):
            check_name(name)
        if command["interval"] <= 0:
            raise Refused("invalid")
        recurring = self.recurrings.get(jid)
        if recurring is None:
            recurring = self.recurrings[jid] = Recurring(jid)
        recurring.id = self.next_number()
        recurring.klass = command["klass"]
        recurring.data = command["data"]
        recurring.queue = queue
        recurring.interval = command["interval"]
        recurring.next = now + command["offset"]
        recurring.priority = command["priority"]
        recurring.retries = command["retries"]
        recurring.backlog = command["backlog"]
        recurring.tags = list(dict.fromkeys(command["tags"]))
        self.see_queue(queue, now)

    def call_unrecur(self, command):
        self.begin(command)
        self.recurrings.pop(command["jid"], None)

    def find_recurring(self, jid):
        if jid not in self.recurrings:
            raise Refused("not_found")
        return self.recurrings[jid]

    def call_recurring_get(self, command):
        recurring = self.recurrings.get(command["jid"])
        return self.recurring_view(recurring) if recurring else None

    def recurring_view(self, recurring):
        return {
            "jid": recurring.jid,
            "klass": recurring.klass,
            "data": recurring.data,
            "queue": recurring.queue,
            "interval": recurring.interval,
            "next": recurring.next,
            "priority": recurring.priority,
            "retries": recurring.retries,
            "count": recurring.count,
            "backlog": recurring.backlog,
            "tags": list(recurring.tags),
        }

    def call_recur_update(self, command):
        now = self.begin(command)
        recurring = self.find_recurring(command["jid"])
        if command.get("interval", 1) <= 0:
            raise Refused("invalid")
        for field in ("klass", "queue"):
            if field in command:
                check_name(command[field])
        if "interval" in command:
            recurring.next += command["interval"] - recurring.interval
        for field in ("priority", "interval", "retries", "backlog", "data", "klass", "queue"):
            if field in command:
                setattr(recurring, field, command[field])
        if "queue" in command:
            self.see_queue(recurring.queue, now)

    def call_recur_tag(self, command):
        self.begin(command)
        recurring = self.find_recurring(command["jid"])
        for tag in command["tags"]:
            check_name(tag)
        recurring.tags = list(dict.fromkeys(recurring.tags + command["tags"]))

    def call_recur_untag(self, command):
        self.begin(command)
        recurring = self.find_recurring(command["jid"])
        recurring.tags = [tag for tag in recurring.tags if tag not in command["tags"]]

    def call_recurring(self, command):
        views = [self.recurring_view(each) for each in self.recurring_in(command["queue"])]
        return page(views, command)

    # -----------------------------------------------------------------------------------------
    # Calls: workers

    def call_workers(self, command):
        now = self.begin(command)
        oldest = now - self.option_us("max-worker-age", "86400")
        for name in list(self.workers):
            if self.workers[name].seen <= oldest:
                del self.workers[name]
        return self.workers_view(command["now"])

    def workers_view(self, now):
        views = []
        for name, worker in self.workers.items():
            views.append({
                "name": name,
                "seen": worker.seen,
                "running": len(self.worker_jobs(name, False, now)),
                "stalled": len(self.worker_jobs(name, True, now)),
                "offline": not worker.listens,
            })
        return sorted(views, key=lambda view: (-view["seen"], view["name"]))

    def worker_jobs(self, name, stalled, now):
        if self.clock == "server":
            now = max(now, self.last)
        jobs = [job for job in self.in_state("running")
                if job.worker == name and (job.expires <= now) == stalled]
        return sorted(jobs, key=lambda job: (-job.expires, -job.id))

    def call_worker_jobs(self, command):
        stalled = command.get("stalled", False)
        jobs = self.worker_jobs(command["worker"], stalled, command["now"])
        return page([job.jid for job in jobs], command)

    def call_worker_deregister(self, command):
        self.begin(command)
        for name in command["workers"]:
            self.workers.pop(name, None)

    def call_worker_offline(self, command):
        self.begin(command)
        worker = self.workers.get(command["worker"])
        if worker is None:
            raise Refused("not_found")
        worker.listens = set()

    # -----------------------------------------------------------------------------------------
    # Commands of the shell's own

    def call_dump(self, command):
        names = self.call_queue_names(command)
        queues = []
        for queue in command["queues"]:
            now = self.begin(command)
            dump = {"counts": self.queue_view(queue, now)}
            dump["length"] = self.call_length({"queue": queue})
            for name in ("waiting", "running", "stalled", "scheduled", "depends"):
                jobs = self.list_jobs(name, queue, now)
                dump[name] = page([self.view(job) for job in jobs], {})
            dump["recurring"] = [self.recurring_view(each) for each in self.recurring_in(queue)]
            dump["stats"] = [self.stats_view(queue, day) for day in command["days"]]
            queues.append(dump)
        held = []
        for worker in command["workers"]:
            for stalled in (False, True):
                jobs = self.worker_jobs(worker, stalled, command["now"])
                held.append(page([job.jid for job in jobs], {}))
        return {
            "names": names,
            "queues": queues,
            "complete": page([self.view(job) for job in self.complete_jobs()], {}),
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
        return True

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
            assert (job.state == "running") == bool(job.token) == bool(job.worker)
            assert job.token or not (job.expires or job.end or job.grace or job.started)
            assert (job.state == "depends") == bool(job.dependencies)
            assert (job.state == "complete") == (job.queue == "")
            assert job.state != "complete" or not job.dependents
            assert not (job.state == "scheduled") or job.due > 0
            assert (job.state == "failed") == any(jid in jids for jids in self.groups.values())
            assert job.state != "failed" or jid in self.groups[job.group]
            assert job.state == "failed" or job.remaining >= 0
            assert len(job.tags) == len(set(job.tags))
            assert all(jid in self.tags[tag] for tag in job.tags)
            assert job.queue == "" or job.queue in self.queues
            for dependency in job.dependencies:
                assert jid in self.jobs[dependency].dependents
                assert self.jobs[dependency].state != "complete"
            for dependent in job.dependents:
                assert jid in self.jobs[dependent].dependencies
            assert not self.depends_on(jid, jid)
            assert job.history
        tokens = [job.token for job in self.jobs.values() if job.token]
        assert len(tokens) == len(set(tokens))
        for jids in list(self.groups.values()) + list(self.tags.values()):
            assert jids and len(jids) == len(set(jids)) and all(jid in self.jobs for jid in jids)
