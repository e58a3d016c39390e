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
	"ESXi does not support the hardware version of the template or of the adapter",
	"vCenter refuses to power the VM on there.")
CHECK(ESXI_ODD, "esxi-odd", WARNING, "host", HOST, BUILD, ESXI | COUNTED,
	esxi_odd,
	"the host has another ESXi build than most hosts",
	"Drivers and defaults differ between builds, which affects jobs on several hosts.")
FLAG(HOST_REBOOT, "host-reboot", WARNING, "host", HOST, NEED_OF_REBOOT, 0,
	"the host requires a reboot",
	"The settings take effect only after the reboot.",
	"a reboot is required" SHOULD "none is"
	FIX REBOOT(""))
FLAG(HOST_CLOCK, "host-clock", WARNING, "host", HOST, CLOCKS, 0,
	"the host has no time server",
	"Guests take their first time from the host, and munge rejects clocks that differ by minutes.",
	"no NTP or PTP server" SHOULD "the time servers of the site"
	FIX "govc host.date.change -host {} -server NTP-SERVER\n"
	"govc host.service -host {} enable ntpd\n"
	"govc host.service -host {} start ntpd")
CHECK(HOST_CORES, "host-cores", WARNING, "host", HOST, CORES, 0, cores,
	"the host has too few cores for a VM with LatencySensitivity=high beside ESXi's own",
	"Such a VM needs its cores exclusively, and ESXi reserves some for itself.")
CHECK(HOST_MEMORY, "host-memory", WARNING, "host", HOST, MEMORY, 0, memory,
	"the host has too little memory for a VM of the configuration",
	"All memory of a VM with a VF is reserved, so that no such VM fits on the host.")
CHECK(HOST_CORES_VFS, "host-cores-vfs", WARNING, "host", HOST, CORES, 0,
	cores_vfs,
	"the host has fewer cores than the VMs of all its VFs need with LatencySensitivity=high",
	"Other hosts lack the cores too, so that not all nodes can run at the same time.")
CHECK(HOST_MEMORY_VFS, "host-memory-vfs", WARNING, "host", HOST, MEMORY, 0,
	memory_vfs,
	"the host has less memory than the VMs of all its VFs need",
	"Other hosts lack the memory too, so that not all nodes can run at the same time.")
CHECK(HOST_UNREAD, "host-unread", UNSURE, "host", HOST, 0, 0, unread,
	"vCenter does not show the properties that are checked",
	"The account of VCenterUser= needs Read-only on the host.")
CHECK(NUMA_UNKNOWN, "numa-unknown", WARNING, "host", HOST, 0, 0, numa,
	"NumaAffinity=pf is set, but vCenter does not show the NUMA node of the host's PFs and devices",
	"NumaAffinity= has no effect on this host, and its VMs may run on any NUMA node.")
CHECK(POWER_POLICY, "power-policy", WARNING, "host", HOST, POWER, 0, power,
	"the power policy is not High Performance",
	"Cores that change their clock or sleep add microseconds to each message.")
CHECK(NETWORK_MISSING, "network-missing", WARNING, "host", ADAPTER, NETS, 0,
	network,
	"the host lacks a port group that most hosts of the cluster have",
	"No VM of that adapter can be placed on the host.")
CHECK(UPLINK_MISSING, "uplink-missing", HARD, "host", ADAPTER, NETS | PFS, 0,
	uplink,
	"no physical function of the host is an uplink of the adapter's switch",
	"No VF of the host reaches the adapter's network.")
CHECK(LINK_DOWN, "link-down", HARD, "PF", PF, FACTS, 0, link,
	"the port of an Ethernet adapter has no link",
	"The device check fails in each VM with a VF of this PF.")
CHECK(MTU, "mtu", HARD, "PF", ADAPTER, FACTS, 0, mtu,
	"the MTU of the switch on the host is smaller than MTU= of the adapter",
	"The guest cannot set its MTU, or large messages are lost.")
AGAIN(MTU, PF, FACTS, 0, pf_mtu)
CHECK(MTU_ODD, "mtu-odd", WARNING, "host", SWITCH, FACTS, COUNTED, mtu_odd,
	"a switch has another MTU on this host than on most hosts",
	"Large messages between hosts are lost. No adapter's MTU= tells which value is right.")
