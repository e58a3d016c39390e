/* SPDX-License-Identifier: GPL-2.0-or-later */
/* vsphere.conf: what is read, and what is refused with which words. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "conf_stage.h"
#include "util/mem.h"

/* The file is refused, and the text has each of the words. */
static void refused(const char *text, const char *words[])
{
	assert_null(stage_read(text));
	assert_int_equal(stage_err.code, VS_E_CONFIG);
	for (; *words; words++)
		if (!strstr(stage_err.text, *words))
			fail_msg("\"%s\" lacks \"%s\"", stage_err.text, *words);
}
#define REFUSED(text, ...) refused(text, (const char *[]){ __VA_ARGS__, NULL })

/* A right file with one more line, the ninth. */
static void line9(const char *more, const char *words[])
{
	VS_FREE char *text = stage_text(more);

	refused(text, words);
}
#define LINE9(more, ...)						\
	line9(more, (const char *[]){ "vsphere.conf line 9: ", __VA_ARGS__, NULL })

static void every_value_of_a_right_file_is_read(void **state)
{
	struct vs_conf *c;

	(void)state;
	stage_slurm("AuthInfo", "cred_expire=60,socket=/run/m.sock,ttl=9");
	c = stage_read(STAGE_TOP
		"Placement=pack\nMode=manage AllowMoreNodesThanVFs=yes\n"
		"SvfListenAddr=10.0.0.1 SvfPort=7000\n"
		"MaxProvisionOps=3 MaxPowerOps=4 MaxOpsPerHost=5\n"
		"BootTimeout=60 ProvisionTimeout=61 ShutdownGrace=0\n"
		"PrefetchOptions=grace=7,window=8 MetricsAddr=::\n"
		STAGE_LINES
		"AdapterName=ib Type=sriov Network=\"IB PG\" LinkLayer=infiniband "
		"PF=0000:3B:00.1 NICsPerNode=3 DistinctPFs=no\n"
		"PartitionName=eth Adapter=vmxnet3 Template=t Retention=power_off "
		"LatencySensitivity=high Clone=linked_per_host Placement=SPREAD\n"
		"ESXiHost=esx[01-03] Switch=leaf1\n"
		"VSphereCluster=HPC2\n");
	assert_non_null(c);
	assert_string_equal(c->vcenter, "https://vc.example.org");
	assert_string_equal(c->datastore, "vsan");
	assert_string_equal(c->placement, "pack");
	assert_string_equal(c->mode, "manage");
	assert_true(c->allow_more_nodes_than_vfs);
	assert_true(c->verify_tls);
	assert_string_equal(c->svf_listen_addr, "10.0.0.1");
	assert_int_equal(c->svf_port, 7000);
	assert_int_equal(c->max_provision_ops, 3);
	assert_int_equal(c->max_power_ops, 4);
	assert_int_equal(c->max_ops_per_host, 5);
	assert_int_equal(c->boot_timeout_s, 60);
	assert_int_equal(c->provision_timeout_s, 61);
	assert_int_equal(c->shutdown_grace_s, 0);
	assert_string_equal(c->munge_socket, "/run/m.sock");
	assert_int_equal(c->nadapters, 3);
	assert_int_equal(c->adapters[0].mtu, 9000);
	assert_string_equal(c->adapters[2].network, "IB PG");
	assert_string_equal(c->adapters[2].link_layer, "InfiniBand");
	assert_string_equal(c->adapters[2].pf, "0000:3b:00.1");
	assert_int_equal(c->adapters[2].per_node, 3);
	assert_string_equal(c->adapters[2].distinct_pfs, "no");
	assert_int_equal(c->adapters[0].per_node, 1);
	assert_string_equal(c->adapters[0].distinct_pfs, "yes");
	assert_int_equal(c->npartitions, 2);
	assert_string_equal(c->partitions[1].retention, "power_off");
	assert_string_equal(c->partitions[1].latency, "high");
	assert_string_equal(c->partitions[1].clone, "linked_per_host");
	assert_string_equal(c->partitions[1].placement, "spread");
	assert_null(c->partitions[0].placement);
	assert_int_equal(c->prefetch.window_s, 8);
	assert_int_equal(c->prefetch.grace_s, 7);
	assert_string_equal(c->metrics.addr, "::");
	assert_int_equal(c->nhosts, 3);
	assert_string_equal(c->hosts[2].name, "esx03");
	assert_string_equal(c->hosts[2].leaf, "leaf1");
	assert_int_equal(c->nclusters, 2);
	assert_string_equal(c->clusters[0].pool, "slurm");
	assert_null(c->clusters[1].pool);
}

