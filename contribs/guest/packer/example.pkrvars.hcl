# SPDX-License-Identifier: GPL-2.0-or-later
# Copy this file and change the values. No password belongs here.
vcenter_server   = "vcenter.example.org"
vcenter_username = "template-builder@vsphere.local"

datacenter = "DC1"
cluster    = "HPC1"
datastore  = "vsan"
folder     = "slurm/templates"
network    = "VM Network"

template_name = "debian12-inbox"
iso_url       = "debian-12-amd64-netinst.iso"
iso_checksum  = "sha256:0000000000000000000000000000000000000000000000000000000000000000"
debian_mirror = "mirror.example.org"

ssh_private_key_file = "~/.ssh/template"
role_variables       = "template.yml"
