# SPDX-License-Identifier: MIT
"""Queues and what is known of them, workers, tags, tracked jobs, the configuration."""

from decimal import ROUND_HALF_UP, Decimal

from model_base import DEFAULTS, LEAST, OF_QUEUES, SECOND, Refused, check_name, page

LISTS = ("waiting", "running", "stalled", "scheduled", "depends", "complete", "failed", "expired",
         "unexpired", "line")


def held_jobs(jobs, name, is_expired):
    """Of running jobs all, those whose lease has expired, or those whose lease has not."""
    return [job for job in jobs if name == "running" or is_expired(job) == (name == "expired")]


class Worker:
    def __init__(self):
        self.seen = 0
        self.listens = set()  # offline when it listens to none


class ConfigRules:
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

    def call_config_get(self, command):
        return self.option(command["option"]) or ""

    def call_config_all(self, command):
        values = {**DEFAULTS, **self.config}
        return [[name, values[name]] for name in sorted(values)]

    def check_range(self, option, value):
        """With the client clock an option may be any number."""
        if option.startswith("heartbeat-"):
            option = "heartbeat"
        for suffix in OF_QUEUES:
            if option.endswith("-" + suffix):
                option = suffix
        if self.clock == "server" and option in (*DEFAULTS, *OF_QUEUES) and float(value) < LEAST.get(option, 0):
            raise Refused("invalid")

    def call_config_set(self, command):
        now = self.begin(command)
        check_name(command["option"])
        self.check_range(command["option"], command["value"])
        if command["option"] == "rate-catch-up" and not 0 <= float(command["value"]) <= 60:
            raise Refused("invalid")
        self.config[command["option"]] = command["value"]
        self.fair_changed()
        self.tell("config_set", ["log"], now, option=command["option"], value=command["value"])

    def call_config_unset(self, command):
        now = self.begin(command)
        check_name(command["option"])
        self.config.pop(command["option"], None)
        self.fair_changed()
        self.tell("config_unset", ["log"], now, option=command["option"])


class TagRules:
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

    def call_failed(self, command):
        return page(self.groups.get(command["group"], [])[::-1], command)

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


class QueueRules:
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
            self.metrics.pop(name, None)
            self.series.pop(name, None)

    def see_queue(self, name, now):
        """A queue is listed from its first job or recurring job on."""
        self.number_queue(name)
        self.listed.setdefault(name, now)

    def call_queue(self, command):
        now = self.begin(command)
        check_name(command["queue"])
        return self.queue_view(command["queue"], now)

    def queue_view(self, queue, now):
        if self.clock == "client":
            self.move_scheduled(queue, now)
        leases = self.leases(queue)
        stalled = len(self.in_state("stalled", queue))
        return {
            "name": queue,
            "waiting": len(self.line(queue)) - stalled,
            "running": len(leases),
            "stalled": stalled,
            "expired": len([job for job in leases if self.ran_out(job, now)]),
            "failed": len(self.in_state("failed", queue)),
            "oldest": self.oldest_in_line(queue),
            "scheduled": len(self.in_state("scheduled", queue)),
            "depends": len(self.in_state("depends", queue)),
            "recurring": len(self.recurring_in(queue)),
            "listeners": len([w for w in self.workers.values() if queue in w.listens]),
            "paused": queue in self.paused,
        }

    def oldest_in_line(self, queue):
        """Since when the first job in line could run. Those whose priority was changed have forgotten that, and only the
        first of them is looked at; so for those with a domain, and those without."""
        parts = {}
        for job in self.line(queue):
            parts.setdefault((bool(job.domain), job.place[:-1]), []).append(job)
        since = [max(job.place[-1], 0) or job.time for jobs in parts.values()
                 for job in jobs[:1] + [each for each in jobs if each.place[-1] > 0][:1]]
        return min(since, default=0)

    def call_queue_names(self, command):
        return sorted(self.listed, key=lambda name: self.listed[name])

    def call_length(self, command):
        queue = command["queue"]
        return (len(self.line(queue)) + len(self.leases(queue))
                + len(self.in_state("scheduled", queue)))

    def list_jobs(self, name, queue, now):
        if name in ("complete", "failed"):
            return self.finished_jobs(name, queue or None)
        if name == "running" and not queue:
            return sorted(self.in_state("running"), key=lambda job: job.token)
        if name in ("waiting", "stalled", "line"):
            return [job for job in self.line(queue) if name in ("line", job.state)]
        if name in ("running", "expired", "unexpired"):
            return held_jobs(self.leases(queue), name, lambda job: self.ran_out(job, now))
        if name == "scheduled":
            if self.clock == "client":
                self.move_scheduled(queue, now)
            return self.scheduled_in(queue)
        assert name == "depends"
        return self.depending_in(queue)

    def call_jobs(self, command):
        now = self.begin(command)
        if command["queue"] or command["list"] not in ("running", "complete", "failed"):
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


class WorkerRules:
    def see_worker(self, name, now):
        worker = self.workers.setdefault(name, Worker())
        worker.seen = now
        return worker

    def call_workers(self, command):
        self.forget_workers(self.begin(command))
        return self.workers_view(command["now"])

    def forget_workers(self, now):
        oldest = now - self.option_us("max-worker-age", "86400")
        for name in list(self.workers):
            if self.workers[name].seen <= oldest:
                del self.workers[name]

    def workers_view(self, now):
        views = []
        for name, worker in self.workers.items():
            views.append({
                "name": name,
                "seen": worker.seen,
                "running": len(self.worker_jobs(name, "running", now)),
                "expired": len(self.worker_jobs(name, "expired", now)),
                "offline": not worker.listens,
            })
        return sorted(views, key=lambda view: (-view["seen"], view["name"]))

    def worker_jobs(self, name, which, now):
        if self.clock == "server":
            now = max(now, self.last)
        jobs = [job for job in self.in_state("running")
                if job.worker == name]
        jobs = held_jobs(jobs, which, lambda job: job.expires <= now)
        return sorted(jobs, key=lambda job: (-job.expires, -job.id))

    def call_worker_jobs(self, command):
        jobs = self.worker_jobs(command["worker"], command["list"], command["now"])
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
