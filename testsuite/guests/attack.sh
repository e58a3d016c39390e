#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# attack.sh [files|system]
#
# What a hostile user of a guest would try, run as an ordinary user. Each line of the
# output is "refused NAME", or "SUCCEEDED NAME: OUTPUT", which is a hole; "works NAME"
# and "BROKEN NAME: OUTPUT" are the controls: what the same user must be able to do, or
# a refusal would mean nothing. Exit 1 if a line is in capitals.
#
# files: files and folders only, below SV_ROOT if that is set (a test without a VM).
# system: processes, systemd, the network, devices, munge, Slurm and guestinfo.
# Neither: both. Nothing is changed where all is refused.
# shellcheck disable=SC2016 # a try's own shell expands $1 (SV_ROOT) and $2
set -u

root=${SV_ROOT:-}
run=$root/run/slurm-vsphere
self=$$
holes=0
tries=0
out=$(mktemp) || exit 2
trap 'rm -f "$out"' EXIT

# try NAME COMMAND: a shell's, which must fail.
try() {
	tries=$((tries + 1))
	if timeout 20 sh -c "$2" attack "$root" "$run" >"$out" 2>&1 </dev/null; then
		printf 'SUCCEEDED %s: %s\n' "$1" "$(head -c 200 "$out" | tr -c '[:print:]' ' ')"
		holes=$((holes + 1))
	else
		printf 'refused %s\n' "$1"
	fi
}

# may NAME COMMAND: which must work.
may() {
	tries=$((tries + 1))
	if timeout 20 sh -c "$2" attack "$root" "$run" >"$out" 2>&1 </dev/null; then
		printf 'works %s\n' "$1"
	else
		printf 'BROKEN %s: %s\n' "$1" "$(head -c 200 "$out" | tr -c '[:print:]' ' ')"
		holes=$((holes + 1))
	fi
}

# ---- files ------------------------------------------------------------------------

# replace WORD FILE: what could be done to a file that decides what root does.
replace() {
	try "$1-write" "echo x >>'$2'"
	try "$1-replace" "echo x >'$2.attack' && mv -f '$2.attack' '$2'"
	try "$1-remove" "[ -e '$2' ] && rm -f '$2' && [ ! -e '$2' ]"
	try "$1-chmod" "chmod 666 '$2'"
}

# into WORD FOLDER: a file of one's own in a folder that root's programs read.
into() { try "$1-into" "[ -d '$2' ] && echo x >'$2/attack' && rm -f '$2/attack'"; }

files() {
	may ready-read 'grep -q ^ok "$2/ready"'
	try munge-key-read 'cat "$1/etc/munge/munge.key"'
	try munge-seed-read 'cat "$1/var/lib/munge/munged.seed"'
	try munge-log-read 'cat "$1/var/log/munge/munged.log"'
	try shadow-read 'cat "$1/etc/shadow"'
	try host-key-read 'cat "$1"/etc/ssh/ssh_host_*_key'
	try guestinfo-copy-read 'cat "$2/guestinfo/node"'
	try guestinfo-copy-list 'ls "$2/guestinfo"'
	try guestinfo-copy-swap 'mv "$2/guestinfo" "$2/guestinfo.old"'
	try run-folder-swap 'mv "$2" "$1/run/was" && mkdir "$2"'
	try spool-read 'cat "$1"/var/spool/slurmd/cred_state*'
	try others-job-scripts-read 'find "$1/var/spool/slurmd" -name slurm_script \
		! -user "$(id -u)" -readable | grep .'
	replace ready "$run/ready"
	replace place "$run/place"
	replace conf-server-copy "$run/guestinfo/conf-server"
	replace guest-script "$root/usr/sbin/slurm-vsphere-guest"
	replace port-program "$root/usr/sbin/slurm-vsphere-port"
	replace slurmd-unit "$root/usr/lib/systemd/system/slurm-vsphere-slurmd.service"
	replace munge-key "$root/etc/munge/munge.key"
	replace hostname "$root/etc/hostname"
	replace machine-id "$root/etc/machine-id"
	into run "$run"
	into etc "$root/etc"
	into site-settings "$root/etc/slurm-vsphere"
	into site-programs "$root/etc/slurm-vsphere/forked.d"
	into units "$root/etc/systemd/system"
	into run-units "$root/run/systemd/system"
	into networkd "$root/run/systemd/network"
	into networkmanager "$root/run/NetworkManager/system-connections"
	into spool "$root/var/spool/slurmd"
	into plugins "$root/usr/lib/x86_64-linux-gnu/slurm-wlm"
	into verbs-providers "$root/etc/libibverbs.d"
	try setuid-programs 'for f in slurm-vsphere-guest slurm-vsphere-port; do
		[ -z "$(find "$1/usr/sbin/$f" -perm /6000)" ] || exit 0; done; exit 1'
}

