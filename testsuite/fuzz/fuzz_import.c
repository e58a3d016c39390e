/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A cluster file of vHPC-toolkit, whoever wrote it.
 *
 * What must hold: nothing crashes; there are VMs or an error with a line; all
 * that is printed is lines of vsphere.conf and comments; a password is in none
 * of it.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "svf/import.h"
#include "util/mem.h"

#define PASSWORD "VMware1!"

static void must(bool good)
{
	if (!good)
		abort();
}

/* Does the text hold these words once alone? */
static bool once(const uint8_t *data, size_t size, const char *words)
{
	size_t len = strlen(words);
	const char *at = memmem(data, size, words, len);

	return at && !memmem(at + len, size - len -
			     (size_t)(at - (const char *)data), words, len);
}

/* secret: the password stands nowhere but in its own line. */
static void must_be_lines(const char *conf, const struct svf_cluster *im,
			  bool secret)
{
	static const char *const begins[] = { "#", "\n", "VCenter=",
		"Username=", "PasswordFile=", "Datacenter=", "Folder=",
		"Datastore=", "ClusterName=", "AdapterName=", "PartitionName=" };
	const char *password = im->vms[0].values[SVF_K_PASSWORD];

	for (const char *l = conf; *l; l = strchr(l, '\n') + 1) {
		size_t i = 0;

		must(strchr(l, '\n') != NULL);
		while (i < VS_COUNT(begins) &&
		       strncmp(l, begins[i], strlen(begins[i])))
			i++;
		must(i < VS_COUNT(begins));
	}
	must(!secret || !password || strcmp(password, PASSWORD) ||
	     !strstr(conf, password));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct svf_cluster im;
	struct vs_err err = { 0 };
	VS_FREE char *conf = NULL;

	if (size > SVF_IMPORT_TEXT_MAX)
		return 0;
	if (svf_import_parse(&im, (const char *)data, size, &err)) {
		must(!strncmp(err.text, "line ", 5) && strstr(err.text, "column"));
	} else {
		must(im.nvms > 0 && im.nvms <= SVF_IMPORT_VMS_MAX);
		for (size_t i = 0; i < im.nvms; i++)
			must(im.vms[i].name && im.vms[i].name[0]);
		if (!svf_import_conf(&im, &conf, &err))
			must_be_lines(conf, &im, once(data, size, PASSWORD));
		else
			must(err.text[0]);
	}
	svf_import_free(&im);
	return 0;
}

#define FUZZ_CORPUS "import"
#define FUZZ_ROUNDS 10000
#include "fuzz_main.h"
