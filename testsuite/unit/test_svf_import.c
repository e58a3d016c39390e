/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * svf import: the eight samples of vHPC-toolkit's tag v1.0.3
 * (examples/cluster-scripts there, fuzz/corpus/import here, Apache-2.0, byte for
 * byte), cluster-simple as v0.2.0 had it, a file of ours with every key
 * (all-keys), and what is wrong with a file. Expected lines are written by hand
 * from the samples, whose comments say which VM goes to which host.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "svf/import.h"
#include "svf_stage.h"
#include "util/json.h"
#include "util/mem.h"

static char *sample(const char *name)
{
	const char *top = getenv("srcdir");

	return vs_asprintf("%s/testsuite/fuzz/corpus/import/%s",
			   top ? top : ".", name);
}

static void read_sample(const char *name, struct svf_cluster *im)
{
	VS_FREE char *path = sample(name);
	FILE *f = fopen(path, "re");
	struct vs_err err = { 0 };
	static char text[65536];
	size_t n;

	assert_non_null(f);
	n = fread(text, 1, sizeof(text), f);
	fclose(f);
	if (svf_import_parse(im, text, n, &err))
		fail_msg("%s: %s", name, err.text);
}

static const struct { const char *file, *lines[12]; } samples[] = {
	{ "cluster-gpu-passthru.conf", {
"AdapterName=vmxnet3 Type=vmxnet3 Network=vHPC-PG-VMNetwork\n",
"PartitionName=gpu-vm Adapter=vmxnet3 Template=vhpc_clone CPUs=20 Memory=102400\n",
"#NodeName=gpu-vm[1-2] CPUs=20 RealMemory=",
"# note: device ['0000:3B:00.0']: an AdapterName line with Type=directpath and Address= gives this very device",
"# note: ip 172.1.10.1,172.1.10.2: Addresses=FIRST-LAST/BITS ",
"# note: gateway 172.1.101.1: Gateway= on the PartitionName line" } },
	{ "cluster-linked-clone.conf", {
"Datacenter=HPC_Datacenter\n", "Datastore=COMPUTE01_vsanDatastore\n",
"#NodeName=linked-vm[1-9],linked-vm[10-20] CPUs=CHANGE-ME ",
"# note: no cpu and memory are given for linked-vm[1-9],linked-vm[10-20]: ",
"PartitionName=linked-vm Adapter=vmxnet3 Template=vhpc_clone Clone=linked\n" } },
	{ "cluster-pvrdma.conf", {
"ClusterName=COMPUTE_GPU_Cluster\n",
"AdapterName=pvrdma Type=pvrdma Network=pvrdma-pg\n",
"PartitionName=pvrdma-vm Adapter=pvrdma Template=vhpc_clone CPUs=10 Memory=51200 LatencySensitivity=high\n",
"#NodeName=pvrdma-vm[1-8] CPUs=10 RealMemory=49400 Features=pvrdma State=CLOUD\n",
"#PartitionName=pvrdma-vm Nodes=pvrdma-vm[1-8] Default=YES\n",
"# note: port_group vHPC-PG-VMNetwork: the first card is the template's own",
"# note: switch pvrdma-dvs: " } },
	{ "cluster-simple.conf", {
"Datacenter=HPC_Datacenter\n", "ClusterName=HPC_Cluster\n",
"PartitionName=vhpc_vm Adapter=vmxnet3 Template=vhpc_clone\n",
"#NodeName=vhpc_vm[01-02] CPUs=CHANGE-ME ",
"# note: guest_password: ", "# note: sequence 0,1: ",
"# note: script ../examples/post-scripts/hello_world1.sh,../examples/post-scripts/hello_world2.sh: " } },
	{ "rhel-hpc-demo-cluster.conf", {
"\nDatacenter=CHANGE-ME\n", "\nDatastore=CHANGE-ME\n",
"\nClusterName=CHANGE-ME ResourcePool=CHANGE-ME\nAdapterName=",
"\nAdapterName=vmxnet3 Type=vmxnet3 Network=rhel-hpc-demo-management\n",
"\nAdapterName=sriov Type=sriov Network=rhel-hpc-demo-IB-SRIOV-PG PF=0000:3b:00.0\n",
"\nPartitionName=rhel-hpc-demo-head Adapter=vmxnet3 Template=RHEL-8.1-template CPUs=4 Memory=8192 SecureBoot=no\n",
"\nPartitionName=rhel-hpc-demo-compute Adapter=sriov Template=RHEL-8.1-template CPUs=44 Memory=327680 LatencySensitivity=high CoresPerSocket=22 SecureBoot=no\n",
"#NodeName=rhel-hpc-demo-compute[1-4] CPUs=44 ",
"# note: cluster ${cluster_name_in_vSphere_to_store_Compute_VMs},${cluster_name_in_vSphere_to_store_FrontEnd_VM}: CHANGE-ME is in its place: ",
"# note: cores_per_socket 22 (rhel-hpc-demo-compute[1-4]): CPUs= must be",
"# note: switch rhel-hpc-demo-IB-SRIOV-DVS: make it yourself" } },
	{ "cluster-simple-0.2.conf", {
"ClusterName=HPC_Cluster\n", "#NodeName=vhpc_vm[01-02] CPUs=CHANGE-ME ",
"# note: host vhpc-esx-01.hpc.vmware.com: ",
"# note: guest_password: ", "# note: barrier [0-1]: ",
"# note: vhpc_vm01: a name with _ is no host name" } },
	{ "cluster-sriov-gpu.conf", {
"AdapterName=sriov Type=sriov Network=sriov-pg PF=0000:af:00.0\n",
"PartitionName=ml-vm Adapter=sriov Template=vhpc_clone CPUs=4 Memory=16384\n",
"#NodeName=ml-vm[1-4],tp-vm[1-4] CPUs=4 ",
"# note: device ['0000:3B:00.0'] (ml-vm[1-2]): ",
"# note: guest_hostname ml-vm[1-4],tp-vm[1-4]: " } },
	{ "cluster-sriov.conf", {
"AdapterName=sriov Type=sriov Network=sriov-pg PF=0000:af:00.0\n",
"PartitionName=sriov-vm Adapter=sriov Template=vhpc_clone CPUs=10 Memory=51200 LatencySensitivity=high\n",
"#NodeName=sriov-vm[1-8] CPUs=10 RealMemory=49400 Features=sriov State=CLOUD\n",
"# note: switch sriov-svs: make it yourself, as a distributed one" } },
	{ "cluster-vgpu.conf", {
"PartitionName=vgpu-vm Adapter=vmxnet3 Template=vhpc_clone CPUs=5 Memory=16384 LatencySensitivity=high\n",
"#NodeName=vgpu-vm[1-4] CPUs=5 ",
"# note: vgpu grid_p100-4q: a vGPU is an adapter of its own: AdapterName=vgpu Type=vgpu with this Profile=" } },
	{ "all-keys", {
"ClusterName=\"C 1\" ResourcePool=p\nClusterName=Other ResourcePool=p\n",
"AdapterName=sriov Type=sriov Network=s PF=0000:3b:00.1 MTU=9000\n",
"PartitionName=n Adapter=sriov Template=\"t 1\" CPUs=2 Memory=1536 CPUReservation=full CPUShares=1 MemoryShares=2 CoresPerSocket=2 SecureBoot=yes\n",
"#NodeName=n[1-4],m9 CPUs=2 ", "# note: script a,b (n[1-4]): ",
"# note: port_group m%: ", "# note: ip 10.0.0.1,10.0.0.2,10.0.0.3,10.0.0.4 (n[1-4]): ",
"Datastore=ds1,ds2,one\n", "# note: cores_per_socket 2: ",
"# note: allow_guest_mtu_change yes: ", "# note: svs_name vs0: " } },
};

