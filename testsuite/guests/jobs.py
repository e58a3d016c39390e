# SPDX-License-Identifier: GPL-2.0-or-later
"""Batch scripts that use RDMA between two VMs, and the reading of what they print."""

import re

# perftest between the job's two nodes: the first one serves. A client that comes too
# early is refused at once, so it asks until the server listens.
PERFTEST = r"""
cat >/tmp/perftest.sh <<'END'
gid=$(sed -n 's/^gid-index //p' /run/slurm-vsphere/ready)
device=$(sed -n 's/^device //p' /run/slurm-vsphere/ready)
own=$(sed -n 's/^address //p' /run/slurm-vsphere/ready)
command="$2 -d $device -x $gid -F $3"
if [ "$SLURM_PROCID" = 0 ]; then
	exec $command
fi
for try in $(seq 100); do
	$command "$1" >/tmp/perftest.out 2>&1 && break
	grep -q "Couldn't connect" /tmp/perftest.out || break
	sleep 0.3
done
cat /tmp/perftest.out
END
sbcast -f /tmp/perftest.sh /tmp/perftest.here
server=$(sed -n 's/^address //p' /run/slurm-vsphere/ready)
perftest() {	# PROGRAM OPTIONS
	srun -l sh /tmp/perftest.here "${server%/*}" "$@"
}
"""
SEES = r"""
srun -l sh -c 'echo "sees node=$SLURMD_NODENAME name=$(hostname) kernel=$(uname -r)" \
	"host=$SLURM_VSPHERE_HOST pf=$SLURM_VSPHERE_PF memlock=$(ulimit -l) user=$(id -un)" \
	"mtu=$(cat /sys/class/net/$(sed -n "s/^netdev //p" /run/slurm-vsphere/ready)/mtu)"'
"""
ROW = re.compile(r"^1:\s+(\d+)\s+(\d+)\s+([\d.]+)\s+([\d.]+)\s+([\d.]+)", re.M)


def seen(text):
    """{node: {word: value}} of SEES."""
    res = {}
    for line in re.findall(r"^\d+: sees (.*)", text, re.M):
        row = dict(word.split("=", 1) for word in line.split())
        res[row["node"]] = row
    return res


def bandwidth(text):
    """MB/s of ib_send_bw's client: (bytes, messages, peak, average)."""
    row = ROW.search(text)
    assert row, f"ib_send_bw printed no figure:\n{text}"
    return float(row[4])


def latency(text):
    """The typical latency of ib_send_lat's client, in microseconds."""
    row = ROW.search(text)
    assert row, f"ib_send_lat printed no figure:\n{text}"
    return float(row[5])
