# SPDX-License-Identifier: GPL-2.0-or-later
core_sources += \
	src/common/plan/adapter.c src/common/plan/adapter.h \
	src/common/plan/address.c src/common/plan/address.h \
	src/common/plan/check.c src/common/plan/check.h \
	src/common/plan/check_host.c src/common/plan/check_i.h \
	src/common/plan/check_pf.c src/common/plan/check_room.c \
	src/common/plan/check_site.c \
	src/common/plan/check_table.c src/common/plan/check_table.h \
	src/common/plan/curve.c src/common/plan/curve.h \
	src/common/plan/deed.c src/common/plan/deed.h \
	src/common/plan/facts.c src/common/plan/facts.h \
	src/common/plan/freed.c src/common/plan/freed.h \
	src/common/plan/gains.c \
	src/common/plan/hardware.c src/common/plan/hardware.h \
	src/common/plan/inventory.c src/common/plan/inventory.h \
	src/common/plan/ledger_rows.c \
	src/common/plan/ledger.c src/common/plan/ledger.h \
	src/common/plan/pf_match.c src/common/plan/pf_match.h \
	src/common/plan/place.c src/common/plan/place.h \
	src/common/plan/place_choose.c \
	src/common/plan/place_fit.c src/common/plan/place_fixed.c \
	src/common/plan/place_i.h src/common/plan/place_level.c \
	src/common/plan/place_pack.c src/common/plan/place_policy.c \
	src/common/plan/place_room.c \
	src/common/plan/place_parent.c \
	src/common/plan/place_pool.c \
	src/common/plan/parent.c src/common/plan/parent.h \
	src/common/plan/profile.c src/common/plan/profile.h \
	src/common/plan/room.c src/common/plan/room.h \
	src/common/plan/shared.c src/common/plan/shared.h \
	src/common/plan/snapshot.c src/common/plan/snapshot.h \
	src/common/plan/step.c src/common/plan/step.h \
	src/common/plan/sums.c src/common/plan/sums.h \
	src/common/plan/timeline.c src/common/plan/timeline.h \
	src/common/plan/timeline_plan.c \
	src/common/plan/vgpu.c src/common/plan/vgpu.h
