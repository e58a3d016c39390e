/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a cluster file says of a VM's kind of clone, reservations, shares, sockets
 * and secure boot, as keys of its PartitionName= line. What is so anyway is left out; what
 * the toolkit (or vCenter, then) would not take is an error with its place.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "import.h"
#include "util/mem.h"

#define SHARES_MAX 1000000	/* vSphere's, of a VM */

static bool given(const struct svf_imported *vm, enum svf_key k)
{
	return vm->values[k] && !svf_variable(vm->values[k]);
}

bool svf_import_yes(const char *v)
{
	return !strchr("nNfF0", *v) && strcasecmp(v, "off");
}

static long number(const struct svf_imported *vm, enum svf_key k)
{
	return given(vm, k) ? strtol(vm->values[k], NULL, 10) : 0;
}

int svf_import_hardware_check(const struct svf_imported *vm, struct vs_err *err)
{
	static const enum svf_key shares[] = { SVF_K_CPU_SHARES,
					       SVF_K_MEMORY_SHARES };
	long cores = number(vm, SVF_K_CORES), cpus = number(vm, SVF_K_CPU);

	for (size_t i = 0; i < VS_COUNT(shares); i++) {
		enum svf_key k = shares[i];
		long n = number(vm, k);

		if (given(vm, k) && (n < 1 || n > SHARES_MAX))
			return vs_err_set(err, VS_E_CONFIG,
				"line %d column %d: %s is a number from 1 to %d, not %.40s",
				vm->at[k].line, vm->at[k].col, svf_key_name(k),
				SHARES_MAX, vm->values[k]);
	}
	if (cores && cpus && cpus % cores)
		return vs_err_set(err, VS_E_CONFIG,
			"line %d column %d: cores_per_socket %ld doesn't divide cpu %ld",
			vm->at[SVF_K_CORES].line, vm->at[SVF_K_CORES].col,
			cores, cpus);
	return 0;
}

static void add(char **text, const char *key, const char *value)
{
	VS_FREE char *had = *text;

	*text = vs_asprintf("%s %s=%s", had, key, value);
}

char *svf_import_hardware(const struct svf_imported *vm)
{
	/* its card has all memory reserved anyway */
	bool pins = vm->values[SVF_K_SRIOV] != NULL;
	bool high = given(vm, SVF_K_LATENCY) &&
		!strcasecmp(vm->values[SVF_K_LATENCY], "high");
	char *text = vs_strdup("");

	/* neither can be forked: a full clone then, with a note */
	if (given(vm, SVF_K_INSTANT) && !pins && !vm->values[SVF_K_PVRDMA] &&
	    svf_import_yes(vm->values[SVF_K_INSTANT]))
		add(&text, "Clone", "instant");
	else if (given(vm, SVF_K_LINKED) &&
		 svf_import_yes(vm->values[SVF_K_LINKED]))
		add(&text, "Clone", "linked");
	if (given(vm, SVF_K_CPU_RESERVATION) && !high &&
	    svf_import_yes(vm->values[SVF_K_CPU_RESERVATION]))
		add(&text, "CPUReservation", "full");
	if (given(vm, SVF_K_MEMORY_RESERVATION) && !high && !pins &&
	    svf_import_yes(vm->values[SVF_K_MEMORY_RESERVATION]))
		add(&text, "MemoryReservation", "full");
	if (given(vm, SVF_K_CPU_SHARES))
		add(&text, "CPUShares", vm->values[SVF_K_CPU_SHARES]);
	if (given(vm, SVF_K_MEMORY_SHARES))
		add(&text, "MemoryShares", vm->values[SVF_K_MEMORY_SHARES]);
	if (number(vm, SVF_K_CORES))
		add(&text, "CoresPerSocket", vm->values[SVF_K_CORES]);
	if (given(vm, SVF_K_SECURE_BOOT))
		add(&text, "SecureBoot", svf_import_yes(
			vm->values[SVF_K_SECURE_BOOT]) ? "yes" : "no");
	return text;
}

bool svf_import_hardware_same(const struct svf_imported *a,
			      const struct svf_imported *b)
{
	VS_FREE char *one = svf_import_hardware(a);
	VS_FREE char *other = svf_import_hardware(b);

	return !strcmp(one, other);
}
