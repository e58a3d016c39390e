/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a node's way up asks of boot.c, adopt.c and missing_vm.c: a part of
 * core_i.h, which includes it.
 */
#ifndef VS_ENGINE_BOOT_H
#define VS_ENGINE_BOOT_H

/* foreign.c: sets n->foreign to the reason why a foreign VM keeps jobs from the
 * node, or to NULL. The node owns the text. The caller holds the core's lock and
 * has set n->seen. */
void vs_foreign_look(struct vs_core *c, struct vs_node *n);

/* missing_vm.c: VMs that vCenter doesn't show and that are not gone; lock held */
void vs_missing_look(struct vs_core *c, struct vs_node *n, int64_t now_ms);
bool vs_missing_forget(struct vs_node *n);

/* boot.c: from Slurm's wish to registration; lock held */
void vs_boot_asked(struct vs_core *c, struct vs_node *n, uint32_t flags);
void vs_boots_push(struct vs_core *c, int64_t now_ms);
void vs_boot_act(struct vs_core *c, struct vs_node *n, int64_t now_ms);
bool vs_boot_comes_late(const struct vs_node *n, uint32_t flags);

/* adopt.c: VMs that run under powered-down nodes after a start; lock held */
bool vs_adopt_lost(struct vs_core *c, const struct vs_node *n);
void vs_adopt_look(struct vs_core *c, struct vs_node *n, int64_t now_ms);
void vs_adopt_looked(struct vs_core *c, struct vs_node *n);
void vs_adopt_act(struct vs_core *c, struct vs_node *n, int64_t now_ms);

#endif
