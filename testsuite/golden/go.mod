module slurm-vsphere/golden

go 1.25.0

require github.com/vmware/govmomi v0.55.0
