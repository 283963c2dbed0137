# SPDX-License-Identifier: MIT
"""Lanes: the jobs of a queue that share a domain; their limits, buckets and turns.

A lane is the pair (queue, domain). What is in it is found by looking at every job; only its bucket
and its turn are kept.
"""

import re

from model_base import DAY, IN_LINE, NEVER, Refused, check_name_or_empty

RATE_COUNT_MAX = 1_000_000_000
RATE_PERIOD_MAX = 366 * DAY
WEIGHT_MAX = 1000
TURN = 720_720


class Bucket:
    """Tokens of `period` units each; a microsecond brings `count` units. It starts full."""

    def __init__(self, rate, now):
        self.rate = rate
        self.time = now
        count, period, burst = rate
        self.units = burst * period

    def units_at(self, now):
        count, period, burst = self.rate
        return min(burst * period, self.units + max(0, now - self.time) * count)

    def full(self, now):
        count, period, burst = self.rate
        return self.units_at(now) == burst * period

    def late_since(self, now, catch_up):
        """When it became full, if what came since then is not lost; else None."""
        count, period, burst = self.rate
        room = burst * period - self.units
        full_at = self.time - (-room // count)
        return full_at if room > 0 and 0 <= now - full_at <= catch_up else None

    def take(self, now, catch_up):
        """A token that is taken a little late is taken as of when the bucket was full."""
        count, period, burst = self.rate
        since = self.late_since(now, catch_up)
        if since is None:
            self.units = self.units_at(now) - period
            self.time = max(self.time, now)
        else:
            units = self.units + (since - self.time) * count - period
            self.units = min(units, burst * period)
            self.time = since

    def change(self, rate, now):
        """Whole tokens stay, at most the new burst."""
        tokens = min(self.units_at(now) // self.rate[1], rate[2])
        self.rate = rate
        self.units = tokens * rate[1]
        self.time = now

    def ready(self, now, tokens=1, catch_up=0):
        """When so many tokens will have been there, of which none is taken before."""
        count, period, burst = self.rate
        units = self.units_at(now)
        if self.late_since(now, catch_up) is not None:
            units = self.units + (now - self.time) * count
        missing = tokens * period - units
        if missing <= 0:
            return now
        return max(now, self.time) + -(-missing // count)


def matches(pattern, domain):
    """Each `*` stands for any bytes, also for none."""
    parts = [re.escape(part) for part in pattern.split("*")]
    return re.fullmatch(".*".join(parts), domain, re.DOTALL) is not None


def specific(limit_queue, limit_domain):
    """Limits in this order, the first that says something counts."""
    if not limit_domain:
        return (4 if limit_queue else 5,)
    if "*" not in limit_domain:
        return (0 if limit_queue else 1,)
    size = len(limit_domain.replace("*", "").encode())
    return (2 if limit_queue else 3, -size, limit_domain.encode())


class LaneRules:
    # Limits

    def holds(self, lane, what):
        """The limit that counts for rate, concurrency or weight; None when none says anything."""
        return self.limits.get(self.holder(lane, what))

    def holder(self, lane, what):
        """Its queue and domain."""
        queue, domain = lane
        found = []
        for (limit_queue, limit_domain), limit in self.limits.items():
            if what not in limit or limit_queue not in ("", queue):
                continue
            if limit_domain and not (domain and matches(limit_domain, domain)):
                continue
            found.append((specific(limit_queue, limit_domain), (limit_queue, limit_domain)))
        return min(found, key=lambda each: each[0])[1] if found else None

    def rate(self, lane):
        """(count, period, burst), or None when it may run as often as it likes."""
        limit = self.holds(lane, "rate_count")
        if limit is None or limit["rate_count"] == 0:
            return None
        return (limit["rate_count"], limit["rate_period_us"], limit["burst"])

    def concurrency(self, lane):
        limit = self.holds(lane, "concurrency")
        return limit["concurrency"] if limit else 0

    def weight(self, lane):
        limit = self.holds(lane, "weight")
        return limit["weight"] if limit else 1

    def step(self, lane):
        return TURN // self.weight(lane)

    # What is in a lane

    def lane_line(self, lane):
        return [job for job in self.line(lane[0]) if job.domain == lane[1]]

    def lane_leases(self, lane):
        return [job for job in self.in_state("running", lane[0]) if job.domain == lane[1]]

    def lanes(self):
        """All that have jobs in line or leases, in no order that would matter."""
        return {(job.queue, job.domain) for job in self.jobs.values()
                if job.state in IN_LINE or job.state == "running"}

    # Rate and concurrency

    def bucket(self, lane, now):
        """Its bucket, if it has a rate; a new one is full."""
        rate = self.rate(lane)
        if rate is None:
            return None
        bucket = self.buckets.get(lane) or Bucket(rate, now)
        assert bucket.rate == rate
        return bucket

    def at_concurrency(self, lane):
        concurrency = self.concurrency(lane)
        return 0 < concurrency <= len(self.lane_leases(lane))

    def rate_ready(self, lane, now):
        """When it has a token: now, or later."""
        bucket = self.bucket(lane, now)
        return bucket.ready(now) if bucket else now

    def may_run(self, lane, now):
        return not self.at_concurrency(lane) and self.rate_ready(lane, now) <= now

    def lanes_to_come(self, now):
        """When lanes that have jobs in line and wait for nothing but a token will have it."""
        times = []
        if any("rate_count" in limit for limit in self.limits.values()):
            for lane in self.lanes():
                if self.lane_line(lane) and not self.at_concurrency(lane):
                    times.append(self.rate_ready(lane, now))
        return [when for when in times if when > now]

    def forgets_by(self, now, other):
        """Whether a lane has a full bucket now, so that it may have been forgotten, and has not at
        the other moment."""
        return any(bucket.full(now) and not bucket.full(other)
                   for bucket in self.buckets.values())

    # Turns

    def fair(self, queue):
        return float(self.option(queue + "-fair") or 0) != 0

    def give_turn(self, lane):
        self.turns[lane] = self.turn_clocks.get(lane[0], 0) + self.step(lane)

    def lane_joined(self, lane):
        """A job came into its line."""
        bucket = self.buckets.get(lane)
        if bucket and len(self.lane_line(lane)) == 1 and bucket.full(self.instant):
            del self.buckets[lane]  # no job was late for what it did not take up
        if self.fair(lane[0]) and lane not in self.turns:
            self.give_turn(lane)

    def lane_left(self, lane):
        """A job left its line."""
        if not self.lane_line(lane):
            self.turns.pop(lane, None)

    def fair_changed(self):
        """After a change of the configuration."""
        for queue in {queue for queue, _ in self.lanes()}:
            on = self.fair(queue)
            for lane in [lane for lane in self.lanes() if lane[0] == queue]:
                if not on:
                    self.turns.pop(lane, None)
                elif lane not in self.turns and self.lane_line(lane):
                    self.give_turn(lane)

    # Pop

    def next_job(self, queue, now):
        """What a pop takes: the first of all lanes that may run, or whose turn it is."""
        firsts = {}
        for job in self.line(queue):
            firsts.setdefault(job.domain, job)
        able = [job for job in firsts.values() if self.may_run((queue, job.domain), now)]
        if not able:
            return None
        if self.fair(queue):
            return min(able, key=lambda job: (self.turns[(queue, job.domain)], job.id))
        return able[0]

    def serve(self, job, now):
        """The lane of a job that is about to be handed out pays for it."""
        lane = (job.queue, job.domain)
        bucket = self.bucket(lane, now)
        if bucket:
            self.buckets[lane] = bucket
            bucket.take(now, self.option_us("rate-catch-up"))
        if self.fair(job.queue):
            clock = max(self.turn_clocks.get(job.queue, 0), self.turns[lane])
            self.turn_clocks[job.queue] = clock
            self.turns[lane] = clock + self.step(lane)

    # Calls

    def call_limit_set(self, command):
        now = self.begin(command)
        self.check_limit(command)
        limit = dict(command["limit"])
        if "rate_count" in limit:
            if limit["rate_count"]:
                limit["burst"] = limit.get("burst", 0) or 1
            else:
                limit["rate_period_us"] = limit["burst"] = 0
        self.change_limits((command["queue"], command["domain"]), limit, now)

    def check_limit(self, command):
        check_name_or_empty(command["queue"])
        check_name_or_empty(command["domain"])
        limit = command["limit"]
        if "rate_count" in limit:
            if not 0 <= limit["rate_count"] <= RATE_COUNT_MAX:
                raise Refused("invalid")
            if limit["rate_count"] and (limit.get("burst", 0) < 0 or not
                                        1 <= limit["rate_period_us"] <= RATE_PERIOD_MAX):
                raise Refused("invalid")
        if limit.get("concurrency", 0) < 0:
            raise Refused("invalid")
        if not 1 <= limit.get("weight", 1) <= WEIGHT_MAX:
            raise Refused("invalid")

    def call_limit_unset(self, command):
        now = self.begin(command)
        check_name_or_empty(command["queue"])
        check_name_or_empty(command["domain"])
        self.change_limits((command["queue"], command["domain"]), None, now)

    def change_limits(self, key, limit, now):
        used = self.lanes()
        lanes = used | set(self.buckets)
        before = {lane: self.bucket(lane, now) for lane in lanes}
        if limit is None:
            self.limits.pop(key, None)
        else:
            self.limits[key] = limit
        for lane in lanes:
            bucket, rate = before[lane], self.rate(lane)
            if bucket is None or rate is None:
                self.buckets.pop(lane, None)  # if it needs one again, it gets a full one
            elif bucket.rate != rate:
                fresh = lane not in used and bucket.full(now)
                bucket.change(rate, now)
                self.buckets[lane] = bucket
                if fresh or bucket.full(now):
                    del self.buckets[lane]

    def call_limits(self, command):
        now = self.begin(command)
        return [{"queue": queue, "domain": domain, "limit": dict(limit),
                 "use": self.limit_use((queue, domain), now)}
                for (queue, domain), limit in self.limits.items()]

    def limit_use(self, key, now):
        """What is in line, runs and is held up in the lanes that the limit limits."""
        use = {"waiting": 0, "running": 0, "held": 0}
        for lane in self.lanes():
            by_rate = self.rate(lane) and self.holder(lane, "rate_count") == key
            by_concurrency = self.concurrency(lane) and self.holder(lane, "concurrency") == key
            by_weight = self.fair(lane[0]) and self.holder(lane, "weight") == key
            if not (by_rate or by_concurrency or by_weight):
                continue
            line = len(self.lane_line(lane))
            use["waiting"] += line
            use["running"] += len(self.lane_leases(lane))
            full = self.at_concurrency(lane)
            late = not full and self.rate_ready(lane, now) > now
            use["held"] += line if (full and by_concurrency) or (late and by_rate) else 0
        if self.clock == "client":
            del use["held"]  # it changes with the next pop
        return use

    def call_lane(self, command):
        lane = (command["queue"], command["domain"])
        now = command["now"]
        rate = self.rate(lane)
        ready = NEVER if self.at_concurrency(lane) else self.rate_ready(lane, now)
        return {
            "waiting": len(self.lane_line(lane)),
            "running": len(self.lane_leases(lane)),
            "ready_us": ready,
            "rate_count": rate[0] if rate else 0,
            "rate_period_us": rate[1] if rate else 0,
            "burst": rate[2] if rate else 0,
            "concurrency": self.concurrency(lane),
            "weight": self.weight(lane),
        }

    def check_lanes(self):
        lanes = {lane for lane in self.lanes() if self.lane_line(lane)}
        assert set(self.turns) == {lane for lane in lanes if self.fair(lane[0])}
        for lane, bucket in self.buckets.items():
            count, period, burst = bucket.rate
            assert bucket.rate == self.rate(lane)
            assert 0 <= bucket.units <= burst * period
