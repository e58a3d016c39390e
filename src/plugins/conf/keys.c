/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The one table of vsphere.conf: key, type, default, limits, place and words.
 * A key that is not here does not exist. Pure data and look-ups by name; knows
 * neither Slurm nor files, so that svf and the man page read the same rows.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "engine/state/config.h"
#include "util/mem.h"
#include "util/name.h"
#include "keys.h"

#define TOP(field) offsetof(struct vs_conf, field)
#define ADP(field) offsetof(struct vs_conf_adapter, field)
#define PRT(field) offsetof(struct vs_conf_partition, field)
#define CLU(field) offsetof(struct vs_conf_cluster, field)
#define HST(field) offsetof(struct vs_conf_host, field)

/* Must the key be given, and its level. */
#define REQUIRED true, VS_LEVEL_REQUIRED
#define IN_ITS_LINE true, VS_LEVEL_COMMON	/* the line itself may be left out */
#define MOSTLY false, VS_LEVEL_REQUIRED		/* unless another key replaces it */
#define COMMON false, VS_LEVEL_COMMON
#define ADVANCED false, VS_LEVEL_ADVANCED

const struct vs_conf_key vs_conf_keys[] = {
	{ VS_SCOPE_TOP, VS_CONF_URL, "VCenter", NULL, REQUIRED, NULL, 0, 0,
	  TOP(vcenter),
	  "The vCenter Server (8.0U1 or later), https://host or https://host:port." },
	{ VS_SCOPE_TOP, VS_CONF_TEXT, "VCenterUser", NULL, REQUIRED, NULL, 0, 0,
	  TOP(username), "The account to log in with, user@domain." },
	{ VS_SCOPE_TOP, VS_CONF_PATH, "VCenterPasswordFile", NULL, REQUIRED, NULL, 0, 0,
	  TOP(password_file),
	  "A file whose first line is the password. It must belong to SlurmUser "
	  "with mode 0600 or 0400." },
	{ VS_SCOPE_TOP, VS_CONF_PATH, "VCenterCAFile", NULL, COMMON, NULL, 0, 0,
	  TOP(ca_file),
	  "Certificates (PEM) that vCenter's is verified against; the system's "
	  "store if not given. A file that can't be read or has no certificate "
	  "is refused, at start and by scontrol reconfigure." },
	{ VS_SCOPE_TOP, VS_CONF_BOOL, "VCenterVerifyTLS", "yes", ADVANCED, NULL,
	  0, 0, TOP(verify_tls),
	  "no: vCenter's certificate is not verified, and anyone on the way can "
	  "read the password. For tests only; not with VCenterCAFile." },
	{ VS_SCOPE_TOP, VS_CONF_TEXT, "Datacenter", NULL, REQUIRED, NULL, 0, 0,
	  TOP(datacenter), "The datacenter's name in vCenter." },
	{ VS_SCOPE_TOP, VS_CONF_TEXT, "Folder", NULL, REQUIRED, NULL, 0, 0,
	  TOP(folder),
	  "The VM folder of this Slurm cluster; nothing outside it is changed." },
	{ VS_SCOPE_TOP, VS_CONF_TEXT, "Datastore", NULL, MOSTLY, NULL, 0, 0,
	  TOP(datastore),
	  "The datastores of the VMs' disks, separated by commas. Local datastores "
	  "of single hosts are permitted. A VM gets the datastore with the most "
	  "free capacity that its host mounts. Required unless each VSphereCluster= "
	  "line has its own. A name with a comma is not supported." },
	{ VS_SCOPE_TOP, VS_CONF_CHOICE, "Placement", "balance", COMMON,
	  "balance|pack|spread|drs", 0, 0, TOP(placement),
	  "balance: even load; pack: fewest hosts, then fewest leaf switches; "
	  "spread: one VM per host while possible; drs: as balance, but vCenter's "
	  "DRS is asked before a VM is cloned, and chooses among the hosts that "
	  "have room." },
	{ VS_SCOPE_TOP, VS_CONF_CHOICE, "Mode", "observe", COMMON,
	  "observe|manage", 0, 0, TOP(mode),
	  "observe: a dry run. slurm-vsphere counts, plans and reports, and changes "
	  "nothing in vCenter. Jobs on its nodes stay pending, and their reason says "
	  "what would be done for them. manage: it creates, starts and removes VMs." },
	{ VS_SCOPE_TOP, VS_CONF_BOOL, "AllowMoreNodesThanVFs", "no", COMMON, NULL,
	  0, 0, TOP(allow_more_nodes_than_vfs),
	  "yes: more nodes may be defined than there are VFs for." },
	{ VS_SCOPE_TOP, VS_CONF_BOOL, "SaveToAdminComment", "no", ADVANCED, NULL, 0, 0,
	  TOP(admin_comment),
	  "yes: what stands in a job's SystemComment from its launch on is its "
	  "AdminComment too, which slurmdbd keeps, unless there is one." },
	{ VS_SCOPE_TOP, VS_CONF_TEXT, "SvfListenAddr", "127.0.0.1", COMMON, NULL,
	  0, 0, TOP(svf_listen_addr),
	  "The address on which slurmctld answers svf." },
	{ VS_SCOPE_TOP, VS_CONF_INT, "SvfPort", "6828", ADVANCED, NULL,
	  1, 65535, TOP(svf_port), "The TCP port of SvfListenAddr." },
	{ VS_SCOPE_TOP, VS_CONF_INT, "MetricsPort", "0", COMMON, NULL,
	  0, 65535, TOP(metrics.port),
	  "The TCP port on which slurmctld serves metrics to Prometheus, "
	  "http://127.0.0.1:PORT/metrics, in OpenMetrics. 0: they "
	  "are not served." },
	{ VS_SCOPE_TOP, VS_CONF_TEXT, "MetricsAddr", "127.0.0.1", ADVANCED, NULL,
	  0, 0, TOP(metrics.addr),
	  "The numeric address of MetricsPort. On an address that is not loopback, "
	  "anyone who reaches it reads the names of ESXi hosts and adapters and all "
	  "counts. There is no password and no encryption, and slurmctld's log "
	  "warns of it." },
	{ VS_SCOPE_TOP, VS_CONF_INT, "MaxProvisionOps", "20", ADVANCED, NULL,
	  1, 1000, TOP(max_provision_ops),
	  "Clones, moves, reconfigurations and removals in flight at once." },
	{ VS_SCOPE_TOP, VS_CONF_INT, "MaxPowerOps", "50", ADVANCED, NULL,
	  1, 1000, TOP(max_power_ops), "Power operations in flight at once." },
	{ VS_SCOPE_TOP, VS_CONF_INT, "MaxOpsPerHost", "8", ADVANCED, NULL,
	  1, 128, TOP(max_ops_per_host), "Operations in flight on one ESXi host." },
	{ VS_SCOPE_TOP, VS_CONF_INT, "MaxVmotionsPerHost", "4", ADVANCED, NULL,
	  0, 32, TOP(max_vmotions_per_host),
	  "The maximum number of vMotions to or from one ESXi host at the same "
	  "time. They move running VMs from a host that is drained, if their "
	  "adapter allows it. vCenter itself permits 8 over 10 Gb/s and 4 over 1 "
	  "Gb/s. 0: no VM is moved, and its job ends there." },
	{ VS_SCOPE_TOP, VS_CONF_INT, "MaxClonesPerHour", "0", ADVANCED, NULL,
	  0, 100000, TOP(max_clones_per_hour),
	  "The maximum number of VMs that are created within an hour, because each "
	  "adds tasks and events to vCenter's database. At the limit, jobs that "
	  "need a new VM stay pending. From 80 % of it, no VM is prefetched. A job "
	  "that has begun gets all its VMs, so the limit may be exceeded. 0: no "
	  "limit, and a warning at 1000." },
	{ VS_SCOPE_TOP, VS_CONF_INT, "HostDrainThreshold", "0", ADVANCED, NULL,
	  0, 1000, TOP(host_drain_threshold),
	  "The number of drained or down nodes at which a host gets no more VMs. "
	  "Nodes count if a health check or a user drained them or set them down "
	  "while their VM ran on the host. The state ends when all of them are "
	  "resumed, with svf host resume, or with a higher number. 0: only a "
	  "message in the log, at 3." },
	{ VS_SCOPE_TOP, VS_CONF_INT, "Prefetch", "0", COMMON, NULL,
	  0, 1000, TOP(prefetch.vms),
	  "The maximum number of VMs that are prefetched for jobs that backfill "
	  "plans to start soon. They are powered on if VFs are free or will be "
	  "freed for that job. Otherwise they are cloned and stay off. No VM is "
	  "prefetched with Retention=destroy. 0: no VM is prefetched." },
	{ VS_SCOPE_TOP, VS_CONF_OPTIONS, "PrefetchOptions",
	  "window=600,grace=300", ADVANCED, "window|grace", 1, 86400,
	  TOP(prefetch.window_s),
	  "Two times of Prefetch=, in seconds, window=600,grace=300 by default. "
	  "window: so long before its planned start a job's VMs are made ahead; they "
	  "are powered up at most SuspendTime before. grace: a VM that was made ahead "
	  "is removed when no plan has named it for so long." },
	{ VS_SCOPE_TOP, VS_CONF_INT, "BootTimeout", "600", COMMON, NULL,
	  10, 86400, TOP(boot_timeout_s),
	  "Seconds from power-on until slurmd must have registered." },
	{ VS_SCOPE_TOP, VS_CONF_INT, "ProvisionTimeout", "3600", COMMON, NULL,
	  30, 86400, TOP(provision_timeout_s),
	  "Seconds until all VMs of a job must be up, queueing included." },
	{ VS_SCOPE_TOP, VS_CONF_INT, "ShutdownGrace", "30", ADVANCED, NULL,
	  0, 3600, TOP(shutdown_grace_s),
	  "Seconds a guest has for its own shutdown before power-off." },

	{ VS_SCOPE_ADAPTER, VS_CONF_NAME, "AdapterName", NULL, REQUIRED, NULL, 0, 0,
	  ADP(name),
	  "A kind of network device. The name is the Slurm feature that nodes "
	  "carry and users constrain on." },
	{ VS_SCOPE_ADAPTER, VS_CONF_CHOICE, "Type", NULL, REQUIRED,
	  "sriov|pvrdma|vmxnet3|directpath|dynamic-directpath|dvx|vgpu", 0, 0,
	  ADP(type),
	  "sriov: a VF of an RDMA adapter; pvrdma: paravirtual RDMA; vmxnet3: "
	  "Ethernet; dynamic-directpath: a whole PCI device of the host, of these "
	  "ids, which ESXi chooses; directpath: one of them by its address, which "
	  "is counted and chosen here; dvx: a device of a class that a vendor's "
	  "driver offers (Enhanced DirectPath); vgpu: a share of a GPU. "
	  "svf adapters says what each may do and needs." },
	{ VS_SCOPE_ADAPTER, VS_CONF_TEXT, "Network", NULL, COMMON, NULL, 0, 0,
	  ADP(network),
	  "The port group the NIC is attached to; needed, but for devices." },
	{ VS_SCOPE_ADAPTER, VS_CONF_HEX, "Vendor", NULL, ADVANCED, NULL, 1, 0xffff,
	  ADP(vendor),
	  "The PCI vendor id of a device, as 0x10de; with Type=directpath and "
	  "dynamic-directpath. With Type=dvx, of the PCI functions that the class "
	  "is made of." },
	{ VS_SCOPE_ADAPTER, VS_CONF_HEX, "Device", NULL, ADVANCED, NULL, 1, 0xffff,
	  ADP(device), "Its PCI device id, as 0x20b0." },
	{ VS_SCOPE_ADAPTER, VS_CONF_TEXT, "HardwareLabel", NULL, ADVANCED, NULL, 0, 0,
	  ADP(label),
	  "The hardware label that the device must have on its host; any if not "
	  "given. Where one adapter of these ids has a label, all of them should." },
	{ VS_SCOPE_ADAPTER, VS_CONF_TEXT, "Address", NULL, ADVANCED, NULL, 0, 0,
	  ADP(address),
	  "With Type=directpath: which devices of these ids are handed out, by "
	  "their PCI addresses, with commas: 0000:3b:00.0 is that of every host, "
	  "esx[03-04].example.org/0000:af:00.0 those of the hosts named before it. "
	  "All that passthrough is enabled for, on all hosts, if not given." },
	{ VS_SCOPE_ADAPTER, VS_CONF_TEXT, "DeviceClass", NULL, ADVANCED, NULL, 0, 0,
	  ADP(device_class),
	  "With Type=dvx: the class, as the host has it (hardware.dvxClasses)." },
	{ VS_SCOPE_ADAPTER, VS_CONF_TEXT, "Parameters", NULL, ADVANCED, NULL, 0, 0,
	  ADP(parameters),
	  "With Type=dvx: what each device is set to, key=value,key=value, by the "
	  "vendor's documents; in quotes. vCenter gets each value in the type that "
	  "the host says of it (QueryConfigTarget)." },
	{ VS_SCOPE_ADAPTER, VS_CONF_INT, "Instances", NULL, ADVANCED, NULL, 1, 4096,
	  ADP(instances),
	  "With Type=dvx: devices of the class that a host which has it gives to "
	  "VMs, at most; vCenter doesn't tell. Vendor= and Device= may be given "
	  "beside it or instead: then as many as the host has of these functions." },
	{ VS_SCOPE_ADAPTER, VS_CONF_TEXT, "Profile", NULL, ADVANCED, NULL, 0, 0,
	  ADP(profile),
	  "With Type=vgpu: the vGPU's profile, as nvidia_a100-4c." },
	{ VS_SCOPE_ADAPTER, VS_CONF_INT, "PerGPU", NULL, ADVANCED, NULL, 1, 32,
	  ADP(per_gpu),
	  "With Type=vgpu: vGPUs of the profile on one GPU, at most; what the "
	  "names of the host's profiles tell if not given." },
	{ VS_SCOPE_ADAPTER, VS_CONF_INT, "MMIOSizeGB", NULL, ADVANCED, NULL, 1, 32768,
	  ADP(mmio_gb),
	  "GB of 64-bit MMIO space that a device with large BARs wants in its VM: "
	  "the sum of its BARs, doubled (256 for a GPU of 80 GB). All of a VM's "
	  "are added and rounded up to a power of two. Its template must boot by "
	  "EFI." },
	{ VS_SCOPE_ADAPTER, VS_CONF_TEXT, "ExtraDevice", NULL, COMMON, NULL, 0, 0,
	  ADP(with),
	  "Another AdapterName, of devices: each VM has them beside its own NIC, "
	  "all or nothing, of one host, of one NUMA node where possible. Beside "
	  "an RDMA NIC they may talk peer to peer (GPUDirect RDMA)." },
	{ VS_SCOPE_ADAPTER, VS_CONF_BOOL, "RelaxACS", "yes", ADVANCED, NULL, 0, 0,
	  ADP(relax_acs),
	  "With ExtraDevice= beside an RDMA NIC: yes: sets pciPassthru.RelaxACSforP2P, "
	  "which lets devices below one PCIe switch talk to each other past the "
	  "IOMMU; that loosens the isolation between them. no: leaves it out; "
	  "GPUDirect RDMA then goes through the root complex, or fails." },
	{ VS_SCOPE_ADAPTER, VS_CONF_CHOICE, "LinkLayer", "Ethernet", COMMON,
	  "Ethernet|InfiniBand", 0, 0, ADP(link_layer),
	  "What the guest's port must be; InfiniBand with Type=sriov alone." },
	{ VS_SCOPE_ADAPTER, VS_CONF_INT, "MTU", NULL, COMMON, NULL, 1280, 65520,
	  ADP(mtu), "The MTU that the guest sets, and that is looked at again before "
	  "each job; the network's own if not given." },
	{ VS_SCOPE_ADAPTER, VS_CONF_POOLS, "AdapterAddresses", NULL, COMMON, NULL, 0, 8,
	  ADP(subnet),
	  "The NICs' IPv4 addresses. 10.1.0.0/16: the number that ends a node's "
	  "name, counted from the subnet (vm012: 10.1.0.12); "
	  "10.1.0.10-10.1.0.250/16: number 1 has the first of them; with @101 "
	  "behind it, number 101. dhcp: the network's server gives them. With "
	  "NICsPerNode= one for each NIC, with commas. Given to the guest, which sets "
	  "them; the guest's own configuration if not given." },
	{ VS_SCOPE_ADAPTER, VS_CONF_PCI, "PF", NULL, COMMON, NULL, 0, 0, ADP(pf),
	  "The physical function on every host, dddd:bb:ss.f; found from the "
	  "network's uplinks if not given. With Type=sriov alone, and with NICsPerNode "
	  "over 1 only where DistinctPFs=no." },
	{ VS_SCOPE_ADAPTER, VS_CONF_INT, "NICsPerNode", "1", COMMON, NULL, 1, 8,
	  ADP(per_node),
	  "NICs of this kind in each VM; with Type=sriov each takes a VF." },
	{ VS_SCOPE_ADAPTER, VS_CONF_CHOICE, "DistinctPFs", "yes", ADVANCED,
	  "yes|no", 0, 0, ADP(distinct_pfs),
	  "With NICsPerNode= and Type=sriov: yes: each VF of a VM is on a PF of its "
	  "own, the first NIC on the PF with the lowest address. Hosts with fewer "
	  "PFs on the network get no VM; no: a PF may provide several VFs." },

	{ VS_SCOPE_PARTITION, VS_CONF_NAME, "PartitionName", NULL, REQUIRED, NULL,
	  0, 0, PRT(name),
	  "A partition of slurm.conf; the line speaks for its State=CLOUD nodes." },
	{ VS_SCOPE_PARTITION, VS_CONF_TEXT, "Adapter", NULL, REQUIRED, NULL, 0, 0,
	  PRT(adapter), "An AdapterName; each of the nodes has it as a Feature." },
	{ VS_SCOPE_PARTITION, VS_CONF_TEXT, "Template", NULL, REQUIRED, NULL, 0, 0,
	  PRT(template_name),
	  "The template that VMs are cloned from, by name or by path below the VM "
	  "folders; one that is made again under its name is found." },
	{ VS_SCOPE_PARTITION, VS_CONF_POOLS, "AdapterAddresses", NULL, ADVANCED, NULL, 0, 8,
	  PRT(subnet), "For this partition's nodes instead of the adapter's." },
	{ VS_SCOPE_PARTITION, VS_CONF_POOLS, "ManagementAddresses", NULL, COMMON, NULL, 0, 1,
	  PRT(addresses),
	  "IPv4 addresses of the nodes' first NIC, the template's own for "
	  "management, written as AdapterAddresses=. dhcp, the default: the template's own "
	  "configuration." },
	{ VS_SCOPE_PARTITION, VS_CONF_IPS, "Gateway", NULL, COMMON, NULL, 0, 1,
	  PRT(gateway), "The default route of the first NIC. With ManagementAddresses=." },
	{ VS_SCOPE_PARTITION, VS_CONF_IPS, "DNS", NULL, COMMON, NULL, 0, 3,
	  PRT(dns), "Name servers, up to three. With ManagementAddresses=." },
	{ VS_SCOPE_PARTITION, VS_CONF_DOMAINS, "DNSSearch", NULL, ADVANCED, NULL,
	  0, 6, PRT(dns_search),
	  "Domains that host names are looked up in. With ManagementAddresses=." },
	{ VS_SCOPE_PARTITION, VS_CONF_CHOICE, "Retention", "warm", COMMON,
	  "warm|power_off|destroy", 0, 0, PRT(retention),
	  "After a job: warm: the VM stays on until SuspendTime; power_off: it is "
	  "powered off; destroy: every job gets fresh VMs (exclusive partitions alone)." },
	{ VS_SCOPE_PARTITION, VS_CONF_CHOICE, "Clone", "full", COMMON,
	  "full|linked|linked_per_host|instant", 0, 0, PRT(clone),
	  "full: each VM is a copy of the template; linked: it uses the disks of a "
	  "clone source, a copy that is made once on each datastore, and is made in "
	  "seconds; linked_per_host: each host has its own clone source, because a "
	  "host copies few VMs at a time from another one; instant: it continues from "
	  "the memory of a clone source that has booted (svf adapters shows which "
	  "types allow it). A change of this key changes no VM that exists." },
	{ VS_SCOPE_PARTITION, VS_CONF_CHOICE, "Placement", NULL, ADVANCED,
	  "balance|pack|spread|drs", 0, 0, PRT(placement),
	  "For jobs on this partition's nodes instead of the global Placement=. If a "
	  "job's nodes differ in it, its first node's counts." },
	{ VS_SCOPE_PARTITION, VS_CONF_CHOICE, "LatencySensitivity", "normal",
	  COMMON, "normal|high", 0, 0, PRT(latency),
	  "high: exclusive cores; all of the VM's CPU and memory is reserved for it." },
	{ VS_SCOPE_PARTITION, VS_CONF_AMOUNT, "CPUReservation", NULL, ADVANCED,
	  NULL, 0, 10000000, PRT(cpu_reservation),
	  "MHz that are reserved for each VM, at most what its vCPUs can have of "
	  "the host's cores; full: all of that, vCPUs times the MHz of the host "
	  "it is placed on. Must be full with LatencySensitivity=high, and is so "
	  "without a word; else nothing is reserved." },
	{ VS_SCOPE_PARTITION, VS_CONF_SHARES, "CPUShares", "normal", ADVANCED, NULL,
	  1, 1000000, PRT(cpu_shares),
	  "The VM's part where a host's CPU is short: low, normal, high, or a "
	  "number of shares (normal is 1000 for each vCPU)." },
	{ VS_SCOPE_PARTITION, VS_CONF_AMOUNT, "MemoryReservation", NULL, ADVANCED,
	  NULL, 0, 24L * 1024 * 1024, PRT(memory_reservation),
	  "MB that are reserved for each VM; full: all its memory. Must be full "
	  "with adapters that pin memory (svf adapters) and with "
	  "LatencySensitivity=high, and is so without a word; else nothing is "
	  "reserved." },
	{ VS_SCOPE_PARTITION, VS_CONF_SHARES, "MemoryShares", "normal", ADVANCED,
	  NULL, 1, 1000000, PRT(memory_shares),
	  "The same for memory (normal is 10 for each MB)." },
	{ VS_SCOPE_PARTITION, VS_CONF_INT, "CoresPerSocket", NULL, ADVANCED, NULL,
	  1, 768, PRT(cores_per_socket),
	  "Cores of each virtual socket, which divide the VM's vCPUs; as in the "
	  "template if not given, or 1 if the template's don't divide them." },
	{ VS_SCOPE_PARTITION, VS_CONF_CHOICE, "NumaAffinity", "none", COMMON,
	  "none|pf", 0, 0, PRT(numa_affinity),
	  "pf: the VM runs on the NUMA node of its PF or device, or on the nodes of "
	  "several PFs. Hosts without a NUMA node of that capacity get no VM. Not "
	  "with adapters without a PF." },
	{ VS_SCOPE_PARTITION, VS_CONF_CHOICE, "SecureBoot", NULL, ADVANCED, "yes|no",
	  0, 0, PRT(secure_boot),
	  "EFI secure boot of the VMs; as in the template if not given. The "
	  "template must boot by EFI: its firmware is never changed." },
	{ VS_SCOPE_PARTITION, VS_CONF_MB, "MemoryOverhead", NULL, ADVANCED, NULL,
	  0, 1024 * 1024, PRT(memory_overhead_mb),
	  "MB that a guest's kernel takes before slurmd counts RealMemory; 256 plus "
	  "RealMemory/32 if not given." },

	{ VS_SCOPE_PARTITION, VS_CONF_TEXT, "StoragePolicy", NULL, ADVANCED, NULL,
	  0, 0, PRT(storage_policy),
	  "The id (a UUID, from govc storage.policy.info) of the storage policy of "
	  "new VMs and all their disks; vCenter's own choice if not given. "
	  "Datastore= still says where they go: it must comply." },
	{ VS_SCOPE_PARTITION, VS_CONF_TEXT, "Notes", NULL, ADVANCED, NULL,
	  0, 0, PRT(annotation),
	  "The notes of new VMs, for people, and for agents of backup or antivirus "
	  "that leave VMs out by them; needs VirtualMachine.Config.Annotation on "
	  "the folder. Tags and custom attributes are not set." },

	{ VS_SCOPE_CLUSTER, VS_CONF_NAME, "VSphereCluster", NULL, REQUIRED, NULL, 0, 0,
	  CLU(name), "A vSphere cluster whose hosts may be used." },
	{ VS_SCOPE_CLUSTER, VS_CONF_TEXT, "ResourcePool", NULL, COMMON, NULL, 0, 0,
	  CLU(pool), "A resource pool in it; the cluster's root if not given." },
	{ VS_SCOPE_CLUSTER, VS_CONF_TEXT, "Datastore", NULL, ADVANCED, NULL, 0, 0,
	  CLU(datastore),
	  "Where the disks of VMs on its hosts go, as the Datastore= of the top, "
	  "which it replaces." },

	{ VS_SCOPE_HOST, VS_CONF_NAME, "ESXiHost", NULL, IN_ITS_LINE, NULL, 0, 0,
	  HST(name), "ESXi hosts, as a Slurm host list." },
	{ VS_SCOPE_HOST, VS_CONF_TEXT, "Switch", NULL, IN_ITS_LINE, NULL, 0, 0,
	  HST(leaf), "The leaf switch they are cabled to, for Placement=pack." },
};
const size_t vs_conf_nkeys = VS_COUNT(vs_conf_keys);
_Static_assert(VS_COUNT(vs_conf_keys) <= VS_CONF_KEYS, "raise VS_CONF_KEYS");

