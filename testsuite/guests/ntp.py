# SPDX-License-Identifier: GPL-2.0-or-later
"""A time server of the management network, with this machine's time (RFC 4330)."""

import contextlib
import socket
import struct
import threading
import time

SINCE_1900 = 2208988800


def stamp(seconds):
    whole = int(seconds)
    return struct.pack("!II", (whole + SINCE_1900) & 0xffffffff, int((seconds - whole) * 2**32))


def answer(request):
    """Of a server whose clock is right: stratum 1, version 4."""
    now = stamp(time.time())
    return (struct.pack("!BBbbII4s", 4 << 3 | 4, 1, 6, -20, 0, 0, b"TEST") +
            now + request[40:48] + now + stamp(time.time()))


def serve(s):
    while True:
        request, who = s.recvfrom(1024)
        if len(request) < 48:
            return          # the end of server()
        s.sendto(answer(request), who)


@contextlib.contextmanager
def server(address):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.bind((address, 123))
        thread = threading.Thread(target=serve, args=(s,), daemon=True)
        thread.start()
        try:
            yield
        finally:
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as end:
                end.sendto(b"end", (address, 123))
            thread.join(10)
