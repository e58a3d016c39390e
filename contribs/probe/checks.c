/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Questions to vCenter's own checkers: what would it say to a clone, to a
 * configuration, to a power-on? They take the specs that slurm-vsphere would
 * send, and change nothing.
 */
#include <stdlib.h>
#include <string.h>

#include "probe.h"
#include "util/mem.h"
#include "util/time.h"
#include "vcenter/spec/spec.h"

#define CHECK_MS 60000
#define TASK_FAILED (-2)	/* with a fault, which is told */
#define OTHER_MAC "00:50:56:3f:ff:fe"	/* manual; no VM of the probe has it */

enum checker { PROVISION, COMPATIBLE };
static const struct { const char *type, *member; } checkers[] = {
	[PROVISION] = { "VirtualMachineProvisioningChecker",
			"vmProvisioningChecker" },
	[COMPATIBLE] = { "VirtualMachineCompatibilityChecker",
			 "vmCompatibilityChecker" },
};

/* The fault itself, whether it stands in a LocalizedMethodFault or not. */
static struct vs_j fault_inside(struct vs_j f)
{
	struct vs_j inner = vs_j_opt(f, "fault");

	return strcmp(vs_j_type(f), "LocalizedMethodFault") ||
		vs_j_null(inner) ? f : inner;
}

const char *fault_form(struct vs_j f)
{
	return strcmp(vs_j_type(f), "LocalizedMethodFault") ? "flat" :
		"nested";
}

void saw_fault(struct answer *a, const char *what, struct vs_j f)
{
	const char *words = vs_j_str_or(vs_j_opt(f, "localizedMessage"),
		vs_j_str_or(vs_j_opt(fault_inside(f), "faultstring"), ""));

	saw(a, "%s: %s (%s)%s%s", what, vs_j_type(fault_inside(f)),
	    fault_form(f), *words ? ": " : "", words);
}

/* ---- one question to a checker ------------------------------------------- */

static char *checker_id(struct probe *p, struct answer *a, enum checker c)
{
	struct reply r;
	char *id = NULL;

	if (ask_get(p, &r, "ServiceInstance", "ServiceInstance", "content"))
		saw_err(a, "ServiceContent", &r.err);
	else
		id = vs_strdup(vs_j_ref(vs_j_opt(vs_j_root(&r.doc),
						 checkers[c].member), NULL));
	reply_free(&r);
	if (id && *id)
		return id;
	saw(a, "this vCenter has no %s", checkers[c].type);
	free(id);
	return NULL;
}

/* Until the task has ended; its info in r, which the caller frees. */
static bool task_end(struct probe *p, struct reply *r, const char *task)
{
	int64_t end = vs_now_ms() + CHECK_MS;

	for (;;) {
		const char *state;

		if (ask_get(p, r, "Task", task, "info"))
			return false;
		state = vs_j_str_or(vs_j_opt(vs_j_root(&r->doc), "state"), "");
		if (!strcmp(state, "success") || !strcmp(state, "error"))
			return true;
		if (vs_now_ms() >= end || probe_stop) {
			vs_err_set(&r->err, VS_E_RETRY, "its task has no end");
			return false;
		}
		reply_free(r);
		link_sleep(p, 200);
	}
}

/* What a finished check found: how many errors, or TASK_FAILED. */
static int found_of(struct answer *a, const char *what, struct vs_j info)
{
	struct vs_j error = vs_j_opt(info, "error");
	struct vs_j list = vs_j_opt(info, "result");
	int n = 0;

	if (!vs_j_null(error)) {
		saw_fault(a, what, error);
		return TASK_FAILED;
	}
	for (size_t i = 0; i < vs_j_len(list); i++) {
		struct vs_j bad = vs_j_opt(vs_j_at(list, i), "error");
		struct vs_j warn = vs_j_opt(vs_j_at(list, i), "warning");

		for (size_t k = 0; k < vs_j_len(bad); k++, n++)
			saw_fault(a, what, vs_j_at(bad, k));
		for (size_t k = 0; k < vs_j_len(warn); k++)
			saw_fault(a, "a warning", vs_j_at(warn, k));
	}
	if (!n)
		saw(a, "%s: no objection", what);
	return n;
}

