"""A disk that is soon full."""

import os
import subprocess


class SmallDisk:
    """A memory file system of its own, in a namespace that needs no privileges."""

    def __init__(self, server, size):
        self.server = server
        self.holder = subprocess.Popen(
            ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c",
             f'mount -t tmpfs -o size={size} none "{server.folder}" && echo ready && exec cat'],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.works = self.holder.stdout.readline() == b"ready\n"

    def path(self, name):
        return f"/proc/{self.holder.pid}/root{self.server.folder}/{name}"

    def wrapper(self, folder):
        """A program that runs the server where that disk is."""
        path = os.path.join(folder, "sluiced")
        with open(path, "w", encoding="utf-8") as file:
            file.write(f'#!/bin/sh\nexec nsenter --target {self.holder.pid} --user --mount '
                       f'--preserve-credentials "{os.environ["SLUICED"]}" "$@"\n')
        os.chmod(path, 0o700)
        return path

    def close(self):
        self.holder.stdin.close()
        self.holder.stdout.close()
        self.holder.wait()
