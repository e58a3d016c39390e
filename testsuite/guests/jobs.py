# SPDX-License-Identifier: GPL-2.0-or-later
"""Batch scripts that use RDMA between two VMs, and the reading of what they print."""

import re

# perftest between two nodes, or two containers on them: the first task serves. A client
# that comes too early is refused at once, so it asks until the server listens. On a busy
# machine perftest may fail to measure the clock, says so, and prints 0: it runs again.
PERFTEST = r"""
cat >/tmp/perftest.sh <<'END'
device=${SLURM_VSPHERE_DEVICE%%,*} gid=$UCX_IB_GID_INDEX
if [ -z "$device" ]; then	# vmxnet3: what a test made on it is no part of `ready`
	device=rxe-$(sed -n 's/^netdev //p' /run/slurm-vsphere/ready)
	gid=$(grep -l :ffff: /sys/class/infiniband/"$device"/ports/1/gids/* | sed 's,.*/,,;q')
fi
command="$2 -d $device -x $gid -F $3"
if [ "$SLURM_PROCID" = 0 ]; then
	$command >/tmp/perftest.out 2>&1 || cat /tmp/perftest.out
	exit
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
server=${server%/*}
perftest() {	# PROGRAM OPTIONS
	local try said
	for try in 1 2 3 4 5; do
		said=$(srun -l sh /tmp/perftest.here "$server" "$@" 2>&1)
		case $said in *"Correlation coefficient"*) ;; *) break ;; esac
	done
	printf '%s\n' "$said"
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


def row_of(text, title):
    """The client's figures below the first table of this title."""
    row = ROW.search(text.partition(title)[2])
    assert row, f"perftest printed no figures of a {title}:\n{text}"
    return [float(x) for x in row.groups()]


def bandwidth(text):
    """ib_send_bw's average, in MB/s."""
    return row_of(text, "Send BW Test")[3]


def latency(text):
    """ib_send_lat's typical latency, in microseconds."""
    return row_of(text, "Send Latency Test")[4]
