"""What the tests of a server under stress share: flags for small files, its memory and time."""

import os
import resource
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../clients"))
import sluiced  # noqa: E402

MIB = 1 << 20
SMALL = ("--segment-size", "1M", "--reserve-size", "1M", "--http", "", "--grpc", "")
# A sanitizer has memory and a pace of its own.
SANITIZED = bool(os.environ.get("SANITIZED"))


def server(*flags):
    return sluiced.Server(*SMALL, *flags)


def resident(of):
    """Bytes of the server that lie in memory."""
    with open(f"/proc/{of.process.pid}/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


def cpu_seconds(of):
    with open(f"/proc/{of.process.pid}/stat", encoding="ascii") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def number_in(info, name):
    """A number in a reply to INFO."""
    for line in info.strip('"').split("\r\n"):
        if line.startswith(name + ":"):
            return int(line.split(":")[1])
    raise AssertionError(f"INFO has no {name}: {info}")


def figure(client, section, name):
    """A number that INFO says."""
    return number_in(client.ask("INFO", section), name)


def until(client, section, name, wanted):
    """Asks until a number is what it should be, as what the server must notice takes turns."""
    end = time.monotonic() + sluiced.LIMIT_S
    while (given := figure(client, section, name)) != wanted:
        if time.monotonic() > end:
            raise AssertionError(f"{name} is {given} and not {wanted}")


def request(*words):
    """A request's bytes."""
    parts = [b"*%d\r\n" % len(words)]
    for word in words:
        word = word if isinstance(word, bytes) else str(word).encode()
        parts.append(b"$%d\r\n%s\r\n" % (len(word), word))
    return b"".join(parts)