/* How many objections there are; TASK_FAILED; or -1: there is no answer, a's words
 * say why. */
static int check(struct probe *p, struct answer *a, const char *what,
		 enum checker c, const char *method,
		 struct json_object *body_take)
{
	VS_FREE char *id = checker_id(p, a, c);
	VS_FREE char *task = NULL;
	struct reply r;
	int n = -1;

	if (!id) {
		vs_jb_free(body_take);
		return -1;
	}
	if (ask(p, &r, checkers[c].type, id, method, body_take, 0)) {
		saw_err(a, what, &r.err);
	} else {
		task = vs_strdup(vs_j_ref(vs_j_root(&r.doc), NULL));
		reply_free(&r);
		if (task_end(p, &r, task))
			n = found_of(a, what, vs_j_root(&r.doc));
		else
			saw_err(a, what, &r.err);
	}
	reply_free(&r);
	return n;
}

/* ---- our specs ----------------------------------------------------------- */

static struct make usual(struct probe *p)
{
	const struct host *h = host_for(p, 0);

	return (struct make) { .name = "probe-check", .nic = h != NULL,
		.host = h ? h->moid : p->source_host };
}

static int check_clone(struct probe *p, struct answer *a, const char *what,
		       struct json_object *body_take)
{
	vs_jb_ref(body_take, "vm", "VirtualMachine", p->source);
	return check(p, a, what, PROVISION, "CheckClone_Task", body_take);
}

/* The spec of a clone's configuration, as a change of the template. */
static int check_config(struct probe *p, struct answer *a, const char *what,
			const char *host, struct json_object *config_take)
{
	struct json_object *o = vs_jb_obj(NULL);

	vs_jb_put(o, "spec", config_take);
	vs_jb_ref(o, "vm", "VirtualMachine", p->source);
	vs_jb_ref(o, "host", "HostSystem", host);
	vs_jb_ref(o, "pool", "ResourcePool", p->pool);
	return check(p, a, what, COMPATIBLE, "CheckVmConfig_Task", o);
}

/* The configuration alone; the clone around it goes. */
static struct json_object *config_of(struct json_object *clone_take)
{
	struct json_object *spec = vs_jb_member(clone_take, "spec");
	struct json_object *config = vs_jb_clone(vs_jb_member(spec, "config"));

	vs_jb_free(clone_take);
	return config;
}

static void q_checkclone(struct probe *p, struct answer *a)
{
	struct make m = usual(p);
	bool nic = m.nic;
	int n;

	m.nic = false;
	n = check_clone(p, a, "a clone without a NIC", vm_clone_body(p, &m));
	if (n >= 0)
		judge(a, !n);
	m.mac = OTHER_MAC;
	n = check_clone(p, a, "with the template's NIC given an address",
			vm_clone_body(p, &m));
	if (n >= 0)
		judge(a, !n);
	if (!nic) {
		saw(a, "no host has a free VF on network %s", p->o.network);
		return;
	}
	m.nic = true;
	n = check_clone(p, a, "with an SR-IOV NIC in the clone",
			vm_clone_body(p, &m));
	if (n >= 0)
		judge(a, !n);
}

static void q_checkconfig(struct probe *p, struct answer *a)
{
	struct make m = usual(p);
	int n = check_config(p, a, m.nic ? "our configuration, with a NIC" :
			     "our configuration", m.host,
			     config_of(vm_clone_body(p, &m)));

	if (n >= 0)
		judge(a, !n);
}

static void q_checkpower(struct probe *p, struct answer *a)
{
	struct json_object *o = vs_jb_obj(NULL);
	struct make m = usual(p);

	vs_jb_ref(o, "vm", "VirtualMachine", p->source);
	vs_jb_ref(o, "host", "HostSystem", m.host);
	/* The template is the only VM that is there: any fault will do. */
	if (check(p, a, "a power-on of the template", COMPATIBLE,
		  "CheckPowerOn_Task", o) != -1)
		judge(a, true);
}