static void each_sample_becomes_a_vsphere_conf(void **state)
{
	(void)state;
	for (size_t i = 0; i < VS_COUNT(samples); i++) {
		VS_FREE char *path = sample(samples[i].file);
		VS_FREE char *words = vs_asprintf("import %s", path);
		VS_FREE char *conf = path_of("new.conf");
		VS_FREE char *check = vs_asprintf("conf %s", conf);

		if (svf(words))
			fail_msg("%s: %s", samples[i].file, errs);
		for (int k = 0; k < 12 && samples[i].lines[k]; k++)
			expect_in(out, samples[i].lines[k]);
		assert_null(strstr(out, "VMware1!"));
		assert_null(strstr(out, "guest_OS_root_password"));
		write_file("new.conf", "%s", out);
		if (svf(check))
			fail_msg("%s: %s", samples[i].file, errs);
	}
}

static void hosts_are(const char *file, const char *const *hosts, size_t n)
{
	struct svf_cluster im;

	read_sample(file, &im);
	assert_int_equal(im.nvms, n);
	for (size_t i = 0; i < n; i++) {
		VS_FREE char *host = vs_asprintf("vhpc-esx-%s.hpc.vmware.com",
						 hosts[i]);

		assert_string_equal(im.vms[i].values[SVF_K_HOST], host);
	}
	svf_import_free(&im);
}

