# SPDX-License-Identifier: GPL-2.0-or-later
core_sources += \
	src/common/engine/core.h \
	src/common/engine/port.h
