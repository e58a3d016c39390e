# SPDX-License-Identifier: GPL-2.0-or-later
"""slurm.conf and vsphere.conf of a private cluster, with the tests' changes."""

import socket

from daemons import USERNAME, only_loopback, plugin_dirs


class Configuration:
    """Part of Cluster: uses its ports, its path() and the overrides in slurm,
    vsphere, vsphere_text, node_lines and partition_lines."""

    # Of the class, so that the tests can make all clusters' beats shorter.
    scheduler_parameters = "bf_interval=2,nohold_on_prolog_fail"
    slurmctld_parameters = "idle_on_node_suspend"

    def slurm_conf(self):
        p = self.path
        conf = {
            "ClusterName": "vstest",
            "SlurmctldHost": f"{socket.gethostname()}(127.0.0.1)",
            "SlurmUser": self.user, "SlurmdUser": self.user,
            "AuthType": "auth/munge",
            "AuthInfo": f"socket={p('run', 'munge.socket')}",
            "SlurmctldPort": self.ctld_port,
            "SlurmdPort": self.slurmd_port,
            "SlurmctldPidFile": p("run", "slurmctld.pid"),
            "SlurmctldLogFile": p("log", "slurmctld.log"),
            "SlurmctldDebug": "debug",
            "SlurmdPidFile": p("run", "%n.pid"),
            "SlurmdSpoolDir": p("spool", "%n"),
            "SlurmdLogFile": p("log", "%n.log"),
            "SlurmdDebug": "verbose",
            "StateSaveLocation": p("state"),
            "PluginDir": ":".join(plugin_dirs(
                None if self.plain else self.root)),
            "SlurmdParameters": "config_overrides",
            "ProctrackType": "proctrack/linuxproc",
            "TaskPlugin": "task/none",
            "JobAcctGatherType": "jobacct_gather/none",
            "AccountingStorageType": "accounting_storage/none",
            "MpiDefault": "none",
            "SwitchType": "switch/none",
            "LaunchParameters": "",
            "SelectType": "select/cons_tres" if self.plain
            else "select/cons_tres_vsphere",
            "SelectTypeParameters": "CR_Core_Memory",
            "SchedulerType": "sched/backfill",
            "SchedulerParameters": self.scheduler_parameters,
            "SlurmctldParameters": self.slurmctld_parameters,
            "ReturnToService": 2, "MessageTimeout": 10,
            "PropagateResourceLimitsExcept": "MEMLOCK",
            "KillWait": 2,
            "TCPTimeout": 2,
            "JobRequeue": 1,
            # slurmstepd tries again after 60 s to tell a slurmctld that was
            # away of a step's end.
            "UnkillableStepTimeout": 120,
            # Guests differ in communication.conf.
            "DebugFlags": "NO_CONF_HASH",
        }
        if not self.plain:
            conf.update({
                "PrEpPlugins": "prep/script,prep/vsphere",
                "PrologFlags": "Alloc",
                "PrivateData": "cloud",
                "SuspendProgram": "/bin/true", "ResumeProgram": "/bin/true",
                "SuspendTime": 600, "SuspendTimeout": 5,
                "ResumeTimeout": 60, "ResumeRate": 0, "SuspendRate": 0,
            })
        conf.update({k: v for k, v in self.slurm.items()})
        lines = [f"{k}={v}" for k, v in conf.items()
                 if v is not None and v != ""]
        lines.append(f"Include {p('etc', 'communication.conf')}")
        lines += self.node_lines or self.default_nodes()
        lines += self.partition_lines or self.default_partitions()
        return "\n".join(lines) + "\n"

    def communication_conf(self, guest):
        """Daemons listen where their own host name leads: to 127.0.0.1, by
        their private /etc/hosts. Commands run without one and listen as Slurm
        likes it."""
        words = ["EnableIPv6"] if only_loopback() else []
        if self.isolation:
            words.append("NoInAddrAny" if guest else "NoCtldInAddrAny")
        return f"CommunicationParameters={','.join(words)}\n" if words else "\n"

    def node_names(self):
        return [f"vm{i:03d}" for i in range(1, self.nodes + 1)]

    def node_line(self, first, last, features, cpus=2, memory=1024, extra=""):
        """A NodeName line for vm{first}..vm{last}."""
        ports = (f"{self.node_port + first - 1}"
                 if first == last else
                 f"[{self.node_port + first - 1}-{self.node_port + last - 1}]")
        names = (f"vm{first:03d}" if first == last
                 else f"vm[{first:03d}-{last:03d}]")
        state = "UNKNOWN" if self.plain else "CLOUD"
        feat = f" Features={features}" if features else ""
        return (f"NodeName={names} NodeHostname={socket.gethostname()} "
                f"NodeAddr=127.0.0.1 Port={ports} CPUs={cpus} "
                f"RealMemory={memory}{feat} State={state} {extra}")

    def default_nodes(self):
        return [self.node_line(1, self.nodes, "sriov-roce")]

    def default_partitions(self):
        return ["PartitionName=roce Nodes=ALL Default=YES MaxTime=INFINITE"]

    def vsphere_conf(self):
        if self.vsphere_text is not None:
            return self.vsphere_text
        top = {
            "VCenter": self.sim_url, "VCenterUser": USERNAME,
            "VCenterPasswordFile": self.path("etc", "vcenter.password"),
            "VCenterCAFile": self.sim_ca, "Datacenter": "DC0", "Folder": "slurm",
            "Datastore": "vsan",
            "Mode": "manage", "Placement": "balance",
            "SvfPort": self.control_port,
        }
        over = dict(self.vsphere or {})
        lines = over.pop("lines", None)
        top.update(over)
        text = [f"{k}={v}" for k, v in top.items() if v is not None]
        return "\n".join(text + (lines or [
            "VSphereCluster=HPC1 ResourcePool=slurm",
            "AdapterName=sriov-roce Type=sriov Network=SRIOV-ROCE-PG MTU=9000",
            "PartitionName=roce Adapter=sriov-roce Template=rhel9-ofed",
        ])) + "\n"
