# SPDX-License-Identifier: MIT
"""Why a job is not running, and when it could."""

from model_base import IN_LINE, NEVER

BLOCKERS_MAX = 3


class ExplainRules:
    def call_explain(self, command):
        now = self.begin(command)
        job = self.find(command["jid"])
        reason, until = self.reason(job, now)
        behind = 0
        if job.state in IN_LINE:
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

    def reason(self, job, now):
        """The word, and until when it counts."""
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
            return bucket.ready(now, self.lane_line(lane).index(job) + 1) if bucket else now
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
