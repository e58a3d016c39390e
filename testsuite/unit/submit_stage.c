/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See submit_stage.h. Bit strings and lists are libslurmfull's own; what
 * slurmctld has is played. */
#include "submit_stage.h"
#include "plugins/core_loader.h"
#include "util/mem.h"

struct submit_world w;
job_desc_msg_t desc;
job_record_t job;
char *said;
static vs_job_details_t details;

vs_list_t avail_feature_list, part_list;
part_record_t *default_part_loc;

int job_submit(job_desc_msg_t *d, uint32_t uid, char **err_msg);
int job_modify(job_desc_msg_t *d, job_record_t *j, uint32_t uid VS_MODIFY_ARGS);

/* ---- the core ------------------------------------------------------------------- */

static bool ours(int i)
{
	return i < 6 || i >= 8;
}

static bool core_running(void)
{
	return w.running;
}

static uint64_t core_epoch(void)
{
	return w.epoch;
}

static void core_node_ids(const char *const *names, size_t n, int *ids)
{
	w.asked_ids++;
	for (size_t i = 0; i < n; i++)
		ids[i] = names[i][0] == 'm' ? -1 : 100 + names[i][1] - '0';
}

static void core_kinds(const int *ids, size_t n, struct vs_vm_type *out,
		       char ***names)
{
	*names = vs_calloc(3, sizeof(**names));
	(*names)[0] = vs_strdup("sriov-roce");
	(*names)[1] = vs_strdup("vmxnet3");
	for (size_t i = 0; i < n; i++) {
		int at = ids[i] - 100;

		out[i] = (struct vs_vm_type) { .adapter = -1 };
		if (ids[i] < 0)
			continue;
		out[i].adapter = at == 4 || at == 5;
		out[i].vfs = !out[i].adapter;
		out[i].alone = at >= 8;
		out[i].like = out[i].adapter ? 1 : out[i].alone ? 2 : 0;
	}
}

static size_t core_capacity(const int *ids, size_t n, size_t want, bool more)
{
	size_t most = more ? want : MIN(n, want);

	w.asked++;
	w.more = more;
	for (size_t i = 0; i < n; i++)
		assert_true(ids[i] >= 100 && ours(ids[i] - 100));
	return MIN(most, w.vfs);
}

static const struct vs_core_api api = {
	.running = core_running, .epoch = core_epoch,
	.node_ids = core_node_ids, .kinds = core_kinds,
	.capacity = core_capacity,
};

const struct vs_core_api *vs_core_open(struct vs_err *err)
{
	(void)err;
	return &api;
}

/* ---- slurmctld --------------------------------------------------------------------- */

static struct { const char *name; uint8_t op; uint16_t count, paren; } parts[64];
static size_t nparts;

void reads(const char *name, uint8_t op, uint16_t count, uint16_t paren)
{
	assert_true(nparts < VS_COUNT(parts));
	parts[nparts].name = name;
	parts[nparts].op = op;
	parts[nparts].count = count;
	parts[nparts++].paren = paren;
}

void constrain(const char *text)
{
	static char copy[64];
	char *at = copy, *second;

	vs_strlcpy(copy, text, sizeof(copy));
	second = strpbrk(at, "|&");
	desc.features = (char *)text;
	if (second) {
		reads(at, *second == '|' ? FEATURE_OP_OR : FEATURE_OP_AND, 0, 0);
		*second++ = '\0';
	}
	reads(second ? second : at, FEATURE_OP_END, 0, 0);
}

int vs_constraint_read(const char *features, uint32_t user, job_record_t **out)
{
	job_record_t *read = xmalloc(sizeof(*read));

	assert_non_null(features);
	assert_int_equal(user, 1000);
	w.read++;
	read->details = xmalloc(sizeof(*read->details));
	read->details->feature_list = list_create(xfree_ptr);
	for (size_t i = 0; i < nparts; i++) {
		job_feature_t *f = xmalloc(sizeof(*f));

		f->name = (char *)parts[i].name;
		f->op_code = parts[i].op;
		f->count = parts[i].count;
		f->paren = parts[i].paren;
		list_append(read->details->feature_list, f);
	}
	*out = read;
	return w.rc;
}

static int bits_free(void *x, void *arg)
{
	job_feature_t *f = x;

	(void)arg;
	FREE_NULL_BITMAP(f->node_bitmap_avail);
	return 0;
}

void vs_constraint_free(job_record_t *read)
{
	if (!read)
		return;
	list_for_each(read->details->feature_list, bits_free, NULL);
	FREE_NULL_LIST(read->details->feature_list);
	xfree(read->details);
	xfree(read);
}

static int same_name(void *x, void *key)
{
	return !strcmp(((node_feature_t *)x)->name, key);
}

struct filter { bitstr_t *nodes; int op; bool counts; };

/* As Slurm: from left to right, what is in brackets left out. */
static int feature_apply(void *x, void *arg)
{
	job_feature_t *f = x;
	struct filter *to = arg;
	node_feature_t *known = list_find_first(avail_feature_list, same_name,
						f->name);

	f->node_bitmap_avail = bit_copy(known->node_bitmap);
	to->counts |= f->count;
	if (f->op_code == VS_FEATURE_XOR || f->op_code == FEATURE_OP_XAND)
		;
	else if (to->op == FEATURE_OP_AND)
		bit_and(to->nodes, f->node_bitmap_avail);
	else if (to->op == FEATURE_OP_OR)
		bit_or(to->nodes, f->node_bitmap_avail);
	to->op = f->op_code;
	return 0;
}

