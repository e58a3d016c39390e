# SPDX-License-Identifier: GPL-2.0-or-later
"""The clusters that Slurm's own tests run on: stock select/cons_tres, vsphere
beside nodes that are no VMs, and vsphere with nodes that are all VMs.

Rules: slurm.conf is the same in all three but for SelectType, PrEpPlugins and the
nodes' State. A sixth node is a VM that is off in all three, because slurm-vsphere
serves no cluster without a VM node. The tests see an installed Slurm whose files are
links to the system's. A cluster that a test has left changed is thrown away.
"""

import os
import pathlib
import re
import shutil

from cluster import Cluster, plugin_dirs, wait_for
from worlds import world

STOCK, PLAIN, CLOUD = "stock", "plain", "cloud"
STOCK_CLOUD = "stock-cloud"     # asked only where CLOUD differs from STOCK
KINDS = (STOCK, PLAIN, CLOUD, STOCK_CLOUD)
AGAINST = {PLAIN: STOCK, CLOUD: STOCK_CLOUD}
SAYS = {
    STOCK: "select/cons_tres",
    STOCK_CLOUD: "select/cons_tres, cloud nodes",
    PLAIN: "ours, nodes that vsphere.conf doesn't know",
    CLOUD: "ours, nodes that are VMs, all of them on",
}
NODES = 5
GPUS = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random")  # are anywhere
COMMANDS = ("sacct", "sacctmgr", "salloc", "sattach", "sbatch", "sbcast",
            "scancel", "scrontab", "sdiag", "sgather", "sinfo", "sprio",
            "squeue", "sreport", "srun", "sshare", "sstat", "strigger")
DAEMONS = ("slurmctld", "slurmd", "slurmstepd")

# The first process of a space, which has orphans to bury.
REAPER = ("/bin/bash", "-c", '"$@"; exit $?', "bash")

# Tests ask whether SelectType is select/cons_tres and don't run with another
# name: they are told that it is.
SCONTROL = """#!/bin/bash
case " $* " in
*" conf"*) set -o pipefail
	{scontrol} "$@" | sed 's,select/cons_tres_vsphere,select/cons_tres,' ;;
*) exec {scontrol} "$@" ;;
esac
"""

GLOBALS = """set slurm_dir "{prefix}"
set src_dir "{source}"
set build_dir "{source}"
set testsuite_colorize false
set max_job_delay 60
set slurm_testsuite_dev_build 1
"""

TESTSUITE = """SlurmSourceDir={source}
SlurmBuildDir={source}
SlurmInstallDir={prefix}
SlurmConfigDir={etc}
"""


def program(name):
    return shutil.which(name, path="/usr/local/bin:/usr/bin:/usr/local/sbin:"
                        "/usr/sbin:/bin:/sbin")


