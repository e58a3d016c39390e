# SPDX-License-Identifier: GPL-2.0-or-later
# One of these, by -only: vsphere-iso.debian-12, vsphere-iso.rhel-9, vsphere-clone.existing.

locals {
  # With the key that the build came in by. sshd needs host keys until then.
  last_command = "rm -f /root/.ssh/authorized_keys /etc/ssh/ssh_host_*; systemctl poweroff"
}

build {
  source "vsphere-iso.template" {
    name          = "debian-12"
    guest_os_type = var.debian_guest_os_type
    boot_command = [
      "<wait>c<wait2>",
      "linux /install.amd/vmlinuz auto=true priority=critical hostname=template domain= ",
      "mirror/http/hostname=${var.debian_mirror} ",
      "url=http://{{ .HTTPIP }}:{{ .HTTPPort }}/preseed.cfg --- quiet<enter><wait2>",
      "initrd /install.amd/initrd.gz<enter><wait2>",
      "boot<enter>",
    ]
  }

  source "vsphere-iso.template" {
    name          = "rhel-9"
    guest_os_type = var.rhel_guest_os_type
    boot_command = [
      "<up>e<wait2><down><down><end>",
      " inst.text inst.ks=http://{{ .HTTPIP }}:{{ .HTTPPort }}/ks.cfg<wait>",
      "<leftCtrlOn>x<leftCtrlOff>",
    ]
  }

  source "vsphere-clone.template" {
    name = "existing"
  }

  provisioner "ansible" {
    playbook_file = "${path.root}/../ansible/template.yml"
    user          = "root"
    use_proxy     = false
    ansible_env_vars = [
      "ANSIBLE_HOST_KEY_CHECKING=False",
    ]
    extra_arguments = [
      "--extra-vars", "@${var.role_variables}",
      "--extra-vars", "slurm_vsphere_guest_seal_host_keys=false",
    ]
  }
}
