/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of what `svf check` can find. A code is a promise to scripts: it
 * never changes its meaning. The includer says what a row becomes:
 *
 * FOUND(enum: VS_CHECK_*, code, severity, what its objects are, what is found:
 *	a phrase, why it matters: a sentence)
 *	The engine or a plugin finds it.
 * CHECK(enum, code, severity, objects, unit, facts that it needs, chain, judge:
 *	vs_judge_*, phrase, sentence)
 *	check_table.c has it judged, and says in its head how.
 * FLAG(enum, code, severity, objects, unit, fact, chain, phrase, sentence,
 *	what is SHOULD what should be FIX commands)
 *	The fact itself is bad. "{}" is the object's name.
 * AGAIN(enum, unit, facts, chain, judge)
 *	A second row of a CHECK, for other units.
 */

/* ---- hosts and their physical functions -------------------------------- */

CHECK(ESXI_OLD, "esxi-old", HARD, "host", HOST, MAX_HW, ESXI, esxi_old,
	"ESXi runs no VM of the template's, or the adapter's, hardware version",
	"vCenter refuses to power the VM on there.")
CHECK(ESXI_ODD, "esxi-odd", WARNING, "host", HOST, BUILD, ESXI | COUNTED,
	esxi_odd, "another ESXi build than most hosts have",
	"Drivers and defaults differ from build to build, and jobs over several hosts with them.")
FLAG(HOST_REBOOT, "host-reboot", WARNING, "host", HOST, NEED_OF_REBOOT, 0,
	"the host waits for a reboot", "What was set is not in force yet.",
	"a reboot is required" SHOULD "none is"
	FIX REBOOT(""))
FLAG(HOST_CLOCK, "host-clock", WARNING, "host", HOST, CLOCKS, 0,
	"the host has no time server",
	"Guests take their first time from the host, and munge refuses clocks that differ by minutes.",
	"no NTP or PTP server" SHOULD "the time servers of the site"
	FIX "govc host.date.change -host {} -server NTP-SERVER\n"
	"govc host.service -host {} enable ntpd\n"
	"govc host.service -host {} start ntpd")
CHECK(HOST_CORES, "host-cores", WARNING, "host", HOST, CORES, 0, cores,
	"too few cores for a VM with LatencySensitivity=high, beside those of ESXi",
	"Such a VM has its cores to itself; ESXi keeps some for its own work.")
CHECK(HOST_MEMORY, "host-memory", WARNING, "host", HOST, MEMORY, 0, memory,
	"too little memory for a VM of the configuration",
	"A VM with a VF has all its memory reserved: it can't be placed there.")
CHECK(HOST_CORES_VFS, "host-cores-vfs", WARNING, "host", HOST, CORES, 0,
	cores_vfs,
	"fewer cores than the VMs of its VFs need with LatencySensitivity=high, and nodes that find none elsewhere",
	"The last of the nodes never run at once with the others.")
CHECK(HOST_MEMORY_VFS, "host-memory-vfs", WARNING, "host", HOST, MEMORY, 0,
	memory_vfs,
	"less memory than the VMs of its VFs need, and nodes that find none elsewhere",
	"The last of the nodes never run at once with the others.")
CHECK(HOST_UNREAD, "host-unread", UNSURE, "host", HOST, 0, 0, unread,
	"what is checked of a host can't be read",
	"The account of Username= needs Read-only on it.")
CHECK(NUMA_UNKNOWN, "numa-unknown", WARNING, "host", HOST, 0, 0, numa,
	"NumaAffinity=pf is set, and the host doesn't tell the NUMA node of its PFs and devices",
	"The setting has no effect on this host: its VMs may run on any node.")
CHECK(POWER_POLICY, "power-policy", WARNING, "host", HOST, POWER, 0, power,
	"the power policy is not High Performance",
	"Cores that change their clock or sleep add microseconds to each message.")
CHECK(NETWORK_MISSING, "network-missing", WARNING, "host", ADAPTER, NETS, 0,
	network,
	"a port group that most hosts of the cluster have isn't on this one",
	"No VM of that adapter can be placed there.")