/* The tables in the samples' comments. */
static void ranges_unfold_as_the_toolkit_does(void **state)
{
	static const char *const bunches[] = { "05", "05", "05", "05", "05",
		"06", "06", "06", "06", "06", "07", "07", "07", "07", "07",
		"08", "08", "08", "08", "08" };
	static const char *const round[] = { "05", "06", "07", "08", "05",
		"06", "07", "08" };
	static const char *const named[] = { "05", "08", "06", "07", "05",
		"06", "07", "08" };
	struct svf_cluster im;

	(void)state;
	hosts_are("cluster-linked-clone.conf", bunches, 20);
	hosts_are("cluster-pvrdma.conf", round, 8);
	hosts_are("cluster-sriov.conf", round, 8);
	hosts_are("cluster-sriov-gpu.conf", named, 8);
	read_sample("cluster-pvrdma.conf", &im);
	assert_string_equal(im.vms[7].name, "pvrdma-vm8");
	assert_string_equal(im.vms[7].values[SVF_K_IP], "172.1.10.8");
	svf_import_free(&im);
}

#define VMS "[_VMS_]\n"
#define SECTION "[B]\ntemplate: t\ndatacenter: D\n"

static const struct { const char *text, *says; } bad[] = {
	{ "", "line 1 column 1: there is no VM" },
	{ "x: y\n", "line 1 column 1: [SECTION] is expected" },
	{ "# c\n[B\n", "line 2 column 1: [NAME] is expected" },
	{ "[B] x\n", "line 1 column 4: nothing is expected after ]" },
	{ "[B]\n[B]\n", "line 2 column 1: [B] is there twice" },
	{ "[DEFAULT]\n", "line 1 column 1: [DEFAULT]" },
	{ "[B]\ncpu\n", "line 2 column 1: KEY: VALUE is expected" },
	{ "[B]\ncpu: 1\nCPU: 2\n", "line 3 column 1: cpu is there twice" },
	{ SECTION VMS "v: B C\n", "line 5 column 6: C is neither" },
	{ SECTION VMS "v: B nic : 1\n", "line 5 column 6: there is no key nic" },
	{ SECTION VMS "v: B cpu: four\n", "line 5 column 11: a number" },
	{ SECTION VMS "v: B\n   cpu: x\n", "line 6 column 9: a number" },
	{ SECTION VMS "v: B memory: 1,5\n", "an amount is expected" },
	{ SECTION VMS "v: B linked: maybe\n", "yes or no is expected" },
	{ SECTION VMS "v: B device: [__import__('os').system('id')]\n",
	  "line 5 column 14: a list ['a', 'b'] is expected" },
	{ SECTION VMS "v: B device: ['a' 'b']\n", "a list" },
	{ SECTION VMS "v: B host: h{1:2}\n", "line 5 column 12: h{1:2} is a range, and the VM is none" },
	{ SECTION VMS "v{1:3}: B host: h{1:4}\n", "4 values for 3 VMs" },
	{ SECTION VMS "v{1:3}: B host: h{{1:2}}\n", "2 values don't divide 3 VMs" },
	{ SECTION VMS "v{3:1}: B\n", "line 5 column 1: NAME{x:y}" },
	{ SECTION VMS "v{{1:3}}: B\n", "NAME{x:y} is expected" },
	{ SECTION VMS "v{1:99999}: B\n", "NAME{x:y} is expected" },
	{ SECTION VMS "v{1:9}{1:9}: B\n", "NAME{x:y} is expected" },
	{ SECTION VMS "v{1:6000}: B\nw{1:6000}: B\n",
	  "line 6 column 1: more than 10000 VMs" },
	{ SECTION VMS "v{1:3}: B\nv2: B\n", "VM v2 is there twice" },
	{ SECTION VMS "v: B\nw: B datacenter: E\n",
	  "line 6 column 18: datacenter E, but D before" },
	{ SECTION VMS "v: B pf: 0000:3b:00:1 sriov_port_group: p\n",
	  "line 5 column 10: " },
	{ SECTION VMS "v: B pf: 0000:3b:00.1 sriov_port_group: p sriov_port_group: q\n",
	  "line 5 column 10: 1 pf for 2 sriov_port_group: " },
	{ SECTION VMS "v: B pf: 0000:3b:00.1 pf: x sriov_port_group: p sriov_port_group: q\n",
	  "line 5 column 27: " },
	{ SECTION VMS "v: B host: ${a\n", "{x:y} or {{x:y}} is expected in ${a" },
	{ SECTION VMS "v{1:2}: B host: h${1:3}\n", "3 values for 2 VMs" },
	{ SECTION "[_DVS_]\nd: mtu: big\n" VMS "v: B\n",
	  "line 5 column 9: a number" },
	{ SECTION VMS "v: B mtu: 9000\n", "there is no key mtu" },
	{ SECTION "[_DVS_]\nd: port_group: p mtu: 900\n" VMS "v: B port_group: p\n",
	  "vsphere.conf can't have what it says: " },
	{ SECTION VMS "v: B latency: low\n", "latency is high or normal" },
	{ SECTION "vm_folder: 50%\n" VMS "v: B\n", "line 4 column 14: %" },
	{ SECTION VMS "v: B cpu_shares: 0\n",
	  "line 5 column 18: cpu_shares is a number from 1 to 1000000, not 0" },
	{ SECTION VMS "v: B memory_shares: 1000001\n", "memory_shares is a number" },
	{ SECTION VMS "v: B cpu: 6 cores_per_socket: 4\n",
	  "line 5 column 31: cores_per_socket 4 doesn't divide cpu 6" },
	{ SECTION VMS "v/../x: B\n", "can't be the name of a node" },
	{ SECTION "cluster: a\"b\n" VMS "v: B\n", "line 4 column 10: a name with" },
	{ SECTION "cluster: a\a\n" VMS "v: B\n", "line 4 column 11: a control character (0x07)" },
	{ SECTION "[_SVS_]\ns: cpu: 1\n" VMS "v: B\n",
	  "line 5 column 4: there is no key cpu of a switch" },
	{ SECTION VMS "v: B memory: 0.1\n", "vsphere.conf can't have what it says: " },
};

