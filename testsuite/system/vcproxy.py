# SPDX-License-Identifier: GPL-2.0-or-later
"""Something between the client and the simulator: it cuts connections, or puts
a header into replies."""

import select
import socket
import ssl
import subprocess
import threading


class Proxy:
    """Passes bytes on, until it is told to go away in the middle."""

    def __init__(self, sim):
        self.to = int(sim.url.rsplit(":", 1)[1])
        self.tls = self.ca = self.header = None
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

    def add_to_replies(self, header, work):
        """From here on, but not where such a header is. It takes the place of
        vCenter's certificate: self.ca."""
        self.ca, key = work / "proxy.pem", work / "proxy.key"
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
             "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj",
             "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1",
             "-keyout", key, "-out", self.ca], check=True,
            capture_output=True)
        self.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.tls.load_cert_chain(self.ca, key)
        self.header = header.encode()

    def with_header(self, data):
        first, sep, rest = data.partition(b"\r\n")
        if not sep or not first.startswith(b"HTTP/1.1 ") or \
                self.header.split(b":")[0].lower() in rest.lower():
            return data
        self.cut += 1
        return first + sep + self.header + sep + rest

    def pump_tls(self, near):
        inside = ssl.create_default_context()
        inside.check_hostname, inside.verify_mode = False, ssl.CERT_NONE
        with self.tls.wrap_socket(near, server_side=True) as near, \
                inside.wrap_socket(socket.create_connection(
                    ("127.0.0.1", self.to))) as far:
            while True:
                ready = [s for s in (near, far) if s.pending()] or \
                    select.select([near, far], [], [])[0]
                for one in ready:
                    data = one.recv(65536)
                    if not data:
                        return
                    if one is far:
                        near.sendall(self.with_header(data))
                    else:
                        far.sendall(data)

    def refuse(self):
        """Nobody gets a new connection from here on."""
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()

    def go_away_at_the_next_request(self):
        """What comes next on a connection that is kept open is passed on, its
        answer is not, and nobody can connect any more."""
        self.kept = set(self.known)

    def pump(self, near):
        try:
            if self.tls:
                self.pump_tls(near)
            else:
                self.pump_raw(near)
        except OSError:
            pass                # one of the two has gone

    def pump_raw(self, near):
        with near, socket.create_connection(("127.0.0.1", self.to)) as far:
            while True:
                for one in select.select([near, far], [], [])[0]:
                    data = one.recv(65536)
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