/* A key of before, and what its refusal says. */
struct old_key { const char *key, *says; };

static const struct old_key removed[] = {
	{ "CloneParents", "write Clone=linked_per_host in the PartitionName lines for CloneParents=host, and nothing for CloneParents=datastore" },
	{ "CPUs", "the VMs' vCPUs are the node's CPUs= in slurm.conf" },
	{ "Memory", "the VMs' memory is the node's RealMemory= in slurm.conf plus MemoryOverhead=" },
	{ "MetricsRemote", "MetricsAddr= may be any address of slurmctld's machine, and slurmctld's log warns of one that is not loopback. Remove the key" },
	{ "MungeSocket", "munged's socket is that of AuthInfo=socket=PATH in slurm.conf. Remove the key" },
	{ "PrefetchWindow", "write PrefetchOptions=window=SECONDS" },
	{ "PrefetchGrace", "write PrefetchOptions=grace=SECONDS" },
	{ "Preempt", "VMs are no longer suspended for another job, and jobs are preempted by requeue or cancel, as PreemptMode= of slurm.conf says. Remove the key" },
};

/* What to write instead. */
static const struct old_key renamed[] = {
	{ "Username", "VCenterUser=" },
	{ "PasswordFile", "VCenterPasswordFile=" },
	{ "CAFile", "VCenterCAFile=" },
	{ "InsecureTLS", "VCenterVerifyTLS=no for InsecureTLS=yes" },
	{ "ClusterName", "VSphereCluster=" },
	{ "HostName", "ESXiHost=" },
	{ "PrologTimeout", "ProvisionTimeout=" },
	{ "ControlAddr", "SvfListenAddr=" },
	{ "ControlPort", "SvfPort=" },
	{ "AdminComment", "SaveToAdminComment=" },
	{ "OversubscribeNames", "AllowMoreNodesThanVFs=" },
	{ "HealthDrains", "HostDrainThreshold=" },
	{ "MaxPerHost", "MaxOpsPerHost=" },
	{ "MaxProvisioning", "MaxProvisionOps=" },
	{ "Subnet", "AdapterAddresses=" },
	{ "Addresses", "ManagementAddresses=" },
	{ "PerNode", "NICsPerNode=" },
	{ "With", "ExtraDevice=" },
	{ "Rails", "DistinctPFs=no for Rails=any" },
	{ "MMIO", "MMIOSizeGB=" },
	{ "Label", "HardwareLabel=" },
	{ "Annotation", "Notes=" },
};

