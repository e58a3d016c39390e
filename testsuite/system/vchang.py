# SPDX-License-Identifier: GPL-2.0-or-later
"""A proxy between the core and the simulator that can hang: each connection stays
open and silent, and no client gets a new one. A vCenter whose host or network went
away without closing its connections (half-open) looks like that."""

import contextlib
import select
import socket
import threading
import time


class Hang:
    """Passes bytes on from its url to the simulator's, or not."""

    def __init__(self, sim_url):
        self.to = int(sim_url.rsplit(":", 1)[1])
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self.listener.getsockname()[1]
        self.url = f"https://127.0.0.1:{self.port}"
        self.hung = self.stopped = False
        self.quiet = threading.Event()      # nothing is accepted
        self.fillers = []
        self.threads = [threading.Thread(target=self.accept, daemon=True)]
        self.threads[0].start()

    def accept(self):
        while not self.stopped:
            if self.hung:
                self.quiet.set()
                time.sleep(0.05)
            elif select.select([self.listener], [], [], 0.1)[0]:
                near = self.listener.accept()[0]
                t = threading.Thread(target=self.pump, args=(near,),
                                     daemon=True)
                self.threads.append(t)
                t.start()

    def pump(self, near):
        with contextlib.suppress(OSError), near, \
                socket.create_connection(("127.0.0.1", self.to)) as far:
            while not self.stopped:
                if self.hung:
                    time.sleep(0.05)
                    continue
                for one in select.select([near, far], [], [], 0.1)[0]:
                    data = one.recv(65536)
                    if not data:
                        return
                    (far if one is near else near).sendall(data)

    def hang(self):
        """The kernel answers no SYN either: its queue is filled."""
        self.quiet.clear()
        self.hung = True
        self.quiet.wait(5)
        self.listener.listen(0)
        for _ in range(80):
            s = socket.socket()
            s.settimeout(0.3)
            self.fillers.append(s)
            try:
                s.connect(("127.0.0.1", self.port))
            except TimeoutError:
                return
        raise AssertionError("connections still come about")

    def go_on(self):
        for s in self.fillers:
            s.close()
        self.fillers = []
        self.listener.listen(64)
        self.hung = False

    def stop(self):
        self.go_on()
        self.stopped = True
        for t in self.threads:
            t.join(2)
        self.listener.close()
