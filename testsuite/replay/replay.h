/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What replay's files share. */
#ifndef VS_REPLAY_H
#define VS_REPLAY_H

#include "vcenter/client/client_i.h"

/* Prints one line and frees take. */
void replay_print(struct json_object *take);
/* Documents {"content": ...} and {"rights": ...}, see replay.c. Each prints one
 * line. An answer that the product refuses is printed as "refused". */
void replay_content(struct vs_j line);
void replay_rights(struct vs_j line);
/* Prints the specs of a clone of this template: {"clone": moId, ...}. inv has the
 * template's VM if the recording shows it; its NICs are what a reconfiguration
 * removes. */
void replay_clone(struct vs_inv *inv, const struct vcx_template *t);

#endif