CHECK(STORE_MISSING, "datastore-missing", HARD, "host", HOST, STORES, 0, store,
	"the host mounts no datastore of Datastore=",
	"No VM can be placed on the host.")
CHECK(GPU_MODE, "gpu-mode", WARNING, "host", HOST, FACTS, 0, gpu,
	"a GPU is not in the mode \"shared direct\", which vGPUs need",
	"VMs of adapters with Type=vgpu get no vGPU from this GPU.")
CHECK(VF_INCAPABLE, "vf-incapable", HARD, "PF", INCAPABLE, FACTS | NETS | PFS,
	0, vf_incapable,
	"an uplink of the adapter's network has no SR-IOV capability",
	"SR-IOV is disabled in the NIC's firmware or in the BIOS, or the NIC does not support it.")
CHECK(VF_OFF, "vf-off", HARD, "PF", PF, FACTS, VFS, vf_off,
	"SR-IOV is disabled on an uplink of the adapter's network",
	"The PF has no VFs.")
CHECK(VF_INACTIVE, "vf-inactive", HARD, "PF", PF, FACTS, VFS, vf_inactive,
	"SR-IOV is enabled but not active",
	"The PF has no VFs until the host reboots.")
CHECK(VF_COUNT, "vf-count", WARNING, "PF", PF, FACTS, 0, vf_count,
	"NUM_OF_VFS in the firmware is lower than the sum of max_vfs plus one",
	"The driver cannot create all VFs.")
CHECK(VF_FEWER, "vf-fewer", WARNING, "PF", PF, FACTS, VFS, vf_fewer,
	"the PF has fewer VFs than are configured",
	"The host needs a reboot, or the driver failed to create the VFs.")
CHECK(VF_LOST, "vf-lost", WARNING, "PF", PF, FACTS, VFS, vf_lost,
	"the PF has fewer VFs than before",
	"Either max_vfs was lowered, or a NIC was added or moved. max_vfs counts NICs in PCI order.")
FOUND(VF_OVERCOMMITTED, "vf-overcommitted", WARNING, "PF",
	"more VFs are in use or reserved than the PF has",
	"The PF lost VFs that VMs use. Running VMs are not affected.")
FOUND(PF_CHANGED, "pf-changed", HARD, "PF",
	"the PF is another port than before",
	"A NIC was added or moved, so that the address may belong to another port.")
CHECK(DRIVER_ODD, "driver-odd", WARNING, "PF", PF, FACTS, COUNTED, driver,
	"the driver has another version than on most hosts",
	"RDMA between different driver versions is untested.")
CHECK(FIRMWARE_ODD, "firmware-odd", WARNING, "PF", PF, FACTS, COUNTED, firmware,
	"the NIC has another firmware than most NICs of its model",
	"Limits and congestion control differ between firmware versions.")
CHECK(DEVICE_OFF, "device-off", WARNING, "device", DEVICE, FACTS, 0, device,
	"passthrough is disabled for a device of an adapter",
	"No VM gets this device.")
CHECK(DEVICE_REBOOT, "device-reboot", WARNING, "device", DEVICE, FACTS, 0,
	device,
	"passthrough is enabled but not active for a device",
	"No VM gets this device until the host reboots.")
CHECK(DEVICE_LEFT, "device-left-out", WARNING, "host", HOST, 0, 0, device_left,
	"the host has more PFs and devices than slurm-vsphere counts",
	"No VM gets the devices that are not counted.")

/* ---- templates --------------------------------------------------------- */

FOUND(TEMPLATE_MISSING, "template-missing", HARD, "template",
	"the template is missing or not readable, its host is missing, or the VM is not a template",
	"No VM can be cloned from it.")
CHECK(TEMPLATE_HW, "template-hardware", HARD, "template", TEMPLATE, HW, 0, hw,
	"the template's hardware version is too old for the adapter or for a setting",
	"The device cannot be added, or the VM does not power on.")