/* ---- the template's own NIC ---------------------------------------------- */

/* The template's first NIC, in r's document. */
static struct vs_j first_nic(struct probe *p, struct reply *r)
{
	struct vs_j list, nic = { 0 };

	if (ask_get(p, r, "VirtualMachine", p->source, "config"))
		return nic;
	list = vs_j_opt(vs_j_opt(vs_j_root(&r->doc), "hardware"), "device");
	for (size_t i = 0; i < vs_j_len(list); i++) {
		nic = vs_j_at(list, i);
		if (!vs_j_null(vs_j_opt(nic, "macAddress")))
			return nic;
	}
	return (struct vs_j) { 0 };
}

static struct json_object *one_change(const char *operation,
				      struct json_object *device_take)
{
	struct json_object *list = vs_jb_arr();
	struct json_object *o = vs_jb_obj("VirtualDeviceConfigSpec");

	vs_jb_str(o, "operation", operation);
	vs_jb_put(o, "device", device_take);
	vs_jb_add(list, o);
	return list;
}

static void q_portkey(struct probe *p, struct answer *a)
{
	struct make m = usual(p);
	struct json_object *body, *nic;
	struct reply r;
	struct vs_j port, at = first_nic(p, &r);

	port = vs_j_opt(vs_j_opt(at, "backing"), "port");
	if (r.err.code || vs_j_null(at)) {
		saw(a, "the template's first NIC can't be read");
	} else if (vs_j_null(vs_j_opt(port, "portKey"))) {
		saw(a, "the template's first NIC names no port");
	} else {
		saw(a, "the template's first NIC names port %s, %s cookie",
		    vs_j_str_or(vs_j_opt(port, "portKey"), ""),
		    vs_j_null(vs_j_opt(port, "connectionCookie")) ?
		    "without" : "with");
		nic = vs_jb_copy(at);
		vs_jb_str(nic, "addressType", "manual");
		vs_jb_str(nic, "macAddress", OTHER_MAC);
		m.nic = false;
		body = vm_clone_body(p, &m);
		vs_jb_put(vs_jb_member(vs_jb_member(body, "spec"), "config"),
			  "deviceChange", one_change("edit", nic));
		judge(a, check_clone(p, a, "a clone that names that port",
				     body) != 0);
	}
	reply_free(&r);
}

static void q_removal(struct probe *p, struct answer *a)
{
	struct reply r;
	struct vs_j at = first_nic(p, &r);
	VS_FREE char *type = vs_strdup(vs_j_type(at));
	int64_t key = vs_j_int_or(vs_j_opt(at, "key"), 0);
	const char *const types[] = { "VirtualDevice", type };

	reply_free(&r);
	for (size_t i = 0; i < VS_COUNT(types) && key; i++) {
		struct json_object *dev = vs_jb_obj(types[i]);
		struct json_object *spec =
			vs_jb_obj("VirtualMachineConfigSpec");
		int n;

		vs_jb_int(dev, "key", key);
		vs_jb_put(spec, "deviceChange", one_change("remove", dev));
		n = check_config(p, a, types[i], NULL, spec);
		/* by the NIC's own type at least */
		if (i && n >= 0)
			judge(a, !n);
	}
	if (!key)
		saw(a, "the template has no NIC");
}

/* ---- variants of our NIC ------------------------------------------------ */

/* fn for each device that the configuration in a clone's body adds. */
static void each_device(struct json_object *body,
			void (*fn)(struct json_object *device,
				   const char *arg), const char *arg)
{
	struct vs_jdoc doc = { .root = body };
	struct vs_j list = vs_j_opt(vs_j_opt(vs_j_opt(vs_j_root(&doc), "spec"),
					     "config"), "deviceChange");

	for (size_t i = 0; i < vs_j_len(list); i++) {
		struct vs_j dev = vs_j_opt(vs_j_at(list, i), "device");

		if (!vs_j_null(dev))
			fn(dev.obj, arg);
	}
}