static void what_is_wrong_is_told_with_line_and_column(void **state)
{
	VS_FREE char *path = path_of("cluster.conf");
	VS_FREE char *words = vs_asprintf("import %s", path);

	(void)state;
	for (size_t i = 0; i < VS_COUNT(bad); i++) {
		write_file("cluster.conf", "%s", bad[i].text);
		if (svf(words) != 5)
			fail_msg("not 5: %s%s", bad[i].text, out);
		assert_string_equal(out, "");
		expect_in(errs, bad[i].says);
		expect_in(errs, "/cluster.conf: ");
	}
	assert_int_equal(svf("import /nonexistent"), 5);
	assert_string_equal(errs, "svf: /nonexistent: No such file or directory\n");
	assert_int_equal(svf("import"), 2);
	assert_int_equal(svf("import a b"), 2);
}

static void vms_that_differ_are_partitions_of_their_own(void **state)
{
	VS_FREE char *path = path_of("cluster.conf");
	VS_FREE char *words = vs_asprintf("import %s", path);
	VS_FREE char *json = vs_asprintf("import --json %s", path);
	struct vs_jdoc doc;
	struct vs_j top;

	(void)state;
	write_file("cluster.conf", SECTION VMS
		   "a1: B sriov_port_group: x\na2: B sriov_port_group: y\n"
		   "b1: B sriov_port_group: x cpu: 4\na3: B port_group: z\r\n"
		   "a01: B sriov_port_group: x template:\n");
	assert_int_equal(svf(words), 0);
	expect_in(out, "AdapterName=sriov Type=sriov Network=x\n");
	expect_in(out, "AdapterName=sriov2 Type=sriov Network=y\n");
	expect_in(out, "AdapterName=vmxnet3 Type=vmxnet3 Network=z\n");
	expect_in(out, "#NodeName=a1,a01 CPUs=");
	expect_in(out, "\nPartitionName=a-2 Adapter=sriov2 Template=t\n");
	expect_in(out, "\nPartitionName=b Adapter=sriov Template=t CPUs=4\n");
	expect_in(out, "\nPartitionName=a-3 Adapter=vmxnet3 Template=t\n");
	assert_int_equal(svf(json), 0);
	assert_int_equal(vs_jdoc_parse(&doc, out, strlen(out), NULL), 0);
	top = vs_j_root(&doc);
	expect_in(vs_j_str(vs_j_get(top, "conf")), "\nDatacenter=D\n");
	assert_true(vs_j_len(vs_j_get(top, "notes")) > 3);
	expect_in(vs_j_str(vs_j_at(vs_j_get(top, "notes"), 0)), "vCenter and");
	vs_jdoc_free(&doc);
}

