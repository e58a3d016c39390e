# SPDX-License-Identifier: GPL-2.0-or-later
"""Something between the client and the simulator that cuts connections."""

import select
import socket
import threading


class Proxy:
    """Passes bytes on, until it is told to go away in the middle."""

    def __init__(self, sim):
        self.to = int(sim.url.rsplit(":", 1)[1])
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"https://127.0.0.1:{self.listener.getsockname()[1]}"
        self.kept = set()       # connections that were there when it was told
        self.known = set()
        self.cut = 0
        self.threads = [threading.Thread(target=self.accept, daemon=True)]
        self.threads[0].start()

    def accept(self):
        while True:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return
            self.known.add(near)
            t = threading.Thread(target=self.pump, args=(near,), daemon=True)
            self.threads.append(t)
            t.start()

    def refuse(self):
        """Nobody gets a new connection from here on."""
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()

    def go_away_at_the_next_request(self):
        """What comes next on a connection that is kept open is passed on, its
        answer is not, and nobody can connect any more."""
        self.kept = set(self.known)

    def pump(self, near):
        with near, socket.create_connection(("127.0.0.1", self.to)) as far:
            while True:
                for one in select.select([near, far], [], [])[0]:
                    try:
                        data = one.recv(65536)
                    except OSError:
                        data = b""
                    if data and one is near and near in self.kept:
                        self.kept = set()
                        self.cut += 1
                        self.refuse()
                        far.sendall(data)
                        far.shutdown(socket.SHUT_WR)
                        return
                    if not data:
                        self.known.discard(near)
                        return
                    (far if one is near else near).sendall(data)

    def stop(self):
        if self.listener.fileno() >= 0:
            self.refuse()
