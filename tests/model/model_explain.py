# SPDX-License-Identifier: MIT
"""Why a job is not running, and when it could."""

from model_base import IN_LINE, LINE_OTHER, NEVER

BLOCKERS_MAX = 3


class ExplainRules:
    def call_explain(self, command):
        now = self.begin(command)
        job = self.find(command["jid"])
        reason, until = self.reason(job, now)
        behind = 0
        if self.is_due_to_a_pop(job, now) and job.state == "scheduled":
            behind = self.behind_when_due(job, now)
        elif job.state in IN_LINE:
            behind = self.line(job.queue).index(job)
        elif job.state == "depends":
            behind = len(job.dependencies)
        return {
            "reason": reason,
            "state": job.state,
            "behind": behind,
            "until_us": until,
            "earliest_us": self.earliest(job, now),
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

    def behind_when_due(self, job, now):
        """How many are handed out before a scheduled job whose time has come."""
        place = ((LINE_OTHER, job.priority, now), job.id)
        before = [other for other in self.line(job.queue) if (other.place, other.id) < place]
        return len(before) + self.scheduled_in(job.queue).index(job)

    def reason(self, job, now):
        """The word, and until when it counts."""
        if self.is_due_to_a_pop(job, now):
            if job.state == "running":
                return "stalled", 0
            if job.queue in self.paused:
                return "paused", 0
            return ("behind" if self.behind_when_due(job, now) else "next"), 0
        if job.state in IN_LINE:
            return self.reason_in_line(job, now)
        if job.state in ("scheduled", "depends"):
            return job.state, job.due
        if job.state == "running":
            return ("grace", job.end) if job.grace else ("running", job.expires)
        return job.state, 0

    def reason_in_line(self, job, now):
        lane = (job.queue, job.domain)
        if job.queue in self.paused:
            return "paused", 0
        if self.queue_room(job.queue, now) == 0:
            return "queue-concurrency", 0
        if self.at_concurrency(lane):
            return "lane-concurrency", 0
        if self.rate_ready(lane, now) > now:
            return "lane-rate", self.rate_ready(lane, now)
        return ("next" if self.line(job.queue)[0] is job else "behind"), 0

    def earliest(self, job, now):
        """When it can run at the earliest, as things stand."""
        lane = (job.queue, job.domain)
        if job.state in IN_LINE:
            if job.queue in self.paused:
                return NEVER
            bucket = self.bucket(lane, now)
            before = self.lane_line(lane).index(job)
            catch_up = self.option_us("rate-catch-up")
            return bucket.ready(now, before + 1, catch_up) if bucket else now
        if job.state == "scheduled":
            return max(job.due, self.rate_ready(lane, now))
        if job.state == "running":
            return now
        if job.state == "depends":
            return max([job.due, now] + [self.earliest_without(job, self.jobs[jid], now)
                                         for jid in job.dependencies])
        return NEVER

    def earliest_without(self, job, dependency, now):
        """When the dependency no longer holds it."""
        if dependency.state == "failed":
            return now if self.in_effect(job, "dependency_policy") == "run" else NEVER
        return self.earliest(dependency, now)
