# SPDX-License-Identifier: MIT
"""Dependencies, and what becomes of a job when one of them fails."""

from model_base import Refused, check_name


class DependsRules:
    def check_depends(self, jid, command):
        depends = command.get("depends", [])
        for dependency in depends:
            check_name(dependency)
        for dependency in depends:
            if dependency == jid or self.depends_on(dependency, jid):
                raise Refused("invalid")
        if command.get("must_be_there") and any(dependency not in self.jobs
                                                and dependency not in self.done
                                                for dependency in depends):
            raise Refused("not_found")

    def depends_on(self, jid, other):
        """Whether the job waits for the other, directly or through others."""
        job = self.jobs.get(jid)
        if job is None:
            return False
        return any(dependency == other or self.depends_on(dependency, other)
                   for dependency in job.dependencies)

    def add_dependencies(self, job, depends):
        """Those that count and that it did not have; gives them."""
        added = []
        for dependency in depends:
            other = self.jobs.get(dependency)
            if other is None or other.state == "complete" or dependency in job.dependencies:
                continue
            job.dependencies.append(dependency)
            other.dependents.append(job.jid)
            added.append(dependency)
        return added

    def drop_dependency(self, job, dependency):
        job.dependencies.remove(dependency)
        self.jobs[dependency].dependents.remove(job.jid)

    def undepend(self, job, dependency, now):
        """One dependency less; the last one lets the job go."""
        job.dependencies.remove(dependency)
        if not job.dependencies and job.state == "depends":
            self.ready(job, now)

    def members_failed(self, job):
        failed = [jid for jid in job.dependencies if self.jobs[jid].state == "failed"]
        return len(failed) + job.members_dropped

    # When a dependency fails

    def look_at_dependencies(self, job, jids=None):
        """It may have come to depend on what has failed already."""
        if self.holds_on(job):
            return
        for jid in job.dependencies if jids is None else jids:
            if self.jobs[jid].state == "failed":
                self.to_deal_with.add(jid)

    def holds_on(self, job):
        """Whether it just waits, whatever fails."""
        return self.in_effect(job, "dependency_policy") in ("unset", "hold")

    def deal_with_failed(self):
        """The failed jobs in the order in which they failed; for each all that depend on it."""
        while self.to_deal_with:
            failed = min((self.jobs[jid] for jid in self.to_deal_with),
                         key=lambda job: job.failure_order)
            assert failed.state == "failed"
            self.to_deal_with.remove(failed.jid)
            for jid in list(failed.dependents):
                job = self.jobs[jid]
                if job.state != "depends":
                    continue
                when = max(failed.failure_when, job.time)
                self.dependency_failed(job, failed, when)
            if (not failed.dependents and failed.group == "dependency-failed"
                    and self.in_effect(failed, "dependency_policy") == "cancel"
                    and any(self.jobs[jid].state == "failed" for jid in failed.dependencies)):
                self.cancel_too(failed, failed.failure_when)

    def dependency_failed(self, job, failed, when):
        policy = self.in_effect(job, "dependency_policy")
        if policy == "run":
            job.members_dropped += 1
            failed.dependents.remove(job.jid)
            self.undepend(job, failed.jid, when)
        elif policy == "cancel" and not job.dependents:
            self.cancel_too(job, when)
            self.to_deal_with.discard(failed.jid)  # it is being looked at
        elif policy in ("cancel", "fail"):
            message = f"Job {failed.jid} failed, and this one depends on it"
            self.fail_by_itself(job, when, "dependency-failed", message)

    def cancel_too(self, job, when):
        """What failed only since the job depended on it is looked at again."""
        for jid in job.dependencies:
            if self.jobs[jid].state == "failed" and self.jobs[jid].dependents == [job.jid]:
                self.to_deal_with.add(jid)
        self.cancel(job, when)

    # Calls

    def find_depending(self, command):
        job = self.find(command["jid"])
        if job.state != "depends":
            raise Refused("state")
        return job

    def call_depends_on(self, command):
        self.begin(command)
        job = self.find_depending(command)
        self.check_depends(job.jid, command)
        self.look_at_dependencies(job, self.add_dependencies(job, command["depends"]))
        self.deal_with_failed()

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