static void what_is_not_given_has_its_default(void **state)
{
	VS_FREE char *text = stage_text("");
	struct vs_conf *c;

	(void)state;
	stage_slurm("AuthInfo", NULL);
	c = stage_read(text);
	assert_non_null(c);
	assert_string_equal(c->placement, "balance");
	assert_string_equal(c->mode, "observe");
	assert_false(c->allow_more_nodes_than_vfs);
	assert_string_equal(c->svf_listen_addr, "127.0.0.1");
	assert_int_equal(c->svf_port, 6828);
	assert_int_equal(c->max_provision_ops, 20);
	assert_int_equal(c->max_power_ops, 50);
	assert_int_equal(c->max_ops_per_host, 8);
	assert_int_equal(c->boot_timeout_s, 600);
	assert_int_equal(c->provision_timeout_s, 3600);
	assert_int_equal(c->shutdown_grace_s, 30);
	assert_int_equal(c->prefetch.window_s, 600);
	assert_int_equal(c->prefetch.grace_s, 300);
	assert_null(c->munge_socket);
	assert_string_equal(c->partitions[0].retention, "warm");
	assert_string_equal(c->partitions[0].latency, "normal");
	assert_string_equal(c->adapters[0].link_layer, "Ethernet");
}

static void comments_quotes_and_continued_lines_are_slurms(void **state)
{
	struct vs_conf *c;

	(void)state;
	c = stage_read("# a comment = nothing \\\n" STAGE_TOP STAGE_LINES
		       "AdapterName=long \\\n  Type=vmxnet3 \\\n"
		       "  Network=\"A B\"   # at the end\n"
		       "AdapterName=hash Type=vmxnet3 Network=n\\#1\n");
	assert_non_null(c);
	assert_int_equal(c->nadapters, 4);
	assert_string_equal(c->adapters[2].name, "long");
	assert_string_equal(c->adapters[2].network, "A B");
	assert_string_equal(c->adapters[3].network, "n#1");
	LINE9("AdapterName=a \\\n Type=sriov \\\n Nutwork=x\n", "Nutwork",
	      "Network?");
}

/* What Slurm's own parser reads of a file with these two keys. */
static void slurm_reads(const char *path, const char *values[2])
{
	s_p_options_t opts[] = {
		{ .key = "Datastore", .type = S_P_STRING },
		{ .key = "VCenterUser", .type = S_P_STRING }, { .key = NULL },
	};
	s_p_hashtbl_t *tbl = s_p_hashtbl_create(opts);

	assert_int_equal(s_p_parse_file(tbl, NULL, (char *)path, 0, NULL), 0);
	for (int i = 0; i < 2; i++) {
		char *s = NULL;

		assert_true(s_p_get_string(&s, opts[i].key, tbl));
		assert_string_equal(s, values[i]);
		xfree(s);
	}
	s_p_hashtbl_destroy(tbl);
}

/* Lines of all that has a meaning in them: what is taken means the same to Slurm. */
static void each_value_is_what_slurms_parser_reads(void **state)
{
	static const char *const parts[] = {
		"a", "b=c", "\"", " ", "\t", "#", "\\", "\\\n", "\\#",
		"\\\\", "\"d e\"", "\v", "+", "\xc3\xa4",
	};
	VS_FREE char *path = vs_asprintf("%s/vsphere.conf", stage_dir());
	unsigned int seed = 1, taken = 0;

	(void)state;
	for (int round = 0; round < 4000; round++) {
		struct vs_conf_file f;
		FILE *out = fopen(path, "w");

		fputs("Datastore=", out);
		for (int n = rand_r(&seed) % 6; n >= 0; n--)
			fputs(parts[rand_r(&seed) % (int)VS_COUNT(parts)], out);
		/* a blank line: the last part may join it */
		fputs("\n\nVCenterUser = end # of it\n", out);
		fclose(out);
		if (!vs_conf_scan(&f, path, &stage_err)) {
			const char *values[] = {
				vs_conf_value(&f, VS_SCOPE_TOP, "Datastore"),
				vs_conf_value(&f, VS_SCOPE_TOP, "VCenterUser"),
			};

			if (values[0] && values[1]) {
				slurm_reads(path, values);
				taken++;
			}
		}
		vs_conf_file_free(&f);
	}
	assert_true(taken > 1000);
}

static void an_unknown_key_is_refused_with_the_one_it_looks_like(void **state)
{
	(void)state;
	LINE9("Plaecment=pack\n", "unknown key \"Plaecment\"",
	      "did you mean Placement?");
	LINE9("AdapterName=x Typ=sriov Network=n\n", "\"Typ\"", "Type?");
	LINE9("Gobbledygook=1\n", "unknown key \"Gobbledygook\"");
	assert_null(strstr(stage_err.text, "mean"));
}