CHECK(UPLINK_MISSING, "uplink-missing", HARD, "host", ADAPTER, NETS | PFS, 0,
	uplink,
	"an adapter's switch has no physical function as uplink on the host",
	"No VF of it reaches the adapter's network.")
CHECK(LINK_DOWN, "link-down", HARD, "PF", PF, FACTS, 0, link,
	"the port of an Ethernet adapter has no link",
	"A VM with a VF of it would fail its device check.")
CHECK(MTU, "mtu", HARD, "PF", ADAPTER, FACTS, 0, mtu,
	"the switch's MTU on the host is smaller than the adapter's MTU=",
	"The guest can't set its MTU, or large messages are lost.")
AGAIN(MTU, PF, FACTS, 0, pf_mtu)
CHECK(MTU_ODD, "mtu-odd", WARNING, "host", SWITCH, FACTS, COUNTED, mtu_odd,
	"a switch has another MTU on the host than on most hosts",
	"Large messages between hosts are lost, and no adapter's MTU= says which of them is right.")
CHECK(STORE_MISSING, "datastore-missing", HARD, "host", HOST, STORES, 0, store,
	"the host doesn't mount the datastore of Datastore=",
	"No VM of ours can be placed there.")
CHECK(GPU_MODE, "gpu-mode", WARNING, "host", HOST, FACTS, 0, gpu,
	"a GPU is not in the mode for vGPUs, \"shared direct\"",
	"It gives no vGPU to the VMs of Type=vgpu adapters.")
CHECK(VF_INCAPABLE, "vf-incapable", HARD, "PF", INCAPABLE, FACTS | NETS | PFS,
	0, vf_incapable,
	"an uplink of an adapter's network has no SR-IOV capability",
	"SR-IOV is off in the card's firmware or the host's BIOS, or the card has none: no VFs can be made.")
CHECK(VF_OFF, "vf-off", HARD, "PF", PF, FACTS, VFS, vf_off,
	"SR-IOV is off on an uplink of an adapter's network", "It has no VFs.")
CHECK(VF_INACTIVE, "vf-inactive", HARD, "PF", PF, FACTS, VFS, vf_inactive,
	"SR-IOV is on and not active",
	"It has no VFs before the host was rebooted.")
CHECK(VF_COUNT, "vf-count", WARNING, "PF", PF, FACTS, 0, vf_count,
	"the firmware's NUM_OF_VFS is below the sum of max_vfs plus one",
	"The driver can't make all VFs that were asked for.")
CHECK(VF_FEWER, "vf-fewer", WARNING, "PF", PF, FACTS, VFS, vf_fewer,
	"fewer VFs than were asked for",
	"A reboot is due, or the driver failed to make them.")
CHECK(VF_LOST, "vf-lost", WARNING, "PF", PF, FACTS, VFS, vf_lost,
	"fewer VFs than it has had before",
	"Somebody lowered max_vfs, or a card was added or moved: it counts in PCI order.")
FOUND(VF_OVERCOMMITTED, "vf-overcommitted", WARNING, "PF",
	"more VFs in use or promised than there are",
	"VFs went while VMs had them; VMs that run are left alone.")
FOUND(PF_CHANGED, "pf-changed", HARD, "PF",
	"the physical function isn't what it was",
	"A card was added or moved: what the address stands for may be another port.")
CHECK(DRIVER_ODD, "driver-odd", WARNING, "PF", PF, FACTS, COUNTED, driver,
	"another driver version than most hosts have",
	"RDMA between different drivers is tested by nobody.")
CHECK(FIRMWARE_ODD, "firmware-odd", WARNING, "PF", PF, FACTS, COUNTED, firmware,
	"another firmware than most cards of its kind have",
	"Limits and congestion control differ from firmware to firmware.")
CHECK(DEVICE_OFF, "device-off", WARNING, "device", DEVICE, FACTS, 0, device,
	"passthrough isn't enabled for a device that an adapter hands out",
	"It goes to no VM.")
