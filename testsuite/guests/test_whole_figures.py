# SPDX-License-Identifier: GPL-2.0-or-later
"""How long 1, 2 and 4 guests need from power-on to registration, and for which step."""

import boot_times
import pytest

from guest_cluster import BOOT_S, GuestCluster


@pytest.mark.parametrize("guests", [1, 2, 4])
def test_guests_register(guests):
    c = GuestCluster(nodes=guests, vfs=2)
    try:
        c.start()
        c.wait_ready()
        c.wait_done(c.submit("srun hostname\n", f"-N{guests}"), BOOT_S * guests)
        rows = [boot_times.boot(c, n) for n in c.node_names()]
        print(f"\n{guests} at once: all have registered {max(r[-1][0] for r in rows):.1f} s after "
              "power-on; the last one's steps:")
        boot_times.say_boots(c, [max(c.node_names(), key=lambda n: boot_times.registration(c, n))])
        assert len(c.names_on()) == guests
    finally:
        c.remove()