void vs_constraint_nodes(job_record_t *read, bitstr_t *nodes)
{
	struct filter to = { .nodes = bit_copy(nodes), .op = FEATURE_OP_AND };

	list_for_each(read->details->feature_list, feature_apply, &to);
	if (!to.counts)
		bit_and(nodes, to.nodes);
	FREE_NULL_BITMAP(to.nodes);
}

bitstr_t *vs_nodes_bitmap(const char *names)
{
	bitstr_t *nodes = bit_alloc(NODES);

	for (; *names; names++)
		bit_set(nodes, *names - '0');
	return nodes;
}

bool vs_federated(void)
{
	return w.federated;
}

bool validate_operator(uid_t uid)
{
	(void)uid;
	return w.operator;
}

static int same_part(void *x, void *key)
{
	return !strcmp(((part_record_t *)x)->name, key);
}

part_record_t *find_part_record(char *name)
{
	w.found++;
	return list_find_first(part_list, same_part, name);
}

part_record_t *part(const char *name)
{
	return find_part_record((char *)name);
}

/* ---- the stage ------------------------------------------------------------------------- */

static bitstr_t *range(int first, int last)
{
	bitstr_t *nodes = bit_alloc(NODES);

	bit_nset(nodes, first, last);
	return nodes;
}

static void feature_add(const char *name, bitstr_t *nodes)
{
	node_feature_t *f = xmalloc(sizeof(*f));

	f->name = (char *)name;
	f->node_bitmap = nodes;
	list_append(avail_feature_list, f);
}

static part_record_t *part_make(const char *name, int first, int last)
{
	part_record_t *p = xmalloc(sizeof(*p));

	p->name = (char *)name;
	p->node_bitmap = range(first, last);
	p->total_nodes = (uint32_t)(last - first + 1);
	p->state_up = PARTITION_UP;
	p->max_share = 1;
	list_append(part_list, p);
	return p;
}

static void nodes_make(void)
{
	config_record_t *config = xmalloc(sizeof(*config));

	node_record_count = NODES;
	node_record_table_ptr = xcalloc(NODES, sizeof(node_record_t *));
	for (int i = 0; i < NODES; i++) {
		node_record_table_ptr[i] = xmalloc(sizeof(node_record_t));
		node_record_table_ptr[i]->name =
			xstrdup_printf("%c%d", ours(i) ? 'v' : 'm', i);
	}
	config->cpus = 2;
	config->node_bitmap = range(0, NODES - 1);
	config_list = list_create(NULL);
	list_append(config_list, config);
}

static void job_make(void)
{
	memset(&job, 0, sizeof(job));
	memset(&details, 0, sizeof(details));
	job.magic = JOB_MAGIC;
	job.job_id = 7;
	job.user_id = 1000;
	job.partition = (char *)"roce";
	job.details = &details;
	details.min_nodes = details.max_nodes = 2;
	details.features = (char *)"sriov-roce";
}

int stage_up(void **state)
{
	(void)state;
	w = (struct submit_world) {
		.running = true, .epoch = w.epoch + 1, .vfs = NODES,
	};
	nparts = 0;
	nodes_make();
	avail_feature_list = list_create(NULL);
	feature_add("vmxnet3", range(4, 5));
	feature_add("bigmem", range(6, 7));
	feature_add("sriov-roce", range(0, 3));
	bit_nset(((node_feature_t *)list_find_first(
		avail_feature_list, same_name, "sriov-roce"))->node_bitmap, 8,
		 9);
	part_list = list_create(NULL);
	part_make("roce", 0, 3);
	part_make("eth", 4, 5);
	default_part_loc = part_make("both", 0, 5);
	part_make("metal", 6, 7);
	part_make("fresh", 8, 9);
	part_make("hidden", 0, 5)->flags = PART_FLAG_HIDDEN;
	slurm_conf.select_type = (char *)"select/cons_tres_vsphere";
	slurm_conf.enforce_part_limits = PARTITION_ENFORCE_NONE;
	slurm_conf.sched_params = NULL;
	slurm_init_job_desc_msg(&desc);
	desc.user_id = 1000;
	job_make();
	return 0;
}

int stage_down(void **state)
{
	node_feature_t *f;
	part_record_t *p;
	config_record_t *config;

	(void)state;
	while ((f = list_pop(avail_feature_list))) {
		FREE_NULL_BITMAP(f->node_bitmap);
		xfree(f);
	}
	FREE_NULL_LIST(avail_feature_list);
	while ((p = list_pop(part_list))) {
		FREE_NULL_BITMAP(p->node_bitmap);
		xfree(p);
	}
	FREE_NULL_LIST(part_list);
	while ((config = list_pop(config_list))) {
		FREE_NULL_BITMAP(config->node_bitmap);
		xfree(config);
	}
	FREE_NULL_LIST(config_list);
	for (int i = 0; i < NODES; i++) {
		xfree(node_record_table_ptr[i]->name);
		xfree(node_record_table_ptr[i]);
	}
	xfree(node_record_table_ptr);
	xfree(said);
	return 0;
}

int submit(void)
{
	xfree(said);
	return job_submit(&desc, 1000, &said);
}

int modify(uint32_t uid)
{
	xfree(said);
	return job_modify(&desc, &job, uid VS_MODIFY_PASS(&said));
}