static void connect(struct json_object *device, const char *arg)
{
	struct json_object *conn = vs_jb_obj("VirtualDeviceConnectInfo");

	(void)arg;
	vs_jb_bool(conn, "startConnected", true);
	vs_jb_bool(conn, "allowGuestControl", true);
	vs_jb_bool(conn, "connected", false);
	vs_jb_put(device, "connectable", conn);
}

static void q_connectable(struct probe *p, struct answer *a)
{
	struct make m = usual(p);
	struct json_object *body;
	int without, with;

	if (!m.nic) {
		saw(a, "no host has a free VF on network %s", p->o.network);
		return;
	}
	without = check_clone(p, a, "a NIC as we send it",
			      vm_clone_body(p, &m));
	body = vm_clone_body(p, &m);
	each_device(body, connect, NULL);
	with = check_clone(p, a, "a NIC with connectable", body);
	if (without >= 0 && with >= 0)
		judge(a, !without);
}

static void name_network(struct json_object *device, const char *name)
{
	struct json_object *backing = vs_jb_member(device, "backing");

	if (backing)
		vs_jb_str(backing, "deviceName", name);
}

/* A standard network of that host: its moId, and its name. */
static char *standard_of(struct probe *p, const char *host, char **name)
{
	struct reply r, n;
	char *moid = NULL;

	if (!ask_get(p, &r, "HostSystem", host, "network")) {
		struct vs_j list = vs_j_root(&r.doc);

		for (size_t i = 0; i < vs_j_len(list) && !moid; i++) {
			const char *type, *id = vs_j_ref(vs_j_at(list, i),
							 &type);

			if (!strcmp(type, "Network"))
				moid = vs_strdup(id);
		}
	}
	reply_free(&r);
	if (!moid)
		return NULL;
	if (!ask_get(p, &n, "Network", moid, "name"))
		*name = vs_strdup(vs_j_str_or(vs_j_root(&n.doc), ""));
	reply_free(&n);
	return moid;
}

static void q_standard(struct probe *p, struct answer *a)
{
	static const struct { int kind; const char *what; } kinds[] = {
		{ VS_VC_NET_SRIOV, "an SR-IOV NIC there" },
		{ VS_VC_NET_VMXNET3, "a VMXNET3 NIC there" },
	};
	struct make m = usual(p);
	VS_FREE char *name = NULL;
	VS_FREE char *moid = standard_of(p, m.host, &name);
	struct vs_vc_nic_spec nic = { .network = moid };

	if (!moid || !name) {
		saw(a, "the host has no standard network, so there is none to ask about: name another host's cluster, or add a port group to a standard switch");
		return;
	}
	alias_add(p, name, "network");
	m.nic = true;
	m.as = &nic;
	for (size_t i = 0; i < VS_COUNT(kinds); i++) {
		struct json_object *body;
		int n;

		nic.kind = kinds[i].kind;
		body = vm_clone_body(p, &m);
		each_device(body, name_network, name);
		n = check_config(p, a, kinds[i].what, m.host, config_of(body));
		if (n >= 0)
			judge(a, !n);
	}
}

static void q_latency(struct probe *p, struct answer *a)
{
	struct make m = usual(p);
	struct reply r;
	int n;

	if (!ask_get(p, &r, "HostSystem", m.host, "summary"))
		m.latency_mhz = (int)vs_j_int_or(vs_j_opt(vs_j_opt(
			vs_j_root(&r.doc), "hardware"), "cpuMhz"), 1000);
	reply_free(&r);
	n = check_config(p, a, "latency sensitivity high", m.host,
			 config_of(vm_clone_body(p, &m)));
	if (n >= 0)
		judge(a, !n);
}

