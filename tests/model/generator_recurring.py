# SPDX-License-Identifier: MIT
"""Commands about recurring jobs, cron expressions and zones."""

from generator_names import RECURRING, TAGS, ZONES
from model import DAY, SECOND

HOUR = 3600 * SECOND

CRONS = [
    "*/5 * * * * *", "*/20 * * * * *", "*/10 * * * *", "7,37 * * * *", "0 3 * * *", "30 2 * * *",
    "*/20 1-3 * * *", "15 */2 * * *", "0 0 * * *", "0 12 * * 1-5", "30 59 23 * * 0", "0 0 1 * *",
    "0 6 13 * 5",
]
BAD_CRONS = ["61 * * * *", "* * *", "nonsense", "*/0 * * * *", "5-2 * * * *"]


class RecurringCommands:
    def make_recur(self):
        arguments = {
            "queue": self.queue_or_bad(),
            "jid": self.rng.choice(RECURRING),
            "klass": "Recurring",
            "data": self.data(),
            "interval": self.rng.choice([5, 30, 60, 3600, 86400]) * SECOND,
            "offset": self.rng.choice([0, 0, 1, 60]) * SECOND,
            "priority": self.rng.randint(-1, 1),
            "retries": self.rng.randint(0, 2),
            "backlog": self.rng.choice([0, 0, 1, 2, 5]),
            "tags": self.tags() if self.chance(0.5) else [],
        }
        if self.chance(0.02):
            arguments["interval"] = self.rng.choice([0, -SECOND])
        if self.chance(0.5):
            self.make_cron(arguments)
        if self.chance(0.6):
            arguments["missed"] = self.rng.choice(["all", "one", "skip"])
        if self.chance(0.4):
            arguments["overlap"] = self.rng.choice(["allow", "skip", "skip"])
        if self.chance(0.5):
            arguments["domain"] = self.domain_or_bad()
        if self.chance(0.4):
            arguments["options"] = self.options()
        if self.chance(0.4):
            self.make_again(arguments)
        if self.chance(0.2):
            arguments["restart"] = True
        return arguments

    def make_again(self, arguments):
        """As one that exists was made, but for what changes."""
        recurring = self.model.recurrings.get(arguments["jid"])
        if recurring:
            names = ["queue", "klass", "data", "interval", "cron", "zone", "missed", "overlap",
                     "priority", "retries", "backlog", "tags", "domain", "options"]
            if self.chance(0.5):
                names.remove(self.rng.choice([name for name in names if name in arguments]))
            arguments.update({name: getattr(recurring, name) for name in names})

    def make_cron(self, arguments):
        arguments["cron"] = self.cron()
        if self.chance(0.98):
            arguments["interval"] = 0
        if self.chance(0.6):
            arguments["zone"] = self.zone()

    def cron(self):
        return self.rng.choice(BAD_CRONS if self.chance(0.03) else CRONS)

    def zone(self):
        return "Test/Nowhere" if self.chance(0.03) else self.rng.choice(ZONES)

    def make_unrecur(self):
        return {"jid": self.rng.choice(RECURRING + ["nobody"])}

    def make_recur_pause(self):
        return {"jid": self.rng.choice(RECURRING + ["nobody"]), "paused": self.chance(0.4)}

    def make_recur_run(self):
        return {"jid": self.rng.choice(RECURRING + ["nobody"])}

    def make_recurring_get(self):
        return {"jid": self.rng.choice(RECURRING)}

    def make_recur_update(self):
        rng = self.rng
        choices = {
            "priority": rng.randint(-2, 2),
            "interval": rng.choice([5, 30, 60, 3600, 86400]) * SECOND,
            "retries": rng.randint(0, 3),
            "backlog": rng.randint(0, 3),
            "data": self.data(),
            "klass": "Changed",
            "queue": self.queue_or_bad(),
        }
        if self.chance(0.02):
            choices["interval"] = 0
        jid = rng.choice(RECURRING)
        recurring = self.model.recurrings.get(jid)
        if recurring and 0 < choices["interval"] < recurring.interval:
            # The next run moves by the difference; not so far back that all runs since are due.
            choices["interval"] = max(choices["interval"], recurring.interval // 20)
        return {"jid": jid, **{name: choices[name] for name in self.few(list(choices))[:3]}}

    def make_recur_tag(self):
        return {"jid": self.rng.choice(RECURRING), "tags": self.tags()}

    def make_recur_untag(self):
        return {"jid": self.rng.choice(RECURRING), "tags": self.some(TAGS, 3)}

    def make_recurring(self):
        return {"queue": self.queue(), **self.page()}

    def make_recurring_runs(self):
        return {"jid": self.rng.choice(RECURRING + ["nobody"]), "count": self.rng.randint(0, 5)}

    def make_cron_runs(self):
        arguments = {"cron": self.cron(), "count": self.rng.randint(0, 8),
                     "after_us": self.now + self.rng.randint(-3 * DAY, 30 * DAY)}
        if self.chance(0.7):
            arguments["zone"] = self.zone()
        return arguments

    def make_zone_set(self):
        return self.zone_around(self.rng.choice(ZONES))

    def zone_around(self, name):
        """A zone whose clocks are put forward and back by turns, at hours around now."""
        rng = self.rng
        offset = rng.choice([0, 3600, -5 * 3600, 5 * 3600 + 1800])
        shift = rng.choice([3600, 3600, 1800, 7200])
        at = self.now // HOUR * HOUR - 2 * DAY
        transitions = []
        for index in range(rng.choice([0, 2, 15, 16])):
            at += rng.choice([5, 9, 24, 71, 200]) * HOUR
            transitions.append([at, offset + (shift if index % 2 == 0 else 0)])
        return {"name": name, "offset_s": offset, "transitions": transitions}
