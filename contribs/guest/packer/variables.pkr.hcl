# SPDX-License-Identifier: GPL-2.0-or-later
# Values belong in a file for -var-file: example.pkrvars.hcl. The password belongs in
# the environment alone: PKR_VAR_vcenter_password.

# ---- vCenter -----------------------------------------------------------------

variable "vcenter_server" {
  type = string
}

variable "vcenter_username" {
  type = string
}

variable "vcenter_password" {
  type      = string
  sensitive = true
}

variable "vcenter_insecure" {
  description = "Whether a certificate that can't be verified is accepted: for trials alone."
  type        = bool
  default     = false
}

variable "datacenter" {
  type = string
}

variable "cluster" {
  type = string
}

variable "host" {
  description = "An ESXi host, if DRS does not place VMs."
  type        = string
  default     = ""
}

variable "datastore" {
  type = string
}

variable "folder" {
  description = "A folder that administrators and slurm-vsphere's account alone can read: the template holds the munge key."
  type        = string
}

variable "network" {
  description = "The management network. The RDMA network is no business of the template."
  type        = string
}

# ---- the VM ------------------------------------------------------------------

variable "template_name" {
  description = "Template= of vsphere.conf."
  type        = string
}

variable "hardware_version" {
  description = "17 is vSphere 7.0. Type=dynamic-directpath needs 17, Type=dvx needs 20."
  type        = number
  default     = 17
}

variable "firmware" {
  description = "efi, or efi-secure for SecureBoot=yes."
  type        = string
  default     = "efi"
}

variable "debian_guest_os_type" {
  description = "vSphere 8.0 U1 and later know debian12_64Guest."
  type        = string
  default     = "debian11_64Guest"
}

variable "rhel_guest_os_type" {
  type    = string
  default = "rhel9_64Guest"
}

variable "cpus" {
  description = "For the build: slurm-vsphere gives each node's VM its own number."
  type        = number
  default     = 4
}

variable "memory_mb" {
  description = "For the build: slurm-vsphere gives each node's VM its own memory."
  type        = number
  default     = 8192
}

variable "disk_mb" {
  type    = number
  default = 20480
}

# ---- the operating system ----------------------------------------------------

variable "iso_url" {
  description = "vsphere-iso: Debian's netinst image, or RHEL's DVD image. A file or a URL."
  type        = string
  default     = ""
}

variable "iso_checksum" {
  description = "vsphere-iso: of that image, such as sha256:0123..."
  type        = string
  default     = ""
}

variable "debian_mirror" {
  description = "vsphere-iso.debian-12: the host name of your mirror of Debian, with /debian on it."
  type        = string
  default     = ""
}

variable "source_template" {
  description = "vsphere-clone: a template that exists."
  type        = string
  default     = ""
}

variable "ssh_private_key_file" {
  description = "Its public half is in authorized_keys, or in the source template. The build removes it from the template."
  type        = string
}

variable "role_variables" {
  description = "A file with the variables of the role slurm_vsphere_guest."
  type        = string
}
