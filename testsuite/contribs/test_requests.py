# SPDX-License-Identifier: GPL-2.0-or-later
"""golden/requests.py tells calls that are others from values that always are."""

import json
import shutil
import subprocess

import pytest

from conftest import TOP

# Stands in for pytest: the simulator's log of a test, and its result.
PYTEST = """
import os, sys
name = sys.argv[-1]
with open(os.path.join(os.environ["VS_REQUESTS"], "a.json"), "w") as f:
    f.write(open(f"{os.environ['CALLS']}/{name}").read())
print("1 failed in 1s" if "bad" in name else "1 passed in 1s")
sys.exit("bad" in name)
"""
UUID = "5f0c1f3e-0f6d-4d8c-9b5e-1d2f3a4b5c6d", "a21b77aa-1b1c-4e3f-8d2a-6c5b4a392817"


def call(method, **args):
    return json.dumps({"method": method, "of": "VirtualMachine vm001", "args": args})


@pytest.fixture
def requests(tmp_path, monkeypatch):
    """Runs a copy of requests.py over tests whose calls are given."""
    for name in ("golden/requests.py", "golden/traces.py"):
        (tmp_path / "golden").mkdir(exist_ok=True)
        shutil.copy(TOP / "testsuite" / name, tmp_path / name)
    (tmp_path / "system").mkdir()
    (tmp_path / "python/pytest").mkdir(parents=True)
    (tmp_path / "python/pytest/__main__.py").write_text(PYTEST)
    (tmp_path / "python/pytest/__init__.py").touch()
    (tmp_path / "calls").mkdir()
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "python"))
    monkeypatch.setenv("CALLS", str(tmp_path / "calls"))
    kept = tmp_path / "golden/request_traces.txt"

    def run(*words, **tests):
        if not kept.exists():
            kept.write_text("".join(f"{t} 0 -\n" for t in tests))
        for name, calls in tests.items():
            (tmp_path / "calls" / name).write_text("".join(f"{c}\n" for c in calls))
        done = subprocess.run(
            ["/usr/bin/python3", str(tmp_path / "golden/requests.py"), *words],
            cwd=tmp_path, text=True, capture_output=True, check=False, timeout=60)
        return done.returncode, done.stdout + done.stderr
    return run


@pytest.mark.parametrize("calls, says", [
    # another order, another UUID, another MAC address: the same calls
    ([call("Destroy_Task"), call("CloneVM_Task", uuid=UUID[1], mac="00:50:56:00:00:02")],
     "ok one\n"),
    ([call("Destroy_Task"), call("CloneVM_Task", uuid="", mac="00:50:56:00:00:02")],
     "FAILED one: its 2 calls are others than those kept\n"),
    ([call("Destroy_Task")], "FAILED one: 1 calls, 2 are kept\n"),
    ([], "FAILED one: 0 calls, 2 are kept\n"),
])
def test_other_calls_are_noticed(requests, calls, says):
    first = [call("CloneVM_Task", uuid=UUID[0], mac="00:50:56:00:00:01"),
             call("Destroy_Task")]
    assert requests("keep", one=first) == (0, "")
    assert requests("check", one=first) == (0, "requests: 1 tests\nok one\n")
    assert requests("check", one=calls) == (
        int("ok" not in says), "requests: 1 tests\n" + says)


def test_a_test_that_fails_is_never_kept_and_never_passes(requests):
    rc, out = requests("keep", good=[call("Destroy_Task")], bad=[])
    assert rc == 1 and out.startswith("did not pass: bad:\n1 failed"), out
    rc, out = requests("check")
    assert rc == 1 and out.endswith("FAILED good: 1 calls, 0 are kept\n"
                                    "FAILED bad: the test did not pass\n"), out


def test_two_directories_are_compared(requests):
    assert requests("make", "old", one=[call("Destroy_Task")]) == (0, "")
    assert requests("make", "new", one=[call("Destroy_Task", force="yes")]) == (0, "")
    rc, out = requests("compare", "old", "new")
    assert rc == 1 and '+ {"args": {"force": "yes"}' in out, out
    assert out.endswith("1 of 1 tests differ\n"), out
    assert requests("compare", "old", "old") == (0, "1 tests, no difference\n")
