#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""requests.py make DIR | compare DIR DIR | check | keep

What the tests of system/ that request_traces.txt lists ask of the simulated vCenter:
each call that changes a VM or a host, with all its arguments, from each test alone on
a cluster of its own. The calls of a test are sorted, for jobs of the same time come in
any order. A step that changes no behaviour leaves them as they are.

  make      writes the calls of each test into a new directory, one file per test
  compare   compares two such directories: the first call that differs of the first
            test that differs, and how many tests differ
  check     makes them, and compares with the digests of request_traces.txt
  keep      makes them, and writes their digests into request_traces.txt; for a change
            that is meant to change calls

The environment says which build is tested, as for the tests of system/: see
`contribs/check.sh requests`, which is `check`. VS_JOBS tests run at a time (3).
"""

import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import traces

HERE = pathlib.Path(__file__).resolve().parent
SYSTEM = HERE.parent / "system"
KEPT = HERE / "request_traces.txt"
HEAD = """\
# What each of these tests asks of vCenter: test, calls, digest of the sorted calls.
# Written by `requests.py keep`; see doc/dev/testing.md, golden traces.
"""

# What is another at each run, and what stands for it.
VARIES = [(re.compile(p), by) for p, by in (
    (r"[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}", "UUID"),
    (r"\b[0-9a-fA-F]{16,}\b", "HEX"),
    (r"(?:[0-9a-f]{2}[ -]){15}[0-9a-f]{2}", "UUID"),
    (r"(?:[0-9a-f]{2}:){5}[0-9a-f]{2}", "MAC"),
    (r"(?=[A-Za-z+/_-]*[0-9])[A-Za-z0-9+/_-]{40,}={0,2}", "BASE64"),
    (r"\d{4}-\d\d-\d\dT[0-9:.]+(Z|[+-]\d\d:\d\d)?", "TIME"),
    (r"\b1[0-9]{9}([0-9]{3})?\b", "EPOCH"),
    (r"(?<=[-/\"])[0-9a-f]{8}\b", "DIGEST"),
    (r"127\.[0-9.]+(:\d+)?", "LOOPBACK"),
    (r"/tmp/vs-[^/\s\"]+", "DIR"),
)]


def same(text):
    for pattern, by in VARIES:
        text = pattern.sub(by, text)
    return text


def kept():
    """{test: (number of calls, digest)} of request_traces.txt."""
    rows = [line.rsplit(None, 2) for line in KEPT.read_text().splitlines()
            if line and not line.startswith("#")]
    return {test: (int(calls), digest) for test, calls, digest in rows}


def of_one_test(test, directory):
    """The test's calls, sorted, into a file of the directory; its name has no
    slash. What pytest said, if the test did not pass, else None."""
    with tempfile.TemporaryDirectory() as t:
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", test],
            cwd=SYSTEM, text=True, capture_output=True, check=False,
            env={**os.environ, "VS_REQUESTS": t})
        calls = [json.dumps(json.loads(line), sort_keys=True)
                 for f in pathlib.Path(t).iterdir() for line in f.read_text().splitlines()]
    (pathlib.Path(directory) / test).write_text(
        "".join(f"{c}\n" for c in sorted(map(same, calls))))
    if done.returncode or not re.search(r"^1 passed", done.stdout, re.M):
        return done.stdout[-3000:] + done.stderr[-1000:]
    return None


def make(directory, tests):
    """The tests that passed."""
    jobs = int(os.environ.get("VS_JOBS") or 3)
    passed = []
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        runs = {pool.submit(of_one_test, t, directory): t for t in tests}
        for run in concurrent.futures.as_completed(runs):
            if run.result():
                print(f"did not pass: {runs[run]}:\n{run.result()}", flush=True)
            else:
                passed.append(runs[run])
    return passed


def digests(directory, tests):
    """{test: (number of calls, digest)} of a directory that make() wrote."""
    texts = {t: (pathlib.Path(directory) / t).read_bytes() for t in tests}
    return {t: (b.count(b"\n"), hashlib.sha256(b).hexdigest()[:16])
            for t, b in texts.items()}


def check(directory, tests):
    """A line for each test: `ok TEST`, or `FAILED TEST: ` and what differs."""
    print(f"requests: {len(tests)} tests")
    passed = make(directory, tests)
    now, meant = digests(directory, tests), kept()
    for t in tests:
        calls, kept_calls = now[t][0], meant[t][0]
        if t not in passed:
            print(f"FAILED {t}: the test did not pass")
        elif now[t] == meant[t]:
            print(f"ok {t}")
        elif calls != kept_calls:
            print(f"FAILED {t}: {calls} calls, {kept_calls} are kept")
        else:
            print(f"FAILED {t}: its {calls} calls are others than those kept")
    return now != meant or len(passed) != len(tests)


def main(words):
    tests = list(kept())
    if len(words) == 2 and words[0] == "make":
        pathlib.Path(words[1]).mkdir()
        return len(make(words[1], tests)) != len(tests)
    if len(words) == 3 and words[0] == "compare":
        return traces.compare(*words[1:], tests, "test")
    if words in (["check"], ["keep"]):
        with tempfile.TemporaryDirectory() as t:
            if words == ["check"]:
                return check(t, tests)
            if len(make(t, tests)) != len(tests):
                return 1
            KEPT.write_text(HEAD + "".join(
                f"{test} {n} {d}\n" for test, (n, d) in digests(t, tests).items()))
        return 0
    print(__doc__)
    return 0 if words in (["-h"], ["--help"]) else 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
