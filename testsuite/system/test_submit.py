# SPDX-License-Identifier: GPL-2.0-or-later
"""job_submit/vsphere: what can never run is refused as it comes in, by a sentence
that names the way out; whatever may run some day is let through."""

import re

import pytest

from cluster import Cluster, wait_for
from daemons import plugin_dirs, slurm_release
from worlds import ROCE_AND_ETH, world

HOSTS = ("esx01.example.org", "esx02.example.org")
VFS = 6


def make_cluster():
    """Eight nodes over six VFs, three of Ethernet, and one of metal, which is
    down: that is no matter here."""
    c = Cluster(nodes=11, inventory=world(hosts=2, vfs=VFS // 2))
    c.choose_ports()
    c.slurm = {"SuspendTimeout": 2, "JobSubmitPlugins": "vsphere"}
    c.vsphere = {"ShutdownGrace": 1, "AllowMoreNodesThanVFs": "yes",
                 "lines": ROCE_AND_ETH}
    c.node_lines = [c.node_line(1, 8, "sriov-roce"),
                    c.node_line(9, 11, "vmxnet3"),
                    c.node_line(12, 12, "bigmem").replace("State=CLOUD",
                                                          "State=DOWN")]
    c.partition_lines = ["PartitionName=roce Nodes=vm[001-008]",
                         "PartitionName=eth Nodes=vm[009-011]",
                         "PartitionName=metal Nodes=vm012",
                         "PartitionName=secret Nodes=vm[001-011] Hidden=YES",
                         "PartitionName=both Nodes=vm[001-011] Default=YES"]
    return c


def refused(cluster, *options, by="sbatch"):
    """What the user reads, but for the name of Slurm's error."""
    argv = {"sbatch": ("sbatch", *options, "--wrap", "true"),
            "srun": ("srun", *options, "true"),
            "salloc": ("salloc", *options, "true")}[by]
    r = cluster.run(*argv)
    assert r.returncode, f"{options} was let through: {r.stdout}"
    lines = r.stderr.strip().splitlines()
    assert len(lines) == 2, r.stderr
    return lines[0].split("error: ", 1)[1]


def let_through(cluster, *options):
    job = cluster.sbatch("--hold", *options, script="true")
    cluster.must("scancel", job)


TWO = "[sriov-roce*2&vmxnet3*2]"
SENTENCES = {
    "a misspelt adapter": (
        ("-C", "sriov-roc"),
        "no node has the feature \"sriov-roc\": did you mean sriov-roce? "
        "(adapters of partition both: sriov-roce, vmxnet3)"),
    "one of several": (
        ("-p", "eth", "-C", "(vmxnet3|vmxnet4)"),
        "no node has the feature \"vmxnet4\": did you mean vmxnet3? "
        "(adapters of partition eth: vmxnet3)"),
    "a misspelt preference": (
        ("--prefer=Sriov-Roce",),
        "no node has the feature \"Sriov-Roce\": did you mean sriov-roce? "
        "(adapters of partition both: sriov-roce, vmxnet3)"),
    "what is like nothing": (
        ("-p", "roce", "-C", "tape"),
        "no node has the feature \"tape\" (adapters of partition roce: "
        "sriov-roce): ask for a feature that sinfo -o %f lists"),
    "a misspelt adapter on others' nodes": (
        ("-p", "metal", "-C", "vmxnet"),
        "no node has the feature \"vmxnet\": did you mean vmxnet3?"),
    "an adapter of another partition": (
        ("-p", "eth", "-C", "sriov-roce"),
        "no node of partition eth has \"sriov-roce\": use -p roce or -p both"),
    "an adapter where there are others' nodes alone": (
        ("-p", "metal", "-C", "sriov-roce|vmxnet3"),
        "no node of partition metal has \"sriov-roce|vmxnet3\": "
        "use -p roce or -p eth or -p both"),
    "two adapters for one node": (
        ("-C", "sriov-roce&vmxnet3"),
        "\"sriov-roce&vmxnet3\" asks each node for both sriov-roce and vmxnet3, "
        "but a node has one adapter: ask for either (\"sriov-roce|vmxnet3\"), "
        "or for nodes of both kinds (\"[sriov-roce*1&vmxnet3*1]\")"),
    "more nodes than have it": (
        ("-N4", "-C", "vmxnet3"),
        "partition both has 3 nodes with \"vmxnet3\", and 4 are asked for: "
        "ask for 3 at most (-N3)"),
    "more than are left": (
        ("-N3", "-x", "vm010", "-C", "vmxnet3"),
        "partition both has 2 nodes with \"vmxnet3\", and 3 are asked for: "
        "ask for 2 at most (-N2)"),
    "more tasks than they hold": (
        ("-n7", "-C", "vmxnet3"),
        "partition both has 3 nodes with \"vmxnet3\", and 4 are needed for its "
        "tasks: ask for no more tasks than 3 nodes hold"),
    "more tasks than they may": (
        ("-n5", "--ntasks-per-node=1", "-C", "vmxnet3"),
        # (Newer commands count the nodes themselves, and ask for them.)
        ("partition both has 3 nodes with \"vmxnet3\", and 5 are needed for its "
         "tasks: ask for no more tasks than 3 nodes hold",
         "partition both has 3 nodes with \"vmxnet3\", and 5 are asked for: ask "
         "for 3 at most (-N3), with no more tasks than they hold")),
    "one kind for too many": (
        ("-N9", "-C", "[sriov-roce|vmxnet3]"),
        "9 nodes of partition both are asked for, but the vSphere hosts can run "
        "6 (a VF of sriov-roce each) when all of them are free: "
        "ask for 6 at most (-N6)"),
    "more VMs than VFs": (
        ("-N7", "-C", "sriov-roce"),
        "7 nodes of partition both are asked for, but the vSphere hosts can run "
        "6 (a VF of sriov-roce each) when all of them are free: "
        "ask for 6 at most (-N6)"),
    "the same without a constraint": (
        ("-p", "roce", "-N8"),
        "8 nodes of partition roce are asked for, but the vSphere hosts can run "
        "6 (a VF of sriov-roce each) when all of them are free: "
        "ask for 6 at most (-N6)"),
    "the same for tasks": (
        ("-p", "roce", "-n14"),
        "7 nodes of partition roce are needed for its tasks, but the vSphere "
        "hosts can run 6 (a VF of sriov-roce each) when all of them are free: "
        "ask for no more tasks than 6 nodes hold"),
    "more than any partition may grow to": (
        ("-p", "roce", "-N20"),
        "20 nodes of partition roce are asked for, but the vSphere hosts can run "
        "6 (a VF of sriov-roce each) when all of them are free: "
        "ask for 6 at most (-N6)"),
    "counts of a kind that is elsewhere": (
        ("-N4", "-p", "roce,eth", "-C", TWO),
        "partition roce has 0 nodes with \"vmxnet3\", and 2 are counted: "
        "use -p both"),
    "counts that are too high everywhere": (
        ("-C", "[sriov-roce*1&vmxnet3*4]"),
        "partition both has 3 nodes with \"vmxnet3\", and 4 are counted: "
        "no partition that is open to all users can run the job; ask for "
        "fewer nodes, or for another adapter"),
    "counts beyond the VFs": (
        ("-C", "[sriov-roce*7&vmxnet3*1]"),
        "7 nodes of partition both are counted, but the vSphere hosts can run "
        "6 (a VF of sriov-roce each) when all of them are free: "
        "count 6 at most"),
    "counts beyond -N": (
        ("-N2", "-C", TWO),
        f"\"{TWO}\" counts 4 nodes, and the job may have 2: ask for -N4, or "
        "count fewer"),
    "counts without brackets": (
        ("-N4", "-C", "sriov-roce*2&vmxnet3*2"),
        "the constraint \"sriov-roce*2&vmxnet3*2\" cannot be read: write "
        "counts in one pair of brackets, one for each feature (\"[a*2&b*1]\"), "
        "and alternatives that are the same for all nodes without counts "
        "(\"[a|b]\")"),
    "a named node of another kind": (
        ("-w", "vm001", "-C", "vmxnet3"),
        "node vm001, which the job names, does not have \"vmxnet3\" (its adapter "
        "is sriov-roce): name other nodes (-w), or none"),
}


@pytest.mark.parametrize("case", SENTENCES)
def test_what_can_never_run_is_refused_with_the_way_out(cluster, case):
    options, want = SENTENCES[case]
    said = refused(cluster, *options)
    assert said in want if isinstance(want, tuple) else said == want


@pytest.mark.parametrize("case", [case for case, (_, want) in SENTENCES.items()
                                  if "-N" in str(want)])
def test_the_number_of_nodes_that_is_named_will_do(cluster, case):
    """A user who follows the advice is not refused again."""
    options = [o for o in SENTENCES[case][0] if not o.startswith("-N")]
    said = refused(cluster, *SENTENCES[case][0])
    most = re.search(r"-N(\d+)", said)
    if most:
        if "with no more tasks" in said:        # of these, one on each node
            assert "--ntasks-per-node=1" in options
            options = [re.sub(r"^-n\d+$", f"-n{most[1]}", o) for o in options]
        let_through(cluster, "-N" + most[1], *options)


@pytest.mark.parametrize("adapter", ("sriov-roce", "vmxnet3"))
def test_a_node_that_is_named_and_excluded_is_slurms_to_refuse(cluster, adapter):
    """Nothing is said of its adapter, which is right."""
    node = "vm001" if adapter == "sriov-roce" else "vm009"
    r = cluster.run("sbatch", "-w", node, "-x", node, "-C", adapter, "--wrap",
                    "true")
    assert "does not have" not in r.stderr and "adapter" not in r.stderr
    if r.returncode == 0:
        cluster.must("scancel", r.stdout.split()[-1])


@pytest.mark.parametrize("by", ("srun", "salloc"))
def test_all_commands_say_it(cluster, by):
    options, want = SENTENCES["a misspelt adapter"]
    assert refused(cluster, *options, by=by) == want


def test_an_array_is_refused_as_a_whole(cluster):
    options, want = SENTENCES["an adapter of another partition"]
    assert refused(cluster, "--array=1-100", *options) == want


def test_a_heterogeneous_job_is_told_of_which_component(cluster):
    """Slurm's count of them begins with 0."""
    good = ("-N1", "-C", "sriov-roce", ":")
    assert refused(cluster, *good, "-p", "eth", "-C", "sriov-roce") == \
        "1: no node of partition eth has \"sriov-roce\": use -p roce or -p both"


@pytest.mark.parametrize("options", (
    ("-N6", "-C", "sriov-roce"),
    ("-N2-9", "-C", "sriov-roce"),
    ("-N9",),                                   # of both kinds
    ("-N9", "-C", "sriov-roce|vmxnet3"),
    ("-N3", "-C", "[sriov-roce|vmxnet3]"),
    ("-N6", "-C", TWO),                         # and two more of any kind
    ("-C", TWO),
    ("-N2-9", "-C", TWO),
    ("-p", "metal,eth", "-N1", "-C", "vmxnet3"),    # one of them will do
    ("-p", "roce,eth", "-N3"),
    ("-n12", "-C", "sriov-roce"),
    ("-n13", "-O", "-C", "sriov-roce"),         # they share CPUs
    ("-p", "metal", "-N1", "-C", "bigmem"),
    ("-p", "eth", "-N4"),                       # PartitionNodeLimit, Slurm says
), ids=" ".join)
def test_whatever_may_run_is_let_through(cluster, options):
    let_through(cluster, *options)


def test_others_nodes_are_not_our_business(cluster):
    """Slurm says what it says without us."""
    r = cluster.run("sbatch", "-p", "metal", "-N1", "-C", "bigmem&tape",
                    "--wrap", "true")
    assert r.stderr.strip().endswith("Invalid feature specification")
    assert len(r.stderr.strip().splitlines()) == 1


def test_features_are_as_they_are_now(cluster):
    """An administrator gives a node a feature, and takes it again."""
    assert "\"fast\"" in refused(cluster, "-C", "fast")
    cluster.must("scontrol", "update", "nodename=vm009",
                 "features=vmxnet3,fast")
    let_through(cluster, "-C", "fast")
    assert "has 1 node with \"fast\", and 2 are asked" in refused(
        cluster, "-N2", "-C", "fast")
    cluster.must("scontrol", "update", "nodename=vm009", "features=vmxnet3",
                 "activefeatures=vmxnet3")
    assert "\"fast\"" in refused(cluster, "-C", "fast")


def change(cluster, job, *what):
    """scontrol's status, and the sentence: to the user, before 23.02 to the log
    alone."""
    before = len(cluster.ctld_log())
    r = cluster.run("scontrol", "update", f"jobid={job}", *what)
    said = r.stderr + r.stdout
    if slurm_release() < (23, 2):
        said = cluster.ctld_log()[before:]
    return r.returncode, said


def refused_by_slurm(what, said):
    """Without slurmdbd, the slurmctld of 26.05.3 takes an errno of its own socket
    for the answer to a change of partition, with select/cons_tres and without
    job_submit plugins too (_update_job, after _retrieve_new_assoc)."""
    return slurm_release()[:2] == (26, 5) and \
        what[0].startswith("partition=") and \
        "Resource temporarily unavailable" in said


def test_an_update_is_judged_as_the_job_would_be(cluster):
    job = cluster.sbatch("--hold", "-p", "roce", "-N2", "-C", "sriov-roce",
                         script="true")
    for what, sentence in (
            (("features=vmxnet3",),
             "no node of partition roce has \"vmxnet3\": use -p eth or -p both "
             "(one update may change several fields)"),
            (("features=sriov-roc",), "did you mean sriov-roce?"),
            (("partition=eth",), "no node of partition eth has \"sriov-roce\""),
            (("numnodes=7-7",), "can run 6"),
            (("partition=both", "features=vmxnet3", "numnodes=4-4"),
             "has 3 nodes with \"vmxnet3\", and 4 are asked for")):
        status, said = change(cluster, job, *what)
        assert status and sentence in said, (what, said)
    was = cluster.job(job)
    assert (was["Features"], was["Partition"]) == ("sriov-roce", "roce")
    assert was["NumNodes"].startswith("2")
    for what in (("partition=eth", "features=vmxnet3"), ("numnodes=3-3",),
                 ("comment=x",)):
        status, said = change(cluster, job, *what)
        assert not status or refused_by_slurm(what, said), (what, said)
    cluster.must("scontrol", "release", job)
    cluster.wait_job(job, 60)


def test_others_learn_nothing_of_a_job_by_updates(cluster):
    """Slurm asks who may do it after the plugin has looked."""
    log = cluster.ctld_log
    job = cluster.sbatch("--hold", "-p", "roce", "-N1", script="true")
    before = len(log())
    r = cluster.run("setpriv", "--reuid=65534", "--regid=65534",
                    "--clear-groups", "scontrol", "update", f"jobid={job}",
                    "features=vmxnet3")
    assert r.returncode and "vmxnet3" not in r.stderr
    assert "refused" not in log()[before:]
    cluster.must("scancel", job)


def test_what_is_down_with_its_host_counts(cluster):
    """And so does everything while vCenter is away: a "no" is for ever."""
    cluster.do("hostState", host=HOSTS[0], state="disconnected")
    wait_for("the core sees it", 20, lambda: any(
        h["state"] == "DISCONNECTED" for h in cluster.svf("hosts")["hosts"]))
    let_through(cluster, "-N6", "-C", "sriov-roce")
    assert "can run 6" in refused(cluster, "-N7", "-C", "sriov-roce")
    cluster.do("hostState", host=HOSTS[0], state="connected")
    cluster.do("outage", duration="60s", how="refuse")
    cluster.do("cutConnections")
    wait_for("vCenter is away", 20, lambda: not cluster.svf("status")["up"])
    let_through(cluster, "-N7", "-C", "sriov-roce")
    assert "sriov-roce" in refused(cluster, "-C", "sriov-roc")
    cluster.do("outage", duration="0s", how="refuse")
    wait_for("vCenter is back", 40, lambda: cluster.svf("status")["up"])


def test_after_a_reconfigure_with_other_nodes_it_knows_which_are_which(cluster):
    """A node before the managed ones shifts all their indexes in Slurm's table."""
    cluster.node_lines.insert(0, cluster.node_line(13, 13, "tape").replace(
        "State=CLOUD", "State=DOWN"))
    cluster.partition_lines.append("PartitionName=tape Nodes=vm013")
    cluster.write_configuration()
    cluster.restart_slurmctld()
    cluster.wait_ready()
    let_through(cluster, "-p", "tape", "-C", "tape")
    cluster.node_lines.append(cluster.node_lines.pop(0))
    cluster.write_configuration()
    cluster.must("scontrol", "reconfigure")
    cluster.wait_ready()
    assert "use -p roce or -p both" in refused(cluster, "-p", "tape", "-C",
                                               "sriov-roce")

    # While vCenter is read again whatever it depends on is let through.
    def knows():
        r = cluster.run("sbatch", "-H", "-N7", "-C", "sriov-roce", "--wrap",
                        "true")
        if r.returncode == 0:
            cluster.run("scancel", r.stdout.split()[-1])
        return "can run 6" in r.stderr
    wait_for("the hosts' capacity is known again", 20, knows)
    let_through(cluster, "-N3", "-C", "vmxnet3")


def test_an_exclusive_vm_is_not_shared(fresh):
    """Retention=destroy wants OverSubscribe=EXCLUSIVE, which can go while
    slurmctld runs."""
    c = fresh(start=False, nodes=2, inventory=world(hosts=1, vfs=4))
    c.slurm["JobSubmitPlugins"] = "vsphere"
    c.vsphere = {"lines": ROCE_AND_ETH[:2] + [
        "PartitionName=fresh Adapter=sriov-roce Template=rhel9-ofed "
        "Retention=destroy"]}
    c.partition_lines = ["PartitionName=fresh Nodes=ALL Default=YES "
                         "OverSubscribe=EXCLUSIVE"]
    c.start()
    c.wait_ready()
    let_through(c, "-N1", "--oversubscribe")
    c.must("scontrol", "update", "partitionname=fresh", "oversubscribe=no")
    assert refused(c, "-N1") == (
        "a VM of partition fresh is for one job alone (Retention=destroy), "
        "but the partition lets jobs share nodes: submit with --exclusive")
    let_through(c, "-N1", "--exclusive")


def test_nodes_that_come_and_go_count_while_they_are_there(fresh):
    """With a feature that no node had before, by which a NodeSet takes them."""
    c = fresh(start=False, nodes=2, inventory=world(hosts=1, vfs=4))
    c.slurm.update({"JobSubmitPlugins": "vsphere", "MaxNodeCount": 8,
                    "TreeWidth": 65533})
    c.partition_lines = ["NodeSet=new Feature=new", "PartitionName=roce "
                         "Nodes=vm[001-002],new Default=YES"]
    c.start()
    c.wait_ready()
    assert "\"new\"" in refused(c, "-C", "new")
    c.must("scontrol", "create", "nodename=dyn1", "NodeAddr=127.0.0.1",
           f"Port={c.slurmd_port}", "CPUs=2", "RealMemory=1024", "state=cloud",
           "Feature=sriov-roce,new")
    let_through(c, "-C", "new")
    let_through(c, "-N3", "-C", "sriov-roce")
    assert refused(c, "-N2", "-C", "new") == (
        "partition roce has 1 node with \"new\", and 2 are asked for: "
        "ask for 1 at most (-N1)")
    c.must("scontrol", "delete", "nodename=dyn1")
    assert "\"new\"" in refused(c, "-C", "new")


def test_beside_stock_cons_tres_it_is_silent(fresh):
    c = fresh(start=False, nodes=1, plain=True)
    c.slurm["JobSubmitPlugins"] = "vsphere"
    c.slurm["PluginDir"] = ":".join(plugin_dirs(c.root))
    c.start()
    r = c.run("sbatch", "-C", "nothing", "--wrap", "true")
    assert r.stderr.strip().endswith("Invalid feature specification")
    assert len(r.stderr.strip().splitlines()) == 1
    assert "job_submit/vsphere loaded" in c.ctld_log()
    assert not re.search(r"(error|refused).*job_submit/vsphere|"
                         r"job_submit/vsphere.*refused", c.ctld_log())
