# SPDX-License-Identifier: MIT
"""Why a job is not running, and when it could."""

from model_base import IN_LINE, LINE_LOST, LINE_OTHER, NEVER

BLOCKERS_MAX = 3


class ExplainRules:
    def call_explain(self, command):
        now = self.begin(command)
        job = self.find(command["jid"])
        foreseen, when = self.foresee_job(job, now)
        behind = 0
        if job.state in IN_LINE or (job.state == "scheduled" and self.is_due_to_a_pop(job, now)):
            behind = foreseen
        elif job.state == "depends":
            behind = len(job.dependencies)
        reason, until = self.reason(job, now, behind)
        return {
            "reason": reason,
            "state": job.state,
            "behind": behind,
            "until_us": until,
            "earliest_us": when,
            "queue": job.queue,
            "domain": job.domain,
            "worker": job.worker,
            "group": job.group if job.state == "failed" else "",
            "attempts": job.attempts,
            "blockers": job.dependencies[:BLOCKERS_MAX] if job.state == "depends" else [],
        }

    def is_due_to_a_pop(self, job, now):
        """With the client clock: whether its time has come, which the next pop sees."""
        if self.clock == "server":
            return False
        if job.state == "running":
            return self.ran_out(job, now)
        return job.state == "scheduled" and job.due <= now

    def reason(self, job, now, behind):
        """The word, and until when it counts."""
        if self.is_due_to_a_pop(job, now) and job.state == "running":
            return "expired", 0
        if job.state in IN_LINE or self.is_due_to_a_pop(job, now):
            return self.reason_in_line(job, now, behind)
        if job.state in ("scheduled", "depends"):
            return job.state, job.due
        if job.state == "running":
            return ("grace", job.end) if job.grace else ("running", job.expires)
        return job.state, 0

    def reason_in_line(self, job, now, behind):
        lane = (job.queue, job.domain)
        if job.queue in self.paused:
            return "paused", 0
        if self.queue_room(job.queue, now) == 0:
            return "queue-concurrency", 0
        if self.at_concurrency(lane):
            return "lane-concurrency", 0
        if self.rate_ready(lane, now) > now:
            return "lane-rate", self.rate_ready(lane, now)
        return ("behind" if behind else "next"), 0

    # When it is handed out, and after how many others: if workers ask as soon as a job may run, no
    # lease ends, and no other job comes.

    def foresee_job(self, job, now, lane_only=False):
        if job.state in IN_LINE:
            return self.foresee(job, now, now, (job.place, job.id), lane_only)
        if job.state == "scheduled":
            return self.foresee_later(job, now, job.due, lane_only)
        if job.state == "depends":
            return self.foresee_later(job, now, self.after_dependencies(job, now), lane_only)
        if job.state == "running":
            if job.grace and not self.is_due_to_a_pop(job, now):
                return self.foresee_grace(job, now, lane_only)
            return 0, now
        return 0, NEVER

    def foresee_later(self, job, now, start, lane_only):
        if start == NEVER:
            return 0, NEVER
        start = max(start, now)
        place = ((LINE_OTHER, job.priority, max(start, self.line_floor)), job.id)
        behind, when = self.foresee(job, now, start, place, lane_only)
        if self.is_due_to_a_pop(job, now):
            behind += self.scheduled_in(job.queue).index(job)
        return behind, when

    def foresee_grace(self, job, now, lane_only):
        crashes_max = self.in_effect(job, "crashes_max")
        if job.remaining < 1 or 0 < crashes_max <= job.crashes + 1:
            return 0, NEVER
        place = ((LINE_LOST, job.end), job.id)
        return self.foresee(job, now, job.end, place, lane_only, freed=1)

    def foresee(self, job, now, start, place, lane_only, freed=0):
        lane = (job.queue, job.domain)
        own = [other for other in self.lane_line(lane) if other is not job]
        before = len([other for other in own if (other.place, other.id) < place])
        gone = len([n for n in range(self.able(lane)) if self.token_time(lane, now, n) < start])
        position = max(before, gone)
        when = max(start, self.token_time(lane, now, position))
        behind = position
        if not lane_only:
            behind += self.others_before(job, now, when, place, position)
        lane_limit, limit = self.concurrency(lane), self.queue_limit(job.queue)
        running = len(self.counted_leases(job.queue, now)) - freed
        lane_running = len(self.lane_leases(lane)) - freed
        if job.queue in self.paused \
                or (self.has_deadline(job) and job.deadline <= when) \
                or 0 < lane_limit <= lane_running + position \
                or 0 < limit <= running + behind:
            return behind, NEVER
        return behind, when

    def token_time(self, lane, now, others):
        """When the lane has a token after so many others."""
        bucket = self.bucket(lane, now)
        return bucket.ready(now, others + 1, self.option_us("rate-catch-up")) if bucket else now

    def lane_room(self, lane):
        limit = self.concurrency(lane)
        return max(0, limit - len(self.lane_leases(lane))) if limit else None

    def able(self, lane):
        """How many of the jobs in line it can hand out."""
        room, count = self.lane_room(lane), len(self.lane_line(lane))
        return count if room is None else min(room, count)

    def others_before(self, job, now, when, place, position):
        """How many jobs of other lanes are handed out before."""
        own = (job.queue, job.domain)
        count, contenders = 0, {}
        for lane in self.lanes():
            if lane[0] != job.queue or lane == own:
                continue
            for number, other in enumerate(self.lane_line(lane)[:self.able(lane)]):
                time = self.token_time(lane, now, number)
                if time < when:
                    count += 1
                elif time == when and self.fair(job.queue):
                    contenders.setdefault(lane, []).append(other)
                elif time == when:
                    count += (other.place, other.id) < place
        if contenders and when == now:
            count += self.turns_before(job, contenders, position)
        return count

    def turns_before(self, job, contenders, position):
        """Serves the lanes of a fair queue until it is the job's turn."""
        own = (job.queue, job.domain)
        clock = self.turn_clocks.get(job.queue, 0)
        lines = {lane: list(jobs) for lane, jobs in contenders.items()}
        line = [other for other in self.lane_line(own) if other is not job]
        lines[own] = line[:position] + [job]
        turns = {lane: self.turns.get(lane, clock + self.step(lane)) for lane in lines}
        served = 0
        while True:
            lane = min(lines, key=lambda lane: (turns[lane], lines[lane][0].id))
            head = lines[lane].pop(0)
            if head is job:
                return served
            served += lane != own
            clock = max(clock, turns[lane])
            turns[lane] = clock + self.step(lane)
            if not lines[lane]:
                del lines[lane]

    def after_dependencies(self, job, now):
        """When a job that depends on others comes into the line. Of the jobs in between that depend
        on others themselves only the time and a pause count."""
        times = [job.due, now]
        for jid in job.dependencies:
            dependency = self.jobs[jid]
            if dependency.state == "failed":
                times.append(now if self.in_effect(job, "dependency_policy") == "run" else NEVER)
            elif dependency.state == "depends":
                times.append(NEVER if dependency.queue in self.paused
                             else self.after_dependencies(dependency, now))
            else:
                times.append(self.foresee_job(dependency, now, lane_only=True)[1])
        return max(times)