static void a_removed_key_is_refused_with_what_is_used_instead(void **state)
{
	(void)state;
	LINE9("PartitionName=eth Adapter=vmxnet3 Template=t Preempt=suspend\n",
	      "Preempt= was removed: ",
	      "jobs are preempted by requeue or cancel, as PreemptMode= of slurm.conf says",
	      "Remove the key");
	LINE9("preempt=end\n", "preempt= was removed: ");
	LINE9("CloneParents=host\n", "CloneParents= was removed: ",
	      "Clone=linked_per_host");
	LINE9("MetricsRemote=yes\n", "MetricsRemote= was removed: ", "MetricsAddr=");
	LINE9("MungeSocket=/s\n", "MungeSocket= was removed: ",
	      "AuthInfo=socket=PATH");
	LINE9("PrefetchWindow=5\n", "write PrefetchOptions=window=SECONDS");
	LINE9("PrefetchGrace=5\n", "write PrefetchOptions=grace=SECONDS");
	LINE9("PartitionName=p Adapter=vmxnet3 Template=t CPUs=4\n",
	      "CPUs= was removed: ", "CPUs= in slurm.conf");
	LINE9("PartitionName=p Adapter=vmxnet3 Template=t Memory=1024\n",
	      "Memory= was removed: ", "RealMemory= in slurm.conf");
	assert_null(strstr(stage_err.text, "mean"));
	LINE9("PartitionName=eth Adapter=vmxnet3 Template=t Preemp=end\n",
	      "unknown key \"Preemp\"");
}

