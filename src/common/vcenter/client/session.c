/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From an address to a session: which release both sides speak, is it a
 * vCenter at all, log in.
 *
 * Rules: the releases we know are asked for, newest first, never a newer one.
 * The password is read from its file at each login, which must belong to the
 * configured user and pass vs_secret_file_check(); the client's copies are
 * wiped after use (what libcurl sends from is its own). A refused password is
 * tried again only after the file has changed, or when an operator asks for it:
 * a few failures lock the account.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/log.h"
#include "util/mem.h"
#include "util/name.h"
#include "util/secret_file.h"
#include "vcenter/client/client_i.h"
#include "vcenter/spec/spec.h"

#define MAX_PASSWORD 1024

static const char *const releases[] = { "8.0.3.0", "8.0.2.0", "8.0.1.0" };

/* ---- which release -------------------------------------------------------- */

static void too_old(struct vs_vc *vc, const char *offers)
{
	struct vs_err err;

	vs_err_set(&err, VS_E_CONFIG,
		   "VCenter=%s is older than vCenter 8.0 Update 1 (%s): slurm-vsphere needs its VI JSON API",
		   vc->http.url, offers);
	vs_vcx_fail(vc, &err);
}

/* The first version listed is the newest one, "8.0.3.0" or "7.0.3.2". */
static char *newest_in(const char *xml)
{
	const char *p = strstr(xml, "urn:vim25<");
	size_t len;
	char *out;

	p = strstr(p ? p : xml, "<version>");
	if (!p)
		return vs_strdup("unknown release");
	p += strlen("<version>");
	len = strcspn(p, "< \r\n");
	out = vs_asprintf("%.*s", (int)(len < 24 ? len : 24), p);
	return out;
}

static void on_versions(struct vcx_call *call, struct vs_j reply,
			const struct vs_err *err)
{
	struct vs_vc *vc = call->vc;
	const char *xml = call->reply.data ? call->reply.data : "";
	VS_FREE char *newest = NULL;
	struct vs_err bad;

	(void)reply;
	if (err && call->arg) {
		/* hello failed before: it is down, whatever it says now */
		vs_err_set(&bad, VS_E_RETRY, "%s", err->text);
		err = &bad;
	} else if (err && (call->status == 404 || call->status == 400)) {
		vs_err_set(&bad, VS_E_CONFIG,
			   "VCenter=%s does not answer like a vCenter (HTTP %ld for /sdk/vimServiceVersions.xml)",
			   vc->http.url, call->status);
		err = &bad;
	}
	if (err) {
		vs_vcx_fail(vc, err);
		return;
	}
	for (size_t i = 0; i < VS_COUNT(releases); i++) {
		VS_FREE char *tag = vs_asprintf("<version>%s</version>",
						releases[i]);

		if (strstr(xml, tag)) {
			vc->http.release = releases[i];
			vs_vcx_event(vc, VCX_EV_RELEASE);
			return;
		}
	}
	newest = newest_in(xml);
	too_old(vc, newest);
}

static void on_hello(struct vcx_call *call, struct vs_j reply,
		     const struct vs_err *err)
{
	struct vs_vc *vc = call->vc;
	const char *chosen = err ? "" :
		vs_j_str_or(vs_j_opt(reply, "api_release"), "");
	bool down = call->status == 502 || call->status == 503;

	if (err && !call->status) {
		vs_vcx_fail(vc, err);
		return;
	}
	for (size_t i = 0; !err && i < VS_COUNT(releases); i++) {
		if (!strcmp(chosen, releases[i])) {
			vc->http.release = releases[i];
			vs_vcx_event(vc, VCX_EV_RELEASE);
			return;
		}
	}
	/* 8.0U1 has no hello; the list of versions is as old as vSphere. It is
	 * of another service than hello: after a restart of vCenter one may
	 * answer and the other not. */
	vs_vcx_raw(&vc->http, VCX_TEXT, on_versions, "GET",
		   "/sdk/vimServiceVersions.xml", NULL)->arg =
		down ? vc : NULL;
}

void vs_vcx_hello(struct vs_vc *vc)
{
	vs_vcx_raw(&vc->http, 0, on_hello, "POST",
		   "/api/vcenter/system?action=hello",
		   vs_spec_hello(releases, VS_COUNT(releases)));
}

/* ---- what is it ----------------------------------------------------------- */

static void take_ref(char **slot, struct vs_j content, const char *key)
{
	vs_str_replace(slot, vs_j_ref(vs_j_get(content, key), NULL));
}

static void same_vcenter(struct vs_vc *vc, const char *uuid)
{
	/* Task ids of another vCenter would mean something else here. */
	if (vc->session.instance_uuid &&
	    strcmp(vc->session.instance_uuid, uuid))
		vs_vcx_ops_lose(vc, "another vCenter answers at this address");
	vs_str_replace(&vc->session.instance_uuid, uuid);
}

