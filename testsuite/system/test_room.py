# SPDX-License-Identifier: GPL-2.0-or-later
"""Room in the resource pool, on the datastore and on hosts: a job waits for it in the
queue, with a reason that names what is short, and runs when it comes. vCenter
doesn't stream these values: they are seen on the next slow beat, within 15 s."""

from cluster import wait_for
from worlds import host, world

# A VM of 2 vCPUs and 1024 + 512 MB, all reserved, with the hypervisor's overhead as
# we reckon it (the simulator takes 1 MB less).
EACH = 1536 + 96
CONF = {"lines": [
    "VSphereCluster=HPC1 ResourcePool=slurm",
    "AdapterName=sriov-roce Type=sriov Network=SRIOV-ROCE-PG MTU=9000",
    "PartitionName=roce Adapter=sriov-roce Template=rhel9-ofed MemoryOverhead=512"]}
DISK_GB = 10
BEAT = 25


def reason_of(cluster, job):
    j = cluster.job(job)
    return " ".join([cluster.squeue(job, "%r"), j.get("Reason", ""),
                     j.get("SystemComment", "")])


def cluster_with(fresh, **room):
    """Four VFs on each of two hosts, and this room when slurmctld starts."""
    c = fresh(start=False, nodes=8, inventory=world(hosts=2, vfs=4),
              vsphere=CONF)
    start = c.start_vcsim

    def start_vcsim():
        start()
        give(c, **room)
    c.start_vcsim = start_vcsim
    c.start()
    return c.wait_ready()


def give(c, pool_mb=None, store_gb=None):
    if pool_mb is not None:
        c.do("setPool", cluster="HPC1", name="slurm", memoryMB=pool_mb)
    if store_gb is not None:
        c.do("setFree", datastore="vsan", freeGB=store_gb)


def waits(c, job, name):
    """The job pends, and its reason and `svf why` name what is short."""
    wait_for(f"the reason names the {name}", 20,
             lambda: name in reason_of(c, job))
    assert name in c.svf("why", str(job))["text"]
    assert c.job_state(job) == "PENDING"
    assert not [s for s in c.node_states().values()
                if "POWERED_DOWN" not in s or "DRAIN" in s]


def failed_tasks(c):
    return [t for t in c.state()["tasks"] if t["state"] == "error"]


def test_a_gang_waits_for_its_pool_and_runs_when_room_comes(fresh):
    c = cluster_with(fresh, pool_mb=4 * EACH - 1)
    job = c.sbatch("-N4", "-C", "sriov-roce")
    waits(c, job, "resource pool slurm of cluster HPC1")
    assert c.calls("CloneVM_Task") == 0
    give(c, pool_mb=4 * EACH)
    c.wait_job(job, BEAT + 20)
    assert c.job(job)["Restarts"] == "0"
    assert failed_tasks(c) == []


def test_what_esxi_keeps_of_a_host_is_no_vms(fresh):
    """By what the hosts have in all, each would hold one for each of its VFs."""
    names, fit = ("esx01.example.org", "esx02.example.org"), (3, 1)
    hosts = [host(n, 4) for n in names]
    for h, k in zip(hosts, fit):
        h["system"] = {"memoryMB": h["memoryMB"] - k * EACH, "mhz": 8000}
    c = fresh(nodes=8, inventory=world(hosts=hosts), vsphere=CONF)
    c.wait_ready()

    def total():
        return [(h["memory_mb_total"], h["cpu_mhz_total"])
                for h in c.svf("hosts")["hosts"]]
    # until then the clusters' sum is shared out: half of it for each
    wait_for("each host's own part is read", BEAT, lambda:
             total() == [(k * EACH, 32 * 2400 - 8000) for k in fit])
    four = c.sbatch("-N4", script="sleep 600")
    c.wait_state(four, "RUNNING")
    on = [v["host"] for v in c.state()["vms"] if v["power"] == "poweredOn"]
    assert [on.count(n) for n in names] == list(fit)
    one = c.sbatch("-N1")
    wait_for("the reason names the memory", 20,
             lambda: "memory" in reason_of(c, one))
    assert c.calls("CloneVM_Task") == 4
    c.run("scancel", four)
    c.wait_job(one, 60)
    assert failed_tasks(c) == []


def test_what_runs_leaves_the_pools_rest_to_others(fresh):
    c = cluster_with(fresh, pool_mb=3 * EACH)
    two = c.sbatch("-N2", script="sleep 600")
    c.wait_state(two, "RUNNING")
    more = c.sbatch("-N2", "-C", "sriov-roce")
    wait_for("the reason names the pool", 20,
             lambda: "resource pool slurm" in reason_of(c, more))
    c.wait_job(c.sbatch("-N1"), 30)     # there is room for one
    assert c.job_state(more) == "PENDING"
    assert failed_tasks(c) == []


def test_a_gang_waits_for_the_datastore_and_runs_when_room_comes(fresh):
    c = cluster_with(fresh, store_gb=4 * DISK_GB - 1)
    job = c.sbatch("-N4", "-C", "sriov-roce")
    waits(c, job, "datastore vsan")
    assert c.calls("CloneVM_Task") == 0
    give(c, store_gb=4 * DISK_GB)
    c.wait_job(job, BEAT + 20)
    assert c.job(job)["Restarts"] == "0"
    assert failed_tasks(c) == []
    # Warm VMs and those that are off need no more of it.
    c.wait_job(c.sbatch("-N4"), 20)
    assert c.calls("CloneVM_Task") == 4
