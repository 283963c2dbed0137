# SPDX-License-Identifier: MIT
"""A plain reading of what src/engine/recurring/cron.h says: sets in place of masks, every day looked at, every
time of day tried, local times from zoneinfo. Slow, and written without a look at cron.c.

Times are whole seconds since 1970.
"""

import bisect
import calendar
import re
from datetime import datetime, timedelta

EPOCH = datetime(1970, 1, 1)
DAY = timedelta(days=1)
DAY_S = 86400

MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
WEEKDAYS = "sun mon tue wed thu fri sat".split()

WORDS = {
    "@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *", "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0", "@daily": "0 0 * * *", "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}

ITEM = re.compile(r"(?:([*?])|([A-Za-z0-9]+)(?:-([A-Za-z0-9]+))?)(?:/([0-9]+))?")


class Refused(Exception):
    pass


def refuse_unless(holds):
    if not holds:
        raise Refused()


class Field:
    def __init__(self, first, last, names=(), day=False, weekday=False):
        self.first = first
        self.last = last
        self.names = {name: first + index for index, name in enumerate(names)}
        self.day = day
        self.weekday = weekday
        self.all = list(range(0, 7)) if weekday else list(range(first, last + 1))

    def value(self, text):
        if text.lower() in self.names:
            return self.names[text.lower()]
        refuse_unless(text.isdigit() and self.first <= int(text) <= self.last)
        return int(text)

    def span(self, first, last):
        """The values of a range in order."""
        if last >= first:
            return list(range(first, last + 1))
        refuse_unless(self.weekday)
        first %= 7
        return list(range(first, last + 1)) if first <= last else \
            list(range(first, 7)) + list(range(0, last + 1))

    def item(self, text):
        match = ITEM.fullmatch(text)
        refuse_unless(match)
        star, first, last, step = match.groups()
        if star:
            refuse_unless(star == "*" or self.day)
            values = self.all
        elif last is not None:
            values = self.span(self.value(first), self.value(last))
        elif step is not None:
            start = self.value(first) % 7 if self.weekday else self.value(first)
            values = self.all[self.all.index(start):]
        else:
            values = [self.value(first)]
        if step is not None:
            refuse_unless(1 <= int(step) <= len(self.all))
            values = values[::int(step)]
        return {value % 7 for value in values} if self.weekday else set(values)

    def values(self, text):
        return set().union(*(self.item(item) for item in text.split(",")))


FIELDS = [
    Field(0, 59),
    Field(0, 59),
    Field(0, 23),
    Field(1, 31, day=True),
    Field(1, 12, MONTHS),
    Field(0, 7, WEEKDAYS, day=True, weekday=True),
]


class Expression:
    """Raises Refused."""

    def __init__(self, text):
        refuse_unless(text.isascii() and len(text) <= 255)
        self.text = text
        parts = re.split("[ \t]+", text.strip(" \t"))
        if len(parts) == 1 and parts[0].lower() in WORDS:
            parts = WORDS[parts[0].lower()].split()
        if len(parts) == 5:
            parts = ["0"] + parts
        refuse_unless(len(parts) == 6)
        (self.seconds, self.minutes, self.hours, self.days, self.months,
         self.weekdays) = (field.values(part) for field, part in zip(FIELDS, parts))
        self.either_day = parts[3][0] not in "*?" and parts[5][0] not in "*?"
        self.open = len(self.hours) == 24
        self.times = [(h, m, s) for h in sorted(self.hours) for m in sorted(self.minutes)
                      for s in sorted(self.seconds)]
        # In 28 years every date there is falls on every weekday.
        refuse_unless(self.either_day or any(
            day in self.days for month in self.months
            for day in range(1, calendar.monthrange(2000, month)[1] + 1)))

    def matches_day(self, day):
        if day.month not in self.months:
            return False
        by_day = day.day in self.days
        by_weekday = day.isoweekday() % 7 in self.weekdays
        return by_day or by_weekday if self.either_day else by_day and by_weekday

    def matches(self, wall):
        return (wall.second in self.seconds and wall.minute in self.minutes
                and wall.hour in self.hours and self.matches_day(wall))

    def walls(self, first, last):
        """The local times that match on the days from `first` to `last`: year, month, ..."""
        day = first
        while day <= last:
            if self.matches_day(day):
                for h, m, s in self.times:
                    yield day.year, day.month, day.day, h, m, s
            day += DAY


# Zones of zoneinfo


def local(zone, s):
    return datetime.fromtimestamp(s, zone)


def offset(zone, s):
    found = local(zone, s).utcoffset()
    return found.days * DAY_S + found.seconds


def transition_between(zone, before, after):
    """The first second with the offset of `after`; there is one change between the two."""
    wanted = offset(zone, after)
    while after - before > 1:
        middle = (before + after) // 2
        if offset(zone, middle) == wanted:
            after = middle
        else:
            before = middle
    return after


def transitions(zone, start, end, step=3 * 3600):
    """(second, offset) of each change. Two of them are further apart than `step`."""
    found = []
    for s in range(start, end, step):
        if offset(zone, s) != offset(zone, s + step):
            at = transition_between(zone, s, s + step)
            found.append((at, offset(zone, at)))
    return found


def instants(expression, zone, wall):
    """When a local time that matches runs."""
    wanted = datetime(*wall, tzinfo=zone)
    first = int(wanted.timestamp())
    second = int(datetime(*wall, tzinfo=zone, fold=1).timestamp())
    # Within one zone datetimes are compared by what the clock shows.
    shown = [s for s in sorted({first, second}) if local(zone, s) == wanted]
    if expression.open:
        return shown
    # In a gap zoneinfo gives a time on each side of it, the later one for the fold of 0.
    return shown[:1] or [transition_between(zone, second, first)]


def runs(expression, zone, start, end):
    """The runs of [start, end)."""
    if expression.open and len(expression.times) > 2000:
        return [s for s in range(start, end) if expression.matches(local(zone, s))]
    found = set()
    first, last = local(zone, start).date() - DAY, local(zone, end).date() + DAY
    for wall in expression.walls(first, last):
        found.update(instants(expression, zone, wall))
    return sorted(s for s in found if start <= s < end)


# Made-up zones: an offset and a list of (second, offset)


def runs_made_up(expression, first_offset, changes, start, end):
    """The runs of [start, end), second by second; the first change is after `start`."""
    first = (EPOCH + timedelta(seconds=start)).date() - 3 * DAY
    last = (EPOCH + timedelta(seconds=end)).date() + 3 * DAY
    walls = [int((datetime(*wall) - EPOCH).total_seconds())
             for wall in expression.walls(first, last)]
    matching = set(walls)
    changes = list(changes)
    shift = first_offset
    latest = start + shift - 1  # what the clock has shown at most
    found = []
    for s in range(start, end):
        while changes and changes[0][0] <= s:
            shift = changes.pop(0)[1]
        wall = s + shift
        if expression.open:
            runs_now = wall in matching
        else:
            # Shown for the first time are those after `latest`.
            runs_now = wall > latest and (wall in matching if wall == latest + 1 else
                                          bisect.bisect(walls, wall) > bisect.bisect(walls, latest))
            latest = max(latest, wall)
        if runs_now:
            found.append(s)
    return found
