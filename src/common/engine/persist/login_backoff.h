/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What one slurmctld tells the next of a login that vCenter has refused. All of
 * it reads or writes files: call it without the lock.
 */
#ifndef VS_ENGINE_LOGIN_BACKOFF_H
#define VS_ENGINE_LOGIN_BACKOFF_H

#include <stdint.h>

/* vCenter forgets wrong passwords after three minutes, and a locked account
 * after five, by default. */
#define VS_LOGIN_BAR_MS ((int64_t)5 * 60 * 1000)

void vs_login_refused(const char *dir, const char *user, const char *file);
void vs_login_taken(const char *dir);
/* For how long this user and file must not be tried; 0: they may be. */
int64_t vs_login_barred_ms(const char *dir, const char *user,
			   const char *file);

#endif