/* An address that the template has: is one twice an objection? */
static void q_mactwice(struct probe *p, struct answer *a)
{
	struct make m = usual(p);
	VS_FREE char *mac = NULL;
	struct reply r;
	int n;

	mac = vs_strdup(vs_j_str_or(vs_j_opt(first_nic(p, &r), "macAddress"),
				    ""));
	reply_free(&r);
	if (!*mac) {
		saw(a, "the template has no NIC");
		return;
	}
	m.mac = mac;
	m.nic = false;
	n = check_clone(p, a, "a manual address that a VM has",
			vm_clone_body(p, &m));
	if (n >= 0)
		judge(a, n > 0);
}

static void q_linked(struct probe *p, struct answer *a)
{
	struct make m = usual(p);
	VS_FREE char *snapshot = NULL;
	struct reply r;
	int n;

	if (!ask_get(p, &r, "VirtualMachine", p->source, "snapshot"))
		snapshot = vs_strdup(vs_j_ref(vs_j_opt(vs_j_root(&r.doc),
						"currentSnapshot"), NULL));
	reply_free(&r);
	if (!snapshot || !*snapshot) {
		saw(a, "the template has no snapshot, and a linked clone needs one: name a template that has (--template)");
		return;
	}
	m.snapshot = snapshot;
	n = check_clone(p, a, "a linked clone of the template's snapshot",
			vm_clone_body(p, &m));
	if (n >= 0)
		judge(a, !n);
}

static void q_instant(struct probe *p, struct answer *a)
{
	struct vs_vc_instant c = { .source = p->source, .folder = p->folder,
		.name = "probe-check", .pool = p->pool,
		.mgmt_mac = OTHER_MAC };
	struct json_object *nic, *body;
	struct reply r;
	int n;

	nic = vs_jb_copy(first_nic(p, &r));
	reply_free(&r);
	body = vs_spec_instant(&c, nic);
	vs_jb_free(nic);
	vs_jb_ref(body, "vm", "VirtualMachine", p->source);
	/* The template is off: an objection to that is certain. */
	n = check(p, a, "an instant clone that edits a NIC", PROVISION,
		  "CheckInstantClone_Task", body);
	if (n != -1)
		judge(a, n != 0);
}

/* ---- devices of other kinds ---------------------------------------------- */

static void check_nic(struct probe *p, struct answer *a, const char *what,
		       const struct vs_vc_nic_spec *nic)
{
	struct make m = usual(p);
	int n;

	m.nic = true;
	m.as = nic;
	n = check_config(p, a, what, m.host, config_of(vm_clone_body(p, &m)));
	if (n >= 0)
		judge(a, !n);
}

/* What the host offers of each kind; the first of each is asked about. */
static void check_offers(struct probe *p, struct answer *a, struct vs_j target)
{
	struct vs_j dyn = vs_j_at(vs_j_opt(target, "dynamicPassthrough"), 0);
	struct vs_j dvx = vs_j_at(vs_j_opt(target, "dvxClassInfo"), 0);
	struct vs_j gpu = vs_j_at(vs_j_opt(target, "vgpuProfileInfo"), 0);
	struct vs_vc_nic_spec nic = { .kind = VS_VC_PCI_DYNAMIC };

	if (vs_j_len(vs_j_opt(target, "dynamicPassthrough"))) {
		nic.vendor = (int)vs_j_int_or(vs_j_opt(dyn, "vendorId"), 0);
		nic.device = (int)vs_j_int_or(vs_j_opt(dyn, "deviceId"), 0);
		check_nic(p, a, "a dynamic DirectPath device", &nic);
	}
	if (vs_j_len(vs_j_opt(target, "dvxClassInfo"))) {
		nic = (struct vs_vc_nic_spec) { .kind = VS_VC_PCI_DVX,
			.label = vs_j_str_or(vs_j_opt(vs_j_opt(dvx,
				"deviceClass"), "key"), "") };
		check_nic(p, a, "a DVX device without parameters", &nic);
	}
	if (vs_j_len(vs_j_opt(target, "vgpuProfileInfo"))) {
		nic = (struct vs_vc_nic_spec) { .kind = VS_VC_PCI_VGPU,
			.label = vs_j_str_or(vs_j_opt(gpu, "profileName"),
					     "") };
		check_nic(p, a, "a vGPU", &nic);
	}
}

