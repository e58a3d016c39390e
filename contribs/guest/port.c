/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slurm-vsphere-port wait --netdev IF --mac MAC --link-layer LAYER [--mtu N]
 *                         [--address IPV4|dhcp] [--timeout S] [--root DIR]
 * slurm-vsphere-port check LAYER DEVICE/PORT/ACTIVE_MTU/GID_INDEX/GID[/GUIDS]...
 * slurm-vsphere-port reseed DEVICE
 *
 * wait: until the NIC's RDMA port is ACTIVE with what is asked for; prints what
 * it found, a line KEY VALUE each. check: are ports as they were, at once.
 * reseed: an instant clone's kernel draws other random numbers than its parent:
 * standard input goes to DEVICE (/dev/urandom), whose generator is seeded again.
 * If it fails, one sentence on standard error, and exit 1 (trying again may help)
 * or 3 (it will not); 2: called wrongly.
 */
#include <arpa/inet.h>
#include <getopt.h>
#include <net/if.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>
#include "port.h"

#define USAGE 2

static const char usage_text[] =
"usage: slurm-vsphere-port wait --netdev IF --mac MAC --link-layer Ethernet|InfiniBand\n"
"                               [--mtu N] [--address IPV4|dhcp] [--timeout S] [--root DIR]\n"
"       slurm-vsphere-port check Ethernet|InfiniBand DEVICE/PORT/ACTIVE_MTU/GID_INDEX/GID[/NODE_GUID/PORT_GUID]...\n"
"       slurm-vsphere-port reseed DEVICE\n";

static int usage(const char *what, const char *value)
{
	if (what)
		fprintf(stderr, "slurm-vsphere-port: %s: %.80s\n", what, value);
	fputs(usage_text, stderr);
	return USAGE;
}

static int failed(const struct vs_err *err)
{
	fprintf(stderr, "%s\n", err->text);
	return err->code == VS_E_RETRY ? 1 : 3;
}

/* Its number: the kernel's, or (in a test's tree) the file's. */
static unsigned int ifindex_of(const char *root, const char *netdev)
{
	char path[1024];
	unsigned int n = 0;
	FILE *in;

	if (!*root)
		return if_nametoindex(netdev);
	snprintf(path, sizeof(path), "%s/sys/class/net/%s/ifindex", root,
		 netdev);
	in = fopen(path, "re");
	if (!in)
		return 0;
	if (fscanf(in, "%9u", &n) != 1)
		n = 0;
	fclose(in);
	return n;
}

static int address_parse(const char *s, struct port_want *want)
{
	if (!strcmp(s, "dhcp")) {
		want->need = PORT_NEED_IPV4;
		return 0;
	}
	want->need = PORT_NEED_ADDRESS;
	return inet_pton(AF_INET, s, &want->address) == 1 ? 0 : -1;
}

static int number(const char *s, int max, int *out)
{
	char *end;
	long n = strtol(s, &end, 10);

	if (end == s || *end || n < 0 || n > max)
		return -1;
	*out = (int)n;
	return 0;
}

static void print(const struct port_seen *seen)
{
	char spec[PORT_SPEC_LEN], gid[INET6_ADDRSTRLEN];

	port_spec_format(seen, spec);
	printf("device %s\nport %d\nactive-mtu %d\nnode-guid %016llx\n",
	       seen->device, seen->port, port_mtu_bytes(seen->attr.active_mtu),
	       (unsigned long long)seen->node_guid);
	if (seen->gid_index >= 0)
		printf("gid-index %d\ngid %s\n", seen->gid_index,
		       inet_ntop(AF_INET6, seen->gid.raw, gid, sizeof(gid)));
	printf("rdma %s\n", spec);
}

/* One of wait's options: 0, or USAGE. */
static int option(int c, const char *arg, struct port_want *want, int *timeout,
		  bool *has_mac)
{
	switch (c) {
	case 'n':
		want->netdev = arg;
		return 0;
	case 'm':
		*has_mac = true;
		return port_mac_parse(arg, want->mac) ?
			usage("a MAC is expected", arg) : 0;
	case 'l':
		want->layer = port_layer_of(arg);
		return want->layer ? 0 :
			usage("Ethernet or InfiniBand is expected", arg);
	case 'u':
		return number(arg, 65535, &want->mtu) ?
			usage("an MTU is expected", arg) : 0;
	case 'a':
		return address_parse(arg, want) ?
			usage("an IPv4 address or dhcp is expected", arg) : 0;
	case 't':
		return number(arg, 86400, timeout) ?
			usage("seconds are expected", arg) : 0;
	case 'r':
		want->root = arg;
		return 0;
	default:
		return usage(NULL, NULL);
	}
}

/* systemd signals slurm-vsphere-guest alone (KillMode=process). What it started must
 * not wait on beside its successor. */
static void end_with_parent(void)
{
	pid_t parent = getppid();

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		exit(1);
}

static int do_wait(int argc, char *argv[])
{
	static const struct option options[] = {
		{ "netdev", required_argument, NULL, 'n' },
		{ "mac", required_argument, NULL, 'm' },
		{ "link-layer", required_argument, NULL, 'l' },
		{ "mtu", required_argument, NULL, 'u' },
		{ "address", required_argument, NULL, 'a' },
		{ "timeout", required_argument, NULL, 't' },
		{ "root", required_argument, NULL, 'r' },
		{ NULL, 0, NULL, 0 },
	};
	struct port_want want = { .root = "" };
	struct vs_err err = { 0 };
	struct port_seen seen;
	int c, rc = 0, timeout = 90;
	bool has_mac = false;

	while (!rc && (c = getopt_long(argc, argv, "", options, NULL)) != -1)
		rc = option(c, optarg, &want, &timeout, &has_mac);
	if (rc)
		return rc;
	if (!want.netdev || !want.layer || !has_mac)
		return usage("needed", "--netdev, --mac and --link-layer");
	if (optind < argc)
		return usage("not expected", argv[optind]);
	end_with_parent();
	want.ifindex = ifindex_of(want.root, want.netdev);
	if (port_wait(&want, (int64_t)timeout * 1000, &seen, &err))
		return failed(&err);
	print(&seen);
	return fflush(stdout) ? 1 : 0;
}

static int do_check(int argc, char *argv[])
{
	uint8_t layer = argc > 2 ? port_layer_of(argv[1]) : 0;
	struct vs_err err = { 0 };

	if (!layer)
		return usage(NULL, NULL);
	for (int i = 2; i < argc; i++) {
		struct port_spec spec;

		if (port_spec_parse(argv[i], &spec))
			return usage("DEVICE/PORT/ACTIVE_MTU/GID_INDEX/GID is expected",
				     argv[i]);
		if (port_check(layer, &spec, &err))
			return failed(&err);
	}
	return 0;
}

static int do_reseed(int argc, char *argv[])
{
	struct vs_err err = { 0 };

	if (argc != 2)
		return usage(NULL, NULL);
	return port_reseed(STDIN_FILENO, argv[1], &err) ? failed(&err) : 0;
}

int main(int argc, char *argv[])
{
	if (argc > 1 && !strcmp(argv[1], "wait"))
		return do_wait(argc - 1, argv + 1);
	if (argc > 1 && !strcmp(argv[1], "check"))
		return do_check(argc - 1, argv + 1);
	if (argc > 1 && !strcmp(argv[1], "reseed"))
		return do_reseed(argc - 1, argv + 1);
	return usage(NULL, NULL);
}
