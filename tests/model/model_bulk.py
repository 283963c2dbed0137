# SPDX-License-Identifier: MIT
"""One act on all jobs that a filter matches."""

from model_base import IN_LINE, Refused, check_name, check_name_or_empty

SLICE = 1000  # jobs looked at in the call itself
DONE_MAX = 100  # operations that are done and still known

MOVABLE = ("waiting", "stalled", "scheduled", "depends", "failed")


class BulkRules:
    def all_in_order(self):
        """All jobs in the order in which a bulk operation looks at them."""
        jobs = []
        for queue in sorted(self.queues, key=lambda name: self.queues[name]):
            line = self.line(queue)
            leases = self.leases(queue)
            jobs += [job for job in line if not job.domain]
            jobs += [job for job in line if job.domain]
            jobs += self.scheduled_in(queue)
            if self.clock == "server":
                leases.sort(key=lambda job: job.grace)
            jobs += leases
            jobs += self.depending_in(queue)
        for jids in self.groups.values():
            jobs += [self.jobs[jid] for jid in jids]
        jobs += self.complete_jobs()[::-1]
        assert len(jobs) == len(self.jobs)
        return jobs

    def filter_matches(self, job, command, now):
        """Whether a job, which has the tag if one is asked for, is meant. What is where it is to go
        is not, unless it has failed."""
        wanted = command["filter"]
        if command["act"] == "move" and job.queue == command["to"] and job.state != "failed":
            return False
        age = now - job.created
        group = wanted.get("group", "")
        return (wanted.get("queue", "") in ("", job.queue)
                and wanted.get("klass", "") in ("", job.klass)
                and (not wanted.get("tag", "") or wanted["tag"] in job.tags)
                and (not group or (job.state == "failed" and job.group == group))
                and (not wanted.get("states") or job.state in wanted["states"])
                and wanted.get("domain", "") in ("", job.domain)
                and (not wanted.get("worker") or
                     (job.state == "running" and job.worker == wanted["worker"]))
                and not (command["act"] == "priority" and job.priority == command["priority"])
                and ("older_us" not in wanted or age >= wanted["older_us"])
                and ("newer_us" not in wanted or age <= wanted["newer_us"]))

    def bulk_changes(self, job, command, now):
        """Whether the act would change that job."""
        act = command["act"]
        if act == "retry":
            return job.state == "scheduled" or (job.state == "failed" and
                                                not self.locked_out(job, now))
        if act == "move":
            return job.state in MOVABLE and not self.locked_out(job, now)
        if act == "delete":
            return job.state in ("complete", "failed") and not job.dependents
        if act == "priority":
            return True
        if act == "timeout":
            return job.state == "running"
        new = [tag for tag in command["tags"] if tag not in job.tags]
        if act == "tag":
            fits = len(job.tags) + len(set(new)) <= self.option_int("max-tags")
            return bool(new) and fits
        return any(tag in job.tags for tag in command["tags"])

    def bulk_change(self, job, command, now):
        act = command["act"]
        if act == "retry" and job.state == "failed":
            self.unfail_into(job, job.queue, now)
        elif act == "retry":
            self.join_line(job, now)
        elif act == "move":
            self.move(job, command["to"], now)
        elif act == "delete":
            self.delete(job, now)
        elif act == "priority":
            self.set_priority(job, command["priority"])
        elif act == "timeout":
            self.time_out(job, now)
        else:
            for tag in command["tags"]:
                if act == "tag":
                    self.add_tag(job, tag, now)
                else:
                    self.remove_tag(job, tag)

    def bulk_cancel(self, jobs, command, view):
        """A job goes when nothing that stays depends on it: at once, or when the last that does
        goes."""
        now, dry = view["began_us"], view["dry_run"]
        counted, gone = set(), set()

        def counts(job):
            if job.jid in gone or not self.filter_matches(job, command, now):
                return False
            view["matched"] += job.jid not in counted
            counted.add(job.jid)
            return job.state != "complete" and gone.issuperset(job.dependents)

        for first in jobs:
            pending = [first]
            while pending:
                job = pending.pop(0)
                if not counts(job):
                    continue
                view["changed"] += 1
                gone.add(job.jid)
                dependencies = [self.jobs[jid] for jid in job.dependencies]
                if not dry:
                    self.cancel(job, now)
                pending += [other for other in dependencies if gone.issuperset(other.dependents)]

    def move(self, job, queue, now):
        if job.state == "failed":
            self.unfail_into(job, queue, now)
            return
        self.see_queue(queue, now)
        keeps = job.state in ("scheduled", "depends") and job.due > now
        self.write_history(job, now, "put", queue=queue, until=job.due if keeps else 0)
        self.begin_anew(job, now)
        self.retake_lock(job, now)
        self.forget_passed_deadline(job, now)
        if job.state in IN_LINE:
            self.leave_line(job)
            job.queue = queue
            self.join_line(job, now)
        elif job.state == "scheduled" and job.due <= now:
            job.queue = queue
            self.join_line(job, now)
        else:
            job.queue = queue
            job.due = job.due if job.due > now else 0
            if job.state == "depends":
                job.place = now
                self.look_at_dependencies(job)

    def call_bulk(self, command):
        now = self.begin(command)
        wanted = command["filter"]
        for name in ("queue", "klass", "tag", "group", "worker", "domain"):
            check_name_or_empty(wanted.get(name, ""))
        if command["act"] == "move":
            check_name(command["to"])
        for tag in command.get("tags", []):
            check_name(tag)

        if wanted.get("tag", ""):
            jobs = [self.jobs[jid] for jid in self.tagged(wanted["tag"])]
        else:
            jobs = self.all_in_order()
        assert len(jobs) < SLICE
        self.bulks_begun += 1
        view = {
            "id": self.bulks_begun,
            "act": command["act"],
            "dry_run": command.get("dry_run", False),
            "done": True,
            "stopped": False,
            "began_us": now,
            "matched": 0,
            "changed": 0,
        }
        if command["act"] == "cancel":
            self.bulk_cancel(jobs, command, view)
            jobs = []
        for job in jobs:
            if self.filter_matches(job, command, now):
                view["matched"] += 1
                if self.bulk_changes(job, command, now):
                    view["changed"] += 1
                    if not view["dry_run"]:
                        self.bulk_change(job, command, now)
        self.bulks.append(view)
        del self.bulks[:-DONE_MAX]
        return {"id": view["id"]}

    def call_bulk_get(self, command):
        found = [view for view in self.bulks if view["id"] == command["id"]]
        return dict(found[0]) if found else None

    def call_bulks(self, command):
        return [dict(view) for view in self.bulks]

    def call_bulk_stop(self, command):
        """All are done within their call."""
        self.begin(command)
        raise Refused("not_found")
