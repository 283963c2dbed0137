# SPDX-License-Identifier: MIT
"""What all parts of the model share: numbers, the object that is a job, checks of arguments."""

import unicodedata

SECOND = 1_000_000
DAY = 86_400 * SECOND
LEASE_MIN = 1000
LEASE_MAX = 100 * 366 * 86400 * 1_000_000
TIME_MAX = 253402300799999999
NEVER = 2**63 - 1
NAME_SIZE_MAX = 255
MESSAGE_SIZE_MAX = 1024  # of a failure, in a history

DEFAULTS = {
    "grace-period": "10",
    "heartbeat": "60",
    "histogram-history": "7",
    "jobs-history": "604800",
    "jobs-history-count": "50000",
    "jobs-history-jids": "500000",
    "request-history": "86400",
    "request-history-count": "100000",
    "max-bytes": "0",
    "max-dependency-search": "10000",
    "max-dependents": "10000",
    "max-depends": "10000",
    "max-job-history": "100",
    "max-job-log": "100",
    "max-jobs": "0",
    "max-limit-patterns": "100",
    "max-promise-bytes": "0",
    "max-queues": "0",
    "max-recurring": "0",
    "max-tags": "100",
    "max-worker-age": "86400",
    "min-interval": "0",
    "missed-after": "60",
    "rate-catch-up": "0.25",
    "stats-history": "30",
}

# What an option may be at least with the server clock; those that are not here: 0. Options of a queue by their suffix.
LEAST = {"heartbeat": 0.001, "max-worker-age": 1, "jobs-history-count": -1}
OF_QUEUES = ("heartbeat", "max-concurrency", "fair", "max-jobs", "max-bytes")

# The classes of a line: who lost a lease, who was timed out, all others.
LINE_LOST, LINE_TIMED_OUT, LINE_OTHER = range(3)

IN_LINE = ("waiting", "stalled")


class Refused(Exception):
    """The call fails with this status and changes nothing."""

    def __init__(self, status):
        super().__init__(status)
        self.status = status


class Job:
    def __init__(self, number, jid, created):
        self.id = number
        self.jid = jid
        self.klass = ""
        self.data = ""
        self.queue = ""
        self.domain = ""
        self.worker = ""
        self.result = ""
        self.result_until = 0
        self.spawned_from = ""
        self.state = ""
        self.priority = 0
        self.retries = 5
        self.remaining = 5
        self.crashes = 0
        self.attempts = 0
        self.time = 0
        self.created = created
        self.deadline = 0
        self.options = full_options({})
        self.tags = []
        self.history = []
        # What it depends on; how many of those have completed, or failed and were dropped.
        self.dependencies = []
        self.dependents = []
        self.members_done = 0
        self.members_dropped = 0
        # The lease: it ends at `end`, which is `expires` and, in the grace, the end of the grace.
        self.token = 0
        self.expires = 0
        self.lease_us = 0  # the length of its own
        self.end = 0
        self.run_ends = 0
        self.grace = False
        self.started = False
        self.pid = 0
        # How it was settled last: token, worker, act and outcome.
        self.settled = None
        # What its runs told.
        self.progress = -1
        self.progress_message = ""
        self.checkpoint = ""
        self.log = []
        # When it is due: in the state scheduled, or, in depends, once nothing holds it.
        self.due = 0
        # Its place in line, or among those that depend; when it came into the line.
        self.place = None
        self.lined = 0
        # How it failed last; the order is that of all failures.
        self.group = ""
        self.message = ""
        self.failure_worker = ""
        self.failure_when = 0
        self.failure_order = 0
        # Its lock, which counts until `unique_over` when it is for a time.
        self.unique_by = "none"
        self.unique_key = ""
        self.unique_until = "finished"
        self.unique_over = 0
        self.unique_held = False


def full_options(given):
    """A job's options with all that was not given."""
    return {
        "backoff": {
            "kind": "unset",
            "jitter_percent": 0,
            "base_us": 0,
            "cap_us": 0,
            "list_us": [],
            **given.get("backoff", {}),
        },
        "timeout_us": given.get("timeout_us", 0),
        "result_ttl_us": given.get("result_ttl_us", 0),
        "crashes_max": given.get("crashes_max", 0),
        "lease_us": given.get("lease_us", 0),
        "dependency_policy": given.get("dependency_policy", "unset"),
    }


def check_lease(lease):
    if lease and not LEASE_MIN <= lease <= LEASE_MAX:
        raise Refused("invalid")


def check_name(name):
    if not 1 <= len(name.encode()) <= NAME_SIZE_MAX:
        raise Refused("invalid")


def check_new_name(clock, name):
    """Of what may be new. Names that are no text are only there with the client's clock."""
    check_name(name)
    if clock == "server" and any(unicodedata.category(c) == "Cc" for c in name):
        raise Refused("invalid")


def check_name_or_empty(name):
    if name:
        check_name(name)


def page(items, command):
    """The whole count, and the items from `offset` on, at most `count`."""
    offset = command.get("offset", 0)
    count = command.get("count", len(items))
    return {"total": len(items), "jobs": items[offset : offset + count]}


def cut(text, size):
    """The first bytes of a text."""
    return text.encode()[:size].decode()
