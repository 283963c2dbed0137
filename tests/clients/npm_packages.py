"""Node.js packages for tests, installed with npm into a folder of the build."""

import fcntl
import os
import shutil
import subprocess
import sys

NAMES = ("package.json", "package-lock.json")


def read(path):
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except FileNotFoundError:
        return None


def install(source, folder):
    """Installs what the lock file in `source` names, unless it is there."""
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "lock"), "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = os.path.join(folder, "installed")
        wanted = read(os.path.join(source, "package-lock.json"))
        if read(done) == wanted:
            return
        for name in NAMES:
            shutil.copy(os.path.join(source, name), folder)
        result = subprocess.run(["npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts"],
                                cwd=folder, text=True, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, check=False)
        if result.returncode:
            print("Bail out! npm ci failed")
            sys.exit(result.stdout)
        with open(done, "w", encoding="utf-8") as file:
            file.write(wanted)
