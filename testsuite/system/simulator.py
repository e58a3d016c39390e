# SPDX-License-Identifier: GPL-2.0-or-later
"""What the tests ask of the simulator, and what they let it do."""

import json
import ssl
import urllib.error
import urllib.request

from daemons import ClusterError, wait_for

MUTATING = ("CloneVM_Task", "ReconfigVM_Task", "PowerOnVM_Task",
            "PowerOffVM_Task", "Destroy_Task", "RelocateVM_Task",
            "ShutdownGuest", "UnregisterVM")


class Simulator:
    """Part of Cluster: uses its sim_ca and path(), and its sim_control, the
    simulator's second door that no outage closes."""

    _ctx = None

    def sim(self, what, body=None, timeout=30, method=None):
        if self._ctx is None:
            # the test's own word to it, whatever its certificate is
            self._ctx = ssl.create_default_context()
            self._ctx.check_hostname = False
            self._ctx.verify_mode = ssl.CERT_NONE
        req = urllib.request.Request(
            f"{self.sim_control}/-/{what}",
            data=None if body is None else json.dumps(body).encode(),
            headers={"Content-Type": "application/json"},
            method=method or ("GET" if body is None else "POST"))
        try:
            with urllib.request.urlopen(req, context=self._ctx,
                                        timeout=timeout) as r:
                text = r.read()
        except urllib.error.HTTPError as e:
            raise ClusterError(f"simulator: {what}: {e.code} "
                               f"{e.read().decode(errors='replace')}") from e
        return json.loads(text) if text.strip() else None

    def counters(self):
        return self.sim("counters")

    def calls(self, *names):
        """How often these methods were called, summed."""
        c = self.counters()["calls"]
        return sum(c.get(n, 0) for n in names)

    def mutating(self):
        return self.calls(*MUTATING)

    def do(self, op, **fields):
        """An administrator's operation; one on power is over on return."""
        if op in ("powerOn", "powerOff"):
            fields.setdefault("wait", True)
        return self.sim("do", {"op": op, **fields})

    def fault(self, **rule):
        """Declare a fault; see the simulator's README."""
        self.sim("faults", {"rules": [rule]})

    def clear_faults(self):
        self.sim("faults", method="DELETE")

    def state(self):
        return self.sim("state")

    def our_vms(self):
        """The VMs of the folder `slurm`: name, on, power, host, uuid, vf_macs."""
        return [{"name": v["name"], "on": v["power"] == "poweredOn",
                 "power": v["power"],
                 "host": v["host"], "uuid": v["instanceUuid"],
                 "datastore": v["datastore"], "policies": v["policies"],
                 "annotation": v["annotation"],
                 "owner": v["owner"], "boots": v["boots"],
                 "vf_macs": [c["mac"] for c in v["cards"]
                             if c["type"] == "sriov"]}
                for v in self.state()["vms"]
                if v["folder"].endswith("/slurm") and not v["template"]]

    def our_vm(self, name):
        return {v["name"]: v for v in self.our_vms()}.get(name)

    def is_on(self, name):
        vm = self.our_vm(name)
        return bool(vm and vm["on"])

    def names_on(self):
        return {v["name"] for v in self.our_vms() if v["on"]}

    def vfs_of(self, names):
        """How many VFs these VMs hold by the simulator's books."""
        return sum(1 for h in self.state()["hosts"] for pf in h["pfs"]
                   for vm in pf["by"].values() if vm in names)

    def vfs_used(self):
        return sum(pf["used"] for h in self.state()["hosts"]
                   for pf in h["pfs"])

    def overfull(self):
        return [f"{h['name']} {pf['id']}: {pf['used']} of {pf['vfs']}"
                for h in self.state()["hosts"] for pf in h["pfs"]
                if pf["used"] > pf["vfs"]]

    def not_as_suspended(self):
        """What is suspended stands still and has nothing of its host; nothing
        else stands still, unless a task is about it."""
        s = self.state()
        busy = {t["entity"] for t in s["tasks"] if t["state"] == "running"}
        held = {vm for h in s["hosts"] for pf in h["pfs"]
                for vm in pf["by"].values()}
        return [f"{v['name']}: {v['power']}, {v['stopped']} processes stand "
                f"still, of its host: {v['name'] in held}" for v in s["vms"]
                if v["name"] not in busy and
                (v["guest"] and (v["power"] == "suspended") != (v["stopped"] > 0)
                 or v["power"] == "suspended" and v["name"] in held)]

    def running_tasks(self, kind):
        return [t for t in self.state()["tasks"]
                if t["method"] == kind and t["state"] == "running"]

    def touch_template(self, name):
        """An administrator edits the template: its changeVersion changes."""
        for old, new in ((name, name + "-edited"), (name + "-edited", name)):
            self.do("rename", vm=old, name=new)
            wait_for("the template is renamed", 10, lambda n=new: [
                v for v in self.state()["vms"] if v["name"] == n])

    # ---- guests ------------------------------------------------------------
    def delay_boot(self, node, seconds):
        """The node's guest takes that much longer to start slurmd."""
        self.path("guests").mkdir(parents=True, exist_ok=True)
        self.path("guests", node + ".delay").write_text(f"{seconds}\n")

    def port_state(self, node, state):
        """What the RDMA port of the node's VM says, now and after boots:
        "4: ACTIVE", "1: DOWN"."""
        self.path("guests").mkdir(parents=True, exist_ok=True)
        self.path("guests", node + ".port").write_text(state + "\n")
        vm = self.path("guests", node)
        if vm.exists():
            (vm / "port-state").write_text(state + "\n")

    def guest_variable(self, node, name, value=None):
        """Of simulator-hook (VM_ACTIVE_MTU and the like), for the node's next
        boots; None takes it away."""
        self.path("guests").mkdir(parents=True, exist_ok=True)
        f = self.path("guests", node + ".env")
        lines = f.read_text().splitlines() if f.exists() else []
        lines = [x for x in lines if not x.startswith(f"export {name}=")]
        if value is not None:
            lines.append(f"export {name}='{value}'")
        f.write_text("".join(x + "\n" for x in lines))
