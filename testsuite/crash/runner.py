# SPDX-License-Identifier: GPL-2.0-or-later
"""Cells of a matrix, dealt out to workers. Each prints a line when it is over;
one that failed, the end of slurmctld's log too."""

import queue
import threading
import time

NOISE = ("verb=", "_attempt_backfill", "Running job scheduler")


class Runner:
    def __init__(self, workers):
        self.workers = workers
        self.todo, self.lock = queue.SimpleQueue(), threading.Lock()
        self.failed, self.ran = [], 0

    def say(self, text):
        with self.lock:
            print(text, flush=True)

    def cell(self, w, name, fn):
        began = time.monotonic()
        try:
            fn(w)
            self.say(f"ok {name} ({time.monotonic() - began:.1f} s)")
        except Exception as e:
            log = [ln for ln in w.c.ctld_log().splitlines()
                   if not any(n in ln for n in NOISE)]
            self.say(f"FAILED {name}: {type(e).__name__} {e}\n" +
                     "\n".join("    " + ln for ln in log[-25:]))
            self.failed.append(name)
        self.ran += 1

    def work(self, w):
        while True:
            try:
                name, fn = self.todo.get_nowait()
            except queue.Empty:
                return
            self.cell(w, name, fn)

    def all(self, cells):
        """Run these (name, function of a worker)."""
        for c in cells:
            self.todo.put(c)
        threads = [threading.Thread(target=self.work, args=(w,), daemon=True)
                   for w in self.workers]
        for t in threads:
            t.start()
        for t in threads:
            t.join()        # an interrupt comes out here
