/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Frames and seals of the control channel, the same on both sides: a frame is
 * four bytes of length, most significant first, and a munge credential.
 */
#ifndef VS_UTIL_SEAL_H
#define VS_UTIL_SEAL_H

#include <stddef.h>
#include <stdint.h>
#include "util/err.h"

#define VS_FRAME_HEAD 4
/* How long a credential is good for, seconds: covers what clocks of one
 * cluster may differ, and is what an eavesdropper has left. */
#define VS_SEAL_TTL 60
#define VS_SEAL_ANYBODY (-1)

void vs_frame_head(unsigned char head[VS_FRAME_HEAD], size_t len);
/*
 * What stands at the start of a stream of which `have` bytes are there: 0 and
 * *len, the length of a whole frame's body; 1, more bytes are needed; -1, the
 * bytes are no such frame, or the frame has more than max bytes (err says
 * which).
 */
int vs_frame_check(const unsigned char *in, size_t have, size_t max,
		   size_t *len, struct vs_err *err);

/*
 * Seal len bytes so that only `only` (a uid, or VS_SEAL_ANYBODY) can open
 * them. *cred is a string to free(). socket: munged's, NULL for libmunge's
 * default. Talks to the local munged and may wait for it.
 */
int vs_seal(const char *socket, int64_t only, const void *data, size_t len,
	    char **cred, struct vs_err *err);
/*
 * Open a credential: who sealed it in *uid, what in *data (terminated by a NUL
 * that is not counted; free() it). -1 VS_E_REQUEST for one that is invalid,
 * expired, replayed, too long-lived or not for us, VS_E_RETRY if munged does
 * not answer.
 */
int vs_unseal(const char *socket, const char *cred, char **data, size_t *len,
	      uint32_t *uid, struct vs_err *err);

#endif
