/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Why vCenter's certificate can't be verified, in libcurl's and OpenSSL's words,
 * and what to do about it.
 *
 * Rules: a cause is what libcurl or OpenSSL says. Their words differ by release:
 * test_vc_certificate.c lists those of libcurl 7.88, 8.14 and 8.22.
 */
#include <string.h>

#include "util/mem.h"
#include "vcenter/transport/http.h"

/* A CA with the right name and another key (vCenter's own was made again) does
 * not fail as a verification: OpenSSL just can't check the signature. */
static bool says_signature(const char *why)
{
	return strstr(why, "EVP lib") || strstr(why, "signature") ||
		strstr(why, "padding");
}

bool vs_vcx_certificate_is_it(CURLcode rc, const char *why)
{
	return rc == CURLE_PEER_FAILED_VERIFICATION ||
		(rc == CURLE_SSL_CONNECT_ERROR &&
		 (strstr(why, "certificate") || says_signature(why)));
}

const char *vs_vcx_certificate_fix(const char *why)
{
	static const char other_name[] =
		"set VCenter= to a name that the certificate has";
	static const struct { const char *cause, *fix; } fixes[] = {
		{ "not yet valid", "correct slurmctld's clock, or vCenter's" },
		{ "expired", "renew vCenter's certificate, or correct slurmctld's clock" },
		{ "revoked", "renew vCenter's certificate" },
		{ "subject name", other_name },
		{ "host name", other_name },
		{ "hostname", other_name },
	};

	for (size_t i = 0; i < VS_COUNT(fixes); i++)
		if (strstr(why, fixes[i].cause))
			return fixes[i].fix;
	return says_signature(why) ?
		"VCenterCAFile has another CA of the same name: use this vCenter's CA (download it at /certs/download.zip)" :
		"put the CA that signed it into VCenterCAFile (vCenter offers it at /certs/download.zip)";
}

/* libcurl keeps the first error of a call alone. That may be of another
 * connection: the one before, which was cut. A failed verification is told by
 * OpenSSL's number then. A failed handshake was recognised by its words. */
const char *vs_vcx_certificate_cause(CURLcode rc, const char *why,
				     long verified)
{
	static const struct { long number; const char *cause; } causes[] = {
		/* the chain was not looked at yet, or is good */
		{ 1, "certificate subject name does not match" },
		{ 0, "certificate subject name does not match" },
		{ 7, "certificate signature failure" },
		{ 9, "certificate is not yet valid" },
		{ 10, "certificate has expired" },
		{ 18, "self-signed certificate" },
		{ 19, "self-signed certificate in certificate chain" },
		{ 20, "unable to get local issuer certificate" },
		{ 21, "unable to verify the first certificate" },
		{ 23, "certificate revoked" },
	};

	if (rc != CURLE_PEER_FAILED_VERIFICATION ||
	    strstr(why, "certificate") || strstr(why, "SSL"))
		return why;
	for (size_t i = 0; i < VS_COUNT(causes); i++)
		if (causes[i].number == verified)
			return causes[i].cause;
	return curl_easy_strerror(rc);
}
