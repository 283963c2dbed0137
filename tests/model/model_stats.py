# SPDX-License-Identifier: MIT
"""The statistics of a queue by day."""

import math

from model_base import DAY, SECOND


class Series:
    """A count, a mean and a standard deviation by Welford's method, and a histogram."""

    def __init__(self):
        self.count = 0
        self.mean = 0.0
        self.vk = 0.0
        self.histogram = {}  # None once its time is over

    def add(self, us):
        value = us / SECOND
        self.count += 1
        if self.count == 1:
            self.mean = value
        else:
            old = self.mean
            self.mean += (value - old) / self.count
            self.vk += (value - self.mean) * (value - old)
        if self.histogram is not None:
            bucket = self.bucket(us // SECOND)
            self.histogram[bucket] = self.histogram.get(bucket, 0) + 1

    @staticmethod
    def bucket(seconds):
        """60 seconds, 59 minutes, 23 hours, 6 days; what lies outside is in the first or last."""
        if seconds < 0:
            return 0
        if seconds < 60:
            return seconds
        if seconds < 3600:
            return 60 + seconds // 60 - 1
        if seconds < 86400:
            return 119 + seconds // 3600 - 1
        return 142 + min(6, seconds // 86400) - 1

    def view(self):
        std = math.sqrt(self.vk / (self.count - 1)) if self.count > 1 else 0.0
        return {
            "count": self.count,
            "mean": self.mean,
            "std": std,
            "histogram": [list(item) for item in sorted((self.histogram or {}).items())],
        }


class StatsDay:
    def __init__(self):
        self.lost_leases = 0
        self.retries = 0
        self.failed = 0
        self.failures = 0
        self.wait = Series()
        self.run = Series()

    def view(self):
        return {
            "lost_leases": self.lost_leases,
            "retries": self.retries,
            "failed": self.failed,
            "failures": self.failures,
            "wait": self.wait.view(),
            "run": self.run.view(),
        }


class StatsRules:
    def stats_day(self, queue, when):
        """The day to count in. A day newer than all before ends the time of the oldest."""
        day = when // DAY
        days = self.stats.setdefault(queue, {})
        if day not in days:
            newest = all(day > other for other in days)
            days[day] = StatsDay()
            if newest:
                self.prune_stats(days, day)
        return days[day]

    def prune_stats(self, days, newest):
        """So many days are kept, with the newest; of it something is kept in any case."""
        keep = max(1, self.option_int("stats-history"))
        keep_histogram = max(1, self.option_int("histogram-history"))
        for day in list(days):
            if newest - day >= keep:
                del days[day]
            elif newest - day >= keep_histogram:
                days[day].wait.histogram = None
                days[day].run.histogram = None

    def count(self, queue, when, what):
        day = self.stats_day(queue, when)
        setattr(day, what, getattr(day, what) + 1)

    def count_time(self, queue, when, what, us):
        getattr(self.stats_day(queue, when), what).add(us)

    def call_stats(self, command):
        return self.stats_view(command["queue"], command["date"])

    def stats_view(self, queue, date):
        return (self.stats.get(queue, {}).get(date // DAY) or StatsDay()).view()
