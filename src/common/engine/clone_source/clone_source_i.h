/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of clone_source/ keep together, for them alone. The lock is held. */
#ifndef VS_ENGINE_CLONE_SOURCE_I_H
#define VS_ENGINE_CLONE_SOURCE_I_H

#include "engine/clone_source/clone_source.h"

extern struct vs_clone_sources vs_clone_sources;

#endif
