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
                    # A session's ticket is to be read, and no data.
                    one.settimeout(0)
                    try:
                        data = one.recv(65536)
                    except ssl.SSLWantReadError:
                        continue
                    finally:
                        one.settimeout(None)
                    if not data:
                        return
                    if one is far:
                        near.sendall(self.with_header(data))
                    else:
                        far.sendall(data)

    def refuse(self):
        """No client gets a new connection from here on."""
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()

    def go_away_at_the_next_request(self):
        """What comes next on a connection that is kept open is passed on, its
        answer is not, and no client can connect any more."""
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


class CutProxy(Proxy):
    """Reads requests and replies whole, and breaks the connection at a chosen
    byte of a chosen one: what went by before it has arrived, no more has."""

    def __init__(self, sim, work):
        super().__init__(sim)
        self.add_to_replies("x-not-used: 1", work)
        self.rules = []         # [method, "request" or "reply", byte]
        self.lengths = {}       # method -> (request's, reply's) last length

    @staticmethod
    def whole(sock):
        """One message of HTTP/1.1; b"" when the peer has gone."""
        data, need = b"", None
        while need is None or len(data) < need:
            part = sock.recv(65536)
            if not part:
                return b""
            data += part
            head, sep, _ = data.partition(b"\r\n\r\n")
            if sep and need is None:
                length = [ln.split(b":")[1] for ln in head.split(b"\r\n")
                          if ln.lower().startswith(b"content-length:")]
                if not length and b"chunked" in head.lower():
                    if not data.endswith(b"0\r\n\r\n"):
                        continue
                    return data
                need = len(head) + 4 + int(length[0] if length else 0)
        return data

    def rule_for(self, method, which):
        for r in self.rules:
            if r[:2] == [method, which]:
                self.rules.remove(r)
                self.cut += 1
                return r[2]
        return None

    def pump_tls(self, near):
        inside = ssl.create_default_context()
        inside.check_hostname, inside.verify_mode = False, ssl.CERT_NONE
        with self.tls.wrap_socket(near, server_side=True) as near, \
                inside.wrap_socket(socket.create_connection(
                    ("127.0.0.1", self.to))) as far:
            while request := self.whole(near):
                path = request.split(b" ", 2)[1].decode()
                method = path.rsplit("/", 1)[1]
                at = self.rule_for(method, "request")
                if at is not None:
                    far.sendall(request[:at])
                    return
                far.sendall(request)
                reply = self.whole(far)
                self.lengths[method] = (len(request), len(reply))
                at = self.rule_for(method, "reply")
                near.sendall(reply if at is None else reply[:at])
                if at is not None:
                    return
