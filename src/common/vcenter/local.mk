# SPDX-License-Identifier: GPL-2.0-or-later
core_sources += \
	src/common/vcenter/ask.c src/common/vcenter/ask.h \
	src/common/vcenter/call.c \
	src/common/vcenter/calm.c \
	src/common/vcenter/capacity.c \
	src/common/vcenter/certificate.c \
	src/common/vcenter/cluster.c \
	src/common/vcenter/decode_devices.c \
	src/common/vcenter/decode_disks.c \
	src/common/vcenter/decode_facts.c \
	src/common/vcenter/decode_host.c \
	src/common/vcenter/decode_property.c \
	src/common/vcenter/decode_shared.c \
	src/common/vcenter/decode_template.c \
	src/common/vcenter/decode_vm.c \
	src/common/vcenter/details.c \
	src/common/vcenter/fault.c src/common/vcenter/fault.h \
	src/common/vcenter/http.c src/common/vcenter/http.h \
	src/common/vcenter/inv.c src/common/vcenter/inv.h \
	src/common/vcenter/resolve.c \
	src/common/vcenter/retrieve.c \
	src/common/vcenter/rights.c \
	src/common/vcenter/session.c src/common/vcenter/states.c \
	src/common/vcenter/slow.c \
	src/common/vcenter/spec_hw.c \
	src/common/vcenter/spec.c src/common/vcenter/spec.h \
	src/common/vcenter/spec_vm.c \
	src/common/vcenter/tally.c src/common/vcenter/tally.h \
	src/common/vcenter/target.c \
	src/common/vcenter/task.c \
	src/common/vcenter/template.c \
	src/common/vcenter/vc.c src/common/vcenter/vc.h \
	src/common/vcenter/vc_i.h \
	src/common/vcenter/watch.c \
	src/common/vcenter/where.c
