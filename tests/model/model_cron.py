# SPDX-License-Identifier: MIT
"""Cron expressions and time zones, by looking at every minute.

An expression that restricts hours means wall times: one that the clocks leave out is made up for at
the moment at which they are put forward, once; of one that comes twice the first counts. With all
24 hours open it runs by elapsed time, whatever the clocks say.

Zones change at whole minutes, by whole minutes. Times are seconds, but where a name says otherwise.
"""

import bisect
from datetime import date

from model_base import SECOND

MINUTE = 60
DAY_SECONDS = 86_400
DAYS_MAX = 366 * 9  # after so many days without a run there is none
DAYS_KEPT = 50

MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
WEEKDAYS = "sun mon tue wed thu fri sat".split()
EPOCH = date(1970, 1, 1).toordinal()


class Zone:
    def __init__(self, offset, transitions):
        """Transitions: [when, offset from then on], in microseconds and seconds."""
        self.starts = [-(2**62)] + [at // SECOND for at, _ in transitions]
        self.offsets = [offset] + [offset for _, offset in transitions]
        assert all(at % MINUTE == 0 for at in self.starts[1:])
        assert all(each % MINUTE == 0 for each in self.offsets)

    def segments(self, first, last):
        """(start, end, offset) of all that reach into the time between."""
        ends = self.starts[1:] + [2**62]
        return [each for each in zip(self.starts, ends, self.offsets)
                if each[0] <= last and first < each[1]]

    def offset(self, when):
        return self.offsets[bisect.bisect_right(self.starts, when) - 1]

    def instants(self, wall, segments):
        """When a clock on the wall shows that time: once, twice, or never."""
        times = [wall - offset for _, _, offset in segments]
        return [when for when, (start, end, _) in zip(times, segments) if start <= when < end]

    def skips(self, wall, segments):
        """The moment at which the clocks leave out that time."""
        for (_, end, before), (_, _, after) in zip(segments, segments[1:]):
            if wall - before >= end > wall - after:
                return end
        raise AssertionError("a wall time that never comes is left out by some change")


def parse_field(text, low, high, names=()):
    """The set of values of a field; ValueError when it makes no sense."""
    def value(word):
        if word.lower() in names:
            return names.index(word.lower()) + low
        if not word.isascii() or not word.isdigit() or not low <= int(word) <= high:
            raise ValueError(word)
        return int(word)

    values = set()
    for part in text.split(","):
        span, slash, step = part.partition("/")
        first, dash, last = span.partition("-")
        if span == "*":
            start, end = low, high
        elif dash:
            start, end = value(first), value(last)
        else:
            start = value(first)
            end = high if slash else start
        if start > end or (slash and not (step.isdigit() and int(step) > 0)):
            raise ValueError(text)
        values |= set(range(start, end + 1, int(step) if slash else 1))
    return values


class Cron:
    """An expression in a zone."""

    def __init__(self, text, zone):
        fields = text.split()
        if len(fields) == 5:
            fields = ["0"] + fields
        if len(fields) != 6:
            raise ValueError(text)
        self.zone = zone
        self.seconds = sorted(parse_field(fields[0], 0, 59))
        self.minutes = parse_field(fields[1], 0, 59)
        self.hours = parse_field(fields[2], 0, 23)
        self.days = parse_field(fields[3], 1, 31)
        self.months = parse_field(fields[4], 1, 12, MONTHS)
        self.weekdays = {day % 7 for day in parse_field(fields[5], 0, 7, WEEKDAYS)}
        # With both restricted either will do.
        self.either = not fields[3].startswith("*") and not fields[5].startswith("*")
        self.open = len(self.hours) == 24
        self.known_days = {}

    def matches_day(self, number):
        """Whether it runs on a day, counted from the epoch."""
        day = date.fromordinal(EPOCH + number)
        by_day = day.day in self.days
        by_weekday = day.isoweekday() % 7 in self.weekdays
        if day.month not in self.months:
            return False
        return by_day or by_weekday if self.either else by_day and by_weekday

    def runs_of_day(self, number):
        """The moments of a day: as the walls have it, or, with all hours open, of UTC."""
        if number not in self.known_days:
            if len(self.known_days) > DAYS_KEPT:
                self.known_days.clear()
            runs = self.by_elapsed_time(number) if self.open else self.by_the_wall(number)
            self.known_days[number] = [when * SECOND for when in runs]
        return self.known_days[number]

    def by_elapsed_time(self, number):
        runs = []
        matching = {near: self.matches_day(near) for near in (number - 1, number, number + 1)}
        for minute in range(number * DAY_SECONDS, (number + 1) * DAY_SECONDS, MINUTE):
            wall = minute + self.zone.offset(minute)
            if matching[wall // DAY_SECONDS] and wall // MINUTE % 60 in self.minutes:
                runs += [minute + second for second in self.seconds]
        return runs

    def by_the_wall(self, number):
        if not self.matches_day(number):
            return []
        runs = set()
        start = number * DAY_SECONDS
        segments = self.zone.segments(start - 2 * DAY_SECONDS, start + 3 * DAY_SECONDS)
        for hour in self.hours:
            for minute in self.minutes:
                for second in self.seconds:
                    wall = start + hour * 3600 + minute * 60 + second
                    found = self.zone.instants(wall, segments)
                    runs.add(min(found) if found else self.zone.skips(wall, segments))
        return sorted(runs)

    def after(self, after_us):
        """The runs after a moment, one by one, in microseconds."""
        day = after_us // (DAY_SECONDS * SECOND) - 2
        last = after_us
        idle = 0
        while idle < DAYS_MAX:
            idle += 1
            runs = self.runs_of_day(day)
            for when in runs[bisect.bisect_right(runs, last):]:
                yield when
                last = when
                idle = 0
            day += 1

    def next(self, after_us):
        return next(self.after(after_us), None)
