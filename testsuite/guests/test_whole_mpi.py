# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs over RDMA between two booted VMs: Open MPI with UCX, and the health test's
pair with the real perftest."""

import base64
import pathlib
import re
import subprocess
import sys

from daemons import TOP
from guest_cluster import BOOT_S, GuestCluster

HEALTH = pathlib.Path(TOP) / "contribs/health"
sys.path.insert(0, str(HEALTH))

import perf                                                 # noqa: E402

# Messages go over verbs: UCX counts soft-RoCE's latency as the lower one. TCP is for its
# own setting-up alone, which over UD timed out. The device's counter tells.
UCX = {"OMPI_MCA_pml": "ucx", "OMPI_MCA_osc": "ucx", "OMPI_MCA_btl": "^openib",
       "OMPI_MCA_opal_common_ucx_tls": "any", "OMPI_MCA_opal_common_ucx_devices": "any",
       "UCX_TLS": "rc_verbs,tcp,self", "UCX_NET_DEVICES": "all"}


PMIX = "/usr/lib/x86_64-linux-gnu/pmix2/lib/libpmix.so"


def make_cluster():
    # Debian's mpi/pmix loads this name, which only libpmix-dev has.
    return GuestCluster(nodes=2, vfs=1, VG_MEMORY="512",
                        change=lambda disk: disk.link(PMIX, "libpmix.so.2"))


def test_an_allreduce_over_ucx_verbs(cluster):
    program = cluster.path("bin", "mpi_sum")
    subprocess.run(["mpicc", "-o", program, pathlib.Path(TOP) / "testsuite/system/mpi_sum.c"],
                   check=True, timeout=120)
    text = base64.b64encode(program.read_bytes()).decode()
    env = "".join(f"export {k}='{v}'\n" for k, v in UCX.items())
    job = cluster.submit(env + f"base64 -d >/tmp/mpi_sum <<'END'\n{text}\nEND\n"
                         "chmod 755 /tmp/mpi_sum\nsbcast -f /tmp/mpi_sum /tmp/mpi_sum.here\n"
                         "export UCX_IB_GID_INDEX=$(sed -n 's/^gid-index //p' /run/slurm-vsphere/ready)\n"
                         "srun --mpi=pmix -n2 /tmp/mpi_sum.here\n"
                         "cat /sys/class/infiniband/rxe0/ports/1/hw_counters/sent_pkts\n", "-N2")
    out = cluster.wait_done(job, BOOT_S + 200)
    ranks = re.findall(r"rank (\d) of 2 on (\S+): sum (\d+)", out)
    print("\n" + out.strip())
    assert sorted(ranks) == sorted([("0", r[1], "30") if r[0] == "0" else ("1", r[1], "30")
                                    for r in ranks]) and len(ranks) == 2, out
    assert {r[1] for r in ranks} == {"vm001", "vm002"}, out
    assert int(out.split()[-1]) > 0, "MPI's messages have not used the RDMA device"


def test_the_health_pair_measures_with_the_real_perftest(cluster):
    script = (HEALTH / "pair.sbatch").read_text()
    job = cluster.submit("export HEALTH_TESTS='ib_send_bw ib_send_lat' HEALTH_BW_OPTIONS='-D 3' HEALTH_SECONDS=400\n"
                         + script.split("\n", 1)[1], "-N2", "--ntasks-per-node=1")
    out = cluster.wait_done(job, BOOT_S + 300)
    read = perf.read_job(out)
    assert read["done"] and len(read["nics"]) == 2, out
    got = [(t["test"], t["from"], perf.measure(t)) for t in read["tests"]]
    print("\n" + "\n".join(f"{t} from {n}: {v:.3f}" for t, n, v in got))
    assert [t for t, _, _ in got] == ["ib_send_bw", "ib_send_bw", "ib_send_lat"], out
    assert all(v > 0 for _, _, v in got)
