# SPDX-License-Identifier: GPL-2.0-or-later
core_sources += \
	src/common/vcenter/vc.h
