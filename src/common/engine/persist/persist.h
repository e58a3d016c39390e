/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files in StateSaveLocation. All of it reads or writes them: call it without the
 * lock. */
#ifndef VS_ENGINE_PERSIST_H
#define VS_ENGINE_PERSIST_H

#include "util/err.h"
#include "util/name.h"

/* cluster_id.c: the id that the file of this directory holds, made if there is
 * none. Returns 0. Returns -1 and sets err (VS_E_CONFIG) if it can't be had. */
int vs_cluster_id_load(const char *state_dir, char out[VS_UUID_LEN],
		       struct vs_err *err);
/* Another id than ours is in force from now on (svf adopt). Returns 0, or -1 as
 * vs_file_replace(). */
int vs_cluster_id_store(const char *state_dir, const char *id,
			struct vs_err *err);
/* file_replace.c: writes the file anew. The old one or the new one is there,
 * whole, whatever happens. Returns 0. Returns -1 and sets err (VS_E_RETRY). */
int vs_file_replace(const char *path, const char *text, struct vs_err *err);

#endif
