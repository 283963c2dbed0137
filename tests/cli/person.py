"""The tool on a terminal of its own."""

import fcntl
import os
import pty
import struct
import subprocess
import termios

import tool


def on_terminal(*words, answer=b"", columns=80, **more):
    """What it shows, and its exit code."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    kept = {name: value for name, value in tool.environment(TERM="xterm", **more).items()
            if name != "NO_COLOR" or "NO_COLOR" in more}
    process = subprocess.Popen([tool.SLUICE, *map(str, words)], stdin=slave, stdout=slave,
                               stderr=slave, env=kept)
    os.close(slave)
    os.write(master, answer)
    shown = b""
    while True:
        try:
            block = os.read(master, 4096)
        except OSError:  # the other end is closed
            break
        if not block:
            break
        shown += block
    os.close(master)
    return shown.decode(), process.wait(tool.sluiced.LIMIT_S)
