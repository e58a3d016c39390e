/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files in StateSaveLocation. All of it reads or writes them: call it without the
 * lock. */
#ifndef VS_ENGINE_PERSIST_H
#define VS_ENGINE_PERSIST_H

#include <stdint.h>
#include "util/err.h"
#include "util/name.h"

#define VS_CLUSTER_ID_FILE "slurm_vsphere.id"

/* cluster_id.c: the id that the file of this directory holds, made if there is
 * none. Returns 0. Returns -1 and sets err (VS_E_CONFIG) if it can't be had. */
int vs_cluster_id_load(const char *state_dir, char out[VS_UUID_LEN],
		       struct vs_err *err);
/* Another cluster id is in force from now on (svf adopt). Returns 0, or -1 as
 * vs_file_replace(). */
int vs_cluster_id_store(const char *state_dir, const char *id,
			struct vs_err *err);
/* file_replace.c: replaces the file. The old one or the new one is there,
 * whole, whatever happens. Returns 0. Returns -1 and sets err (VS_E_RETRY). */
int vs_file_replace(const char *path, const char *text, struct vs_err *err);
/* state_file.c: the text of the directory's state file. The caller frees it. Returns
 * NULL if there is none, or it can't be read, which is logged. */
char *vs_state_file_read(const char *state_dir);
/* Writes it again, as vs_file_replace(). */
int vs_state_file_write(const char *state_dir, const char *text,
			struct vs_err *err);

/* ---- login_backoff.c: what one slurmctld tells the next of a refused login --- */

/* vCenter forgets wrong passwords after three minutes, and a locked account
 * after five, by default. */
#define VS_LOGIN_BLOCK_MS ((int64_t)5 * 60 * 1000)

void vs_login_refused(const char *dir, const char *user, const char *file);
void vs_login_taken(const char *dir);
/* For how long this user and file must not be tried; 0: they may be. */
int64_t vs_login_blocked_ms(const char *dir, const char *user,
			    const char *file);

#endif