static void not_vcenter(struct vs_vc *vc, const char *what)
{
	struct vs_err err;

	vs_err_set(&err, VS_E_CONFIG,
		   "VCenter=%s is %s, not a vCenter: name the vCenter that manages the hosts",
		   vc->http.url, what);
	vs_vcx_fail(vc, &err);
}

static void on_content(struct vcx_call *call, struct vs_j reply,
		       const struct vs_err *err)
{
	struct vs_vc *vc = call->vc;
	struct vs_j about = vs_j_get(reply, "about");
	const char *api = vs_j_str_or(vs_j_opt(about, "apiType"), "");

	if (call->refused_xml) {
		not_vcenter(vc, "an ESXi host");
		return;
	}
	if (err) {
		vs_vcx_fail(vc, err);
		return;
	}
	take_ref(&vc->session.ids.root, reply, "rootFolder");
	take_ref(&vc->session.ids.collector, reply, "propertyCollector");
	take_ref(&vc->session.ids.views, reply, "viewManager");
	take_ref(&vc->session.ids.sessions, reply, "sessionManager");
	take_ref(&vc->session.ids.search, reply, "searchIndex");
	take_ref(&vc->session.ids.tasks, reply, "taskManager");
	vs_str_replace(&vc->session.ids.rights, vs_j_ref(vs_j_opt(reply,
					"authorizationManager"), NULL));
	vs_str_replace(&vc->session.version,
		       vs_j_str(vs_j_get(about, "version")));
	vs_str_replace(&vc->session.about,
		       vs_j_str(vs_j_get(about, "fullName")));
	if (vs_vcx_bad(vc, reply))
		return;
	if (!vs_j_null(reply) && strcmp(api, "VirtualCenter")) {
		not_vcenter(vc, !strcmp(api, "HostAgent") ? "an ESXi host" :
			    "something else");
		return;
	}
	same_vcenter(vc, vs_j_str_or(vs_j_opt(about, "instanceUuid"), ""));
	vs_vcx_event(vc, VCX_EV_CONTENT);
}

void vs_vcx_content(struct vs_vc *vc)
{
	vs_vcx_get(&vc->http, on_content, "ServiceInstance", "ServiceInstance",
		   "content");
}

/* ---- files ---------------------------------------------------------------- */