static void q_backings(struct probe *p, struct answer *a)
{
	struct vs_vc_nic_spec rdma = { .kind = VS_VC_NET_PVRDMA,
		.network = p->network, .switch_uuid = p->switch_uuid,
		.portgroup_key = p->portgroup_key };
	struct reply r, t;

	check_nic(p, a, "a PVRDMA NIC", &rdma);
	if (ask_get(p, &r, "ClusterComputeResource", p->cluster,
		    "environmentBrowser")) {
		saw_err(a, "environmentBrowser", &r.err);
	} else if (!vs_j_null(vs_j_root(&r.doc))) {
		if (ask(p, &t, "EnvironmentBrowser",
			vs_j_ref(vs_j_root(&r.doc), NULL), "QueryConfigTarget",
			vs_spec_config_target(usual(p).host), 0))
			saw_err(a, "QueryConfigTarget", &t.err);
		else
			check_offers(p, a, vs_j_root(&t.doc));
		reply_free(&t);
	}
	reply_free(&r);
}

/* In the order of their risk: what would break first contact comes first. */
const struct question check_questions[] = {
	{ "transcoder", READ, "How does VMware's own transcoder (8.0 U2 and later) write faults, boxed values and NICs in JSON?",
	  NULL, "any of these forms is understood; a recording has them",
	  q_transcoder },
	{ "faultform", READ, "In which form do a task's error, a property that may not be read and a task's result come?",
	  NULL, "flat or nested, plain or boxed: all are understood",
	  q_faultform },
	{ "checkclone", READ, "Would vCenter clone the template by our specs: plain, with the template's NIC given an address, with an SR-IOV NIC?",
	  NULL, "CheckClone_Task has no objection", q_checkclone },
	{ "checkconfig", READ, "Would it take our configuration with a NIC, on a host with a free VF?",
	  NULL, "CheckVmConfig_Task has no objection", q_checkconfig },
	{ "checkpower", READ, "What does CheckPowerOn_Task say of the template?",
	  NULL, "a fault, flat or nested, or no objection: each can be read",
	  q_checkpower },
	{ "portkey", READ, "Does the template's NIC name a distributed port, and may a clone name it too?",
	  NULL, "it may not: switch and port group are all that is sent",
	  q_portkey },
	{ "connectable", READ, "May the account clone with a NIC that has connectable, and without?",
	  NULL, "as slurm-vsphere sends it, it may", q_connectable },
	{ "standard", READ, "Is a NIC on a standard network taken by the network's name?",
	  NULL, "it is", q_standard },
	{ "capacity", READ, "Is what hosts say of their own needs (systemResources) what the cluster has for VMs?",
	  NULL, "never more than the cluster has, and at most 3 % less",
	  q_capacity },
	{ "emptypost", READ, "Is a POST without a body taken with a Content-Type and without?",
	  NULL, "both are", q_emptypost },
	{ "removal", READ, "May a NIC be removed as a VirtualDevice, or only by its own type?",
	  NULL, "by its own type it may", q_removal },
	{ "linked", READ, "Would it make a linked clone with a NIC from the template's snapshot?",
	  NULL, "it would", q_linked },
	{ "instant", READ, "What does CheckInstantClone_Task say to a spec that edits a NIC?",
	  NULL, "an objection, for the template is off, flat or nested",
	  q_instant },
	{ "backings", READ, "Would it take PVRDMA, dynamic DirectPath, DVX and vGPU devices as we write them?",
	  NULL, "those that the host offers", q_backings },
	{ "latency", READ, "Would it take latency sensitivity high with all memory and CPU reserved?",
	  NULL, "it would", q_latency },
	{ "mactwice", READ, "Is a manual MAC address refused that another VM has?",
	  NULL, "it is, for a new NIC", q_mactwice },
	{ "session", READ, "What does a session answer that is over (the probe's own logs out)?",
	  NULL, "NotAuthenticated; the client logs in again", q_session },
	{ 0 }
};
