# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# A batch script: ib_send_bw between two containers of Charliecloud, one in each VM of
# the job. The image is a tar of the guest's own root, made and unpacked by the job's
# user. It needs charliecloud-runtime (ch-run) in the guest, and no other privilege
# than user namespaces.
#
# Prints "image NODE SECONDS MB", "inside NODE DEVICE GID MEMLOCK UID" of each
# container, and perftest's table.
set -eu

cat >/tmp/container-image.sh <<'END'
set -eu
began=$(date +%s)
image=/tmp/image-$SLURM_JOB_ID
mkdir -p "$image"
# Files that the user may not read are left out, as is what no program here needs.
# The tar is not kept: a VM's disk has no space for both.
tar -C / --one-file-system --ignore-failed-read --warning=none -cf - \
	--exclude="usr/lib/python3*" --exclude="usr/bin/p*[0-9]" --exclude=usr/share \
	--exclude=usr/lib/modules --exclude=usr/lib/udev --exclude="*/libicu*" \
	--exclude=usr/lib/x86_64-linux-gnu/perl --exclude="*/libperl*" \
	--exclude=usr/lib/x86_64-linux-gnu/slurm-wlm --exclude=usr/lib/gcc \
	bin etc lib lib64 sbin usr | tar -C "$image" -xf -
mkdir -p "$image/dev" "$image/proc" "$image/sys" "$image/tmp" "$image/run" \
	"$image/home" "$image/mnt" "$image/root"
for file in resolv.conf hosts passwd group; do
	[ -e "$image/etc/$file" ] || : >"$image/etc/$file"
done
# Not the guest's: what runs below comes out of the image.
echo "of job $SLURM_JOB_ID" >"$image/etc/container"
echo "image $SLURMD_NODENAME $(($(date +%s) - began)) $(du -sm "$image" | cut -f 1)"
END

cat >/tmp/container-inside.sh <<'END'
# In the container: the environment is the job's, /run/slurm-vsphere is not there.
set -eu
[ -e /etc/container ] && [ ! -e /run/slurm-vsphere ]
ibv_devinfo -d "$SLURM_VSPHERE_DEVICE" | grep -q PORT_ACTIVE
if [ "$2" = look ]; then
	echo "inside $SLURMD_NODENAME $SLURM_VSPHERE_DEVICE $UCX_IB_GID_INDEX $(ulimit -l) $(id -u)"
	exit 0
fi
command="ib_send_bw -d $SLURM_VSPHERE_DEVICE -x $UCX_IB_GID_INDEX -F -s 65536 -n 200"
[ "$SLURM_PROCID" != 0 ] || exec $command
for try in $(seq 100); do
	$command "$1" >/tmp/container.out 2>&1 && break
	grep -q "Couldn't connect" /tmp/container.out || break
	sleep 0.3
done
cat /tmp/container.out
END
sbcast -f /tmp/container-image.sh /tmp/container-image.here
sbcast -f /tmp/container-inside.sh /tmp/container-inside.here
server=$(sed -n 's/^address //p' /run/slurm-vsphere/ready)

export USER="${USER:-$SLURM_JOB_USER}"     # ch-run asks for it
srun sh /tmp/container-image.here
for what in look run; do
	srun -l ch-run "/tmp/image-$SLURM_JOB_ID" -- \
		sh /tmp/container-inside.here "${server%/*}" $what
done
