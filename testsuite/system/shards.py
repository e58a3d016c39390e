# SPDX-License-Identifier: GPL-2.0-or-later
"""Several test files at once: what these tests do is wait.

`pytest DIR` and `pytest FILE FILE...` run $VS_JOBS files side by side, each in a process
of its own with its own clusters. Without VS_JOBS the folder's conftest.py says how many;
1 is as pytest itself does. Anything narrower (one file, -k) runs as usual. One result:
the files' outputs one after the other, one junit file, one exit status. Few failures get
a second look (second_look.py) where the conftest.py asks for it.
"""

import os
import pathlib
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import xml.etree.ElementTree as ElementTree

import second_look

WORKER = "VS_SHARD"
# The longest, as they were measured; the others by how much they wait.
FIRST = ("test_week", "test_health", "test_check_while", "test_accounting",
         "test_slurmctld", "test_host_faults", "test_people", "test_trouble",
         "test_outage", "test_found", "test_stall")


def interrupt_once():
    """What ends a run is an exception, so that fixtures end their daemons; what
    comes after it (a terminal signals everybody, then we do) finds them at it
    and must not stop them."""
    signals = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

    def stop(signum, frame):
        for s in signals:
            signal.signal(s, signal.SIG_IGN)
        raise KeyboardInterrupt
    for s in signals:
        signal.signal(s, stop)


def files_of(config, jobs, first):
    """The files to be shared out, or None."""
    options = config.option
    if WORKER in os.environ or jobs < 2 or options.keyword or \
            options.markexpr or options.collectonly or options.maxfail or \
            config.pluginmanager.hasplugin("dsession"):
        return None
    given = [pathlib.Path(a) for a in config.args]
    files = [f for f in given if f.is_file()]
    dirs = [d for d in given if d.is_dir()]
    if len(files + dirs) < len(given) or not dirs and len(files) < 2:
        return None
    found = files + [f for d in dirs for f in d.glob("test_*.py")]
    return sorted(found, key=lambda f: (
        first.index(f.stem) if f.stem in first else len(first),
        -f.read_text().count("wait_")))


class Run:
    """The workers, their results."""

    def __init__(self, files, jobs, scratch, look_again):
        self.todo = queue.SimpleQueue()
        for f in files:
            self.todo.put(f)
        self.jobs, self.scratch = jobs, pathlib.Path(scratch)
        self.look_again = look_again
        self.lock = threading.Lock()
        self.children, self.codes = set(), {}
        self.stopped = False

    def xml(self, f):
        return self.scratch / (f.stem + ".xml")

    def one(self, f):
        code = self.pytest(f, self.xml(f), [str(f)], f.name)
        if code is not None:
            self.codes[f] = code

    def pytest(self, f, xml, ids, title):
        """These tests of the file; the exit status, None if all is to end."""
        argv = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider",
                f"--junitxml={xml}", *ids]
        with self.lock:
            if self.stopped:
                return None
            p = subprocess.Popen(argv, stdin=subprocess.DEVNULL, text=True,
                                 stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT,
                                 env={**os.environ, WORKER: f.stem})
            self.children.add(p)
        out = p.communicate()[0]
        with self.lock:
            self.children.discard(p)
            print(f"{title}:\n{out}", flush=True)
        return p.returncode

    def work(self):
        while True:
            try:
                self.one(self.todo.get_nowait())
            except queue.Empty:
                return

    def end(self):
        with self.lock:
            self.stopped = True
            children = list(self.children)
        for p in children:
            p.terminate()       # its fixtures end their daemons
        for p in children:
            p.wait()            # a join that was interrupted waits no more

    def all(self):
        threads = [threading.Thread(target=self.work)
                   for _ in range(self.jobs)]
        for t in threads:
            t.start()
        try:
            for t in threads:
                t.join()
            for line in second_look.again(self) if self.look_again else ():
                print(line, flush=True)
        except BaseException:
            self.end()
            raise

    def merge(self, target):
        top = ElementTree.Element("testsuites")
        for f in sorted(self.scratch.glob("*.xml")):
            top.extend(ElementTree.parse(f).getroot())
        ElementTree.ElementTree(top).write(target, "utf-8", True)

    def status(self):
        """As pytest's: 0, 1 for failures, else what is worse; 5 is a file
        without tests."""
        return max((c if c >= 0 else 3 for c in self.codes.values()
                    if c != 5), default=5)


def main(config, jobs=6, first=FIRST, look_again=True):
    """For pytest_cmdline_main: the exit status, or None to continue as usual. The files
    that first names begin first. VS_JOBS overrides jobs."""
    jobs = int(os.environ.get("VS_JOBS", jobs))
    files = files_of(config, jobs, first)
    if not files:
        return None
    with tempfile.TemporaryDirectory(prefix="vs-shards-") as scratch:
        run = Run(files, jobs, scratch, look_again)
        interrupt_once()
        try:
            run.all()
        except KeyboardInterrupt:
            return 2            # as pytest itself
        if config.option.xmlpath:
            run.merge(config.option.xmlpath)
        return run.status()
