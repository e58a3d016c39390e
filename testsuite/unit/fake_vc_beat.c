/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See fake_vc.h: the slow beat, and what of the client does nothing here. */
#include <stdio.h>
#include <string.h>
#include "fake_vc.h"
#include "util/mem.h"

bool fake_slow_asked;
enum vs_vc_poll fake_calm;
enum vs_vc_auto fake_drs = VS_VC_AUTO_NO, fake_ha = VS_VC_AUTO_NO;
const char *fake_cluster_name = "C1";
bool fake_moves;
struct vs_vc_override fake_override;
bool fake_rights_known = true;
struct vs_vc_missing_privilege fake_lack;
const char *fake_excess = "";
int64_t fake_pool_mhz, fake_pool_mb, fake_store_mb;
enum fake_stores fake_stores;
int64_t fake_t_mb;
struct vs_vc_store fake_two[2] = {
	{ .name = "s", .moid = "datastore-1" },
	{ .name = "t", .moid = "datastore-2" },
};

/* As a sound vCenter would say. */
void fake_beat_reset(void)
{
	fake_slow_asked = false;
	memset(&fake_where, 0, sizeof(fake_where));
	memset(&fake_stats, 0, sizeof(fake_stats));
	memset(&fake_target, 0, sizeof(fake_target));
	fake_drs = fake_ha = VS_VC_AUTO_NO;
	fake_cluster_name = "C1";
	fake_moves = false;
	memset(&fake_override, 0, sizeof(fake_override));
	memset(&fake_lack, 0, sizeof(fake_lack));
	fake_rights_known = true;
	fake_excess = "";
}

struct fake_where fake_where;
struct vs_vc_stats fake_stats;

int64_t vs_vc_where(struct vs_vc *vc, const struct vs_vc_where *w,
		    struct vs_err *err)
{
	struct fake_where *f = &fake_where;

	(void)vc;
	(void)err;
	vs_strlcpy(f->name, w->name, sizeof(f->name));
	vs_strlcpy(f->cluster, w->cluster, sizeof(f->cluster));
	f->hosts[0] = '\0';
	for (size_t i = 0; i < w->nhosts; i++) {
		size_t at = strlen(f->hosts);

		snprintf(f->hosts + at, sizeof(f->hosts) - at, "%s%s",
			 i ? " " : "", w->hosts[i]);
	}
	fake_trace_line("place name=%s cluster=%s hosts=%s", f->name,
			f->cluster, f->hosts);
	return (int64_t)(1000000 + ++f->asked);
}

/* To the question of that number, counted from 1. */
void fake_recommend(int question, const char *host, const struct vs_err *err)
{
	fake_tell(where, 1000000 + (uint64_t)question, host,
			      err);
}

struct fake_target fake_target;

int64_t vs_vc_target(struct vs_vc *vc, const char *cluster, const char *host,
		     struct vs_err *err)
{
	(void)vc;
	(void)err;
	fake_trace_line("config_target cluster=%s host=%s", cluster, host);
	vs_strlcpy(fake_target.host, host, sizeof(fake_target.host));
	return (int64_t)(2000000 + ++fake_target.asked);
}

/* To the question of that number, counted from 1. */
void fake_offers(int question, const char *pci, const char *system,
		 const struct vs_err *err)
{
	struct vs_vc_target d = { .system = system };
	const struct vs_vc_targets t = { .devices = &d, .ndevices = pci != NULL };

	vs_strlcpy(d.pci, pci ? pci : "", sizeof(d.pci));
	fake_tell(target, 2000000 + (uint64_t)question, &t, err);
}

void fake_offers_options(int question, const struct vs_vc_option *o, size_t n)
{
	const struct vs_vc_targets t = { .options = o, .noptions = n };

	fake_tell(target, 2000000 + (uint64_t)question, &t,
			       NULL);
}

void fake_host(const struct vs_vc_host *h)
{
	fake_tell(host, h);
}

void fake_slow(const struct vs_vc_task *tasks, size_t n)
{
	struct vs_vc_pool pool = { "C1", fake_pool_mhz, fake_pool_mb, -1, -1,
				   -1, -1 };
	struct vs_vc_cluster cl = { .name = fake_cluster_name, .moid = "domain-c1",
		.pool_moid = "resgroup-1", .drs = fake_drs, .ha = fake_ha,
		.moves = fake_moves,
		.overrides = &fake_override,
		.noverrides = fake_override.vm ? 1 : 0 };
	struct vs_vc_missing_privilege spare = { "", "", fake_excess, false };
	struct vs_vc_slow s = { .tasks = tasks, .ntasks = n,
				.store_free_mb = fake_store_mb,
				.pools = &pool, .npools = 1,
				.clusters = &cl, .nclusters = 1,
				.rights_known = fake_rights_known,
				.lacks = &fake_lack,
				.nlacks = fake_lack.key ? 1 : 0,
				.excess = &spare,
				.nexcess = fake_excess[0] ? 1 : 0 };

	fake_two[0].free_mb = fake_store_mb;
	fake_two[1].free_mb = fake_t_mb;
	if (fake_stores) {
		s.stores = fake_two;
		s.nstores = 2;
	}
	fake_slow_asked = false;
	fake_tell(slow_begin);
	fake_tell(slow, &s);
}

void vs_vc_free(struct vs_vc *vc, int logout_ms)
{
	(void)vc;
	(void)logout_ms;
}

bool vs_vc_iterate(struct vs_vc *vc, int64_t now_ms, int wait_ms, int wake_fd)
{
	(void)vc;
	(void)now_ms;
	(void)wait_ms;
	(void)wake_fd;
	return true;
}

bool vs_vc_is_up(const struct vs_vc *vc)
{
	(void)vc;
	return true;
}

void vs_vc_retry(struct vs_vc *vc)
{
	(void)vc;
}

void vs_vc_poll_request(struct vs_vc *vc)
{
	(void)vc;
	fake_slow_asked = true;
}

void vs_vc_poll_set(struct vs_vc *vc, enum vs_vc_poll calm)
{
	(void)vc;
	fake_calm = calm;
}

void vs_vc_stats_get(const struct vs_vc *vc, struct vs_vc_stats *out)
{
	(void)vc;
	*out = fake_stats;
}

struct vs_vc *vs_vc_new(const struct vs_vc_conf *conf,
			const struct vs_vc_events *events, void *arg,
			struct vs_err *err)
{
	(void)conf;
	(void)events;
	(void)arg;
	(void)err;
	return (struct vs_vc *)&fake_slow_asked;
}