CHECK(TEMPLATE_FIRMWARE, "template-firmware", HARD, "template", TEMPLATE, 0, 0,
	efi,
	"the template boots by BIOS, but MMIOSizeGB= or SecureBoot=yes needs EFI",
	"Only EFI places BARs above 4 GB and verifies signatures. The VMs do not power on.")
CHECK(TEMPLATE_GUEST, "template-guest", WARNING, "template", TEMPLATE, 0, 0,
	guest,
	"the template's guest operating system is not a 64-bit Linux",
	"ESXi selects defaults by it, and RDMA devices require such a guest.")
CHECK(TEMPLATE_NIC, "template-nic", HARD, "template", TEMPLATE, 0, NICS, nic,
	"the template has an RDMA NIC or a device of a host",
	"Each clone would have this device beside its own.")
FLAG(TEMPLATE_HOT_ADD, "template-hot-add", WARNING, "template", TEMPLATE,
	HOT_ADD, 0,
	"CPU or memory hot-add is enabled",
	"Hot-add hides NUMA nodes from the guest. VMs with VFs or devices have it disabled in any case.",
	"on" SHOULD "off"
	FIX AS_VM("govc vm.change -vm {} -cpu-hot-add-enabled=false -memory-hot-add-enabled=false"))
FLAG(TEMPLATE_SNAPSHOT, "template-snapshot", WARNING, "template", TEMPLATE,
	SNAPSHOT, 0,
	"the template has a snapshot",
	"Clones take longer because each one copies the chain of disks.",
	"it has one" SHOULD "none"
	FIX AS_VM("govc snapshot.remove -vm {} '*'"))
FLAG(TEMPLATE_TOOLS, "template-tools", WARNING, "template", TEMPLATE, TOOLS, 0,
	"the template has no VMware Tools",
	"The guest needs VMware Tools to read its node name and to shut down.",
	"not installed" SHOULD "open-vm-tools in the guest"
	FIX AS_VM("govc vm.power -on {}	# install open-vm-tools in the guest, power it off"))

/* ---- what hosts share -------------------------------------------------- */

FLAG(STORE_AWAY, "datastore-away", HARD, "datastore", STORE, ACCESS, SPACE,
	"the datastore is not accessible",
	"VMs can be neither created nor powered on.",
	"not accessible" SHOULD "accessible"
	FIX "govc datastore.info {}")
CHECK(STORE_CAPACITY, "datastore-room", WARNING, "datastore", STORE, FREE,
	SPACE, store_capacity,
	"the datastore has no capacity for the disks and swap files of all nodes",
	"The last VMs cannot be created, and their jobs stay pending.")
CHECK(POOL_CAPACITY, "pool-room", HARD, "pool", POOL, 0, 0, pool,
	"the limit of the resource pool is lower than the reservation of one VM",
	"No such VM powers on in this pool.")
FOUND(POOL_NODES, "pool-nodes", WARNING, "pool",
	"the limit or the fixed reservation of the resource pool is lower than the reservations of all its nodes",
	"The last VMs do not power on, and their jobs stay pending.")
FOUND(DRS, "drs", HARD, "cluster",
	"DRS migrates or places VMs with VFs automatically",
	"DRS does not know which VFs are reserved. Set it to manual, because off deletes the cluster's resource pools.")
FOUND(HA, "ha", HARD, "cluster",
	"HA restarts VMs with VFs without Slurm",
	"The node could exist twice for some time, and its VF belongs to another job.")
FOUND(VM_OVERRIDE, "vm-override", HARD, "node",
	"an override of the node's VM enables DRS or HA automation",
	"The setting of the cluster does not apply to this VM.")
FOUND(DPM, "dpm", WARNING, "cluster",
	"DPM powers off idle hosts",
	"Hosts in standby get no VM, and DPM does not wake them for VMs that have a host.")
FOUND(ADAPTER_NETWORK, "adapter-network", HARD, "adapter",
	"no host has the port group of Network=",
	"No VM of the adapter can be placed.")
FOUND(ADAPTER_UPLINK, "adapter-uplink", HARD, "adapter",
	"no host has the adapter's device, or an uplink of its network with VFs",
	"No VM of the adapter can be placed.")