CHECK(DEVICE_REBOOT, "device-reboot", WARNING, "device", DEVICE, FACTS, 0,
	device, "passthrough is enabled for a device, and not active",
	"It goes to no VM before the host was rebooted.")
CHECK(DEVICE_LEFT, "device-left-out", WARNING, "host", HOST, 0, 0, device_left,
	"it has more PFs and kinds of devices than are counted",
	"Those left out go to no VM.")

/* ---- templates --------------------------------------------------------- */

FOUND(TEMPLATE_MISSING, "template-missing", HARD, "template",
	"the template, or its host, isn't there, isn't readable, or it is no template",
	"No VM can be cloned from it.")
CHECK(TEMPLATE_HW, "template-hardware", HARD, "template", TEMPLATE, HW, 0, hw,
	"its hardware version is too old for the adapter or a setting",
	"The card can't be added, or the VM is not powered on.")
CHECK(TEMPLATE_FIRMWARE, "template-firmware", HARD, "template", TEMPLATE, 0, 0,
	efi,
	"it boots by BIOS, and its VMs need EFI: for a device with large BARs (MMIO=), or SecureBoot=yes",
	"Only EFI places BARs above 4 GB and checks signatures: the VM is not powered on.")
CHECK(TEMPLATE_GUEST, "template-guest", WARNING, "template", TEMPLATE, 0, 0,
	guest, "its guest operating system is no 64-bit Linux",
	"ESXi chooses defaults by it, and RDMA cards want one.")
CHECK(TEMPLATE_NIC, "template-card", HARD, "template", TEMPLATE, 0, CARDS, card,
	"it has an RDMA card or a device of a host in it",
	"Each clone would have it beside its own.")
FLAG(TEMPLATE_HOT_ADD, "template-hot-add", WARNING, "template", TEMPLATE,
	HOT_ADD, 0, "CPU or memory hot-add is on",
	"It hides the host's NUMA nodes from the guest; VMs with VFs or devices have it off, whatever the template says.",
	"on" SHOULD "off"
	FIX AS_VM("govc vm.change -vm {} -cpu-hot-add-enabled=false -memory-hot-add-enabled=false"))
FLAG(TEMPLATE_SNAPSHOT, "template-snapshot", WARNING, "template", TEMPLATE,
	SNAPSHOT, 0, "it has a snapshot",
	"A clone copies the chain of disks: it takes longer.",
	"it has one" SHOULD "none"
	FIX AS_VM("govc snapshot.remove -vm {} '*'"))
FLAG(TEMPLATE_TOOLS, "template-tools", WARNING, "template", TEMPLATE, TOOLS, 0,
	"no VMware Tools are known in it",
	"The guest learns its node's name by them, and shuts down by them.",
	"not installed" SHOULD "open-vm-tools in the guest"
	FIX AS_VM("govc vm.power -on {}	# install open-vm-tools in the guest, power it off"))

/* ---- what hosts share -------------------------------------------------- */

FLAG(STORE_AWAY, "datastore-away", HARD, "datastore", STORE, ACCESS, SPACE,
	"the datastore is not accessible",
	"VMs can neither be made nor powered on.",
	"not accessible" SHOULD "accessible"
	FIX "govc datastore.info {}")
CHECK(STORE_CAPACITY, "datastore-room", WARNING, "datastore", STORE, FREE,
	SPACE, store_capacity,
	"no room for the disks and swap files of all nodes",
	"The last of them can't be made: jobs wait for room.")
CHECK(POOL_CAPACITY, "pool-room", HARD, "pool", POOL, 0, 0, pool,
	"the resource pool's limit is below what a single VM reserves",
	"No such VM is ever powered on there.")
FOUND(POOL_NODES, "pool-nodes", WARNING, "pool",
	"the resource pool's limit or fixed reservation is below what all its nodes reserve",
	"The last of them are not powered on: jobs wait.")
FOUND(DRS, "drs", HARD, "cluster",
	"DRS chooses hosts of VMs with VFs by itself",
	"It knows nothing of VFs that are promised, and may put a VM elsewhere: manual (off deletes the cluster's resource pools).")
