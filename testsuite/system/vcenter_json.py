# SPDX-License-Identifier: GPL-2.0-or-later
"""A vCenter client of the tests' own, over VI JSON: what vCenter says of a VM,
and specs that we would never send."""

import json
import ssl
import time
import urllib.error
import urllib.request

from daemons import PASSWORD, USERNAME

HEADER = "vmware-api-session-id"


class Fault(Exception):
    """.name is its _typeName, the text says the rest."""

    def __init__(self, name, text):
        super().__init__(f"{name}: {text}")
        self.name = name


def fault_of(e):
    """Type and text of a fault inside data, which may be in a wrapper."""
    text = e.get("faultstring")
    if e["_typeName"] == "LocalizedMethodFault":
        e, text = e["fault"], e.get("localizedMessage")
    return e["_typeName"], (text or "") + json.dumps(e)


class VCenter:
    def __init__(self, c):
        self.url = f"{c.sim_control}/sdk/vim25/8.0.1.0"
        self.ctx = ssl.create_default_context(cafile=str(c.sim_ca))
        self.token = None
        self.call(("SessionManager", "SessionManager"), "Login",
                  {"userName": USERNAME, "password": PASSWORD})

    def _ask(self, path, body=None, method="GET"):
        req = urllib.request.Request(
            f"{self.url}/{path}", method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Content-Type": "application/json",
                     **({HEADER: self.token} if self.token else {})})
        try:
            with urllib.request.urlopen(req, context=self.ctx,
                                        timeout=20) as r:
                self.token = r.headers.get(HEADER) or self.token
                text = r.read()
        except urllib.error.HTTPError as e:
            f = json.loads(e.read())
            raise Fault(f["_typeName"], json.dumps(f)) from e
        return json.loads(text) if text.strip() else None

    def call(self, of, method, body=None):
        return self._ask(f"{of[0]}/{of[1]}/{method}", body or {}, "POST")

    def get(self, of, prop):
        return self._ask(f"{of[0]}/{of[1]}/{prop}")

    def find(self, path):
        """The object at an inventory path, as (type, id)."""
        r = self.call(("SearchIndex", "SearchIndex"), "FindByInventoryPath",
                      {"inventoryPath": path})
        return r["type"], r["value"]

    def task(self, of, method, body=None):
        """Its result; or Fault, of the call or of its task."""
        ref = self.call(of, method, body)
        for _ in range(600):
            info = self.get((ref["type"], ref["value"]), "info")
            if info["state"] == "success":
                return info.get("result")
            if info["state"] == "error":
                raise Fault(*fault_of(info["error"]))
            time.sleep(0.1)
        raise Fault("timeout", f"{method} has not ended in 60 s")

    def reconfigure(self, vm, **spec):
        return self.task(vm, "ReconfigVM_Task", {"spec": {
            "_typeName": "VirtualMachineConfigSpec", **spec}})
