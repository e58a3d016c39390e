# SPDX-License-Identifier: GPL-2.0-or-later
"""A cluster with accounting: a MariaDB and a slurmdbd of its own, in the
cluster's directory; the database listens on a socket there alone, slurmdbd on
loopback. What accounts, associations and QOS there are is said by lines of
sacctmgr, before slurmctld starts."""

import os
import pathlib
import shutil
import socket
import subprocess

from cluster import Cluster
from daemons import INSIDE, ClusterError, plugin_dirs, slurm_binary, wait_for

SMALL = ["--innodb-log-file-size=4M", "--innodb-buffer-pool-size=16M",
         "--innodb-flush-log-at-trx-commit=0", "--innodb-doublewrite=0",
         "--innodb-flush-method=nosync", "--aria-log-file-size=8M",
         "--performance-schema=0", "--skip-log-bin", "--skip-name-resolve",
         "--skip-grant-tables", "--skip-networking"]


def binary(name):
    return shutil.which(name, path=os.environ.get("PATH", "") +
                        ":/usr/local/sbin:/usr/sbin:/sbin")


def tables():
    """The SQL that makes the system's tables, of the MariaDB that is run."""
    prefix = pathlib.Path(binary("mariadbd") or "/usr/sbin/-").parents[1]
    return [f for d in ("mysql", "mariadb") for f in prefix.joinpath(
        "share", d).glob("m*_system_tables.sql")]


def missing():
    """What this machine lacks of it, "" if nothing."""
    lacks = [b for b in ("slurmdbd", "sacctmgr", "mariadbd") if not binary(b)]
    if not tables():
        lacks.append("MariaDB's system tables")
    if not [d for d in plugin_dirs(None) if pathlib.Path(
            d, "accounting_storage_mysql.so").exists()]:
        lacks.append("accounting_storage_mysql.so")
    return ", ".join(lacks)


class AccountedCluster(Cluster):
    """accounts: lines of sacctmgr, without its options."""

    def __init__(self, accounts=(), **kw):
        super().__init__(**kw)
        self.accounts = accounts

    @property
    def env(self):
        # what clients of MariaDB take instead of the system's socket
        return {**super().env, "MYSQL_UNIX_PORT": str(self.database_socket())}

    def database_socket(self):
        return self.path("run", "database")

    def slurmdbd_conf(self):
        p = self.path
        words = self.communication_conf(guest=True).strip()
        return "\n".join([
            "AuthType=auth/munge",
            f"AuthInfo=socket={p('run', 'munge.socket')}",
            f"DbdHost={socket.gethostname()}", "DbdAddr=127.0.0.1",
            f"DbdPort={self.ctld_port + 3}", f"SlurmUser={self.user}",
            f"PidFile={p('run', 'slurmdbd.pid')}", "DebugLevel=info",
            f"LogFile={p('log', 'slurmdbd.log')}",
            "StorageType=accounting_storage/mysql", "StorageHost=localhost",
            "StorageUser=nobody", "StorageLoc=accounting", words]) + "\n"

    def database_argv(self):
        return [binary("mariadbd"), "--no-defaults",
                f"--datadir={self.path('database')}", f"--user={self.user}",
                *SMALL]

    def bootstrap(self, sql):
        subprocess.run([*self.database_argv(), "--bootstrap"], check=True,
                       timeout=60, text=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, input=sql)

    def start_database(self):
        data = self.path("database")
        if not data.exists():
            data.joinpath("mysql").mkdir(parents=True)
            # slurmdbd would make it, too; but a connection that has failed, for
            # want of it, gets no answer any more with libmariadb 3.4.10
            # (MariaDB 11.8): "maximum allowed number of columns (=0)".
            self.bootstrap("use mysql;\n" + tables()[0].read_text() +
                           "\ncreate database accounting;\n")
        d = self._start("mariadbd", [
            *self.database_argv(), f"--socket={self.database_socket()}",
            f"--pid-file={self.path('run', 'mariadbd.pid')}"])

        def up():
            if not d.alive():
                raise ClusterError("MariaDB did not start: " + d.tail())
            return self.database_socket().exists()
        wait_for("MariaDB listens", 60, up)

    def start_slurmdbd(self):
        conf = self.path("etc", "slurmdbd.conf")
        conf.touch(mode=0o600)
        conf.write_text(self.slurmdbd_conf())
        argv = [slurm_binary("slurmdbd"), "-D"]
        if self.isolation:
            argv = [*self.isolation, *INSIDE, "-",
                    f"{socket.gethostname()}:127.0.0.1", "--", *argv]
        d = self._start("slurmdbd", argv)

        def up():
            if not d.alive():
                raise ClusterError("slurmdbd did not start: " + d.tail())
            with socket.create_connection(("127.0.0.1", self.ctld_port + 3)):
                return True
        wait_for("slurmdbd answers", 60, up)

    def change_database(self, sql):
        """Stops the daemons and runs the SQL in MariaDB's bootstrap mode, because
        the test machines have no MariaDB client."""
        for name in ("slurmdbd", "mariadbd"):
            self.daemons.pop(name).end(grace=20)
        self.bootstrap(f"use accounting;\n{sql}\n")
        self.start_database()
        self.start_slurmdbd()

    def sacct(self, job, *fields):
        """Of the whole job: a dict of these fields, {} if it isn't there."""
        out = self.must("sacct", "-X", "-P", "-n", "-j", str(job), "-o",
                        ",".join(fields)).splitlines()
        return dict(zip(fields, out[-1].split("|"))) if out else {}

    def sacctmgr(self, *lines):
        for line in lines:
            self.must("sacctmgr", "-i", "-Q", *line.split())

    def start_slurmctld(self, *options, wait=True):
        if "slurmdbd" not in self.daemons:
            self.start_database()
            self.start_slurmdbd()
            self.sacctmgr(*self.accounts)
        return super().start_slurmctld(*options, wait=wait)

    def slurm_conf(self):
        self.slurm.setdefault("AccountingStorageType",
                              "accounting_storage/slurmdbd")
        self.slurm.setdefault("AccountingStorageHost", "127.0.0.1")
        self.slurm.setdefault("AccountingStoragePort", self.ctld_port + 3)
        self.slurm.setdefault("AccountingStoragePass",
                              self.path("run", "munge.socket"))
        return super().slurm_conf()

    def stop(self):
        super().stop()      # which ends what carries our mark, too
        for name in ("slurmdbd", "mariadbd"):
            d = self.daemons.pop(name, None)
            if d:
                d.end(grace=5)
