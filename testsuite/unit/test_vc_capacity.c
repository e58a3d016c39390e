/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What VMs can have of hosts. The figures are those of five real clusters, ESXi
 * 6.7 and 7.0.1 with vSAN, as their vCenters said them: what the hosts have, what
 * ESXi keeps by systemResources, and the clusters' effective sums.
 */
#include "inv_stage.h"

/* MB and MHz. system: the pool host/system, vim: host/vim; of CPU each reserves
 * so much itself, and its children so much together. */
struct real {
	int64_t mb; int cores, mhz;
	int64_t host_cpu, host_mb;
	int64_t system_cpu, system_below, system_mb;
	int64_t vim_cpu, vim_below, vim_mb;
};

static const struct cluster {
	int64_t mem_mb, cpu_mhz;	/* effective */
	int n;
	struct real hosts[4];
} clusters[] = {
	{ 1410026, 219760, 4, {
		{ 391745, 24, 2593, 62256, 391360, 259, 312, 29635,
		  7004, 908, 5770 },
		{ 391745, 24, 2593, 62256, 391360, 259, 312, 29834,
		  7004, 908, 5630 },
		{ 391742, 24, 2593, 62256, 391357, 259, 312, 29587,
		  7004, 908, 5283 },
		{ 391745, 24, 2593, 62256, 391360, 259, 312, 29684,
		  7004, 908, 5095 } } },
	{ 460959, 74719, 1, {
		{ 524143, 36, 2299, 82800, 523759, 230, 276, 47647,
		  7705, 805, 12935 } } },
	{ 106603, 8678, 1, {
		{ 130968, 6, 1899, 11400, 130584, 190, 228, 20503,
		  2394, 665, 3080 } } },
	{ 694524, 146147, 3, {
		{ 262109, 20, 2792, 55860, 261724, 279, 336, 20541,
		  6675, 978, 4903 },
		{ 262109, 20, 2792, 55860, 261724, 279, 336, 22362,
		  6675, 978, 10006 },
		{ 262109, 20, 2792, 55860, 261724, 279, 336, 20622,
		  6675, 978, 4915 } } },
	{ 1384065, 224157, 3, {
		{ 524143, 36, 2299, 82800, 523759, 230, 276, 45832,
		  7705, 805, 11526 },
		{ 524143, 36, 2299, 82800, 523759, 230, 276, 45909,
		  7705, 805, 11526 },
		{ 524143, 36, 2299, 82800, 523759, 230, 276, 45931,
		  7705, 805, 11526 } } },
};

static char *pool(const char *key, int64_t cpu, int64_t mb, const char *below)
{
	return vs_asprintf("{'_typeName':'HostSystemResourceInfo','key':'%s',"
		"'config':{'cpuAllocation':{'reservation':%lld,"
		"'expandableReservation':true,'limit':-1},"
		"'memoryAllocation':{'reservation':%lld,'limit':-1}}"
		"%s%s%s}", key, (long long)cpu, (long long)mb,
		below ? ",'child':[" : "", below ? below : "",
		below ? "]" : "");
}

/* As ESXi nests them: vim has its memory two levels below it. */
static char *tree(const struct real *r, int64_t vms_mb)
{
	VS_FREE char *kernel = pool("host/system/kernel", r->system_below, 0,
				    NULL);
	VS_FREE char *system = pool("host/system", r->system_cpu,
				    r->system_mb, kernel);
	VS_FREE char *daemon = pool("host/vim/vmvisor/hostd", 0, r->vim_mb,
				    NULL);
	VS_FREE char *visor = pool("host/vim/vmvisor", r->vim_below, 0,
				   daemon);
	VS_FREE char *vim = pool("host/vim", r->vim_cpu, 0, visor);
	VS_FREE char *filter = pool("host/iofilters/spm", 0, 25, NULL);
	VS_FREE char *filters = pool("host/iofilters", 0, 0, filter);
	VS_FREE char *user = pool("host/user", 0, vms_mb, NULL);
	VS_FREE char *all = vs_asprintf("%s,%s,%s,%s", system, vim, filters,
					user);

	return pool("host", r->host_cpu, r->host_mb, all);
}