static void a_renamed_key_is_refused_with_its_new_name(void **state)
{
	static const char *const rows[][2] = {
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

	(void)state;
	for (size_t i = 0; i < VS_COUNT(rows); i++) {
		const char *old = rows[i][0], *new = rows[i][1];
		VS_FREE char *text = vs_asprintf("%s=1\n", old);
		VS_FREE char *says = vs_asprintf("%s= was renamed: write %s",
						 old, new);

		LINE9(text, says);
		assert_int_equal(vs_conf_key_find(old, strlen(old), ~0u), -1);
		assert_int_not_equal(vs_conf_key_find(new, strcspn(new, "="),
						      ~0u), -1);
	}
	LINE9("AdapterName=x Type=sriov Network=n pernode=2\n",
	      "pernode= was renamed: write NICsPerNode=");
}

static void a_key_in_the_wrong_kind_of_line_is_refused(void **state)
{
	(void)state;
	LINE9("AdapterName=x Type=sriov Network=n Folder=f\n",
	      "Folder is a global key: write it in a line without AdapterName=");
	LINE9("PartitionName=x Adapter=vmxnet3 Template=t BootTimeout=300\n",
	      "BootTimeout is a global key: write it in a line without PartitionName=");
	LINE9("BootTimeout=300 PartitionName=x\n",
	      "PartitionName must begin a line of its own");
	LINE9("MTU=9000\n", "MTU belongs to a line that begins with AdapterName=");
	LINE9("Include=x\n", "Include takes no \"=\": write Include FILE");
}

static void a_key_that_is_given_twice_is_refused_with_both_lines(void **state)
{
	(void)state;
	LINE9("Folder=other\n", "Folder is given twice, first in line 4");
	LINE9("AdapterName=x Type=sriov MTU=1500 mtu=9000 Network=n\n",
	      "MTU is given twice, first in line 9");
	LINE9("AdapterName=vmxnet3 Type=vmxnet3 Network=n\n",
	      "AdapterName=vmxnet3 is given twice");
	LINE9("PartitionName=roce Adapter=vmxnet3 Template=t\n",
	      "PartitionName=roce is given twice");
	LINE9("VSphereCluster=HPC1\n", "VSphereCluster=HPC1 is given twice");
	LINE9("ESXiHost=a[1-2],a2 Switch=s\n", "ESXiHost=a2 is given twice");
}

static void what_is_no_pair_is_refused(void **state)
{
	VS_FREE char *half = vs_asprintf("%02000d", 0);
	VS_FREE char *whole = vs_asprintf("Datacenter=%s\\\n%s\n", half, half);

	(void)state;
	LINE9(whole, "line 9: the line has more than 4000 bytes");
	LINE9("Placement\n", "expected \"=\" after \"Placement\"");
	LINE9("=pack\n", "expected Key=Value");
	LINE9("Placement=\n", "Placement= has no value");
	LINE9("Placement=\"pack\n", "the quotes after Placement= are never closed");
	LINE9("Placement=\"pack\"x\n", "expected a blank after the quoted value");
	LINE9("Placement=pack \\\n", "last line ends with a backslash");
}

static void a_pf_written_wrong_is_refused_with_the_form_expected(void **state)
{
	(void)state;
	LINE9("AdapterName=x Type=sriov Network=n AdapterAddresses=10.1.0.9/16\n",
	      "AdapterAddresses=10.1.0.9/16: expected the subnet's own address");
	LINE9("AdapterName=x Type=sriov Network=n PF=0000:3b:00:1\n",
	      "PF: ", "0000:3b:00:1", "dddd:bb:ss.f");
}

/* One adapter with a subnet, and a partition whose line ends with `words`. */
static char *partition_with(const char *words)
{
	char *text = vs_calloc(1024, 1);

	/* "%P" in it is no conversion */
	snprintf(text, 1024, "%s%s%s\n", STAGE_TOP,
		 "VSphereCluster=HPC1\n"
		 "AdapterName=roce Type=sriov Network=n AdapterAddresses=10.1.0.0/16\n"
		 "PartitionName=p Adapter=roce Template=t "
		 "ManagementAddresses=10.9.0.10-10.9.0.99/24\n"
		 "PartitionName=q Adapter=roce Template=t ", words);
	return text;
}

static void addresses_that_overlap_are_refused_with_both_lines(void **state)
{
	static const struct { const char *words, *says; } rows[] = {
		{ "AdapterAddresses=10.1.4.0/24", "line 8: AdapterAddresses=10.1.4.0/24 overlaps with AdapterAddresses=10.1.0.0/16 (line 6): expected pools that share no address" },
		{ "AdapterAddresses=10.1.0.0/16@101", "overlaps with AdapterAddresses=10.1.0.0/16 (line 6)" },
		{ "ManagementAddresses=10.9.0.99-10.9.0.120/24", "line 8: ManagementAddresses=10.9.0.99-10.9.0.120/24 overlaps with ManagementAddresses=10.9.0.10-10.9.0.99/24 (line 7)" },
		{ "ManagementAddresses=10.1.7.10-10.1.7.20/24", "is in the subnet of AdapterAddresses=10.1.0.0/16 (line 6): each NIC of a VM needs its own subnet" },
		{ "AdapterAddresses=10.3.0.0/16,10.4.0.0/16", "AdapterAddresses=10.3.0.0/16,10.4.0.0/16 has 2, and AdapterName=roce gives a node NICsPerNode=1 NICs" },
		{ "ManagementAddresses=10.9.1.0/24,10.9.2.0/24", "expected 1 at most" },
		{ "ManagementAddresses=10.9.1.0/24 Gateway=10.9.2.1", "Gateway=10.9.2.1 is not in the subnet of ManagementAddresses=10.9.1.0/24" },
		{ "ManagementAddresses=10.9.1.1-10.9.1.9/24 Gateway=10.9.1.1", "Gateway=10.9.1.1 is one of ManagementAddresses=" },
		{ "ManagementAddresses=dhcp DNS=10.9.0.2", "DNS= is allowed with a pool in ManagementAddresses=" },
		{ "Gateway=10.9.0.1", "Gateway= is allowed with a pool in ManagementAddresses=" },
		{ "ManagementAddresses=10.9.1.0/24 DNS=10.9.0.2,x", "DNS=10.9.0.2,x: expected an IPv4 address, or several" },
		{ "ManagementAddresses=10.9.1.0/24 DNSSearch=a..b,-c", "expected a domain's name" },
	};

	(void)state;
	for (size_t i = 0; i < VS_COUNT(rows); i++) {
		VS_FREE char *text = partition_with(rows[i].words);

		assert_null(stage_read(text));
		if (!strstr(stage_err.text, rows[i].says))
			fail_msg("\"%s\" lacks \"%s\"", stage_err.text,
				 rows[i].says);
	}
}

static void pools_that_share_nothing_or_are_one_are_right(void **state)
{
	static const char *const rows[] = {
		"AdapterAddresses=10.1.0.0/16", "AdapterAddresses=10.2.0.0/16", "AdapterAddresses=dhcp",
		"ManagementAddresses=10.9.0.10-10.9.0.99/24",
		"ManagementAddresses=10.9.0.100-10.9.0.120/24 Gateway=10.9.0.1 "
		"DNS=10.9.0.2,10.9.0.3 DNSSearch=hpc.example.org,example.org",
		"ManagementAddresses=dhcp",
	};

	(void)state;
	for (size_t i = 0; i < VS_COUNT(rows); i++) {
		VS_FREE char *text = partition_with(rows[i]);

		if (!stage_read(text))
			fail_msg("%s: %s", rows[i], stage_err.text);
	}
}

/* NICs of different VMs may be in one subnet. */
static void lines_of_different_vms_may_share_a_subnet(void **state)
{
	static const struct { const char *lines, *says; } rows[] = {
		{ "AdapterName=eth Type=vmxnet3 Network=n AdapterAddresses=10.0.1.1-10.0.1.200/16\n"
		  "AdapterName=roce Type=sriov Network=n AdapterAddresses=10.3.0.0/16\n"
		  "PartitionName=a Adapter=eth Template=t\n"
		  "PartitionName=b Adapter=roce Template=t ManagementAddresses=10.0.2.1-10.0.2.200/16\n",
		  NULL },
		{ "AdapterName=rails Type=sriov Network=n NICsPerNode=2 AdapterAddresses=10.1.0.0/24,10.2.0.10-10.2.0.99/24\n"
		  "AdapterName=rail2 Type=sriov Network=n AdapterAddresses=10.2.0.100-10.2.0.200/24\n"
		  "PartitionName=a Adapter=rails Template=t\n"
		  "PartitionName=b Adapter=rail2 Template=t\n",
		  NULL },
		/* the partition's own instead of its adapter's */
		{ "AdapterName=x Type=sriov Network=n AdapterAddresses=10.1.0.10-10.1.0.99/24\n"
		  "PartitionName=a Adapter=x Template=t AdapterAddresses=10.2.0.0/24 ManagementAddresses=10.1.0.100-10.1.0.200/24\n",
		  NULL },
		{ "AdapterName=x Type=sriov Network=n AdapterAddresses=10.1.0.10-10.1.0.99/24\n"
		  "PartitionName=a Adapter=x Template=t ManagementAddresses=10.1.0.100-10.1.0.200/24\n",
		  "line 7: ManagementAddresses=10.1.0.100-10.1.0.200/24 is in the subnet of AdapterAddresses=10.1.0.10-10.1.0.99/24 (line 6)" },
		{ "AdapterName=x Type=sriov Network=n NICsPerNode=2 AdapterAddresses=10.1.0.10-10.1.0.99/24,10.1.0.100-10.1.0.200/24\n"
		  "PartitionName=a Adapter=x Template=t\n",
		  "is in the subnet of" },
		{ "AdapterName=x Type=sriov Network=n NICsPerNode=2\n"
		  "PartitionName=a Adapter=x Template=t AdapterAddresses=10.1.0.10-10.1.0.99/24,10.1.0.100-10.1.0.200/24\n",
		  "line 7: AdapterAddresses=10.1.0.10-10.1.0.99/24,10.1.0.100-10.1.0.200/24 is in the subnet of" },
		{ "AdapterName=rails Type=sriov Network=n NICsPerNode=2 AdapterAddresses=10.1.0.0/24,10.2.0.10-10.2.0.99/24\n"
		  "AdapterName=rail2 Type=sriov Network=n AdapterAddresses=10.2.0.99-10.2.0.200/24\n"
		  "PartitionName=a Adapter=rails Template=t\n",
		  "line 7: AdapterAddresses=10.2.0.99-10.2.0.200/24 overlaps with" },
	};

	(void)state;
	for (size_t i = 0; i < VS_COUNT(rows); i++) {
		VS_FREE char *text = vs_asprintf("%sVSphereCluster=HPC1\n%s",
						 STAGE_TOP, rows[i].lines);
		bool right = stage_read(text) != NULL;

		if (right != !rows[i].says ||
		    (!right && !strstr(stage_err.text, rows[i].says)))
			fail_msg("%s: %s, says \"%s\"", rows[i].lines,
				 right ? "right" : "wrong",
				 right ? "" : stage_err.text);
	}
}

static void values_out_of_their_range_are_refused(void **state)
{
	(void)state;
	LINE9("MaxOpsPerHost=0\n", "MaxOpsPerHost=0", "from 1 to 128");
	LINE9("MaxOpsPerHost=7x\n", "MaxOpsPerHost=7x", "expected a number");
	LINE9("SvfPort=65536\n", "from 1 to 65535");
	LINE9("VCenterVerifyTLS=maybe\n", "VCenterVerifyTLS=maybe", "yes or no");
	LINE9("Placement=even\n", "Placement=even", "balance|pack|spread");
	LINE9("VCenterCAFile=ca.pem\n", "VCenterCAFile", "begins with /");
	LINE9("AdapterName=x Type=rdma Network=n\n", "Type=rdma",
	      "sriov|pvrdma|vmxnet3");
	LINE9("AdapterName=a&b Type=sriov Network=n\n", "AdapterName=a&b",
	      "Slurm feature");
	LINE9("PrefetchOptions=window=0\n",
	      "PrefetchOptions=window=0: expected a number from 1 to 86400");
	LINE9("PartitionName=x Adapter=vmxnet3 Template=t MemoryOverhead=4G\n",
	      "MemoryOverhead=4G: expected a number of MB from 0 to 1048576");
	LINE9("PrefetchOptions=grace=1,window\n", "PrefetchOptions=window: "
	      "expected NAME=NUMBER, or several with commas; NAME is one of window|grace");
	LINE9("PrefetchOptions=wind=5\n", "PrefetchOptions=wind=5: expected NAME=NUMBER");
	LINE9("PartitionName=p Adapter=vmxnet3 Template=t Retention=off\n",
	      "Retention=off was renamed: write Retention=power_off");
	LINE9("PartitionName=p Adapter=vmxnet3 Template=t Clone=linked_per\n",
	      "Clone=linked_per: expected one of full|linked|linked_per_host|instant");
	LINE9("ESXiHost=esx[1- Switch=s\n", "ESXiHost=esx[1-", "host list");
}

static void vcenter_must_be_an_https_url_without_user_or_path(void **state)
{
	const char *rest = "VCenterUser=u\nVCenterPasswordFile=%P\nDatacenter=d Folder=f "
		"Datastore=s\n" STAGE_LINES;
	const char *bad[] = { "vc.example.org", "http://vc.example.org",
		"https://", "https://vc/sdk" };
	const char *two = "https://a,https://b";
	VS_FREE char *both = vs_asprintf("VCenter=%s\n%s", two, rest);
	const char *secret[] = { "https://me:secret@vc", "me:secret@vc",
		"http://me:secret@vc", "https://vc/?u=me:secret@vc" };

	(void)state;
	REFUSED(both, "vsphere.conf line 1: VCenter=", two,
		"one vCenter: hosts of another, linked or not");
	for (size_t i = 0; i < VS_COUNT(bad); i++) {
		VS_FREE char *text = vs_asprintf("VCenter=%s\n%s", bad[i], rest);

		REFUSED(text, "vsphere.conf line 1: VCenter=", bad[i],
			"https://host");
	}
	for (size_t i = 0; i < VS_COUNT(secret); i++) {
		VS_FREE char *text = vs_asprintf("VCenter=%s\n%s", secret[i],
						 rest);

		REFUSED(text, "vsphere.conf line 1: VCenter: ", "https://host",
			"VCenterUser=", "VCenterPasswordFile=");
		assert_null(strstr(stage_err.text, "secret"));
	}
}

static void what_is_missing_is_named(void **state)
{
	(void)state;
	REFUSED("VCenter=https://v\n", "VCenterUser= is missing");
	REFUSED(STAGE_TOP, "at least one AdapterName= line");
	LINE9("PartitionName=p Adapter=vmxnet3\n", "Template= is missing",
	      "PartitionName= line");
	LINE9("AdapterName=x Type=sriov\n", "Network= is missing");
	LINE9("ESXiHost=esx1\n", "Switch= is missing");
}

static void a_partition_with_an_unknown_adapter_is_refused(void **state)
{
	(void)state;
	LINE9("PartitionName=p Adapter=sriov-rose Template=t\n",
	      "Adapter=sriov-rose", "AdapterName=");
}

static void combinations_that_cannot_be_are_refused(void **state)
{
	(void)state;
	LINE9("AdapterName=x Type=sriov Network=n NICsPerNode=9\n", "NICsPerNode=9");
	LINE9("AdapterName=x Type=sriov Network=n DistinctPFs=two\n", "DistinctPFs=two");
	LINE9("AdapterName=x Type=sriov Network=n NICsPerNode=2 PF=0000:3b:00.1\n",
	      "PF= is one PF, and NICsPerNode=2 takes VFs of as many");
	LINE9("AdapterName=x Type=sriov Network=n NICsPerNode=2 AdapterAddresses=10.1.0.0/16\n",
	      "AdapterAddresses=10.1.0.0/16 has 1, and AdapterName=x gives a node NICsPerNode=2 NICs");
	LINE9("AdapterName=x Type=vmxnet3 Network=n PF=0000:3b:00.1\n",
	      "PF= is allowed with Type=sriov");
	LINE9("AdapterName=x Type=pvrdma Network=n LinkLayer=InfiniBand\n",
	      "LinkLayer=InfiniBand is allowed with Type=sriov");
	LINE9("MetricsAddr=ctl1\n", "expected a numeric address");
	LINE9("MetricsPort=6828\n", "another port than SvfPort");
	LINE9("VCenterCAFile=/ca VCenterVerifyTLS=no\n",
	      "VCenterVerifyTLS=no and VCenterCAFile= exclude each other");
}

/* ---- Include ------------------------------------------------------------------ */

static void more(const char *name, const char *text)
{
	VS_FREE char *path = vs_asprintf("%s/%s", stage_dir(), name);
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void an_included_file_is_read_in_the_place_of_its_line(void **state)
{
	VS_FREE char *dir = vs_asprintf("%s/more", stage_dir());
	VS_FREE char *text = stage_text(" include more/a.conf # adapters\n"
					"MaxPowerOps=7\n");
	struct vs_conf *c;

	(void)state;
	mkdir(dir, 0700);
	more("more/a.conf", "AdapterName=ib Type=sriov Network=n\nInclude b.conf\n"
	     "MaxOpsPerHost=5");
	more("more/b.conf", "PartitionName=ib Adapter=ib Template=t \\\n"
	     "Retention=power_off\n");
	c = stage_read(text);
	assert_non_null(c);
	assert_int_equal(c->nadapters, 3);
	assert_int_equal(c->npartitions, 2);
	assert_string_equal(c->partitions[1].retention, "power_off");
	assert_int_equal(c->max_ops_per_host, 5);
	assert_int_equal(c->max_power_ops, 7);
}

static void included_refused(const char *line, const char *file, int at,
			     const char *words)
{
	VS_FREE char *text = stage_text(line);
	VS_FREE char *where = vs_asprintf("%s/%s line %d: ", stage_dir(), file,
					  at);

	REFUSED(text, where, words);
}

static void an_error_in_an_included_file_names_that_file(void **state)
{
	(void)state;
	more("a.conf", "# one\nMaxOpsPerHost=0\n");
	included_refused("Include a.conf\n", "a.conf", 2, "from 1 to 128");
	more("a.conf", "\nMaxPowers=1\n");
	included_refused("Include a.conf\n", "a.conf", 2, "did you mean MaxPowerOps");
	more("a.conf", "\nInclude b.conf\n");
	more("b.conf", "Folder=other\n");
	included_refused("Include a.conf\n", "b.conf", 1,
			 "Folder is given twice, first in vsphere.conf line 4");
	more("a.conf", "Mode=manage\nMode=observe\n");
	included_refused("Include a.conf\n", "a.conf", 2,
			 "Mode is given twice, first in line 1");
	more("a.conf", "\n\nPartitionName=x Adapter=nowhere Template=t\n");
	included_refused("Include a.conf\n", "a.conf", 3, "Adapter=nowhere");
	more("a.conf", "x\\");
	included_refused("Include a.conf\n", "a.conf", 1, "ends with a backslash");
}

static void an_include_that_cannot_be_is_refused_with_its_line(void **state)
{
	(void)state;
	LINE9("Include\n", "expected one file after Include");
	LINE9("Include a b\n", "expected one file after Include");
	LINE9("Include none.conf\n", "/none.conf: No such file or directory");
	LINE9("Include /dev/zero\n", "Include /dev/zero: not a regular file");
	more("a.conf", "Include a.conf\n");
	included_refused("Include a.conf\n", "a.conf", 1,
			 "Include a.conf: files are included in each other more than 8 deep");
	more("a.conf", "");
	for (int i = 0; i < 257; i++) {
		VS_FREE char *path = vs_asprintf("%s/a.conf", stage_dir());
		FILE *f = fopen(path, "a");

		assert_non_null(f);
		fputs("Include b.conf\n", f);
		fclose(f);
	}
	more("b.conf", "");
	included_refused("Include a.conf\n", "a.conf", 256,
			 "Include b.conf: more than 256 files are included");
}

/* ---- levels, and the example --------------------------------------------------- */

static void a_key_that_must_be_given_is_no_advanced_one(void **state)
{
	size_t n[VS_LEVELS] = { 0 };

	(void)state;
	for (size_t i = 0; i < vs_conf_nkeys; i++) {
		const struct vs_conf_key *k = &vs_conf_keys[i];

		n[k->level]++;
		assert_false(k->required && k->level == VS_LEVEL_ADVANCED);
		assert_false(k->level == VS_LEVEL_REQUIRED && k->dflt);
	}
	assert_true(n[VS_LEVEL_REQUIRED] < n[VS_LEVEL_COMMON]);
	assert_true(n[VS_LEVEL_COMMON] < n[VS_LEVEL_ADVANCED]);
}

/* Each line of the example is a key, or a key's default that is commented out. */
static void the_example_has_each_common_key_with_its_default(void **state)
{
	const char *top = getenv("srcdir");
	VS_FREE char *path = vs_asprintf("%s/contribs/vsphere.conf",
					 top ? top : ".");
	char text[8192] = "\n";
	struct vs_conf_file f;
	FILE *in = fopen(path, "r");

	(void)state;
	assert_non_null(in);
	assert_true(fread(text + 1, 1, sizeof(text) - 2, in) > 0);
	fclose(in);
	for (size_t i = 0; i < vs_conf_nkeys; i++) {
		const struct vs_conf_key *k = &vs_conf_keys[i];
		VS_FREE char *given = vs_asprintf("\n%s=", k->key);
		VS_FREE char *off = vs_asprintf("\n#%s=%s\n", k->key,
						k->dflt ? k->dflt : "");

		if (k->scope != VS_SCOPE_TOP || k->level == VS_LEVEL_ADVANCED)
			assert_null(k->scope == VS_SCOPE_TOP ?
				    strstr(text, k->key) : NULL);
		else if (!strstr(text, given) && !strstr(text, off))
			fail_msg("%s lacks %s", path, k->key);
	}
	assert_int_equal(vs_conf_scan(&f, path, &stage_err), 0);
	vs_conf_file_free(&f);
}

/* ---- files -------------------------------------------------------------------- */

static void a_missing_file_is_said_at_once(void **state)
{
	VS_FREE char *path = vs_asprintf("%s/none.conf", stage_dir());
	struct vs_conf_file f;

	(void)state;
	assert_null(vs_conf_read(path, &f, &stage_err));
	assert_non_null(strstr(stage_err.text, path));
	assert_non_null(strstr(stage_err.text, "beside slurm.conf"));
	vs_conf_file_free(&f);
}

static void the_password_file_must_be_slurmusers_alone(void **state)
{
	VS_FREE char *path = vs_asprintf("%s/password", stage_dir());
	VS_FREE char *text = stage_text("");

	(void)state;
	chmod(path, 0640);
	REFUSED(text, "line 3: VCenterPasswordFile=", "mode 0640", "chmod 600");
	chmod(path, 0604);
	REFUSED(text, "mode 0604");
	chmod(path, 0700);
	REFUSED(text, "mode 0700");
	chmod(path, 0400);
	assert_non_null(stage_read(text));
	unlink(path);
	REFUSED(text, "line 3: VCenterPasswordFile=", "No such file");
	mkdir(path, 0700);
	REFUSED(text, "line 3: VCenterPasswordFile=", "is not a regular file");
}

static void the_password_file_must_belong_to_slurmuser(void **state)
{
	VS_FREE char *text = stage_text("");
	struct vs_conf_file f;
	VS_FREE char *path = vs_asprintf("%s/vsphere.conf", stage_dir());

	(void)state;
	assert_non_null(stage_read(text));
	assert_int_equal(vs_conf_scan(&f, path, &stage_err), 0);
	assert_int_equal(vs_conf_password_check(&f, getuid() + 1, &stage_err),
			 -1);
	assert_non_null(strstr(stage_err.text, "belongs to uid"));
	assert_non_null(strstr(stage_err.text, "it must belong to uid"));
	vs_conf_file_free(&f);
}

static void a_misplaced_password_is_never_repeated(void **state)
{
	(void)state;
	LINE9("Password=hunter2\n", "unknown key \"Password\"");
	assert_null(strstr(stage_err.text, "hunter2"));
	LINE9("hunter2 Password\n", "expected");
	LINE9("VCenterPasswordFile=hunter2\n", "given twice");
	assert_null(strstr(stage_err.text, "hunter2"));
	more("password2", "hunter2\n");
	included_refused("Include password2\n", "password2", 1,
			 "expected Key=Value");
	assert_null(strstr(stage_err.text, "hunter2"));
}

#define T(f) cmocka_unit_test_setup_teardown(f, stage_up, stage_down)
int main(void)
{
	const struct CMUnitTest tests[] = {
		T(every_value_of_a_right_file_is_read),
		T(what_is_not_given_has_its_default),
		T(comments_quotes_and_continued_lines_are_slurms),
		T(each_value_is_what_slurms_parser_reads),
		T(an_unknown_key_is_refused_with_the_one_it_looks_like),
		T(a_removed_key_is_refused_with_what_is_used_instead),
		T(a_renamed_key_is_refused_with_its_new_name),
		T(a_key_in_the_wrong_kind_of_line_is_refused),
		T(a_key_that_is_given_twice_is_refused_with_both_lines),
		T(what_is_no_pair_is_refused),
		T(a_pf_written_wrong_is_refused_with_the_form_expected),
		T(addresses_that_overlap_are_refused_with_both_lines),
		T(pools_that_share_nothing_or_are_one_are_right),
		T(lines_of_different_vms_may_share_a_subnet),
		T(values_out_of_their_range_are_refused),
		T(vcenter_must_be_an_https_url_without_user_or_path),
		T(what_is_missing_is_named),
		T(a_partition_with_an_unknown_adapter_is_refused),
		T(combinations_that_cannot_be_are_refused),
		T(an_included_file_is_read_in_the_place_of_its_line),
		T(an_error_in_an_included_file_names_that_file),
		T(an_include_that_cannot_be_is_refused_with_its_line),
		T(a_key_that_must_be_given_is_no_advanced_one),
		T(the_example_has_each_common_key_with_its_default),
		T(a_missing_file_is_said_at_once),
		T(the_password_file_must_be_slurmusers_alone),
		T(the_password_file_must_belong_to_slurmuser),
		T(a_misplaced_password_is_never_repeated),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
