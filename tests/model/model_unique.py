# SPDX-License-Identifier: MIT
"""Uniqueness: a job that holds a lock, and what a put does that meets it."""

import hashlib
import json

from model_base import Refused, check_name


PROMISES_MAX = 100  # that end when a job completes, with the client clock


def contents_key(klass, data):
    """Whatever white space and order of keys the data has."""
    try:
        value = json.loads(data)
    except ValueError:
        raise Refused("invalid") from None
    canonical = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(klass.encode() + b"\0" + canonical.encode()).hexdigest()


class UniqueRules:
    def lock_wanted(self, command):
        """(by, key) of the lock that a put asks for, or None."""
        unique = command.get("unique", {})
        by = unique.get("by", "none")
        if by == "none":
            return None
        if unique.get("until", "finished") == "time" and unique.get("for_us", 0) <= 0:
            raise Refused("invalid")
        if by == "key":
            check_name(unique["key"])
            return by, unique["key"]
        return by, contents_key(command["klass"], command["data"])

    def lock_kept(self, lock, now):
        """The job that is gone and holds the lock for a time still."""
        kept = self.kept_locks.get(lock)
        return kept if kept and kept.unique_over > now else None

    def keep_promises(self, job):
        """The job goes: a lock for a time and a result for a time stay."""
        if job.unique_held and job.unique_until == "time":
            self.kept_locks[job.unique_by, job.unique_key] = job
        if job.result_until:
            self.kept_results[job.jid] = job

    def promises(self):
        """(when it ends, job, kind, what is done then) of each."""
        kinds = {"key": 1, "contents": 2}
        found = []
        for job in self.jobs.values():
            if job.unique_held and job.unique_until == "time":
                found.append((job.unique_over, job.id, kinds[job.unique_by],
                              lambda job=job: self.unlock(job, "time")))
            if job.result_until:
                found.append((job.result_until, job.id, 3, lambda job=job: self.drop_result(job)))
        for lock, job in self.kept_locks.items():
            found.append((job.unique_over, job.id, kinds[job.unique_by],
                          lambda lock=lock: self.kept_locks.pop(lock)))
        for jid, job in self.kept_results.items():
            found.append((job.result_until, job.id, 3,
                          lambda jid=jid: self.kept_results.pop(jid)))
        return sorted(found, key=lambda promise: promise[:3])

    def end_promises(self, now):
        """Client clock: those whose time is over."""
        for _, _, _, end in [each for each in self.promises() if each[0] <= now][:PROMISES_MAX]:
            end()

    def lock_holder(self, lock, jid, now):
        """A job but this that holds the lock. What is over by now does not count."""
        for job in self.jobs.values():
            if job.unique_held and (job.unique_by, job.unique_key) == lock and job.jid != jid:
                if job.unique_until != "time" or job.unique_over > now:
                    return job
        return None

    def check_way(self, holder, conflict, depends):
        """Another job holds the lock: it is to go, or the put is refused."""
        if conflict == "refuse":
            raise Refused("exists")
        assert conflict == "replace"
        if holder.state in ("running", "complete") or holder.dependents or holder.jid in depends:
            raise Refused("state")

    def take_lock(self, job, lock, unique, now):
        for other in self.jobs.values():
            if (other.unique_by, other.unique_key) == lock:
                other.unique_held = False  # it is over, and now another job's
        self.kept_locks.pop(lock, None)
        job.unique_by, job.unique_key = lock
        job.unique_until = unique.get("until", "finished")
        job.unique_over = now + unique["for_us"] if job.unique_until == "time" else 0
        job.unique_held = True

    def given_up(self, job):
        """Whether it has a lock that it does not hold, and takes again when it starts anew."""
        return job.unique_by != "none" and not job.unique_held and job.unique_until != "time"

    def locked_out(self, job, now):
        """Whether another job holds the lock that it would take again."""
        lock = (job.unique_by, job.unique_key)
        return self.given_up(job) and (self.lock_holder(lock, job.jid, now) is not None
                                       or self.lock_kept(lock, now) is not None)

    def retake_lock(self, job, now):
        if self.given_up(job):
            lock = (job.unique_by, job.unique_key)
            self.take_lock(job, lock, {"until": job.unique_until}, now)

    def unlock(self, job, *until):
        """What the lock was held until has come."""
        if job.unique_until in until:
            job.unique_held = False

    def check_unique(self):
        for lock in self.kept_locks:
            assert not any(job.unique_held and (job.unique_by, job.unique_key) == lock
                           for job in self.jobs.values())
        assert not any(jid in self.jobs for jid in self.kept_results)
        locks = [(job.unique_by, job.unique_key) for job in self.jobs.values() if job.unique_held]
        assert len(locks) == len(set(locks))
        for job in self.jobs.values():
            assert (job.unique_by == "none") == (job.unique_key == "")
            assert job.unique_by != "none" or not job.unique_held
            if job.unique_held and job.unique_until == "finished":
                assert job.state not in ("complete", "failed")
            if job.unique_held and job.unique_until == "started":
                assert job.state not in ("running", "stalled", "complete", "failed")
