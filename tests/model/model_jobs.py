# SPDX-License-Identifier: MIT
"""Jobs: how they are made, where they stand, how they fail and go."""

from model_base import (DAY, IN_LINE, LINE_OTHER, MESSAGE_SIZE_MAX, Job, Refused, check_name,
                        check_name_or_empty, check_new_name, cut, full_options)
from model_policies import check_options

UNFAIL_MAX = 10000  # jobs moved by one call
PRIORITY_MIN = -2**31


class JobRules:
    def find(self, jid):
        job = self.jobs.get(jid)
        if job is None:
            raise Refused("not_found")
        return job

    def make_job(self, jid, created):
        job = self.jobs[jid] = Job(self.next_number(), jid, created)
        self.kept_results.pop(jid, None)
        return job

    def next_number(self):
        self.numbers_given += 1
        return self.numbers_given

    def write_history(self, job, when, what, queue="", worker="", group="", data="", message="",
                      until=0):
        entry = [when, what, queue, worker, group, data]
        if message:
            entry.append(cut(message, MESSAGE_SIZE_MAX))
        if until:
            entry.append(until)
        job.history.append(entry)
        keep = self.option_int("max-job-history", 100)
        if keep > 0:
            while len(job.history) > keep:
                # The first always stays; of the others the oldest goes.
                del job.history[1 if len(job.history) > 1 else 0]

    # Where it stands

    def in_state(self, state, queue=None):
        return [job for job in self.jobs.values()
                if job.state == state and (queue is None or job.queue == queue)]

    def line(self, queue):
        jobs = [job for job in self.jobs.values() if job.queue == queue and job.state in IN_LINE]
        return sorted(jobs, key=lambda job: (job.place, job.id))

    def scheduled_in(self, queue):
        return sorted(self.in_state("scheduled", queue), key=lambda job: (job.due, job.id))

    def depending_in(self, queue):
        return sorted(self.in_state("depends", queue), key=lambda job: (job.place, job.id))

    def finished_jobs(self, state, queue=None):
        """The newest first."""
        if state == "complete":
            return sorted(self.in_state(state, queue), key=lambda job: (job.time, job.id),
                          reverse=True)
        return sorted(self.in_state(state, queue), key=lambda job: job.failure_order, reverse=True)

    def complete_jobs(self):
        """The newest first."""
        return self.finished_jobs("complete")

    def join_line(self, job, when):
        job.state = "waiting"
        job.due = 0
        job.lined = max(when, self.line_floor)
        if job.priority < PRIORITY_MIN + 2:
            job.lined -= job.lined % 16
        job.place = (LINE_OTHER, job.priority, job.lined)
        self.lane_joined((job.queue, job.domain))

    def stall(self, job, line_class, when):
        """The lease is gone for good; the job is before all others in line."""
        self.end_lease(job)
        job.state = "stalled"
        job.place = (line_class, when)
        self.lane_joined((job.queue, job.domain))

    def leave_line(self, job):
        if job.state in IN_LINE:
            job.state = "between"
            job.place = None
            self.lane_left((job.queue, job.domain))

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

    def move_scheduled(self, queue, now, count=None):
        """Client clock: what is due comes into line."""
        for job in [job for job in self.scheduled_in(queue) if job.due <= now][:count]:
            self.join_line(job, now)

    def begin_anew(self, job, now):
        """It has all its runs before it."""
        job.remaining = job.retries
        job.attempts = 0
        job.crashes = 0
        job.time = now

    def forget_passed_deadline(self, job, now):
        if job.deadline <= now:
            job.deadline = 0

    # Failures

    def fail(self, job, queue, when, group, message, worker):
        """Failed, in that queue and group."""
        self.end_lease(job)
        self.leave_line(job)
        job.state = "failed"
        job.queue = queue
        job.place = None
        job.due = 0
        job.group = group
        job.message = message
        job.failure_worker = worker
        job.failure_when = when
        self.failures_counted += 1
        job.failure_order = self.failures_counted
        self.groups.setdefault(group, []).append(job.jid)
        self.unlock(job, "started", "finished")
        self.count(queue, when, "failures")
        self.count(queue, when, "failed")
        self.measure("time_to_failure", queue, when - job.created)
        self.ends("failed", queue)
        if job.dependents:
            self.to_deal_with.add(job.jid)

    def fail_by_itself(self, job, when, group, message, told=""):
        """By a rule, not by its worker; who held it is told."""
        self.write_history(job, when, "failed", group=group, message=message)
        self.fail(job, job.queue, when, group, message, "")
        self.tell_tracker("failed", when, job)
        self.tell("failed", ["log"], when, jid=job.jid, queue=job.queue, worker=told,
                  group=group, message=message)
        self.finish(job, "failed", when)

    def deadline_passes(self, job, when):
        self.fail_by_itself(job, when, "expired", "Job was not started by its deadline")

    def unfail(self, job):
        """Takes a failed job out of its group; the words stay with it."""
        self.to_deal_with.discard(job.jid)
        members = self.groups[job.group]
        members.remove(job.jid)
        if not members:
            del self.groups[job.group]
        day = self.stats.get(job.queue, {}).get(job.failure_when // DAY)
        if day:
            day.failed -= 1

    def unfail_into(self, job, queue, now):
        self.unfail(job)
        self.write_history(job, now, "put", queue=queue)
        self.begin_anew(job, now)
        self.retake_lock(job, now)
        self.forget_passed_deadline(job, now)
        self.settle(job, queue, now)
        self.look_at_dependencies(job)

    def forget_failure(self, job):
        job.group = ""
        job.message = ""
        job.failure_worker = ""
        job.failure_when = 0

    def call_unfail(self, command):
        now = self.begin(command)
        check_name(command["queue"])
        check_name(command["group"])
        moved, kept = 0, 0
        for jid in list(self.groups.get(command["group"], [])):
            if moved == min(command["count"], UNFAIL_MAX):
                break
            if self.locked_out(self.jobs[jid], now):
                kept += 1
                continue
            self.unfail_into(self.jobs[jid], command["queue"], now)
            moved += 1
        if kept and not moved:
            raise Refused("exists")
        return moved

    def call_unfail_job(self, command):
        now = self.begin(command)
        job = self.find(command["jid"])
        if job.state != "failed":
            raise Refused("state")
        if self.locked_out(job, now):
            raise Refused("exists")
        self.unfail_into(job, job.queue, now)

    def call_kick(self, command):
        now = self.begin(command)
        for jid in command["jids"]:
            job = self.find(jid)
            if job.state not in ("failed", "scheduled"):
                raise Refused("state")
            if job.state == "failed" and self.locked_out(job, now):
                raise Refused("exists")
        kicked = 0
        for job in [self.jobs[jid] for jid in command["jids"]]:
            if job.state == "scheduled":
                self.join_line(job, now)
                kicked += 1
            elif job.state == "failed" and not self.locked_out(job, now):
                self.unfail_into(job, job.queue, now)
                kicked += 1
        return kicked

    def call_failure_groups(self, command):
        return [[group, len(jids)] for group, jids in self.groups.items()]

    # The end of a job

    def remove(self, job):
        """Nothing is left of it but its place on the list of tracked jids."""
        self.leave_line(job)
        if job.state == "failed":
            self.unfail(job)
        for tag in list(job.tags):
            self.remove_tag(job, tag)
        for dependency in list(job.dependencies):
            self.drop_dependency(job, dependency)
        for dependent in job.dependents:
            self.jobs[dependent].dependencies.remove(job.jid)
        self.keep_promises(job)
        if job.state == "complete":
            settled = job.settled and job.settled[2:] == ("complete", "complete")
            self.done[job.jid] = job.settled[:2] if settled else None
        else:
            self.done.pop(job.jid, None)
        del self.jobs[job.jid]

    def cancel(self, job, when):
        channels = ["log", "worker"] if job.worker else ["log"]
        self.tell("canceled", channels, when, jid=job.jid, worker=job.worker, queue=job.queue)
        self.tell_tracker("canceled", when, job)
        self.ends("canceled", job.queue)
        self.remove(job)
        self.finish(job, "canceled", when)

    def finish(self, job, how, when):
        """Who waits for the job is told, in the order in which they came."""
        for waiter in [waiter for waiter, jid in self.waiters.items() if jid == job.jid]:
            del self.waiters[waiter]
            failure = [job.group, job.message] if how == "failed" else ["", ""]
            result = job.result if how == "complete" else ""
            self.events.append(["finished", "waiter", when, job.jid, how, waiter, result, *failure])

    # Calls

    def call_put(self, command):
        now = self.begin(command)
        queue, jid = command["queue"], command["jid"]
        for name in (queue, jid, command["klass"]):
            check_new_name(self.clock, name)
        check_name_or_empty(command.get("domain", ""))
        depends = command.get("depends", [])
        if command.get("deadline_us", 0) and command["deadline_us"] <= now:
            raise Refused("invalid")
        if "options" in command:
            options = check_options(full_options(command["options"]))
        else:
            options = None
        lock = self.lock_wanted(command)
        if command.get("must_exist") and jid not in self.jobs:
            raise Refused("not_found")
        conflict = command.get("unique", {}).get("conflict", "existing")
        holder = self.lock_holder(lock, None if conflict == "once" else jid, now) if lock else None
        if holder:
            if conflict in ("existing", "once"):
                return self.view(holder)
            self.check_way(holder, conflict, depends)
        kept = self.lock_kept(lock, now) if lock else None
        if kept and (kept.jid != jid or conflict == "once"):
            if conflict in ("existing", "once"):
                return kept.jid
            if conflict == "refuse":
                raise Refused("exists")
            if kept.state == "complete":
                raise Refused("state")
        if not lock and jid in self.jobs and self.locked_out(self.jobs[jid], now):
            raise Refused("exists")
        self.check_depends(jid, command)
        for tag in command.get("tags", []):
            check_name(tag)
        if holder:
            self.cancel(holder, now)

        job = self.jobs.get(jid)
        old_worker = ""
        if job is None:
            job = self.make_job(jid, now)
        else:
            old_worker = job.worker
            if job.state == "failed":
                self.unfail(job)
            self.end_lease(job)
            self.leave_line(job)
        self.write_anew(job, command, options, now)
        if lock:
            self.take_lock(job, lock, command["unique"], now)
        else:
            self.retake_lock(job, now)
        if depends:
            for dependency in list(job.dependencies):
                if dependency not in depends:
                    self.drop_dependency(job, dependency)
            self.add_dependencies(job, depends)
        delay = command.get("delay", 0)
        if command.get("keeps_time") and job.due > now:
            delay = job.due - now
        self.write_history(job, now, "put", queue=queue,
                           until=now + delay if job.history and delay > 0 else 0)
        self.settle(job, queue, now, delay)
        self.look_at_dependencies(job)
        self.meter("queued", queue, now)
        self.happens("put", queue, now)

        self.tell("put", ["log"], now, jid=jid, queue=queue)
        if old_worker and old_worker != command.get("worker", ""):
            self.tell("lock_lost", ["log", "worker"], now, jid=jid, worker=old_worker)
        self.tell_tracker("put", now, job)
        return self.view(job)

    def write_anew(self, job, command, options, now):
        """What a put says about the job itself; what it does not say stays."""
        job.klass = command["klass"]
        job.data = command["data"]
        job.result = ""
        job.result_until = 0
        job.priority = command.get("priority", job.priority)
        job.retries = command.get("retries", job.retries)
        job.domain = command.get("domain", job.domain)
        if "deadline_us" in command:
            job.deadline = command["deadline_us"]
        self.forget_passed_deadline(job, now)
        if options:
            job.options = options
        self.begin_anew(job, now)
        job.members_done = 0
        job.members_dropped = 0
        job.checkpoint = ""
        job.log = []
        self.forget_progress(job)
        if "tags" in command:
            for tag in list(job.tags):
                self.remove_tag(job, tag)
            for tag in command["tags"]:
                self.add_tag(job, tag, now)

    def call_get(self, command):
        job = self.jobs.get(command["jid"])
        return self.view(job) if job else None

    def call_result_kept(self, command):
        job = self.kept_results.get(command["jid"])
        return job.result if job and job.result_until > command["now"] else None

    def view(self, job):
        return {
            "id": job.id,
            "jid": job.jid,
            "klass": job.klass,
            "data": job.data,
            "queue": job.queue,
            "domain": job.domain,
            "worker": job.worker,
            "result": job.result,
            "result_until_us": job.result_until,
            "spawned_from": job.spawned_from,
            "state": job.state,
            "tracked": job.jid in self.tracked,
            "grace": job.grace,
            "priority": job.priority,
            "retries": job.retries,
            "remaining": job.remaining,
            "crashes": job.crashes,
            "attempts": job.attempts,
            "token": job.token,
            "expires": job.expires,
            "lease_us": job.lease_us,
            "run_ends_us": job.run_ends,
            "scheduled": job.due,
            "time": job.time,
            "created_us": job.created,
            "deadline_us": job.deadline,
            "started": job.started,
            "pid": job.pid,
            "failure": [job.group, job.message, job.failure_worker, job.failure_when],
            "tags": list(job.tags),
            "dependencies": list(job.dependencies),
            "dependents": list(job.dependents),
            "members_done": job.members_done,
            "members_failed": self.members_failed(job),
            "history": [list(entry) for entry in job.history],
            "log": [list(entry) for entry in job.log],
            "progress_ppm": job.progress,
            "progress_message": job.progress_message,
            "checkpoint": job.checkpoint,
            "unique_by": job.unique_by,
            "unique_key": job.unique_key,
            "unique_held": job.unique_held,
            "options": job.options,
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
            if job is not None and job.state != "complete":
                self.cancel(job, now)
                canceled += 1
        return canceled

    def call_delete(self, command):
        now = self.begin(command)
        job = self.find(command["jid"])
        if job.state not in ("complete", "failed") or job.dependents:
            raise Refused("state")
        self.delete(job, now)

    def delete(self, job, now):
        self.drop_result(job)
        self.remove(job)
        self.finish(job, "deleted", now)

    def call_priority(self, command):
        self.begin(command)
        self.set_priority(self.find(command["jid"]), command["priority"])

    def set_priority(self, job, priority):
        job.priority = priority
        if job.state in IN_LINE:
            job.state = "waiting"  # no longer before all others
            job.place = (LINE_OTHER, job.priority, 0)
            job.lined = job.time  # when it came into the line is forgotten

    def call_update_data(self, command):
        self.begin(command)
        self.find(command["jid"]).data = command["data"]

    def call_log(self, command):
        now = self.begin(command)
        job = self.find_held(command) if command.get("worker") else self.find(command["jid"])
        self.write_history(job, now, command["message"], data=command.get("data", ""))

    def call_wait(self, command):
        self.begin(command)
        job = self.find(command["jid"])
        if command["waiter"] in self.waiters:
            raise Refused("invalid")
        finished = job.state in ("complete", "failed")
        if not finished:
            self.waiters[command["waiter"]] = job.jid
        return {"finished": finished}

    def call_wait_end(self, command):
        self.waiters.pop(command["waiter"], None)