FOUND(HA, "ha", HARD, "cluster", "HA restarts VMs with VFs behind Slurm's back",
	"The node would be two for a while, and its VF is another job's.")
FOUND(VM_OVERRIDE, "vm-override", HARD, "node",
	"DRS or HA is automated for a node's VM by an override",
	"What the cluster is set to doesn't hold for it.")
FOUND(DPM, "dpm", WARNING, "cluster", "DPM switches idle hosts off",
	"Hosts in standby get no VM, and DPM wakes none for VMs that are placed on a host.")
FOUND(ADAPTER_NETWORK, "adapter-network", HARD, "adapter",
	"no host has the adapter's Network=", "No VM of it can be placed.")
FOUND(ADAPTER_UPLINK, "adapter-uplink", HARD, "adapter",
	"on no host has the adapter's network an uplink with VFs, or no host offers its device",
	"No VM of it can be placed.")
FOUND(ADAPTER_NSX, "adapter-nsx", HARD, "adapter",
	"the adapter's Network= is NSX's, and no card of its type can be on it",
	"Clones would fail, or their cards reach nobody.")
FOUND(NETWORK_POLICY, "network-policy", WARNING, "adapter",
	"the security policy of the adapter's port group accepts MAC address changes, forged transmits or promiscuous mode",
	"Root in a VM can take another node's MAC, or read what other VMs send.")
FOUND(MAC_SHARED, "mac-shared", WARNING, "node",
	"another VM has a MAC of the node's VM",
	"On one network, switches send to the one what is meant for the other.")
CHECK(APART, "networks-apart", WARNING, "adapter", TEMPLATE, 0, CARDS, own_card,
	"an RDMA adapter's Network= is the template's own card's, or carries the hosts' management",
	"Management and RDMA disturb each other, and a guest has two cards in one network.")
AGAIN(APART, SITE_PROFILE, 0, 0, management)
FOUND(RULE_A, "rule-a", HARD, "adapter",
	"more nodes than VFs, without OversubscribeNames=yes",
	"Slurm would plan jobs on nodes that can't all be there.")
FOUND(FOLDER, "folder-shared", HARD, "folder",
	"the folder holds VMs of another cluster",
	"Nothing is touched there before it is clear whose they are.")
FOUND(OTHER_CLUSTER, "pf-shared", WARNING, "Slurm cluster",
	"another Slurm cluster uses VFs of the same physical functions",
	"Each sees what the other's VMs use, not what it has promised: VMs may find a PF full.")
FOUND(GUEST_WRITES, "guest-writes", WARNING, "folder",
	"VMs lack guest_rpc.rpci.auth.cmd.info-set=TRUE",
	"Each user of such a guest may write guestinfo, which root in the guest reads at its next boot.")
FOUND(CLONES, "clones-per-hour", WARNING, "limit",
	"very many VMs were made within an hour",
	"Each leaves tasks and events in vCenter's database; at MaxClonesPerHour= jobs wait.")
FOUND(LICENCE, "licence", HARD, "cluster",
	"vCenter refused to make or start a VM because of a licence",
	"SR-IOV and distributed switches need one that includes them; no other host of the cluster is tried for five minutes.")
FOUND(VCENTER, "vcenter-away", HARD, "vCenter",
	"vCenter can't be reached, or its inventory isn't read",
	"Nothing else can be told.")

/* ---- the account ------------------------------------------------------- */

FOUND(RIGHTS_MISSING, "rights-missing", HARD, "object",
	"the account lacks privileges",
	"What needs them would fail in the middle of a job's start.")
FOUND(RIGHTS_VMOTION, "rights-vmotion", WARNING, "object",
	"the account lacks a privilege that vMotion needs, and an adapter's type allows vMotion",
	"VMs stay on a host that is to be empty until their jobs end; MaxVmotionsPerHost=0 if that is wanted.")
FOUND(RIGHTS_SURPLUS, "rights-excess", WARNING, "account",
	"the account has privileges at the root, on the datacenter, the folder or a pool that it doesn't need there",
	"vCenter can't keep it from what is not ours.")