static bool same_time(struct timespec a, struct timespec b)
{
	return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

static void remember_file(struct vs_vc *vc, const struct stat *st)
{
	vc->files.password_mtime = st->st_mtim;
	vc->files.password_ctime = st->st_ctim;
	vc->files.password_ino = st->st_ino;
	vc->files.password_size = st->st_size;
}

/* Not there: the beginning of time. */
static struct timespec changed_at(const char *path)
{
	struct timespec never = { 0 };
	struct stat st;

	return path && !stat(path, &st) ? st.st_ctim : never;
}

/* A password that was refused is not tried again for a chmod. Else anything
 * that was done to one of the files may have corrected what was wrong. */
bool vs_vcx_files_changed(struct vs_vc *vc)
{
	struct stat st;
	bool there = !stat(vc->conf.password_file, &st);

	if (there && (!same_time(st.st_mtim, vc->files.password_mtime) ||
		      st.st_ino != vc->files.password_ino ||
		      st.st_size != vc->files.password_size))
		return true;
	return vc->wait.retry_at >= 0 &&
		((there && !same_time(st.st_ctim, vc->files.password_ctime)) ||
		 !same_time(changed_at(vc->http.ca_file), vc->files.ca_ctime));
}

void vs_vcx_files_received(struct vs_vc *vc)
{
	struct stat st;

	if (!vc->files.password_ino && !stat(vc->conf.password_file, &st))
		remember_file(vc, &st);
	vc->files.ca_ctime = changed_at(vc->http.ca_file);
}

static int check_file(struct vs_vc *vc, int fd, struct vs_err *err)
{
	const char *path = vc->conf.password_file;
	struct vs_err why = { 0 };
	struct stat st;

	if (fstat(fd, &st) < 0)
		return vs_err_set(err, VS_E_CONFIG, "VCenterPasswordFile %s: %s",
				  path, strerror(errno));
	remember_file(vc, &st);
	if (vs_secret_file_check(&st, vc->conf.password_uid, &why))
		return vs_err_set(err, VS_E_CONFIG, "VCenterPasswordFile %s %s", path,
				  why.text);
	return 0;
}

/* One line, its end left out, into buf. */
static int read_password(struct vs_vc *vc, char buf[MAX_PASSWORD],
			 struct vs_err *err)
{
	VS_CLOSE int fd = open(vc->conf.password_file,
			       O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	const char *end;
	ssize_t n;

	memset(&vc->files.password_mtime, 0, sizeof(vc->files.password_mtime));
	vc->files.password_ino = 0;
	if (fd < 0)
		return vs_err_set(err, VS_E_CONFIG, "VCenterPasswordFile %s: %s",
				  vc->conf.password_file, strerror(errno));
	if (check_file(vc, fd, err))
		return -1;
	n = read(fd, buf, MAX_PASSWORD);
	if (n < 0)
		return vs_err_set(err, VS_E_CONFIG, "VCenterPasswordFile %s: %s",
				  vc->conf.password_file, strerror(errno));
	end = memchr(buf, '\n', (size_t)n);
	if (!end && n == MAX_PASSWORD)
		return vs_err_set(err, VS_E_CONFIG,
				  "VCenterPasswordFile %s has a first line of more than %d bytes",
				  vc->conf.password_file, MAX_PASSWORD - 1);
	n = end ? end - buf : n;
	buf[n] = '\0';
	if (n && buf[n - 1] == '\r')
		buf[--n] = '\0';
	if (!n)
		return vs_err_set(err, VS_E_CONFIG,
				  "VCenterPasswordFile %s holds no password",
				  vc->conf.password_file);
	/* A login with half of it would count as a failed one. */
	if (strlen(buf) != (size_t)n || !vs_utf8_valid(buf))
		return vs_err_set(err, VS_E_CONFIG,
				  "VCenterPasswordFile %s: its first line is no UTF-8 text",
				  vc->conf.password_file);
	return 0;
}

/* ---- log in --------------------------------------------------------------- */

/* Accounts of an identity provider (AD FS, OpenID Connect) have no password
 * that SessionManager.Login could take; vCenter answers as to a wrong one. Only
 * the vCenter's own domain is certain to be none. */
static const char *federated(const char *username)
{
	const char *at = strrchr(username, '@'), *slash = strchr(username, '\\');
	size_t len = strlen("vsphere.local");

	if (at ? !strcasecmp(at + 1, "vsphere.local") :
	    slash && (size_t)(slash - username) == len &&
	    !strncasecmp(username, "vsphere.local", len))
		return "";
	return "; an account of an external identity provider (AD FS, Okta, Entra ID) has no password login: make one in the vCenter's own domain (vsphere.local)";
}

static void refused(const struct vs_vc *vc, struct vs_err *err)
{
	char why[200];

	vs_strlcpy(why, err->text, sizeof(why));
	vs_err_set(err, VS_E_LOGIN,
		   "vCenter refuses the login with VCenterUser=%s and the password in VCenterPasswordFile=%s (%s): correct them%s; slurm-vsphere stops trying, so that the account is not locked, until that file changes, scontrol reconfigure or svf reconcile",
		   vc->conf.username, vc->conf.password_file, why,
		   federated(vc->conf.username));
}

static void on_login(struct vcx_call *call, struct vs_j reply,
		     const struct vs_err *err)
{
	struct vs_vc *vc = call->vc;
	struct vs_err bad;

	if (err) {
		bad = *err;
		/* Whatever a login is refused for, trying it again as it is
		 * would bring the account closer to being locked. */
		if (bad.fault[0] && bad.code != VS_E_RETRY &&
		    bad.code != VS_E_UNKNOWN)
			bad.code = VS_E_LOGIN;
		if (bad.code == VS_E_LOGIN)
			refused(vc, &bad);
		vs_vcx_fail(vc, &bad);
		return;
	}
	vs_str_replace(&vc->session.user,
		       vs_j_str(vs_j_get(reply, "userName")));
	if (vs_vcx_bad(vc, reply))
		return;
	if (!vc->http.token[0]) {
		vs_err_set(&bad, VS_E_RETRY,
			   "%s returned no session id at the login",
			   vc->http.url);
		vs_vcx_fail(vc, &bad);
		return;
	}
	vc->stats.logins++;
	vs_info("Logged in to vCenter url=%s user=%s release=%s version=%s",
		vc->http.url, vc->session.user, vc->http.release,
			vc->session.version);
	vs_vcx_event(vc, VCX_EV_LOGGED_IN);
}

static void on_old_logout(struct vcx_call *call, struct vs_j reply,
			  const struct vs_err *err)
{
	(void)call;
	(void)reply;
	(void)err;
}

void vs_vcx_login(struct vs_vc *vc)
{
	char password[MAX_PASSWORD];
	struct vs_err err = { 0 };

	/* Sessions count against a limit: don't leave the old one behind. */
	if (vc->http.token[0])
		vs_vcx_post(&vc->http, VCX_QUIT, on_old_logout,
			    "SessionManager",
			    vc->session.ids.sessions, "Logout", NULL);
	explicit_bzero(vc->http.token, sizeof(vc->http.token));
	if (vc->http.insecure)
		vs_error("TLS of %s is not verified: a machine in between can read the password; set VCenterCAFile",
			 vc->http.url);
	if (read_password(vc, password, &err)) {
		explicit_bzero(password, sizeof(password));
		vs_vcx_fail(vc, &err);
		return;
	}
	vs_vcx_post_text(&vc->http, VCX_SECRET | VCX_SESSION, on_login,
			 "SessionManager", vc->session.ids.sessions, "Login",
			 vs_spec_login(vc->conf.username, password));
	explicit_bzero(password, sizeof(password));
}