static void enter(struct vs_inv *inv, int i, const struct real *r)
{
	VS_FREE char *text = vs_asprintf(UPDATE(SET("f-hosts",
		OBJ("enter", "HostSystem", "host-%d",
		    CHANGE("name", STR("esx%d")) ","
		    CHANGE("parent", REF("ClusterComputeResource", "c")) ","
		    CHANGE("runtime.connectionState", STR("connected")) ","
		    CHANGE("runtime.powerState", STR("poweredOn")) ","
		    CHANGE("hardware.cpuInfo", "{'numCpuCores':%d,"
			   "'numCpuThreads':%d,'hz':%d000321}") ","
		    CHANGE("hardware.memorySize",
			   "{'_typeName':'long','_value':%lld}")))),
		i, i, r->cores, 2 * r->cores, r->mhz, (long long)r->mb << 20);

	assert_int_equal(feed(inv, text), 0);
}

static struct vcx_host *host(struct vs_inv *inv, int i)
{
	char moid[16];
	struct vcx_host *h;

	snprintf(moid, sizeof(moid), "host-%d", i);
	HASH_FIND_STR(inv->hosts, moid, h);
	assert_non_null(h);
	return h;
}

static void system_is(struct vs_inv *inv, int i, const struct real *r,
		      int64_t vms_mb)
{
	VS_FREE char *text = tree(r, vms_mb);
	struct vs_jdoc doc = parse(text);

	vs_capacity_system(host(inv, i), vs_j_root(&doc));
	assert_false(vs_json_failed(&doc, &err));
	vs_jdoc_free(&doc);
}

static void settle(struct vs_inv *inv)
{
	out[0] = '\0';
	vs_capacity_finish(inv);
	vs_inv_flush(inv);
}

/* What was delivered of all hosts, in per mille of what there really is. */
static void told(struct vs_inv *inv, const struct cluster *c, double *mem,
		 double *cpu)
{
	int64_t mb = 0, mhz = 0;

	settle(inv);
	for (struct vcx_host *h = inv->hosts; h; h = h->hh.next) {
		mb += h->capacity.told_mb;
		mhz += h->capacity.told_mhz;
	}
	*mem = 1000.0 * mb / c->mem_mb;
	*cpu = 1000.0 * mhz / c->cpu_mhz;
}

#define WITHIN(x, low, high) do {					\
	if ((x) < (low) || (x) > (high))				\
		fail_msg("cluster %d: %s is %.1f per mille", k, #x, x);	\
} while (0)

static void cluster_set(struct vs_inv *inv, const struct cluster *c)
{
	const struct vcx_effective e = { c->mem_mb, c->cpu_mhz, c->n };

	vs_capacity_cluster(inv, "c", &e);
}

static void real_clusters_are_told_what_they_have(void **state)
{
	struct vs_inv *inv = *state;

	for (int k = 0; k < (int)VS_COUNT(clusters); k++) {
		const struct cluster *c = &clusters[k];
		double mem, cpu;

		vs_inv_clear(inv);
		for (int i = 0; i < c->n; i++)
			enter(inv, i, &c->hosts[i]);
		/* by the estimate alone */
		told(inv, c, &mem, &cpu);
		WITHIN(mem, 970, 1008);
		WITHIN(cpu, 970, k == 2 ? 1160 : 1010);
		/* by the cluster's sums alone */
		cluster_set(inv, c);
		told(inv, c, &mem, &cpu);
		WITHIN(mem, 999, 1000);
		WITHIN(cpu, 999, 1000);
		/* by both */
		for (int i = 0; i < c->n; i++)
			system_is(inv, i, &c->hosts[i], 0);
		cluster_set(inv, c);
		told(inv, c, &mem, &cpu);
		WITHIN(mem, 970, 1000);
		WITHIN(cpu, 970, 1000);
		/* by systemResources alone */
		vs_inv_clear(inv);
		for (int i = 0; i < c->n; i++) {
			enter(inv, i, &c->hosts[i]);
			system_is(inv, i, &c->hosts[i], 0);
		}
		told(inv, c, &mem, &cpu);
		WITHIN(mem, 970, 1000);
		WITHIN(cpu, 970, 1000);
	}
}

static const struct real one = { 524143, 36, 2299, 82800, 523759,
				 230, 276, 45832, 7705, 805, 11526 };

static void what_vms_have_reserved_is_not_the_systems(void **state)
{
	enter(*state, 0, &one);
	system_is(*state, 0, &one, 300000);
	assert_int_equal(host(*state, 0)->capacity.sys_mem,
			 523759 - 45832 - 11526 - 25);
	assert_int_equal(host(*state, 0)->capacity.sys_cpu,
			 82800 - 276 - 7705);
}

