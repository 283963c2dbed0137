"""A terminal to run a full-screen program in, by tmux: keys go in, and what it shows comes out.

    with Terminal(columns=80, rows=24, SLUICE_URL="...") as terminal:
        terminal.run("sluice top")
        terminal.wait_for("Queues")
        terminal.keys("q")
"""

import os
import re
import shutil
import subprocess
import tempfile
import time

LIMIT_S = 60  # a test that waits longer for anything has failed


class Terminal:
    def __init__(self, columns=80, rows=24, **environment):
        self.folder = tempfile.mkdtemp(prefix="sluice-terminal-")
        self.size = (columns, rows)
        self.environment = environment

    def __enter__(self):
        kept = {name: value for name, value in os.environ.items()
                if name not in ("TMUX", "LC_ALL", "LC_CTYPE", "NO_COLOR", "ENV")
                and not name.startswith("SLUICE_")}
        self.all = {**kept, "LANG": "C.UTF-8", "TERM": "screen-256color",
                    **self.environment}
        columns, rows = self.size
        try:
            self.tmux("new-session", "-d", "-c", self.folder, "-x", str(columns), "-y", str(rows), "sh", ";",
                      "set", "-g", "status", "off", ";", "set", "-g", "escape-time", "0", ";",
                      "resize-window", "-x", str(columns), "-y", str(rows))
            self.wait_for(lambda text: text[:1] in ("$", "#"))  # the shell's prompt
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        try:
            self.tmux("kill-server")
        finally:
            shutil.rmtree(self.folder)

    def tmux(self, *words):
        done = subprocess.run(
            ["tmux", "-u", "-S", os.path.join(self.folder, "socket"), "-f", "/dev/null", *words],
            env=self.all, capture_output=True, text=True, timeout=LIMIT_S, check=False)
        if done.returncode:
            raise AssertionError(f"tmux {' '.join(words)}: {done.stderr}")
        return done.stdout

    def run(self, line):
        """Types a command line."""
        self.tmux("send-keys", "-l", line)
        self.tmux("send-keys", "Enter")

    def keys(self, *names):
        """Presses keys, by tmux's names: "q", "Enter", "Down", "Escape"."""
        self.tmux("send-keys", *names)

    def text(self):
        """What it shows, without blanks at the ends of rows."""
        return self.tmux("capture-pane", "-p")

    def is_full_screen(self):
        return self.tmux("display", "-p", "#{alternate_on}").strip() == "1"

    def resize(self, columns, rows):
        self.tmux("resize-window", "-x", str(columns), "-y", str(rows))

    def child(self):
        """The process that the shell runs."""
        shell = self.tmux("display", "-p", "#{pane_pid}").strip()
        with open(f"/proc/{shell}/task/{shell}/children", encoding="ascii") as file:
            children = file.read().split()
        assert len(children) == 1, children
        return int(children[0])

    def wait_for(self, wanted):
        """Until it shows a text, or a function of what it shows is true; what it shows then."""
        good = wanted if callable(wanted) else lambda text: wanted in text
        deadline = time.monotonic() + LIMIT_S
        while True:
            text = self.text()
            if good(text):
                return text
            if time.monotonic() > deadline:
                raise AssertionError(f"wanted {wanted!r}, but it shows:\n{text}")
            time.sleep(0.02)

    def wait_for_screen(self, wanted):
        """Until it shows exactly this, times aside."""
        def same(text):
            return masked(text).rstrip("\n") == masked(wanted).rstrip("\n")
        try:
            self.wait_for(same)
        except AssertionError as error:
            raise AssertionError(f"wanted\n{masked(wanted)}\ngot\n{masked(self.text())}") from error


def masked(text):
    """Times of the day and lengths of time become T, and rates 0, at the same place."""
    text = re.sub(r" +\S+/s in \S+/s out", lambda found: "0/s in 0/s out".rjust(len(found.group())),
                  text)
    text = re.sub(r" +0\.\d\d\b", lambda found: "0".rjust(len(found.group())), text)
    text = re.sub(r"\d\d:\d\d:\d\d", "TT:TT:TT", text)
    return re.sub(r" +\d+(m\d\d)?s\b", lambda found: "T".rjust(len(found.group())), text)
