# SPDX-License-Identifier: GPL-2.0-or-later
"""A thread that looks again and again while a chaos run lasts.

Rules: a look that fails because something is away, or in the middle of a change,
is counted as missed. Any other error is a bug of the test: it is kept for the
judge, and the next look is made. So no thread ends before it is told to.
"""

import http.client
import json
import subprocess
import threading
import traceback

from cluster import ClusterError

AWAY = (ClusterError, AssertionError, OSError, subprocess.SubprocessError,
        json.JSONDecodeError, http.client.HTTPException)
SELDOM_S = 30       # one look in so many seconds is the least


class Loop(threading.Thread):
    def __init__(self, name, look, every, ended):
        super().__init__(name=name, daemon=True)
        self.look, self.every, self.ended = look, every, ended
        self.looks = self.missed = 0
        self.broken = {}        # where: traceback, of the first such error

    def run(self):
        while not self.ended.wait(self.every):
            try:
                self.look()
                self.looks += 1
            except AWAY:
                self.missed += 1
            except Exception as e:      # noqa: BLE001 (kept for the judge)
                where = traceback.extract_tb(e.__traceback__)[-1]
                self.broken.setdefault(
                    f"{where.filename}:{where.lineno} {type(e).__name__}",
                    traceback.format_exc())

    def faults(self, seconds):
        """What is wrong with this thread after so many seconds."""
        said = [f"{self.name}: {text}" for text in self.broken.values()]
        if self.is_alive():
            said.append(f"{self.name} did not end")
        if self.looks < seconds / SELDOM_S:
            said.append(f"{self.name} looked {self.looks} times in {seconds:.0f} s, "
                        f"and missed {self.missed} looks")
        return said
