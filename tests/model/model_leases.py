# SPDX-License-Identifier: MIT
"""Leases: how they are given, renewed and lost, and what their holders may say."""

from model_base import (LINE_LOST, LINE_TIMED_OUT, Refused, check_lease, check_name,
                        check_new_name, cut)

RETIRE_MAX = 100
LOG_LINE_SIZE_MAX = 4096
PROGRESS_MAX = 1_000_000


class LeaseRules:
    def grace_us(self):
        return self.option_us("grace-period")

    def lease_us(self, job):
        """How long a lease lasts that is given or renewed now."""
        option = self.in_effect(job, "lease_us")
        if job.lease_us or option > 0:
            return job.lease_us or option
        queue = job.queue
        for name in (queue + "-heartbeat", "heartbeat-" + queue):
            if self.option(name) is not None:
                return self.option_us(name)
        return self.option_us("heartbeat")

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

    def settled_before(self, command, act):
        """How the holder has settled the job the same way before; None when it has not."""
        jid, token, worker = command["jid"], command.get("token", 0), command["worker"]
        check_name(jid)
        job = self.jobs.get(jid)
        held = job and job.state == "running" and (job.worker, job.token) == (worker, token)
        if not token or held:
            return None
        found = None
        if job and job.settled and job.settled[:2] == (token, worker):
            found = job.settled[2:]
        elif self.done.get(jid) == (token, worker):
            found = ("complete", "complete")
        if found and found[0] != act or not found and job and job.state != "running":
            raise Refused("stale")
        return found

    @staticmethod
    def note_settled(job, by, act, outcome):
        job.settled = (*by, act, outcome)

    def lease_runs_out(self, job, when):
        """The first step: the holder is told, and has the grace period left."""
        self.tell_tracker("stalled", when, job)
        self.write_history(job, when, "timed-out")
        self.tell("lock_lost", ["log", "worker"], when, jid=job.jid, worker=job.worker)
        self.count(job.queue, when, "lost_leases")
        self.happens("lost", job.queue, when)
        self.ends("lost", job.queue)
        job.grace = True
        job.end = when + self.grace_us()

    def lease_is_lost(self, job, when):
        """The second step. Whether the job may run again; if not, it has failed."""
        job.remaining -= 1
        job.crashes += 1
        crashes_max = self.in_effect(job, "crashes_max")
        if job.remaining < 0:
            self.fail_by_itself(job, when, "failed-retries-" + job.queue,
                                f'Job exhausted retries in queue "{job.queue}"', job.worker)
            return False
        if 0 < crashes_max <= job.crashes:
            self.fail_by_itself(job, when, "failed-crashes-" + job.queue,
                                f'Job crashed {job.crashes} times in queue "{job.queue}"',
                                job.worker)
            return False
        return True

    def lease(self, job, worker, now, lease_us):
        timeout = self.in_effect(job, "timeout_us")
        job.state = "running"
        job.place = None
        job.due = 0
        job.worker = worker
        job.run_ends = now + timeout if timeout > 0 else 0
        job.lease_us = lease_us
        self.renew(job, now)
        job.started = False
        job.pid = 0
        self.leases_given += 1
        job.token = self.leases_given

    def renew(self, job, now):
        """No lease reaches beyond the end of the run."""
        job.expires = now + self.lease_us(job)
        if job.run_ends:
            job.expires = min(job.expires, job.run_ends)
        job.end = job.expires
        job.grace = False

    def end_lease(self, job):
        job.worker = ""
        job.token = 0
        job.expires = 0
        job.lease_us = 0
        job.end = 0
        job.run_ends = 0
        job.grace = False
        job.started = False
        job.pid = 0

    def ran_out(self, job, now):
        """Client clock: a grace that has begun counts as a lease of its own."""
        if self.clock == "client":
            return job.end <= now
        return job.grace or job.expires <= now

    def leases(self, queue):
        return sorted(self.in_state("running", queue), key=lambda job: (job.end, job.id))

    def forget_progress(self, job):
        job.progress = -1
        job.progress_message = ""

    # Pop and peek

    def call_pop(self, command):
        now = self.begin(command)
        check_new_name(self.clock, command["worker"])
        for queue in command["queues"]:
            check_name(queue)
        check_lease(command.get("lease", 0))
        for queue in command["queues"]:
            if queue not in self.paused:
                self.number_queue(queue)
                self.see_worker(command["worker"], now).listens.add(queue)
        popped = []
        if command.get("best"):
            popped = self.pop_best(command, now)
        elif command.get("round_robin"):
            # In turn, until each has given nothing since the last job came.
            queues = command["queues"]
            turn = in_vain = 0
            while len(popped) < command["count"] and in_vain < len(queues):
                got = self.pop_from(queues[turn % len(queues)], command, now, 1)
                popped += got
                in_vain = 0 if got else in_vain + 1
                turn += 1
        else:
            for queue in command["queues"]:
                left = command["count"] - len(popped)
                if left:
                    popped += self.pop_from(queue, command, now, left)
        return [self.view(job) for job in popped]

    def call_take(self, command):
        now = self.begin(command)
        check_new_name(self.clock, command["worker"])
        check_lease(command.get("lease", 0))
        check_name(command["jid"])
        job = self.jobs.get(command["jid"])
        if not job:
            return []
        if self.clock == "client" and job.queue and job.queue not in self.paused:
            self.bring_job(job, now)
        if job.state not in ("waiting", "stalled") or job.queue in self.paused or \
                self.queue_room(job.queue, now) == 0 or \
                not self.may_run((job.queue, job.domain), now):
            return []
        self.number_queue(job.queue)
        self.see_worker(command["worker"], now).listens.add(job.queue)
        self.hand_out(job, command, now)
        return [self.view(job)]

    def bring_job(self, job, now):
        """Client clock: what is due of a job that is to be taken."""
        self.look_at_deadlines(job.queue, now)
        if job.state == "scheduled" and job.due <= now:
            self.join_line(job, now)
        elif job.state == "running" and job.end <= now:
            in_grace, end = job.grace, job.end
            if not in_grace:
                self.lease_runs_out(job, now)
            if in_grace or self.grace_us() <= 0:
                if self.lease_is_lost(job, now):
                    self.stall(job, LINE_LOST, end)

    def queue_room(self, queue, now):
        """How many more leases the queue may have; None when there is no limit."""
        limit = self.queue_limit(queue)
        return max(0, limit - len(self.counted_leases(queue, now))) if limit > 0 else None

    def queue_limit(self, queue):
        return self.option_int(queue + "-max-concurrency", 0)

    def counted_leases(self, queue, now):
        return [job for job in self.leases(queue)
                if self.clock == "server" or not self.ran_out(job, now)]

    def pop_best(self, command, now):
        """Of the first jobs of all queues the best, again and again."""
        queues = [queue for queue in command["queues"]
                  if self.look_at_queue(queue, command, now, command["count"])]
        popped = []
        while len(popped) < command["count"]:
            heads = [self.next_job(queue, now) for queue in queues
                     if self.queue_room(queue, now) != 0]
            heads = [job for job in heads if job]
            if not heads:
                break
            job = min(heads, key=lambda job: (job.priority, job.place[0], job.id))
            self.hand_out(job, command, now)
            popped.append(job)
        return popped

    def look_at_queue(self, queue, command, now, count):
        """How many jobs it may hand out; client clock: what is due in it happens."""
        if queue in self.paused:
            return 0
        if self.clock == "client":
            self.look_at_deadlines(queue, now)
        room = self.queue_room(queue, now)
        if room is not None:
            count = min(count, room)
        if count and self.clock == "client":
            lost = self.take_lost(queue, now, count, command.get("no_grace", False))
            self.move_recurring(queue, now, count - lost)
            self.move_scheduled(queue, now, count - lost)
        return count

    def pop_from(self, queue, command, now, count):
        count = self.look_at_queue(queue, command, now, count)
        jobs = []
        while len(jobs) < count:
            job = self.next_job(queue, now)
            if job is None:
                break
            self.hand_out(job, command, now)
            jobs.append(job)
        return jobs

    @staticmethod
    def since(job, now):
        """Since when a job could run, where its history does not say so."""
        if job.state != "waiting" or len(job.history) != 1:
            return 0
        lined = job.place[2]
        return lined if job.history[0][0] < lined <= now else 0

    def hand_out(self, job, command, now):
        worker = command["worker"]
        self.serve(job, now)
        since = self.since(job, now)
        self.leave_line(job)
        self.write_history(job, now, "popped", worker=worker, until=since)
        self.count_time(job.queue, now, "wait", now - job.time)
        if job.attempts == 0:
            self.measure("latency", job.queue, now - job.lined)
        self.meter("run", job.queue, now)
        self.happens("popped", job.queue, now)
        job.time = now
        job.attempts += 1
        job.deadline = 0
        self.forget_progress(job)
        self.unlock(job, "started")
        self.lease(job, worker, now, command.get("lease", 0))
        self.tell_tracker("popped", now, job)
        lane = (job.queue, job.domain)
        concurrency = self.concurrency(lane)
        assert not concurrency or len(self.lane_leases(lane)) <= concurrency

    def look_at_deadlines(self, queue, now):
        """Client clock: of a queue that is popped from."""
        jobs = [job for job in self.jobs.values()
                if job.queue == queue and self.has_deadline(job) and job.deadline <= now]
        for job in sorted(jobs, key=lambda job: (job.deadline, job.id)):
            self.deadline_passes(job, now)

    def has_deadline(self, job):
        return job.deadline > 0 and job.state in ("scheduled", "depends", "waiting")

    def take_lost(self, queue, now, count, no_grace):
        """Client clock: looks at `count` leases whose time has come. How many of the jobs came into
        line."""
        lost = 0
        for job in [job for job in self.leases(queue) if job.end <= now][:count]:
            in_grace, end = job.grace, job.end
            if not in_grace:
                self.lease_runs_out(job, now)
            if in_grace or no_grace or self.grace_us() <= 0:
                if self.lease_is_lost(job, now):
                    self.stall(job, LINE_LOST, end)
                    lost += 1
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

    # What a holder says

    def call_heartbeat(self, command):
        now = self.begin(command)
        check_lease(command.get("lease", 0))
        job = self.find_held(command)
        if job.run_ends and now >= job.run_ends:
            raise Refused("stale")
        job.data = command.get("data") or job.data
        job.lease_us = command.get("lease", job.lease_us)
        self.renew(job, now)
        self.see_worker(job.worker, now)
        return job.expires

    def call_start(self, command):
        now = self.begin(command)
        job = self.find_held(command)
        if not job.started or job.pid != command["pid"]:
            data = '{"pid":%d}' % command["pid"] if command["pid"] else ""
            self.write_history(job, now, "started", worker=job.worker, data=data)
        job.started = True
        job.pid = command["pid"]

    def call_progress(self, command):
        now = self.begin(command)
        if not 0 <= command["progress_ppm"] <= PROGRESS_MAX:
            raise Refused("invalid")
        job = self.find_held(command, queue_too=True)
        job.progress = command["progress_ppm"]
        job.progress_message = command.get("message", "")
        if job.jid in self.tracked:
            self.events.append(["progress", "tracker", now, job.jid, job.progress,
                                job.progress_message])

    def call_checkpoint(self, command):
        self.begin(command)
        job = self.find_held(command, queue_too=True)
        job.checkpoint = command.get("value", "")

    def call_log_line(self, command):
        now = self.begin(command)
        if not command["line"]:
            raise Refused("invalid")
        job = self.find_held(command, queue_too=True)
        job.log.append([now, cut(command["line"], LOG_LINE_SIZE_MAX)])
        del job.log[: -self.option_int("max-job-log")]

    def call_complete(self, command):
        now = self.begin(command)
        next_queue = command.get("next", "")
        if not next_queue and ("delay" in command or "depends" in command):
            raise Refused("invalid")
        if next_queue:
            check_name(next_queue)
        before = self.settled_before(command, "complete")
        if before:
            return before[1]
        job = self.find_held(command, queue_too=True)
        self.check_depends(job.jid, command)
        by = job.token, job.worker

        old_queue = job.queue
        ttl = self.in_effect(job, "result_ttl_us")
        self.write_history(job, now, "done")
        self.count_time(old_queue, now, "run", now - job.time)
        self.measure("runtime", old_queue, now - job.time)
        self.happens("completed", old_queue, now)
        if not next_queue:
            self.measure_complete(job, now)
        job.time = now
        job.data = command.get("data") or job.data
        job.result = command.get("result", "")
        job.remaining = job.retries
        job.checkpoint = ""
        self.forget_failure(job)
        self.end_lease(job)
        self.tell_tracker("completed", now, job)
        if next_queue:
            self.tell("advanced", ["log"], now, jid=job.jid, queue=old_queue, worker=by[1],
                      to=next_queue)
            delay = command.get("delay", 0)
            self.write_history(job, now, "put", queue=next_queue,
                               until=now + delay if delay > 0 else 0)
            job.attempts = 0
            self.add_dependencies(job, command.get("depends", []))
            self.settle(job, next_queue, now, delay)
            self.note_settled(job, by, "complete", job.state)
            self.look_at_dependencies(job)
        else:
            self.tell("completed", ["log"], now, jid=job.jid, queue=old_queue, worker=by[1])
            job.state = "complete"
            self.note_settled(job, by, "complete", "complete")
            job.result_until = now + ttl if ttl > 0 and job.result else 0
            self.unlock(job, "started", "finished")
            dependents, job.dependents = job.dependents, []
            for dependent in dependents:
                self.jobs[dependent].members_done += 1
                self.undepend(self.jobs[dependent], job.jid, now)
            self.finish(job, "complete", now)
        state = job.state
        if state == "complete":
            if self.clock == "client":
                self.end_promises(now)
            self.retire(now)
        return state

    def drop_result(self, job):
        job.result = ""
        job.result_until = 0

    def retire(self, now):
        """Retention: too old, or too many; the oldest go first."""
        oldest_first = self.complete_jobs()[::-1]
        limit = now - self.option_us("jobs-history")
        keep = self.option_int("jobs-history-count")
        too_old = [job for job in oldest_first if job.time <= limit]
        others = [job for job in oldest_first if job.time > limit]
        too_many = others[: max(0, len(others) - keep)] if keep >= 0 else []
        for job in (too_old + too_many)[:RETIRE_MAX]:
            self.remove(job)

    def call_fail(self, command):
        now = self.begin(command)
        check_new_name(self.clock, command["group"])
        forced = command.get("forced", False)
        if not forced and self.settled_before(command, "fail"):
            return
        job = self.find(command["jid"]) if forced else self.find_held(command)
        if job.state == "failed":
            raise Refused("state")
        if not forced:
            self.note_settled(job, (job.token, job.worker), "fail", 0)
        worker = command["worker"] if forced else job.worker
        group, message = command["group"], command["message"]
        if job.state == "running" and job.worker != worker:
            self.tell("lock_lost", ["log", "worker"], now, jid=job.jid, worker=job.worker)
        if job.state == "complete":
            self.drop_result(job)
        self.tell("failed", ["log"], now, jid=job.jid, queue=job.queue, worker=worker,
                  group=group, message=message)
        self.tell_tracker("failed", now, job)
        self.write_history(job, now, "failed", worker=worker, group=group, message=message)
        job.data = command.get("data") or job.data
        self.fail(job, job.queue, now, group, message, worker)
        self.finish(job, "failed", now)
        self.deal_with_failed()

    def call_retry(self, command):
        now = self.begin(command)
        if "group" in command:
            check_name(command["group"])
        if command.get("to", ""):
            check_name(command["to"])
        before = self.settled_before(command, "retry")
        if before:
            return before[1]
        job = self.find_held(command)
        worker, old_queue = job.worker, job.queue
        to = command.get("to", "") or old_queue
        uncounted = command.get("uncounted", False)
        if not uncounted:
            job.remaining -= 1
        self.note_settled(job, (job.token, job.worker), "retry", job.remaining)
        if job.remaining < 0 and not uncounted:
            self.see_queue(to, now)
            group, message, blamed = (
                (command["group"], command["message"], worker) if "group" in command else
                (f"failed-retries-{to}", f'Job exhausted retries in queue "{old_queue}"', ""))
            self.write_history(job, now, "failed", group=group, message=message)
            self.fail(job, to, now, group, message, blamed)
            self.tell_tracker("failed", now, job)
            self.finish(job, "failed", now)
            self.deal_with_failed()
            return job.remaining
        self.end_lease(job)
        group, message = command.get("group", ""), command.get("message", "")
        if group:
            job.group = group
            job.message = message
            job.failure_worker = worker
            job.failure_when = now
        delay = command["delay"] if "delay" in command else \
            self.backoff_us(job, now, command.get("seed", 0))
        self.write_history(job, now, "retried", worker=worker, group=group, message=message,
                           until=now + delay if delay > 0 else 0)
        self.settle(job, to, now, delay)
        self.happens("retried", to, now)
        self.ends("retried", to)
        if not uncounted:
            self.count(to, now, "retries")
        return job.remaining

    def call_held(self, command):
        self.begin(command)
        return self.find_held(command).jid

    def call_return(self, command):
        now = self.begin(command)
        if self.settled_before(command, "return"):
            return
        job = self.find_held(command)
        self.note_settled(job, (job.token, job.worker), "return", 0)
        self.time_out(job, now)

    def call_timeout(self, command):
        now = self.begin(command)
        for jid in command["jids"]:
            if self.find(jid).state != "running":
                raise Refused("state")
        for jid in command["jids"]:
            self.time_out(self.jobs[jid], now)

    def time_out(self, job, now):
        worker = job.worker
        self.write_history(job, now, "timed-out")
        self.stall(job, LINE_TIMED_OUT, now)
        self.tell("lock_lost", ["log", "worker"], now, jid=job.jid, worker=worker)
