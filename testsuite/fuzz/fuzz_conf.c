/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files that people write: the first byte says which parser the rest is for
 * (S: slurm.conf and svf's search in it; A: SVF_CONTROL; anything else:
 * vsphere.conf, scanned, filled, host lists expanded).
 *
 * What must hold: nothing crashes; -1 comes with a code and one line; what is
 * accepted has all that is required, and each host is a plain name.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "plugins/conf/conf.h"
#include "svf/rpc/rpc.h"
#include "util/hostlist.h"
#include "util/mem.h"
#include "testsuite/unit/scratch.h"

static char dir[SCRATCH_LEN];
static char slurm_path[SCRATCH_FILE], vsphere_path[SCRATCH_FILE];

static void clean(void)
{
	unlink(slurm_path);
	unlink(vsphere_path);
	rmdir(dir);
}

static void prepare(void)
{
	if (slurm_path[0])
		return;
	if (!mkdtemp(scratch_path(dir, "fuzz")))
		abort();
	snprintf(slurm_path, sizeof(slurm_path), "%s/slurm.conf", dir);
	snprintf(vsphere_path, sizeof(vsphere_path), "%s/vsphere.conf", dir);
	setenv("SLURM_CONF", slurm_path, 1);
	atexit(clean);
}

static void put(const char *path, const uint8_t *data, size_t size)
{
	FILE *f = fopen(path, "w");

	if (!f || fwrite(data, 1, size, f) != size || fclose(f))
		abort();
}

static void where(void)
{
	struct vs_err err = { 0 };
	struct svf_where w;

	if (svf_where(&w, &err) && (err.code == VS_OK || !err.text[0]))
		abort();
	for (int i = 0; i < w.nends; i++)
		if (w.ends[i].port < 1 || w.ends[i].port > 65535)
			abort();
	svf_where_free(&w);
}

static void check(const struct vs_conf *c)
{
	if (!c->vcenter || !c->username || !c->password_file ||
	    !c->nadapters || !c->npartitions || !c->nclusters ||
	    (!c->verify_tls && c->ca_file))
		abort();
	for (size_t i = 0; i < c->nhosts; i++)
		if (strpbrk(c->hosts[i].name, "[],"))
			abort();
}

static void vsphere(void)
{
	struct vs_conf *conf = vs_conf_new();
	struct vs_conf_file f = { 0 };
	struct vs_err err = { 0 };

	if (vs_conf_scan(&f, vsphere_path, &err) ||
	    vs_conf_fill(conf, &f, vs_hostlist_expand, &err)) {
		if (err.code != VS_E_CONFIG || !err.text[0] ||
		    strchr(err.text, '\n'))
			abort();
	} else {
		check(conf);
	}
	vs_conf_file_free(&f);
	vs_conf_free(conf);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	VS_FREE char *text = vs_calloc(size + 1, 1);

	prepare();
	if (!size)
		return 0;
	memcpy(text, data + 1, size - 1);
	unsetenv("SVF_CONTROL");
	put(slurm_path, data + 1, data[0] == 'S' ? size - 1 : 0);
	put(vsphere_path, data + 1, size - 1);
	if (data[0] == 'A')
		setenv("SVF_CONTROL", text, 1);
	if (data[0] == 'A' || data[0] == 'S')
		where();
	else
		vsphere();
	return 0;
}

#define FUZZ_CORPUS "conf"
#define FUZZ_ROUNDS 2000		/* each writes a file */
#include "fuzz_main.h"
