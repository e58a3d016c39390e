# SPDX-License-Identifier: GPL-2.0-or-later
# Packer 1.7 and later takes these by `packer init`. Debian 12's Packer 1.6.6 has both
# built in, and does not know this block: remove this file there.
packer {
  required_plugins {
    vsphere = {
      source  = "github.com/hashicorp/vsphere"
      version = ">= 1.2.0"
    }
    ansible = {
      source  = "github.com/hashicorp/ansible"
      version = ">= 1.1.0"
    }
  }
}
