# SPDX-License-Identifier: GPL-2.0-or-later
"""MPI over PMIx on nodes whose VMs are made for the job: srun's first step finds
them registered, and their slurmds find each other."""

import pathlib
import re
import shutil
import subprocess

import pytest

from cluster import Cluster, wait_for
from worlds import world

HERE = pathlib.Path(__file__).parent
# These guests have no RDMA device, whatever their environment names, and nothing
# but one machine's loopback between them. By UCX: Open MPI's own TCP (4.1.4) takes a
# message while MPI_Init still runs, and crashed in one of some hundred steps.
OVER_TCP = {"OMPI_MCA_pml": "ucx", "OMPI_MCA_osc": "ucx",
            "OMPI_MCA_opal_common_ucx_tls": "any",
            "OMPI_MCA_opal_common_ucx_devices": "any",
            "UCX_TLS": "tcp,self", "UCX_NET_DEVICES": "lo"}


def make_cluster():
    c = Cluster(nodes=4, inventory=world(hosts=2, vfs=2))
    c.choose_ports()
    c.vsphere = {"ShutdownGrace": 1, "lines": [
        "VSphereCluster=HPC1 ResourcePool=slurm",
        "AdapterName=sriov-roce Type=sriov Network=SRIOV-ROCE-PG MTU=9000 "
        "AdapterAddresses=10.1.0.0/16",
        "PartitionName=roce Adapter=sriov-roce Template=rhel9-ofed"]}
    # Real nodes have a /tmp each, in which PMIx makes a directory of one name.
    c.slurm = {"SuspendTimeout": 2, "TmpFS": c.path("out", "tmp-%n")}
    for n in c.node_names():
        c.path("out", f"tmp-{n}").mkdir()
    return c


@pytest.fixture(scope="module")
def program(cluster):
    """Built by the machine's own MPI; Slurm's plugin must be there too."""
    kinds = cluster.run("srun", "--mpi=list", timeout=60)
    if not re.search(r"\bpmix\b", kinds.stdout + kinds.stderr):
        pytest.skip("MPI was NOT tested: this Slurm was built without PMIx")
    if not shutil.which("mpicc"):
        pytest.skip("MPI was NOT tested: there is no mpicc (libopenmpi-dev)")
    out = cluster.path("bin", "mpi_sum")
    subprocess.run(["mpicc", "-o", str(out), str(HERE / "mpi_sum.c")],
                   check=True, timeout=120)
    return str(out)


def ranks(text):
    return {int(r): (int(size), host, int(total)) for r, size, host, total in
            re.findall(r"rank (\d+) of (\d+) on (\S+): sum (\d+)", text)}


def all_off(cluster):
    cluster.must("scontrol", "update", "nodename=ALL", "state=power_down")
    wait_for("all nodes are off", 60, lambda: all(
        cluster.is_powered_down(n) and not cluster.is_on(n)
        for n in cluster.node_names()))


def test_two_cold_nodes_are_one_mpi_world(cluster, program):
    assert not cluster.names_on()       # no managed VM is on yet
    r = cluster.run("env", *(f"{k}={v}" for k, v in OVER_TCP.items()),
                    "srun", "--mpi=pmix", "-N2", "-n2", program, timeout=120)
    assert r.returncode == 0, r.stderr
    seen = ranks(r.stdout)
    assert set(seen) == {0, 1}, r.stdout + r.stderr
    assert all(size == 2 and total == 30 for size, _, total in seen.values())
    assert {host for _, host, _ in seen.values()} == cluster.names_on()
    assert len(cluster.names_on()) == 2


def test_a_batch_jobs_steps_too_with_two_ranks_a_node(cluster, program):
    all_off(cluster)
    env = "".join(f"export {k}={v}\n" for k, v in OVER_TCP.items())
    out = cluster.wait_job(cluster.sbatch(
        "-N2", "--ntasks-per-node=2",
        script=f"set -e\n{env}srun --mpi=pmix {program}\nsrun --mpi=pmix {program}\n"
        "echo index $UCX_IB_GID_INDEX $NCCL_IB_GID_INDEX"), 120)
    found = re.findall(r"rank (\d) of (\d) on (\S+): sum (\d+)", out)
    assert sorted(r for r, *_ in found) == sorted("01230123"), out
    assert {(size, total) for _, size, _, total in found} == {("4", "100")}
    assert len({host for _, _, host, _ in found}) == 2
    # of the NICs' IPv4 addresses, as drivers fill the table
    assert "index 3 3" in out
