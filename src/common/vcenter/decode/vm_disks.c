/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A VM's disks: their files, those that they stand on, and the snapshot that is
 * a parent's.
 *
 * Rules: a file in a directory that isn't the VM's own is another's; of the
 * files beneath, a linked clone's parent is one, and so is whatever else is
 * there. Which snapshot is meant its name says, wherever it is in the tree.
 */
#include <stdlib.h>
#include <string.h>

#include "util/buf.h"
#include "util/mem.h"
#include "vcenter/decode/inventory.h"

#define BASES_MAX 65536
#define CHAIN_MAX 64		/* vSphere allows 32 snapshots */

/* Its own file, and those that it stands on: of snapshots, of a linked clone's
 * parent. */
void vs_inv_read_disk(struct vcx_vm *vm, struct vs_j backing)
{
	struct vs_j under = vs_j_opt(backing, "parent");

	vm->disks.files[vm->disks.n++] = vs_strdup(
		vs_j_str_or(vs_j_opt(backing, "fileName"), ""));
	for (int depth = 0; depth < CHAIN_MAX && !vs_j_null(under); depth++) {
		VS_GROW(vm->disks.under, vm->disks.cap_under,
			vm->disks.nunder + 1);
		vm->disks.under[vm->disks.nunder++] = vs_strdup(
			vs_j_str_or(vs_j_opt(under, "fileName"), ""));
		under = vs_j_opt(under, "parent");
	}
}

void vs_inv_clear_disks(struct vcx_vm *vm)
{
	vs_strs_free(vm->disks.files, vm->disks.n);
	vs_strs_free(vm->disks.under, vm->disks.nunder);
	vm->disks.files = vm->disks.under = NULL;
	vm->disks.n = vm->disks.nunder = vm->disks.cap_under = 0;
}

/* Returns the moId of the first snapshot of our name; others may lie above
 * it. */
const char *vs_inv_find_snapshot(struct vs_j list, int depth)
{
	size_t n = depth < CHAIN_MAX ? vs_j_len(list) : 0;
	const char *found = NULL;

	for (size_t i = 0; i < n && !found; i++) {
		struct vs_j s = vs_j_at(list, i);

		if (!strcmp(vs_j_str_or(vs_j_opt(s, "name"), ""), VCX_SNAPSHOT))
			found = vs_j_ref(vs_j_opt(s, "snapshot"), NULL);
		else
			found = vs_inv_find_snapshot(vs_j_opt(s,
						"childSnapshotList"), depth + 1);
	}
	return found;
}

/* "[store] dir/" of "[store] dir/vm.vmx"; a bare "[store] vm.vmx" has none. */
static char *dir_of(const char *file)
{
	const char *end = strrchr(file, '/');
	char *out;

	if (!end)
		return vs_strdup("");
	out = vs_strdup(file);
	out[end - file + 1] = '\0';
	return out;
}

static bool disks_own(const struct vcx_vm *vm)
{
	if (!*vm->v.disk_dir)
		return false;
	for (size_t i = 0; i < vm->disks.n; i++) {
		VS_FREE char *dir = dir_of(vm->disks.files[i]);

		if (strcmp(dir, vm->v.disk_dir))
			return false;
	}
	return true;
}

/* Of the files beneath its disks, the directories other than its own. */
static char *bases_of(const struct vcx_vm *vm)
{
	struct vs_buf b = VS_BUF_INIT(BASES_MAX);
	char *out;

	for (size_t i = 0; i < vm->disks.nunder; i++) {
		VS_FREE char *dir = dir_of(vm->disks.under[i]);
		VS_FREE char *line = vs_asprintf("%s\n", dir);

		if (*dir && strcmp(dir, vm->v.disk_dir) &&
		    (!b.data || !strstr(b.data, line)))
			vs_buf_printf(&b, "%s", line);
	}
	out = vs_strdup(b.data ? b.data : "");
	vs_buf_free(&b);
	return out;
}

void vs_inv_vm_disks(struct vcx_vm *vm)
{
	free((char *)vm->v.disk_dir);
	free((char *)vm->v.bases);
	vm->v.disk_dir = dir_of(vm->v.vmx);
	vm->v.bases = bases_of(vm);
	vm->v.disks_own = disks_own(vm);
}