static void sums_of_other_hosts_limit_none(void **state)
{
	const struct vcx_effective less = { 200000, 40000, 1 };
	const struct vcx_effective none = { 0, 0, 2 };
	int64_t mb;

	enter(*state, 0, &one);
	enter(*state, 1, &one);
	settle(*state);
	mb = host(*state, 0)->capacity.told_mb;
	/* The sums are of before the second host left its maintenance, */
	vs_capacity_cluster(*state, "c", &less);
	/* or vCenter doesn't say them. */
	vs_capacity_cluster(*state, "c", &none);
	vs_capacity_cluster(*state, "another", &(struct vcx_effective){
			    200000, 40000, 2 });
	settle(*state);
	assert_int_equal(host(*state, 0)->capacity.told_mb, mb);
	assert_string_equal(out, "");
	/* What is in maintenance is not in the sums, and limited with them. */
	assert_int_equal(feed(*state, UPDATE(SET("f-hosts", OBJ("modify",
		"HostSystem", "host-1", CHANGE("runtime.inMaintenanceMode",
		"{'_typeName':'boolean','_value':true}"))))), 0);
	vs_capacity_cluster(*state, "c", &less);
	settle(*state);
	assert_int_equal(host(*state, 0)->capacity.told_mb, 200000);
	assert_int_equal(host(*state, 0)->capacity.told_mhz, 40000);
	assert_int_equal(host(*state, 1)->capacity.told_mb, 200000);
}

static void hosts_without_system_resources_share_the_rest(void **state)
{
	const struct vcx_effective e = { 950000, 150000, 2 };

	enter(*state, 0, &one);
	enter(*state, 1, &one);
	system_is(*state, 0, &one, 0);
	vs_capacity_cluster(*state, "c", &e);
	settle(*state);
	assert_int_equal(host(*state, 0)->capacity.told_mb, 466376);
	assert_int_equal(host(*state, 1)->capacity.told_mb, 950000 - 466376);
	assert_int_equal(host(*state, 0)->capacity.told_mhz, 74819);
	assert_int_equal(host(*state, 1)->capacity.told_mhz, 150000 - 74819);
	/* never more than there is */
	vs_capacity_cluster(*state, "c", &(struct vcx_effective){
			    2000000, 150000, 2 });
	settle(*state);
	assert_int_equal(host(*state, 1)->capacity.told_mb, 524143);
}

static void a_small_rise_is_not_told_and_any_fall_is(void **state)
{
	struct vcx_effective e = { 460000, 70000, 1 };

	enter(*state, 0, &one);
	system_is(*state, 0, &one, 0);
	vs_capacity_cluster(*state, "c", &e);
	settle(*state);
	e.mem_mb += 1000;
	vs_capacity_cluster(*state, "c", &e);
	settle(*state);
	assert_string_equal(out, "");
	e.mem_mb = 459999;
	vs_capacity_cluster(*state, "c", &e);
	settle(*state);
	assert_string_equal(out, "host host-0 36x2299 459999MB hw0;");
	e.mem_mb = 462400;
	vs_capacity_cluster(*state, "c", &e);
	settle(*state);
	assert_string_equal(out, "host host-0 36x2299 462400MB hw0;");
}

static void a_host_of_another_size_is_estimated_again(void **state)
{
	struct real grown = one;

	enter(*state, 0, &one);
	system_is(*state, 0, &one, 0);
	settle(*state);
	assert_int_equal(host(*state, 0)->capacity.told_mb,
			 466376 * 985 / 1000);
	/* vCenter tells the same again: it is the same host. */
	enter(*state, 0, &one);
	assert_int_equal(host(*state, 0)->capacity.told_mb,
			 466376 * 985 / 1000);
	grown.mb *= 2;
	enter(*state, 0, &grown);
	assert_int_equal(host(*state, 0)->capacity.told_mb,
			 2 * 524143 * 88 / 100 - 1024);
	assert_int_equal(host(*state, 0)->capacity.read_at, 0);
	system_is(*state, 0, &grown, 0);
	grown.cores--;
	enter(*state, 0, &grown);
	assert_int_equal(host(*state, 0)->capacity.told_mhz,
			 35 * 2299 * 88 / 100);
}

