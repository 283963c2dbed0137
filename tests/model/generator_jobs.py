# SPDX-License-Identifier: MIT
"""Commands about jobs and the work on them."""

import json

from generator_names import GROUPS, JIDS, LONG, ODD, QUEUES
from model import SECOND

WAITERS = 8


class JobCommands:
    def make_put(self):
        rng = self.rng
        arguments = {
            "queue": self.queue_or_bad(),
            "jid": self.jid() if self.chance(0.3) else rng.choice(JIDS),
            "klass": rng.choice(["Klass", "Other"]),
            "data": self.data(),
        }
        roll = rng.random()
        if roll < 0.005:
            arguments["jid"] = rng.choice(["", LONG, ODD])
        elif roll < 0.01:
            arguments["klass"] = rng.choice(["", LONG, ODD])
        if self.chance(0.4):
            arguments["worker"] = self.worker()
        if self.chance(0.25):
            arguments["delay"] = self.delay()
        elif self.chance(0.02):
            arguments["delay"] = -5 * SECOND
        elif self.chance(0.5):
            arguments["keeps_time"] = True
        if self.chance(0.3):
            arguments["priority"] = self.priority()
        if self.chance(0.4):
            arguments["retries"] = rng.randint(0, 3)
        if self.chance(0.3):
            arguments["tags"] = self.tags() if self.chance(0.9) else []
        if self.chance(0.3):
            arguments["depends"] = [self.dependency() for _ in range(rng.randint(0, 3))]
            if self.chance(0.5):
                arguments["must_be_there"] = True
        if self.chance(0.1):
            arguments["must_exist"] = True
        if self.chance(0.6):
            arguments["domain"] = self.domain_or_bad()
        if self.chance(0.2):
            arguments["deadline_us"] = self.deadline()
        if self.chance(0.3):
            arguments["options"] = self.options()
        if self.chance(0.25):
            self.make_unique(arguments)
        return arguments

    def dependency(self):
        done = sorted(self.model.done)
        return self.rng.choice(done) if done and self.chance(0.2) else self.jid()

    def deadline(self):
        roll = self.rng.random()
        if roll < 0.15:
            return 0
        if roll < 0.2:
            return self.now - self.rng.choice([0, SECOND])
        return self.now + self.rng.choice([1, SECOND, 3 * SECOND, 10 * SECOND, 100 * SECOND])

    def make_unique(self, arguments):
        """Few keys and contents, so that they meet; contents in more than one spelling."""
        rng = self.rng
        unique = {"by": rng.choice(["key", "key", "contents"])}
        if unique["by"] == "key":
            unique["key"] = rng.choice(["k1", "k2", "kľúč"])
            if self.chance(0.01):
                unique["key"] = rng.choice(["", LONG])
        else:
            n = rng.randint(0, 1)
            arguments["data"] = rng.choice([
                f'{{"n": {n}, "where": "späť"}}',
                f' {{"where":"sp\\u00e4\\u0165",\n"n" :{n}}}',
                f'[{n}, null, true, {{"b": [], "a": {{}}}}]',
                f'[{n},null,true,{{"a":{{}},"b":[]}}]',
            ])
            if self.chance(0.03):
                arguments["data"] = rng.choice(["{", "", "nothing"])
        if self.chance(0.6):
            unique["until"] = rng.choice(["finished", "started", "time"])
        if unique.get("until") == "time":
            unique["for_us"] = rng.choice([1, SECOND, 10 * SECOND, 3600 * SECOND])
        if self.chance(0.7):
            unique["conflict"] = rng.choice(["existing", "replace", "replace", "refuse", "once"])
        arguments["unique"] = unique

    def make_result_kept(self):
        kept = sorted(self.model.kept_results)
        return {"jid": self.rng.choice(kept) if kept and self.chance(0.8) else self.jid()}

    def make_get(self):
        return {"jid": self.jid()}

    def make_cancel(self):
        jids = [self.jid() for _ in range(self.rng.randint(1, 3))]
        return {"jids": self.closure(jids) if self.chance(0.6) else jids}

    def make_delete(self):
        return {"jid": self.jid("complete", "failed")}

    def make_priority(self):
        return {"jid": self.jid("waiting", "stalled", "scheduled"),
                "priority": self.priority()}

    def make_update_data(self):
        return {"jid": self.jid(), "data": self.data()}

    def make_log(self):
        arguments = self.held() if self.chance(0.4) else {"jid": self.jid()}
        arguments["message"] = self.rng.choice(["step", "popped", "half way"])
        if self.chance(0.5):
            arguments["data"] = self.data()
        return arguments

    def make_timeout(self):
        running = [job.jid for job in self.model.in_state("running")]
        if running and self.chance(0.8):
            return {"jids": self.rng.sample(running, min(len(running), self.rng.randint(1, 3)))}
        return {"jids": list(dict.fromkeys(self.jid("running") for _ in range(2)))}

    def make_depends_on(self):
        return {"jid": self.jid("depends"), "depends": [self.dependency() for _ in range(2)],
                "must_be_there": self.chance(0.5)}

    def make_depends_off(self):
        jid = self.jid("depends")
        job = self.model.jobs.get(jid)
        if job and job.dependencies and self.chance(0.8):
            return {"jid": jid, "depends": self.few(job.dependencies)}
        return {"jid": jid, "depends": [self.jid()]}

    def make_depends_off_all(self):
        return {"jid": self.jid("depends")}

    def make_wait(self):
        return {"jid": self.jid("waiting", "running", "scheduled", "depends", "stalled"),
                "waiter": self.rng.randint(1, WAITERS)}

    def make_wait_end(self):
        return {"waiter": self.rng.randint(1, WAITERS)}

    def make_explain(self):
        if self.chance(0.5):
            return {"jid": self.jid("waiting", "stalled", "depends", "scheduled")}
        return {"jid": self.jid()}

    # Work

    def make_pop(self):
        queues = [self.queue()] if self.chance(0.6) else self.few(QUEUES)
        if self.chance(0.01):
            queues = [self.queue_or_bad()]
        arguments = {"worker": self.worker(), "queues": queues,
                     "count": self.rng.choice([1, 1, 1, 2, 3, 5, 10])}
        if self.chance(0.4):
            arguments["round_robin"] = True
        elif self.chance(0.4):
            arguments["best"] = True
        if self.clock == "client" and self.chance(0.3):
            arguments["no_grace"] = True
        if self.chance(0.15):
            arguments["lease"] = self.lease()
        if self.chance(0.005):
            arguments["worker"] = self.rng.choice(["", LONG, ODD])
        return arguments

    def make_take(self):
        jid = self.jid("waiting", "stalled") if self.chance(0.7) else self.jid()
        worker = self.worker() if self.chance(0.99) else self.rng.choice(["", LONG, ODD])
        arguments = {"worker": worker, "jid": jid}
        if self.chance(0.2):
            arguments["lease"] = self.lease()
        return arguments

    def make_kick(self):
        states = ("failed", "scheduled") if self.chance(0.8) else ()
        return {"jids": [self.jid(*states) for _ in range(self.rng.randint(1, 3))]}

    def make_peek(self):
        return {"queue": self.queue(), "count": self.rng.randint(1, 8)}

    def make_heartbeat(self):
        arguments = self.held()
        if self.chance(0.2):
            arguments["data"] = self.data()
        if self.chance(0.2):
            arguments["lease"] = self.lease()
        return arguments

    def make_start(self):
        return {**self.held(), "pid": self.rng.randint(1, 9999)}

    def make_held(self):
        return self.held()

    def make_return(self):
        return self.settling("return", self.held())

    def make_progress(self):
        arguments = self.held(queue_too=True)
        arguments["progress_ppm"] = self.rng.choice([0, 1, 250_000, 1_000_000])
        if self.chance(0.03):
            arguments["progress_ppm"] = self.rng.choice([-1, 1_000_001])
        if self.chance(0.5):
            arguments["message"] = self.rng.choice(["half way", "päť"])
        return arguments

    def make_checkpoint(self):
        value = self.rng.choice(["", '{"at":3}', "page 17"])
        return {**self.held(queue_too=True), "value": value}

    def make_log_line(self):
        line = self.rng.choice(["line", "another line", "späť"])
        if self.chance(0.05):
            line = self.rng.choice(["", "l" * 5000])
        return {**self.held(queue_too=True), "line": line}

    def settling(self, name, arguments):
        """A settling; or, as a client asks that was not answered, one from before."""
        job = self.model.jobs.get(arguments["jid"])
        if self.settlings and self.chance(0.2):
            again = self.rng.choice(self.settlings)
            if again[0] == name or self.chance(0.1):
                return {**arguments, **again[1]} if again[0] == name else \
                    {**arguments, "jid": again[1]["jid"], "worker": again[1]["worker"],
                     "token": again[1]["token"]}
        if job and job.token:
            self.settlings = self.settlings[-30:]
            self.settlings.append((name, {**arguments, "token": job.token}))
        return arguments

    def make_complete(self):
        arguments = self.held(queue_too=True)
        if self.chance(0.2):
            arguments["data"] = self.data()
        if self.chance(0.3):
            arguments["result"] = json.dumps(self.rng.randint(0, 9))
        if self.chance(0.4):
            arguments["next"] = self.queue()
        if ("next" in arguments) == self.chance(0.98):
            if self.chance(0.3):
                arguments["delay"] = self.delay() if self.chance(0.8) else 0
            if self.chance(0.3):
                arguments["depends"] = [self.dependency() for _ in range(self.rng.randint(0, 2))]
                arguments["must_be_there"] = self.chance(0.5)
        return self.settling("complete", arguments)

    def make_fail(self):
        arguments = {**self.held(), "group": self.rng.choice(GROUPS), "message": self.message()}
        if self.chance(0.2):
            arguments["data"] = self.data()
        if self.chance(0.01):
            arguments["group"] = self.rng.choice(["", LONG, ODD])
        if self.chance(0.2):
            return {**arguments, "jid": self.jid(), "forced": True}
        return self.settling("fail", arguments)

    def make_retry(self):
        arguments = {**self.held(), "seed": self.rng.getrandbits(63)}
        if self.chance(0.4):
            arguments["to"] = self.queue()
        if self.chance(0.3):
            arguments["delay"] = self.delay() if self.chance(0.8) else 0
        if self.chance(0.4):
            arguments["group"] = self.rng.choice(GROUPS)
            arguments["message"] = self.message()
        if self.chance(0.2):
            arguments["uncounted"] = True
        return self.settling("retry", arguments)

    def make_unfail_job(self):
        return {"jid": self.jid("failed")}

    def make_unfail(self):
        return {"queue": self.queue_or_bad(), "group": self.group(),
                "count": self.rng.randint(0, 4)}