FOUND(ADAPTER_NSX, "adapter-nsx", HARD, "adapter",
	"Network= is a network of NSX that does not support the adapter's type",
	"Clones would fail, or their NICs would have no connection.")
FOUND(NETWORK_POLICY, "network-policy", WARNING, "adapter",
	"the port group accepts MAC address changes, forged transmits or promiscuous mode",
	"Root in a VM can use another node's MAC address, or read the packets of other VMs.")
FOUND(MAC_SHARED, "mac-shared", WARNING, "node",
	"another VM has a MAC address of the node's VM",
	"On a common network, switches send packets to the wrong VM.")
CHECK(APART, "networks-apart", WARNING, "adapter", TEMPLATE, 0, NICS, own_nic,
	"Network= is also the network of the template's own NIC or of the hosts' management",
	"Management and RDMA traffic disturb each other, and a guest has two NICs in one network.")
AGAIN(APART, SITE_PROFILE, 0, 0, management)
FOUND(MORE_NODES_THAN_VFS, "more-nodes-than-vfs", HARD, "adapter",
	"the adapter has more nodes than VFs, and AllowMoreNodesThanVFs=yes is not set",
	"Slurm would plan jobs on nodes that cannot all be up.")
FOUND(FOLDER, "folder-shared", HARD, "folder",
	"the folder contains VMs of another cluster",
	"slurm-vsphere changes nothing in the folder until their owner is clear.")
FOUND(OTHER_CLUSTER, "pf-shared", WARNING, "Slurm cluster",
	"another Slurm cluster uses VFs of the same PFs",
	"Each cluster sees the VFs that the other uses, but not those that it reserves. VMs may find a PF full.")
FOUND(GUEST_WRITES, "guest-writes", WARNING, "folder",
	"VMs do not have guest_rpc.rpci.auth.cmd.info-set=TRUE",
	"Each user of such a guest can write guestinfo, which root in the guest reads at the next boot.")
FOUND(CLONES, "clones-per-hour", WARNING, "limit",
	"very many VMs were created within an hour",
	"Each VM adds tasks and events to vCenter's database. At MaxClonesPerHour= jobs stay pending.")
FOUND(LICENCE, "licence", HARD, "cluster",
	"vCenter refused to create or power on a VM because of a licence",
	"SR-IOV and distributed switches need a licence that includes them. slurm-vsphere tries this cluster again after five minutes.")
FOUND(VCENTER, "vcenter-away", HARD, "vCenter",
	"vCenter does not answer, or its inventory is not complete",
	"Other findings are unknown.")

/* ---- the account ------------------------------------------------------- */

FOUND(RIGHTS_MISSING, "rights-missing", HARD, "object",
	"the account lacks privileges",
	"Operations that need them would fail while a job starts.")
FOUND(RIGHTS_VMOTION, "rights-vmotion", WARNING, "object",
	"the account lacks a privilege for vMotion, and an adapter's type allows vMotion",
	"VMs stay on a draining host until their jobs end. MaxVmotionsPerHost=0 makes this the rule.")
FOUND(RIGHTS_SURPLUS, "rights-excess", WARNING, "account",
	"the account has privileges that it does not need at the root, on the datacenter, the folder or a pool",
	"vCenter cannot prevent the account from changing other objects.")
FOUND(RIGHTS_UNKNOWN, "rights-unknown", UNSURE, "account",
	"vCenter does not show the account's privileges",
	"Operations without a privilege fail when they are tried.")

/* ---- slurm.conf: src/plugins/slurm/conf_check.c ------------------------ */

FOUND(SLURM_SUSPEND_PROGRAM, "slurm-suspend-program", HARD, "slurm.conf",
	"SuspendProgram is missing",
	"Without it Slurm never powers a VM down.")
FOUND(SLURM_RESUME_PROGRAM, "slurm-resume-program", HARD, "slurm.conf",
	"ResumeProgram is missing",
	"Without it Slurm never powers a VM up.")
FOUND(SLURM_SUSPEND_TIME, "slurm-suspend-time", HARD, "slurm.conf",
	"SuspendTime is missing or INFINITE, and no partition has one",
	"Power saving is off, so that Slurm never powers a VM up or down.")