/* Each key of the toolkit's cpumem, latency and secure_boot is one of ours. */
static const struct { const char *vm, *line; bool noted; } hardware[] = {
	{ "cpu_reservation: yes memory_reservation: on port_group: p",
	  " CPUReservation=full MemoryReservation=full\n", false },
	{ "cpu_reservation: no memory_reservation: 0 port_group: p",
	  " Template=t\n", false },
	/* what is so anyway is not said */
	{ "memory_reservation: yes sriov_port_group: p", " Template=t\n", false },
	{ "cpu_reservation: yes memory_reservation: yes latency: high",
	  " LatencySensitivity=high\n", false },
	{ "cpu_shares: 500 memory_shares: 1000000",
	  " CPUShares=500 MemoryShares=1000000\n", false },
	{ "cpu: 8 cores_per_socket: 4", " CPUs=8 CoresPerSocket=4\n", false },
	{ "cores_per_socket: 0", " Template=t\n", false },
	{ "secure_boot: off", " SecureBoot=no\n", false },
	{ "linked: yes", " Template=t Clone=linked\n", false },
	{ "linked: no instant: no", " Template=t\n", false },
	{ "instant: yes port_group: p", " Template=t Clone=instant\n", false },
	{ "instant: yes sriov_port_group: p", " Template=t\n", false },
	{ "instant: yes pvrdma_port_group: p", " Template=t\n", false },
	{ "secure_boot: ${s} cores_per_socket: ${c} cpu_shares: ${n}",
	  " Template=t\n", true },
};

static void hardware_is_the_partitions(void **state)
{
	static const char *const keys[] = { "cpu_reservation",
		"memory_reservation", "cpu_shares", "memory_shares",
		"secure_boot" };
	VS_FREE char *path = path_of("cluster.conf");
	VS_FREE char *words = vs_asprintf("import %s", path);
	VS_FREE char *conf = path_of("new.conf");
	VS_FREE char *check = vs_asprintf("conf %s", conf);

	(void)state;
	for (size_t i = 0; i < VS_COUNT(hardware); i++) {
		write_file("cluster.conf", SECTION VMS "v: B %s\n",
			   hardware[i].vm);
		if (svf(words))
			fail_msg("%s: %s", hardware[i].vm, errs);
		expect_in(out, hardware[i].line);
		for (size_t k = 0; k < VS_COUNT(keys); k++) {
			VS_FREE char *note = vs_asprintf("# note: %s ", keys[k]);

			if (strstr(out, note) && !hardware[i].noted)
				fail_msg("%s: %s", hardware[i].vm, out);
		}
		if (hardware[i].noted)
			expect_in(out, "# note: secure_boot ${s}: it is left out");
		write_file("new.conf", "%s", out);
		if (svf(check))
			fail_msg("%s: %s", hardware[i].vm, errs);
	}
	/* another word for the same is no other partition */
	write_file("cluster.conf", SECTION VMS
		   "v1: B secure_boot: yes\nv2: B secure_boot: on\n"
		   "v3: B secure_boot: no\n");
	assert_int_equal(svf(words), 0);
	expect_in(out, "#NodeName=v[1-2] ");
	expect_in(out, "#NodeName=v3 ");
}