# ---- the system -------------------------------------------------------------------

pid_of() { pgrep -o -x "$1"; }

# process WORD PID
process() {
	try "$1-is-missing" "[ -z '$2' ]"
	try "$1-memory" "head -c 1 /proc/$2/mem"
	try "$1-environment" "cat /proc/$2/environ"
	try "$1-descriptors" "ls /proc/$2/fd"
	try "$1-root" "ls /proc/$2/root/"
	try "$1-signal" "kill -HUP $2"
}

processes() {
	may own-environment "cat /proc/$self/environ"
	process slurmd "$(pid_of slurmd)"
	process munged "$(pid_of munged)"
	process stepd "$(pid_of slurmstepd)"
	try guest-start 'SV_WAIT=0 SV_SLURMD=/bin/true slurm-vsphere-guest start'
	try guest-identity 'slurm-vsphere-guest identity'
	try guest-freeze 'touch "$2/forking" && slurm-vsphere-guest freeze'
	try port-reseed 'echo x | slurm-vsphere-port reseed /dev/urandom'
	try root-by-su 'su -s /bin/sh -c id root'
	try root-by-sudo 'sudo -n id'
	try host-name 'hostname attack'
	try host-name-kernel 'echo attack >/proc/sys/kernel/hostname'
	try boot-id-mount 'mount --bind /tmp /run/slurm-vsphere'
	try module 'modprobe dummy'
	try core-pattern 'echo "|/tmp/x" >/proc/sys/kernel/core_pattern'
}

systemd() {
	try unit-restart 'systemctl --no-ask-password restart slurm-vsphere-slurmd'
	try unit-reload 'systemctl --no-ask-password reload slurm-vsphere-slurmd'
	try unit-mask 'systemctl --no-ask-password mask slurm-vsphere-slurmd'
	try manager-environment 'systemctl --no-ask-password set-environment SV_SLURMD=/tmp/x'
	try run-as-root 'systemd-run --no-ask-password --wait id'
	try reboot 'systemctl --no-ask-password reboot'
	try hostnamed 'busctl --allow-interactive-authorization=no call org.freedesktop.hostname1 /org/freedesktop/hostname1 org.freedesktop.hostname1 SetHostname sb attack false'
	try networkd 'networkctl reload'
}

network_and_devices() {
	netdev=$(sed -n 's/^netdev //p' "$run/ready")
	rdma=$(sed -n 's/^device //p' "$run/ready")
	may verbs-open "ibv_devinfo -d '${rdma%%,*}'"
	try mtu "ip link set dev '${netdev%%,*}' mtu 1400"
	try link-down "ip link set dev '${netdev%%,*}' down"
	try address "ip address add 10.66.6.6/24 dev '${netdev%%,*}'"
	try mac "ip link set dev '${netdev%%,*}' address 02:00:00:00:00:66"
	try rdma-device "rdma dev set '${rdma%%,*}' name attack"
	try rdma-link "rdma link delete '${rdma%%,*}'"
	try port-file "echo 1 >/sys/class/net/'${netdev%%,*}'/flags"
	try pci-remove "echo 1 >/sys/class/net/'${netdev%%,*}'/device/remove"
	for device in /dev/vd? /dev/sd? /dev/mem /dev/vport*; do
		[ ! -e "$device" ] || try "device-${device##*/}" "head -c 1 '$device' || echo x >'$device'"
	done
}

slurm_and_guestinfo() {
	may munge-credential 'munge -n | unmunge >/dev/null'
	try munge-restart 'munged --force --socket=/run/munge/munge.socket.2'
	try munge-socket-swap 'mv /run/munge/munge.socket.2 /run/munge/was'
	try munge-as-root 'munge -n --restrict-uid=0 | unmunge'
	try node-down 'scontrol update nodename="$(hostname)" state=down reason=attack'
	try node-reboot 'scontrol reboot "$(hostname)"'
	try slurmd-reconfigure 'scontrol reconfigure'
	for tool in vmtoolsd vmware-rpctool; do
		set -- "$tool"
		[ "$tool" != vmtoolsd ] || set -- "$tool --cmd"
		for pair in 'conf-server 10.66.6.6:6817' 'node vm666' 'parent yes' 'state failed' 'mac 02:00:00:00:00:66'; do
			try "$tool-set-${pair%% *}" "$1 'info-set guestinfo.slurm.$pair'"
		done
		try "$tool-freeze" "$1 instantclone.freeze"
	done
}

case ${1:-all} in
files) files ;;
system) processes; systemd; network_and_devices; slurm_and_guestinfo ;;
all) files; processes; systemd; network_and_devices; slurm_and_guestinfo ;;
*) echo "usage: attack.sh [files|system]" >&2; exit 2 ;;
esac
echo "attack.sh: $tries tries, $holes wrong"
[ "$holes" = 0 ]