FOUND(RIGHTS_UNKNOWN, "rights-unknown", UNSURE, "account",
	"vCenter doesn't say what the account may do",
	"What it may not will fail when it is tried.")

/* ---- slurm.conf: src/plugins/slurm/conf_check.c ------------------------ */

FOUND(SLURM_SUSPEND_PROGRAM, "slurm-suspend-program", HARD, "slurm.conf",
	"SuspendProgram is missing", "Without it Slurm never powers a VM down.")
FOUND(SLURM_RESUME_PROGRAM, "slurm-resume-program", HARD, "slurm.conf",
	"ResumeProgram is missing", "Without it Slurm never powers a VM up.")
FOUND(SLURM_SUSPEND_TIME, "slurm-suspend-time", HARD, "slurm.conf",
	"SuspendTime is missing or -1",
	"Power saving is off: no VM is ever powered up or down.")
FOUND(SLURM_PREP, "slurm-prep-plugins", HARD, "slurm.conf",
	"prep/vsphere is not in PrEpPlugins",
	"Jobs start before their VMs are there.")
FOUND(SLURM_TOPOLOGY, "slurm-topology", HARD, "slurm.conf",
	"TopologyPlugin ties node names to switches",
	"VMs move between hosts; vsphere.conf's HostName= names switches.")
FOUND(SLURM_RESUME_RATE, "slurm-resume-rate", WARNING, "slurm.conf",
	"ResumeRate throttles VMs",
	"vsphere.conf's MaxProvisioning does it better.")
FOUND(SLURM_SUSPEND_RATE, "slurm-suspend-rate", WARNING, "slurm.conf",
	"SuspendRate throttles VMs",
	"VFs of idle VMs stay taken while jobs wait for them.")
FOUND(SLURM_RETURN, "slurm-return-to-service", WARNING, "slurm.conf",
	"ReturnToService is not 2",
	"A VM that comes back by itself stays DOWN.")
FOUND(SLURM_PROLOG, "slurm-prolog-flags", WARNING, "slurm.conf",
	"PrologFlags=Alloc is missing",
	"A job may begin before all its nodes' RDMA devices were checked.")
FOUND(SLURM_HOLD, "slurm-hold-on-prolog", WARNING, "slurm.conf",
	"SchedulerParameters=nohold_on_prolog_fail is missing",
	"A job whose node fails its device check is held, not requeued.")
FOUND(SLURM_CLOUD, "slurm-private-data", WARNING, "slurm.conf",
	"PrivateData=cloud is missing", "sinfo hides powered-down VMs.")
FOUND(SLURM_RESUME_TIMEOUT, "slurm-resume-timeout", WARNING, "slurm.conf",
	"ResumeTimeout is shorter than vsphere.conf's BootTimeout",
	"Slurm sets a node DOWN while its VM still may boot.")
FOUND(SLURM_SUSPEND_TIMEOUT, "slurm-suspend-timeout", WARNING, "slurm.conf",
	"SuspendTimeout is shorter than vsphere.conf's ShutdownGrace",
	"Slurm gives a node to a job while its guest still shuts down: the job waits.")
FOUND(SLURM_EXCLUDED, "slurm-suspend-exc", WARNING, "slurm.conf",
	"nodes of ours are kept from being powered down",
	"Their VFs are never another job's, whatever Retention= says.")
FOUND(SLURM_OTHERS, "slurm-suspend-others", WARNING, "slurm.conf",
	"power saving takes nodes that are no VMs",
	"SuspendProgram does nothing: Slurm believes them off, and sets them DOWN at their next job.")
FOUND(SLURM_VF_TRES, "slurm-vf-tres", WARNING, "slurm.conf",
	"Licenses= has vf, and AccountingStorageTRES= hasn't license/vf",
	"Jobs' VFs are counted, but neither kept in the database nor held to limits.")
FOUND(SLURM_VF_LICENSE, "slurm-vf-license", WARNING, "slurm.conf",
	"AccountingStorageTRES= has license/vf, and Licenses= has no vf",
	"No job's VFs are counted: license/vf is always 0.")

#undef FOUND
#undef CHECK
#undef FLAG
#undef AGAIN
