# SPDX-License-Identifier: GPL-2.0-or-later
"""A command on a terminal of its own, as a person sees it: what it wrote
(Terminal), and the screen that a terminal makes of it (Screen, by pyte)."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time

import pyte

from cluster import wait_for


class Terminal:
    """A command on a terminal of its own; .text is all that came."""

    def __init__(self, cluster, *argv, rows=30, cols=200, **env):
        self.text = ""
        pid, self.fd = pty.fork()
        if pid == 0:
            os.execvpe(argv[0], argv, {**cluster.env, "TERM": "xterm", **env})
        self.pid = pid
        self.was = termios.tcgetattr(self.fd)
        self.resize(rows, cols)

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        try:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        except (ProcessLookupError, ChildProcessError):
            pass
        os.close(self.fd)

    def resize(self, rows, cols):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ,
                    struct.pack("HHHH", rows, cols, 0, 0))

    def read(self, seconds=0.1):
        try:
            while select.select([self.fd], [], [], seconds)[0]:
                self.text += os.read(self.fd, 65536).decode(errors="replace")
        except OSError:         # EIO: it has ended
            return False
        return True

    def type(self, text):
        os.write(self.fd, text.encode())

    def end(self):
        """Its exit status; what it still said is read."""
        end = time.monotonic() + 10
        while True:
            self.read()
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.read()
                return os.waitstatus_to_exitcode(status)
            assert time.monotonic() < end, "it doesn't end: " + self.text[-300:]


class Vt(pyte.Screen):
    """pyte's screen, with two motions of ncurses that pyte does not know: tabs
    back, and scrolling where the cursor isn't."""

    def scroll_up(self, count=None):
        self.scroll(self.delete_lines, count)

    def scroll_down(self, count=None):
        self.scroll(self.insert_lines, count)

    def scroll(self, how, count):
        x, y = self.cursor.x, self.cursor.y
        self.cursor.y = self.margins.top if self.margins else 0
        how(count)
        self.cursor.x, self.cursor.y = x, y

    def cursor_back_tab(self, count=None):
        for _ in range(count or 1):
            self.cursor.x = max((s for s in self.tabstops
                                 if s < self.cursor.x), default=0)


class Stream(pyte.Stream):
    more = {"Z": "cursor_back_tab", "S": "scroll_up", "T": "scroll_down"}
    csi = {**pyte.Stream.csi, **more}
    events = pyte.Stream.events | set(more.values())


# Of screen and its like.
KEYS = {"up": "\x1bOA", "down": "\x1bOB", "pgup": "\x1b[5~",
        "pgdn": "\x1b[6~", "home": "\x1b[1~", "end": "\x1b[4~"}


class Screen(Terminal):
    """.lines are the rows as they stand, without blanks at their ends."""

    def __init__(self, cluster, *argv, rows=24, cols=80, **env):
        self.vt = Vt(cols, rows)
        self.stream = Stream(self.vt)
        self.fed = 0
        # Not xterm's terminfo, which repeats characters as pyte doesn't.
        env = {"TERM": "screen-256color", "LC_ALL": "C.UTF-8", **env}
        super().__init__(cluster, *argv, rows=rows, cols=cols, **env)

    def press(self, *names):
        self.type("".join(KEYS[n] for n in names))

    def resize(self, rows, cols):
        self.vt.resize(rows, cols)
        super().resize(rows, cols)

    def feed(self):
        going = self.read()
        self.stream.feed(self.text[self.fed:])
        self.fed = len(self.text)
        return going

    @property
    def lines(self):
        return [line.rstrip() for line in self.vt.display]

    def screen(self):
        self.feed()
        return "\n".join(self.lines)

    def wait_screen(self, what, look, timeout=20):
        """What look() found, when it did; the screen in the failure."""
        try:
            return wait_for(f"on the screen: {what}", timeout,
                            lambda: look(self.screen()))
        except Exception as e:
            raise AssertionError(f"{e}; there is:\n{self.screen()}") from e

    def cell(self, row, col):
        return self.vt.buffer[row][col]

    def find(self, pattern):
        """(row, column) of what matches."""
        for row, line in enumerate(self.lines):
            found = re.search(pattern, line)
            if found:
                return row, found.start(found.lastindex or 0)
        raise AssertionError(f"{pattern} isn't on:\n" + "\n".join(self.lines))