struct card_case { const char *vm, *adapter, *note; };

static const struct card_case cards[] = {
	/* two PFs are two rails, found by the switch's uplinks */
	{ "v: B pf: 0000:3b:00.0 pf: 0000:5e:00.0 sriov_port_group: p sriov_port_group: p\n",
	  "Network=p PerNode=2\n", "# note: sriov_port_group p,p with pf 0000:3b:00.0,0000:5e:00.0: PerNode=2 " },
	/* of two port groups the first, and its switch's MTU */
	{ "v: B R1 R2\n", "Network=p PerNode=2 MTU=9000\n",
	  "port group, here p: " },
	{ "v: B R2 R1\n", "Network=q PerNode=2 MTU=4000\n",
	  "port group, here q: " },
	/* one PF for both, and one for two of three */
	{ "v: B pf: 0000:3b:00.0 pf: 0000:3b:00.0 sriov_port_group: p sriov_port_group: p\n",
	  "Network=p PerNode=2 Rails=any PF=0000:3b:00.0\n", "PerNode=2" },
	{ "v: B R1 R2 R1\n", "Network=p PerNode=3 Rails=any MTU=9000\n",
	  "PerNode=3" },
	/* a switch that is named goes before one that has the port group */
	{ "v: B port_group: r\n", "Network=r MTU=1500\n", "switch Ethernet: " },
	{ "v: B port_group: r dvs_name: roce-b\n", "Network=r MTU=4000\n",
	  "with these hosts' uplinks and MTU 4000; " },
	{ "v: B port_group: r svs_name: other\n", "Network=r\n",
	  "# note: svs_name other: " },
	/* variables */
	{ "v: B sriov_port_group: ${pg} pf: ${pf} cpu: ${n}\n",
	  "AdapterName=sriov Type=sriov Network=CHANGE-ME\n",
	  "# note: cpu ${n}: it is left out: put in yours\n" },
	{ "v{1:2}: B datastore: ${x}-{1:2} port_group: q\n", "Network=q\n",
	  "# note: datastore ${x}-[1-2]: CHANGE-ME is in its place" },
};

static void cards_are_rails_with_their_switchs_mtu(void **state)
{
	VS_FREE char *path = path_of("cluster.conf");
	VS_FREE char *words = vs_asprintf("import %s", path);

	(void)state;
	for (size_t i = 0; i < VS_COUNT(cards); i++) {
		write_file("cluster.conf", SECTION
			   "[R1]\npf: 0000:3b:00.0\nsriov_port_group: p\nsriov_dvs_name: roce-a\n"
			   "[R2]\npf: 0000:5e:00.0\nsriov_port_group: q\nsriov_dvs_name: roce-b\n"
			   "[_DVS_]\nroce-a: mtu: 9000\nroce-b: mtu: 4000\n"
			   "Ethernet: port_group: r mtu: 1500\n"
			   VMS "%s", cards[i].vm);
		if (svf(words))
			fail_msg("%s%s", cards[i].vm, errs);
		expect_in(out, cards[i].adapter);
		expect_in(out, cards[i].note);
	}
}

static void names_keep_their_case(void **state)
{
	VS_FREE char *path = path_of("cluster.conf");
	VS_FREE char *words = vs_asprintf("import %s", path);

	(void)state;
	write_file("cluster.conf", "%s", "[B]\nTemplate: T\n" VMS "VM{1:2}: B\n");
	assert_int_equal(svf(words), 0);
	expect_in(out, "\nPartitionName=VM Adapter=vmxnet3 Template=T\n");
	expect_in(out, "#NodeName=VM[1-2] ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup(f, restart)
		T(each_sample_becomes_a_vsphere_conf),
		T(ranges_unfold_as_the_toolkit_does),
		T(what_is_wrong_is_told_with_line_and_column),
		T(vms_that_differ_are_partitions_of_their_own),
		T(hardware_is_the_partitions),
		T(cards_are_rails_with_their_switchs_mtu),
		T(names_keep_their_case),
	};

	signal(SIGPIPE, SIG_IGN);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, stage_open, stage_close);
}
