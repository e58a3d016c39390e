# SPDX-License-Identifier: GPL-2.0-or-later
# The VM has one vmxnet3 NIC, EFI, no hot-add and no encryption. It has no RDMA NIC:
# slurm-vsphere adds to each VM the devices of its node.

source "vsphere-iso" "template" {
  vcenter_server      = var.vcenter_server
  username            = var.vcenter_username
  password            = var.vcenter_password
  insecure_connection = var.vcenter_insecure
  datacenter          = var.datacenter
  cluster             = var.cluster
  host                = var.host
  datastore           = var.datastore
  folder              = var.folder

  vm_name              = var.template_name
  vm_version           = var.hardware_version
  firmware             = var.firmware
  CPUs                 = var.cpus
  CPU_hot_plug         = false
  RAM                  = var.memory_mb
  RAM_hot_plug         = false
  disk_controller_type = ["pvscsi"]
  cdrom_type           = "sata"

  storage {
    disk_size             = var.disk_mb
    disk_thin_provisioned = true
  }

  network_adapters {
    network      = var.network
    network_card = "vmxnet3"
  }

  iso_url        = var.iso_url
  iso_checksum   = var.iso_checksum
  remove_cdrom   = true
  http_directory = "${path.root}/http"
  boot_order     = "disk,cdrom"
  boot_wait      = "5s"

  communicator         = "ssh"
  ssh_username         = "root"
  ssh_private_key_file = var.ssh_private_key_file
  ssh_timeout          = "60m"
  shutdown_command     = local.last_command
  convert_to_template  = true
}

source "vsphere-clone" "template" {
  vcenter_server      = var.vcenter_server
  username            = var.vcenter_username
  password            = var.vcenter_password
  insecure_connection = var.vcenter_insecure
  datacenter          = var.datacenter
  cluster             = var.cluster
  host                = var.host
  datastore           = var.datastore
  folder              = var.folder

  template     = var.source_template
  linked_clone = false
  network      = var.network
  vm_name      = var.template_name
  CPUs         = var.cpus
  CPU_hot_plug = false
  RAM          = var.memory_mb
  RAM_hot_plug = false

  communicator         = "ssh"
  ssh_username         = "root"
  ssh_private_key_file = var.ssh_private_key_file
  ssh_timeout          = "20m"
  shutdown_command     = local.last_command
  convert_to_template  = true
}
