/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vsphere.conf in slurmctld: what parse.c read, and what slurm.conf adds. Knows
 * slurm.conf, but not Slurm's nodes (nodes.c).
 */
#include "plugins/slurm/compat.h"
#include "util/mem.h"
#include "load.h"

char *vs_conf_path(void)
{
	char *path = get_extra_conf_path("vsphere.conf");
	char *copy = vs_strdup(path);

	xfree(path);
	return copy;
}

char **vs_conf_expand_slurm(const char *list)
{
	vs_hostlist_t hl = hostlist_create(list);
	char **names = NULL, *host;
	size_t n = 0, cap = 0;

	if (!hl)
		return NULL;
	while ((host = hostlist_shift(hl))) {
		VS_GROW(names, cap, n + 2);
		names[n++] = host;
	}
	hostlist_destroy(hl);
	if (names)
		names[n] = NULL;
	return names;
}

int64_t vs_conf_memory_mb(const struct vs_conf_partition *p, uint64_t real)
{
	int64_t over = p->memory_overhead_mb;

	if (over < 0)
		over = 256 + (int64_t)real / 32;
	return ((int64_t)real + over + 3) / 4 * 4;
}

/* ---- what slurm.conf adds --------------------------------------------------- */

/* slurmd's --conf-server for the guests: every controller there is. */
static char *conf_server(void)
{
	char *all = NULL;

	for (uint32_t i = 0; i < slurm_conf.control_cnt; i++)
		xstrfmtcat(all, "%s%s:%u", i ? "," : "",
			   slurm_conf.control_addr[i] ?
			   slurm_conf.control_addr[i] :
			   slurm_conf.control_machine[i],
			   slurm_conf.slurmctld_port);
	return all;
}

static void from_slurm_conf(struct vs_conf *conf)
{
	char *servers = conf_server();

	conf->password_uid = slurm_conf.slurm_user_id;
	/* slurm_protocol_api.c, slurm_send_addr_recv_msgs(): a pause of 1 s
	 * between the tries. */
	conf->slurm.resume_timeout_s = slurm_conf.resume_timeout;
	conf->slurm.kill_tries_s = (MIN(slurm_conf.msg_timeout, 10) + 1) *
		(slurm_conf.tcp_timeout + 1);
	vs_str_replace(&conf->state_dir, slurm_conf.state_save_location);
	vs_str_replace(&conf->slurm.cluster, slurm_conf.cluster_name);
	vs_str_replace(&conf->slurm.conf_server, servers);
	xfree(servers);
	conf->munge_socket = vs_conf_munge_socket(slurm_conf.authinfo);
}

struct vs_conf *vs_conf_build(const struct vs_conf_file *f, struct vs_err *err)
{
	struct vs_conf *conf = vs_conf_new();

	if (vs_conf_fill(conf, f, vs_conf_expand_slurm, err)) {
		vs_conf_free(conf);
		return NULL;
	}
	from_slurm_conf(conf);
	return conf;
}

struct vs_conf *vs_conf_read(const char *path, struct vs_conf_file *f,
			     struct vs_err *err)
{
	struct vs_conf *conf;

	if (vs_conf_scan(f, path, err))
		return NULL;
	conf = vs_conf_build(f, err);
	if (conf && (vs_conf_ca_check(f, err) ||
		     vs_conf_password_check(f, slurm_conf.slurm_user_id, err))) {
		vs_conf_free(conf);
		return NULL;
	}
	return conf;
}