size_t vs_conf_options(const struct vs_conf_key *k)
{
	size_t n = 1;

	for (const char *s = k->choices; *s; s++)
		n += *s == '|';
	return n;
}

const char *vs_conf_value_renamed(const char *key, const char *value)
{
	static const struct { const char *key, *value, *write; } values[] = {
		{ "Retention", "off", "power_off" },
	};

	for (size_t i = 0; i < VS_COUNT(values); i++)
		if (!strcasecmp(values[i].key, key) &&
		    !strcasecmp(values[i].value, value))
			return values[i].write;
	return NULL;
}

static const char *old_key_find(const struct old_key *rows, size_t n,
				const char *key, size_t len)
{
	for (size_t i = 0; i < n; i++)
		if (strlen(rows[i].key) == len &&
		    !strncasecmp(rows[i].key, key, len))
			return rows[i].says;
	return NULL;
}

const char *vs_conf_key_renamed(const char *key, size_t len)
{
	return old_key_find(renamed, VS_COUNT(renamed), key, len);
}

const char *vs_conf_key_removed(const char *key, size_t len)
{
	return old_key_find(removed, VS_COUNT(removed), key, len);
}

const char *vs_conf_level_name(enum vs_conf_level level)
{
	static const char *const names[VS_LEVELS] = { "required", "common",
						      "advanced" };

	return names[level];
}

