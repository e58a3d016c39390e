# SPDX-License-Identifier: GPL-2.0-or-later
"""Plugins of another release than the running Slurm: it refuses them, and the
line before says what to do."""

import pathlib
import re
import shutil
import struct
import subprocess

import pytest

from cluster import ClusterError
from daemons import plugin_dirs
from worlds import world


def of_another_release(so, release):
    """The plugin as a build for the micro release before this one is."""
    year, month, micro = release
    was = b"%d.%02d.%d\0" % release
    data = so.read_bytes()
    assert was in data
    data = data.replace(was, b"%d.%02d.%d\0" % (year, month, micro - 1))
    number = (year << 16) | (month << 8) | micro
    at = next(int(m[1], 16) for m in re.finditer(
        r"^([0-9a-f]+) \S plugin_version$",
        subprocess.run(["nm", "-D", so], capture_output=True, text=True,
                       check=True).stdout, re.M))
    # .rodata lies in the file where it lies in memory.
    assert struct.unpack_from("<I", data, at)[0] == number
    data = bytearray(data)
    struct.pack_into("<I", data, at, number - 1)
    so.write_bytes(data)


@pytest.mark.parametrize("plugin", ["select_cons_tres_vsphere", "prep_vsphere",
                                    "job_submit_vsphere"])
def test_a_plugin_of_another_release_is_refused_with_what_to_do(fresh, plugin,
                                                                tmp_path):
    c = fresh(start=False, nodes=1, inventory=world(hosts=1, vfs=1))
    ours = pathlib.Path(plugin_dirs(c.root)[0])
    for so in ours.glob("*.so"):
        shutil.copy(so, tmp_path)
    of_another_release(tmp_path / f"{plugin}.so", c.release)
    c.slurm["JobSubmitPlugins"] = "vsphere"
    c.slurm["PluginDir"] = ":".join([str(tmp_path)] + plugin_dirs(c.root)[1:])
    with pytest.raises(ClusterError):
        c.start()
    log = c.ctld_log()
    said = re.search(
        rf"error: slurm-vsphere: \S+/{plugin}\.so was built for Slurm (\S+), "
        "this slurmctld is of another release: install the plugins", log)
    assert said and said[1] != "%d.%02d.%d" % c.release, log
    refused = re.search(rf"Incompatible Slurm plugin \S+/{plugin}\.so", log)
    assert refused and refused.start() > said.start()
    assert log.count("was built for Slurm") == 1, "the others are right"
