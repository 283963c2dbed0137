# SPDX-License-Identifier: MIT
"""Recurring jobs: by an interval or by a cron expression."""

from itertools import islice, takewhile

from model_base import Refused, check_name, check_name_or_empty, full_options, page
from model_cron import Cron, Zone
from model_policies import check_options

UTC = Zone(0, [])
FINISHED = ("complete", "failed")


class Recurring:
    def __init__(self, jid):
        self.jid = jid
        self.count = 0
        self.paused = False

    def following(self, when):
        """The run after the one at that time."""
        if self.interval:
            return when + self.interval
        return self.expression.next(when)

    def runs(self):
        """The next one and all that follow."""
        if self.interval:
            when = self.next
            while True:
                yield when
                when += self.interval
        yield self.next
        yield from self.expression.after(self.next)

    def due(self, now):
        """The runs that are due, the first one first."""
        return takewhile(lambda when: when <= now, self.runs())


class RecurringRules:
    def skip_missed(self, recurring, now):
        """Passes over the runs that will not be made up for."""
        late = now - recurring.next - self.option_us("missed-after")  # above 0: it is missed
        if recurring.missed == "one":
            if late > 0:
                recurring.next = self.last_due(recurring, now)
        elif recurring.missed == "skip":
            if late > 0:
                recurring.next = self.first_from(recurring, recurring.next + late)
        elif recurring.backlog > 0 and recurring.interval:
            behind = now - recurring.next
            if behind > recurring.backlog * recurring.interval:
                runs = -(-behind // recurring.interval) - recurring.backlog
                recurring.next += runs * recurring.interval
        elif recurring.backlog > 0:
            recurring.next = list(recurring.due(now))[-recurring.backlog:][0]

    def last_due(self, recurring, now):
        if recurring.interval:
            return now - (now - recurring.next) % recurring.interval
        return list(recurring.due(now))[-1]

    def first_from(self, recurring, when):
        if recurring.interval:
            runs = -(-(when - recurring.next) // recurring.interval)
            return recurring.next + runs * recurring.interval
        return recurring.expression.next(when - 1)

    def run_recurring(self, recurring):
        """Makes the next job, dated by when it was due. Whether it came to that."""
        due = recurring.next
        recurring.next = recurring.following(due)
        if recurring.paused:
            return False
        if recurring.overlap == "skip":
            last = self.jobs.get(f"{recurring.jid}-{recurring.count}")
            if last and last.state not in FINISHED:
                return False
        self.make_run(recurring, due)
        return True

    def make_run(self, recurring, due):
        recurring.count = self.free_number(recurring)
        job = self.make_job(f"{recurring.jid}-{recurring.count}", due)
        job.klass = recurring.klass
        job.data = recurring.data
        job.queue = recurring.queue
        job.domain = recurring.domain
        job.options = recurring.options
        job.spawned_from = recurring.jid
        job.priority = recurring.priority
        job.retries = recurring.retries
        job.remaining = recurring.retries
        job.time = due
        for tag in recurring.tags:
            self.add_tag(job, tag, due)
        self.write_history(job, due, "put", queue=recurring.queue)
        self.join_line(job, due)
        self.meter("queued", recurring.queue, due)
        self.happens("put", recurring.queue, due)
        return job

    def free_number(self, recurring):
        """The number of the next job: a hundred are tried one by one, then the steps double."""
        number, step, tries = recurring.count + 1, 1, 1
        while f"{recurring.jid}-{number}" in self.jobs:
            if tries >= 100:
                step *= 2
            number += step
            tries += 1
        return number

    def runs_due(self, recurring, now, enough):
        """How many, but not counted on when there are more than enough."""
        if recurring.interval:
            return max(0, (now - recurring.next) // recurring.interval + 1)
        return len(list(islice(recurring.due(now), enough + 1)))

    def recurring_in(self, queue):
        recurrings = [each for each in self.recurrings.values() if each.queue == queue]
        return sorted(recurrings, key=lambda each: (each.next, each.id))

    def move_recurring(self, queue, now, count):
        """Client clock: what is due comes into line, at most so many jobs."""
        moved = 0
        for recurring in [each for each in self.recurring_in(queue) if each.next <= now]:
            if moved < count:
                self.skip_missed(recurring, now)
            while moved < count and recurring.next <= now:
                moved += self.run_recurring(recurring)

    # Calls

    def expression(self, text, zone):
        """An expression in the zone of that name."""
        if zone and zone not in self.zones:
            try:
                Cron(text, UTC)
            except ValueError:
                raise Refused("invalid") from None
            raise Refused("not_found")
        try:
            return Cron(text, self.zones[zone] if zone else UTC)
        except ValueError:
            raise Refused("invalid") from None

    def call_recur(self, command):
        now = self.begin(command)
        jid, queue = command["jid"], command["queue"]
        for name in (queue, jid, command["klass"]):
            check_name(name)
        cron, domain = command.get("cron", ""), command.get("domain", "")
        if command["interval"] < 0 or (command["interval"] > 0) == bool(cron):
            raise Refused("invalid")
        if command.get("zone") and not cron:
            raise Refused("invalid")
        expression = self.expression(cron, command.get("zone", "")) if cron else None
        check_name_or_empty(domain)
        options = check_options(full_options(command.get("options", {})))
        for name in command["tags"]:
            check_name(name)
        definition = {
            "klass": command["klass"],
            "data": command["data"],
            "queue": queue,
            "interval": command["interval"],
            "cron": cron,
            "zone": command.get("zone", ""),
            "missed": command.get("missed", "all"),
            "overlap": command.get("overlap", "allow"),
            "priority": command["priority"],
            "retries": command["retries"],
            "backlog": command["backlog"],
            "tags": list(dict.fromkeys(command["tags"])),
            "domain": domain,
            "options": options,
        }
        old = self.recurrings.get(jid)
        if old and not command.get("restart"):
            if all(getattr(old, name) == value for name, value in definition.items()):
                return
        start = now + command["offset"]
        first = expression.next(start - 1) if cron else start
        if old and not command.get("restart"):
            first = self.kept_phase(old, definition, now, first)
        recurring = self.recurrings.setdefault(jid, Recurring(jid))
        recurring.id = self.next_number()
        recurring.expression = expression
        recurring.next = first
        for name, value in definition.items():
            setattr(recurring, name, value)
        self.see_queue(queue, now)

    def kept_phase(self, old, definition, now, anew):
        """When a recurring job runs next whose definition changes."""
        if all(getattr(old, name) == definition[name] for name in ("interval", "cron", "zone")):
            return old.next
        if old.cron or definition["cron"]:
            return anew
        if old.count == 0 or old.next <= now:
            return old.next
        run = old.next - old.interval + definition["interval"]
        if run <= now:
            run += -(-(now + 1 - run) // definition["interval"]) * definition["interval"]
        return run

    def call_unrecur(self, command):
        self.begin(command)
        self.recurrings.pop(command["jid"], None)

    def call_recur_pause(self, command):
        self.begin(command)
        self.find_recurring(command["jid"]).paused = command["paused"]

    def call_recur_run(self, command):
        now = self.begin(command)
        self.make_run(self.find_recurring(command["jid"]), now)

    def find_recurring(self, jid):
        if jid not in self.recurrings:
            raise Refused("not_found")
        return self.recurrings[jid]

    def call_recurring_get(self, command):
        recurring = self.recurrings.get(command["jid"])
        return self.recurring_view(recurring) if recurring else None

    def recurring_view(self, recurring):
        return {
            "jid": recurring.jid,
            "klass": recurring.klass,
            "data": recurring.data,
            "queue": recurring.queue,
            "interval": recurring.interval,
            "cron": recurring.cron,
            "zone": recurring.zone,
            "domain": recurring.domain,
            "missed": recurring.missed,
            "overlap": recurring.overlap,
            "next": recurring.next,
            "paused": recurring.paused,
            "priority": recurring.priority,
            "retries": recurring.retries,
            "count": recurring.count,
            "backlog": recurring.backlog,
            "tags": list(recurring.tags),
        }

    def call_recur_update(self, command):
        now = self.begin(command)
        recurring = self.find_recurring(command["jid"])
        if command.get("interval", 1) <= 0 or ("interval" in command and recurring.cron):
            raise Refused("invalid")
        for field in ("klass", "queue"):
            if field in command:
                check_name(command[field])
        if "interval" in command:
            recurring.next += command["interval"] - recurring.interval
        for field in ("priority", "interval", "retries", "backlog", "data", "klass", "queue"):
            if field in command:
                setattr(recurring, field, command[field])
        if "queue" in command:
            self.see_queue(recurring.queue, now)

    def call_recur_tag(self, command):
        self.begin(command)
        recurring = self.find_recurring(command["jid"])
        for tag in command["tags"]:
            check_name(tag)
        recurring.tags = list(dict.fromkeys(recurring.tags + command["tags"]))

    def call_recur_untag(self, command):
        self.begin(command)
        recurring = self.find_recurring(command["jid"])
        recurring.tags = [tag for tag in recurring.tags if tag not in command["tags"]]

    def call_recurring(self, command):
        views = [self.recurring_view(each) for each in self.recurring_in(command["queue"])]
        return page(views, command)

    def call_recurring_runs(self, command):
        recurring = self.find_recurring(command["jid"])
        return list(islice(recurring.runs(), command["count"]))

    def call_cron_runs(self, command):
        expression = self.expression(command["cron"], command.get("zone", ""))
        return list(islice(expression.after(command["after_us"]), command["count"]))

    def call_zone_set(self, command):
        now = self.begin(command)
        check_name(command["name"])
        self.zones[command["name"]] = Zone(command["offset_s"], command["transitions"])
        for recurring in self.recurrings.values():
            if recurring.cron and recurring.zone == command["name"]:
                recurring.expression = self.expression(recurring.cron, recurring.zone)
                recurring.next = recurring.expression.next(now)