static void what_changes_between_two_updates_is_told(void **state)
{
	const struct vcx_effective e = { 400000, 70000, 1 };

	enter(*state, 0, &one);
	settle(*state);
	vs_capacity_cluster(*state, "c", &e);
	/* An update of something else comes before the beat has ended. */
	DELIVERS(*state, UPDATE(SET("f-hosts", OBJ("modify", "HostSystem",
		"host-0", CHANGE("runtime.inQuarantineMode",
		"{'_typeName':'boolean','_value':true}")))),
		"host host-0 connected;");
	settle(*state);
	assert_string_equal(out, "host host-0 36x2299 400000MB hw0;");
}

#define NUMA_NODE(i, size) "{'typeId':" #i "," size ",'cpuID':[0,1,2,3]," \
	"'pciId':['0000:0" #i ":00.0']}"
#define NUMA_INFO(nodes) UPDATE(SET("f-hosts", OBJ("modify", "HostSystem", \
	"host-0", CHANGE("hardware.numaInfo", "{'numNodes':2,'numaNode':[" \
	nodes "]}"))))

/* memorySize is of 8.0; hosts of 6.7 and 7.0.1 have a range alone, which may be
 * one page. */
static void numa_nodes_have_their_part_of_what_vms_can_have(void **state)
{
	int cores;
	int64_t mb;

	enter(*state, 0, &one);
	assert_int_equal(feed(*state, NUMA_INFO(
		NUMA_NODE(0, "'memoryRangeLength':274877906944") ","
		NUMA_NODE(1, "'memoryRangeLength':4096"))), 0);
	assert_int_equal(vs_inv_pci_numa(host(*state, 0), "0000:00:00.0",
					 &cores, &mb), 0);
	assert_int_equal(mb, 262144 * (524143 * 88LL / 100 - 1024) / 524143);
	assert_int_equal(cores, 2);
	assert_int_equal(vs_inv_pci_numa(host(*state, 0), "0000:01:00.0",
					 &cores, &mb), 1);
	assert_int_equal(mb, 0);
	assert_int_equal(feed(*state, NUMA_INFO(
		NUMA_NODE(0, "'memorySize':137438953472,"
			  "'memoryRangeLength':4096"))), 0);
	vs_inv_pci_numa(host(*state, 0), "0000:00:00.0", &cores, &mb);
	assert_int_equal(mb, 131072 * (524143 * 88LL / 100 - 1024) / 524143);
}

/* As an HCX host tells: 400 MHz and 256 MB, of which its system has more. It was
 * taken for a host that tells nothing, and estimated. */
static void a_host_that_has_nothing_for_vms_gets_none(void **state)
{
	struct real hcx = one;

	hcx.host_mb = 256;
	hcx.host_cpu = 400;
	enter(*state, 0, &hcx);
	system_is(*state, 0, &hcx, 0);
	settle(*state);
	assert_int_equal(host(*state, 0)->capacity.told_mb, 1);
	assert_int_equal(host(*state, 0)->capacity.told_mhz, 1);
}

static void a_host_that_tells_nothing_is_estimated(void **state)
{
	struct vs_j none = { 0 };

	enter(*state, 0, &one);
	vs_capacity_system(host(*state, 0), none);
	settle(*state);
	assert_int_equal(host(*state, 0)->capacity.told_mb,
			 524143 * 88LL / 100 - 1024);
}

static void what_is_no_tree_is_not_read(void **state)
{
	struct vs_jdoc doc = parse("{'key':'host','config':{'cpuAllocation':"
		"{'reservation':'much'}}}");

	enter(*state, 0, &one);
	vs_capacity_system(host(*state, 0), vs_j_root(&doc));
	assert_true(vs_json_failed(&doc, &err));
	assert_string_equal(err.text,
		"config.cpuAllocation.reservation: expected a whole number");
	vs_jdoc_free(&doc);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(real_clusters_are_told_what_they_have),
		T(what_vms_have_reserved_is_not_the_systems),
		T(sums_of_other_hosts_limit_none),
		T(hosts_without_system_resources_share_the_rest),
		T(a_small_rise_is_not_told_and_any_fall_is),
		T(a_host_of_another_size_is_estimated_again),
		T(what_changes_between_two_updates_is_told),
		T(numa_nodes_have_their_part_of_what_vms_can_have),
		T(a_host_that_has_nothing_for_vms_gets_none),
		T(a_host_that_tells_nothing_is_estimated),
		T(what_is_no_tree_is_not_read),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