const char *vs_conf_opener(enum vs_conf_scope scope)
{
	for (size_t i = 0; i < vs_conf_nkeys; i++)
		if (vs_conf_keys[i].scope == scope &&
		    vs_conf_keys[i].type == VS_CONF_NAME)
			return vs_conf_keys[i].key;
	return "";
}

int vs_conf_key_find(const char *key, size_t len, unsigned int scope_mask)
{
	for (size_t i = 0; i < vs_conf_nkeys; i++) {
		const struct vs_conf_key *k = &vs_conf_keys[i];

		if ((scope_mask & (1u << k->scope)) &&
		    strlen(k->key) == len && !strncasecmp(k->key, key, len))
			return (int)i;
	}
	return -1;
}

const char *vs_conf_key_near(const char *key, size_t len,
			     unsigned int scope_mask)
{
	const char *near = NULL;
	unsigned int best = len / 3 + 1;

	if (len > VS_DISTANCE_MAX)
		return NULL;
	for (size_t i = 0; i < vs_conf_nkeys; i++) {
		const struct vs_conf_key *k = &vs_conf_keys[i];
		unsigned int d;

		if (!(scope_mask & (1u << k->scope)))
			continue;
		d = vs_name_distance(key, len, k->key, strlen(k->key));
		if (d <= best && (d < best || !near)) {
			best = d;
			near = k->key;
		}
	}
	return near;
}
