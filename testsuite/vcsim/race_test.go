// SPDX-License-Identifier: GPL-2.0-or-later
// race_test.go: under the race detector time bounds don't hold.

//go:build race

package main

func init() { patience = 20 }
