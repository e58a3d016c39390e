# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs over RDMA between two booted VMs: Open MPI with UCX, and the health test's
pair with the real perftest."""

import pathlib
import re
import subprocess
import sys

import guide
from daemons import TOP
from guest_cluster import BOOT_S, GuestCluster

HEALTH = pathlib.Path(TOP) / "contribs/health"
sys.path.insert(0, str(HEALTH))

import perf                                                 # noqa: E402

NODES = ("vm001", "vm002")
PMIX = "/usr/lib/x86_64-linux-gnu/pmix2/lib/libpmix.so"
SENT = "cat /sys/class/infiniband/rxe0/ports/1/hw_counters/sent_pkts"
# UCX 1.13 takes the kind of a UD packet from a field that mlx5 alone fills, and drops what
# soft-RoCE receives (uct_ud_iface_check_grh). It needs UD to connect RC.
SOFT_ROCE = "UCX_UD_ETH_DGID_CHECK=n"
ANY = "OMPI_MCA_opal_common_ucx_tls=any OMPI_MCA_opal_common_ucx_devices=any"
PACKETS = (1 << 20) * 4 // 4096     # of mpi_sum.c's message, at the largest MTU of RDMA


def change(disk):
    """The program as on a site's shared file system. Debian's mpi/pmix loads a name
    that only libpmix-dev has."""
    program = disk.scratch / "mpi_sum"
    subprocess.run(["mpicc", "-o", program, pathlib.Path(TOP) / "testsuite/system/mpi_sum.c"],
                   check=True, timeout=120)
    disk.put(program, "/opt/your-program", 0o755)
    disk.link(PMIX, "libpmix.so.2")


def make_cluster():
    return GuestCluster(nodes=2, vfs=1, VG_MEMORY="512", change=change)


def sent(cluster):
    """Packets that each VM's RDMA device has sent."""
    return [int(cluster.shell(n)(SENT)) for n in NODES]


def run_mpi(cluster, script):
    """Runs a batch script with mpi_sum on both VMs. Returns what each RDMA device sent."""
    cluster.wait_done(cluster.submit("true\n", "-N2"), BOOT_S + 120)
    before = sent(cluster)
    job = cluster.submit(script, "-D", "/opt", f"--export=ALL,{SOFT_ROCE}")
    cluster.wait_state(job, ("COMPLETED", "FAILED"), 200)
    out = cluster.text_of(job)
    more = [n - b for n, b in zip(sent(cluster), before)]
    print(f"\n{out.strip()}\npackets sent by the RDMA devices: {more}")
    ranks = re.findall(r"^rank (\d) of 2 on (\S+): sum (\d+)$", out, re.M)
    assert sorted(r for r, _, _ in ranks) == ["0", "1"], out
    assert sorted(host for _, host, _ in ranks) == list(NODES), out
    assert {total for _, _, total in ranks} == {"30"}, out
    return more


def test_the_user_guides_mpi_script_sums_over_the_rdma_device(cluster):
    more = run_mpi(cluster, guide.block_with("user-guide", "export UCX_TLS="))
    assert min(more) >= PACKETS // 2, f"MPI's messages have not used the RDMA device: {more}"


def test_the_same_script_over_tcp_sends_none_of_these_packets(cluster):
    """The device's counter tells one from the other. Open MPI has to be told that UCX may
    use TCP; with the script as it is, it ends the job."""
    script = guide.block_with("user-guide", "export UCX_TLS=")
    over_tcp = script.replace("UCX_TLS=rc,sm,self", "UCX_TLS=tcp,self UCX_NET_DEVICES=all " + ANY)
    assert over_tcp != script
    assert max(run_mpi(cluster, over_tcp)) == 0


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
