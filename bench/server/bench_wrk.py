#!/usr/bin/python3
"""Measures the HTTP of sluiced under wrk (Debian's package): single puts, and whole lives of jobs (put,
pop, complete). Prints requests per second and the server's CPU time per request. `bench_server --puts`
measures the same puts over RESP and over HTTP with its own load generator.

    bench_wrk.py [--sluiced PATH] [--durability never|always] [--connections 64] [--seconds 5]
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))


def cpu_seconds(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def start(options, folder):
    server = subprocess.Popen(
        [options.sluiced, "--data", folder, "--listen", "127.0.0.1:0", "--grpc", "", "--http", "127.0.0.1:0",
         "--durability", options.durability], stderr=subprocess.PIPE, text=True)
    url = None
    for line in server.stderr:
        found = re.search(r"listening http=(\S+)", line)
        url = "http://" + found[1] if found else url
        if " ready " in line:
            return server, url
    sys.exit("sluiced did not start")


def measure(options, script, what):
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        server, url = start(options, folder)
        ask = urllib.request.Request(f"{url}/v1/ns/bench/config/jobs-history-count", method="PUT",
                                     data=json.dumps({"value": "0"}).encode(),
                                     headers={"Content-Type": "application/json"})
        urllib.request.urlopen(ask).close()
        before = cpu_seconds(server.pid)
        output = subprocess.run(
            ["wrk", "-t1", f"-c{options.connections}", f"-d{options.seconds}s", "--latency", "-s",
             os.path.join(HERE, script), url], check=True, stdout=subprocess.PIPE, text=True).stdout
        spent = cpu_seconds(server.pid) - before
        server.terminate()
        server.stderr.read()
        server.wait()
    count = int(re.search(r"(\d+) requests in", output)[1])
    bad = re.search(r"Non-2xx or 3xx responses: (\d+)", output)
    latency = {name: re.search(rf"(?m)^\s+{name}%\s+(\S+)$", output)[1] for name in ("50", "99")}
    print(f"{options.durability:9} {what:28} {count / options.seconds:9.0f} requests/s "
          f"{spent / count * 1e6:7.2f} us CPU   p50 {latency['50']:>8}   p99 {latency['99']:>8}"
          f"   refused {bad[1] if bad else 0}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sluiced", default="build/sluiced")
    parser.add_argument("--folder", default="build")
    parser.add_argument("--durability", default="never")
    parser.add_argument("--connections", type=int, default=64)
    parser.add_argument("--seconds", type=int, default=5)
    options = parser.parse_args()
    if not shutil.which("wrk"):
        sys.exit("wrk is not installed (Debian: apt install wrk)")
    measure(options, "put.lua", "single puts")
    measure(options, "life.lua", "requests of lives")


if __name__ == "__main__":
    main()