class Judged(Cluster):
    """A cluster of one kind, started, with the suite beside it."""

    def __init__(self, kind, source):
        super().__init__(inventory=world(), nodes=NODES + 1,
                         plain=kind in AGAINST.values())
        self.kind, self.source = kind, pathlib.Path(source)
        self.slurm = {
            # Asked for by tests of what select has to do with.
            "GresTypes": "gpu", "Licenses": "alpha:8,beta:4",
            "PreemptType": "preempt/partition_prio", "PreemptMode": "REQUEUE",
            "PriorityType": "priority/multifactor",
            "PriorityWeightPartition": 100000, "AllowSpecResourcesUsage": "YES",
            "MinJobAge": 60,
            # What slurm-vsphere needs, in all kinds: no difference is due to it.
            "PrologFlags": "Alloc", "PrivateData": None,
            "SuspendProgram": "/bin/true", "ResumeProgram": "/bin/true",
            "SuspendTime": 86400, "SuspendTimeout": 5, "ResumeTimeout": 60,
            "ResumeRate": 0, "SuspendRate": 0,
        }
        self.vsphere = {"lines": [
            "VSphereCluster=HPC1 ResourcePool=slurm",
            "AdapterName=sriov-roce Type=sriov Network=SRIOV-ROCE-PG MTU=9000",
            *(f"PartitionName={p} Adapter=sriov-roce Template=rhel9-ofed"
              for p in (["debug"] if kind == CLOUD else []) + ["spare"])]}

    def default_nodes(self):
        shape = ("Sockets=2 CoresPerSocket=4 ThreadsPerCore=2 "
                 f"Gres=gpu:{len(GPUS)}")
        states = ("CLOUD" if self.kind in (CLOUD, STOCK_CLOUD) else "UNKNOWN",
                  "CLOUD")
        return [re.sub(r"State=\w+", f"State={state}", self.node_line(
                    first, last, "sriov-roce", 16, 4096, shape))
                for (first, last), state in zip(
                    ((1, NODES), (NODES + 1, NODES + 1)), states)]

    def default_partitions(self):
        return [f"PartitionName=debug Nodes=vm[001-{NODES:03d}] Default=YES "
                "MaxTime=INFINITE",
                f"PartitionName=spare Nodes=vm{NODES + 1:03d} Hidden=YES"]

    def used(self):
        return self.node_names()[:NODES]

    def write_configuration(self):
        super().write_configuration()
        self.path("etc", "gres.conf").write_text("".join(
            f"Name=gpu File={f}\n" for f in GPUS))
        self.write_suite()

    def write_suite(self):
        """The suite writes where it lies: a copy, which goes with us."""
        suite, prefix = self.path("suite"), self.path("prefix")
        for sub in ("expect", "python"):
            if (self.source / "testsuite" / sub).is_dir():
                shutil.copytree(self.source / "testsuite" / sub, suite / sub)
        for d in ("bin", "sbin", "lib", "include"):
            (prefix / d).mkdir(parents=True)
        (prefix / "include/slurm").symlink_to(self.source / "slurm")
        for name in ("libslurm.so", "libslurmfull.so"):
            (prefix / "lib" / name).symlink_to(
                pathlib.Path(plugin_dirs(None)[0]) / "libslurmfull.so")
        (prefix / "etc").symlink_to(self.path("etc"))
        for where, names in (("bin", COMMANDS), ("sbin", DAEMONS)):
            for name in names:
                real = program(name)
                if real:
                    (prefix / where / name).symlink_to(real)
        scontrol = prefix / "bin/scontrol"
        scontrol.write_text(SCONTROL.format(scontrol=program("scontrol")))
        scontrol.chmod(0o755)
        names = {"prefix": prefix, "source": self.source,
                 "etc": self.path("etc")}
        self.path("suite", "globals.local").write_text(GLOBALS.format(**names))
        self.path("suite", "testsuite.conf").write_text(
            TESTSUITE.format(**names))

    @property
    def suite_env(self):
        e = self.env
        for name in ("VS_ROOT", "VS_SIM", "VS_TOP", "PYTHONPATH"):
            e.pop(name, None)
        e.update({
            "SLURM_TESTSUITE_CONF": str(self.path("suite", "testsuite.conf")),
            "SLURM_LOCAL_GLOBALS_FILE":
                str(self.path("suite", "globals.local")),
            "PATH": f"{self.path('prefix', 'bin')}:{e['PATH']}",
            "TERM": "dumb", "PYTHONDONTWRITEBYTECODE": "1",
        })
        return e

    def guest_argv(self, name):
        argv = super().guest_argv(name)
        at = argv.index("--") + 1 if self.isolation else 0
        return [*argv[:at], *REAPER, *argv[at:]]

    def start_static_slurmd(self, name):
        return None     # when we say so

    def start(self):
        try:
            super().start()
            if not self.plain:
                self.wait_ready()
            if self.kind in (CLOUD, STOCK_CLOUD):
                self.must("scontrol", "update", "state=power_up",
                          "nodename=" + ",".join(self.used()))
            if self.kind == STOCK_CLOUD:    # a node that boots too early is down
                wait_for("the nodes are powered up", 30, lambda: all(
                    "POWERING_UP" in self.node(n)["State"]
                    for n in self.used()))
            if self.kind != CLOUD:
                for name in self.used():
                    super().start_static_slurmd(name)
            wait_for("all nodes are idle", 120, self.idle)
            self.before = self.looks()
        except BaseException:
            self.remove()
            raise
        return self

    def idle(self):
        states = self.node_states()
        return {states.get(n) for n in self.used()} <= {"IDLE", "IDLE+CLOUD"}

    def looks(self):
        """What a test may change and must give back."""
        conf = sorted(p for p in self.path("etc").iterdir()
                      if p.suffix == ".conf")
        return (self.must("scontrol", "-o", "show", "partition"),
                self.must("scontrol", "-o", "show", "reservation"),
                [self.node(n).get(k) for n in self.used()
                 for k in ("ActiveFeatures", "Gres", "Weight", "CfgTRES")],
                [(p.name, p.read_text()) for p in conf])

    def tidy(self):
        """Is it as it was, after what the test left is cancelled?"""
        def quiet():
            self.run("scancel", "-u", self.user)
            return not self.must("squeue", "-h").strip() and self.idle()
        try:
            wait_for("the cluster is quiet", 15, quiet, every=0.3)
            return self.looks() == self.before
        except (AssertionError, OSError):
            return False

    def otherwise(self):
        """What isn't as it was, for a log."""
        try:
            return [self.node_states()] + [
                now for now, then in zip(self.looks(), self.before)
                if now != then]
        except (AssertionError, OSError) as e:
            return e


def command(cluster, name):
    """(argv, directory) of a test in a cluster's copy of the suite."""
    sub, _, rest = name.partition("/")
    where = cluster.path("suite", sub)
    argv = ["expect", rest] if sub == "expect" else [
        "/usr/bin/python3", "-m", "pytest", "-p", "no:cacheprovider", "-q",
        "-rs", f"--basetemp={cluster.path('out', 'pytest')}", rest]
    # No process of the machine's is seen, or left: some end others by name.
    if cluster.isolation:
        argv = [*cluster.isolation, "--pid", "--fork", "--kill-child=KILL",
                "--mount-proc", *REAPER, *argv]
    return argv, where


def listed(source):
    """The names of all tests of a source tree."""
    top = pathlib.Path(source) / "testsuite"
    names = [f"expect/{p.name}" for p in (top / "expect").glob("test*.*")
             if p.is_file() and os.access(p, os.X_OK)
             and p.name[4:].replace(".", "", 1).isdigit()]
    names += [str(p.relative_to(top)) for p in (top / "python/tests").rglob(
        "test_*.py")]

    def order(name):
        return [(w.isdigit() and int(w) or 0, w) for w in
                name.replace("test", ".").replace("_", ".").split(".")]
    return sorted(names, key=order)