FOUND(SLURM_SELECT, "slurm-select-parameters", HARD, "slurm.conf",
	"SelectTypeParameters is not tested with slurm-vsphere",
	"Jobs have only run with CR_CPU, CR_Core, CR_Core_Memory and CR_Socket_Memory.")
FOUND(SLURM_PREP, "slurm-prep-plugins", HARD, "slurm.conf",
	"prep/vsphere is not in PrEpPlugins",
	"Jobs start before their VMs are up.")
FOUND(SLURM_TOPOLOGY, "slurm-topology", HARD, "slurm.conf",
	"TopologyPlugin ties node names to switches",
	"VMs move between hosts. Use ESXiHost= and Switch= of vsphere.conf instead.")
FOUND(SLURM_RESUME_RATE, "slurm-resume-rate", WARNING, "slurm.conf",
	"ResumeRate throttles VMs",
	"MaxProvisionOps of vsphere.conf limits operations instead. Set ResumeRate=0.")
FOUND(SLURM_SUSPEND_RATE, "slurm-suspend-rate", WARNING, "slurm.conf",
	"SuspendRate throttles VMs",
	"Idle VMs keep their VFs while jobs wait for them. Set SuspendRate=0.")
FOUND(SLURM_RETURN, "slurm-return-to-service", WARNING, "slurm.conf",
	"ReturnToService is not 2",
	"A node whose VM restarts without Slurm stays DOWN.")
FOUND(SLURM_PROLOG, "slurm-prolog-flags", WARNING, "slurm.conf",
	"PrologFlags=Alloc is missing",
	"A job may start before the RDMA devices of all its nodes are checked.")
FOUND(SLURM_HOLD, "slurm-hold-on-prolog", WARNING, "slurm.conf",
	"SchedulerParameters=nohold_on_prolog_fail is missing",
	"Slurm holds a job whose node fails its device check, instead of a requeue.")
FOUND(SLURM_MEMLOCK, "slurm-memlock", WARNING, "slurm.conf",
	"Slurm gives jobs the memory-lock limit of the machine where they are submitted",
	"RDMA pins memory. With the usual limit of 8 MB, programs fail with \"Couldn't allocate MR\".")
FOUND(SLURM_CLOUD, "slurm-private-data", WARNING, "slurm.conf",
	"PrivateData=cloud is missing",
	"sinfo hides nodes that are powered down.")
FOUND(SLURM_RESUME_TIMEOUT, "slurm-resume-timeout", WARNING, "slurm.conf",
	"ResumeTimeout is shorter than twice BootTimeout of vsphere.conf",
	"Half of ResumeTimeout is left for the boot if vCenter is away: Slurm sets the node DOWN while its VM may still boot.")
FOUND(SLURM_SUSPEND_TIMEOUT, "slurm-suspend-timeout", WARNING, "slurm.conf",
	"SuspendTimeout is shorter than ShutdownGrace of vsphere.conf",
	"Slurm allocates a node while its guest still shuts down, and the job has to wait.")
FOUND(SLURM_EXCLUDED, "slurm-suspend-exc", WARNING, "slurm.conf",
	"slurm.conf excludes nodes of slurm-vsphere from power saving",
	"Their VFs stay in use whatever Retention= says.")
FOUND(SLURM_OTHERS, "slurm-suspend-others", WARNING, "slurm.conf",
	"power saving includes nodes that are not VMs of slurm-vsphere",
	"If SuspendProgram does nothing, Slurm believes these nodes off and sets them DOWN at their next job.")
FOUND(SLURM_VF_TRES, "slurm-vf-tres", WARNING, "slurm.conf",
	"Licenses= has vf, and AccountingStorageTRES= hasn't license/vf",
	"Slurm counts the VFs of jobs, but neither stores them nor enforces limits.")
FOUND(SLURM_VF_LICENSE, "slurm-vf-license", WARNING, "slurm.conf",
	"AccountingStorageTRES= has license/vf, and Licenses= has no vf",
	"Slurm counts no VFs, and license/vf is always 0.")

#undef FOUND
#undef CHECK
#undef FLAG
#undef AGAIN
