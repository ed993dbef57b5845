/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster_trust_bundle - certificates.k8s.io/v1beta1 ClusterTrustBundle: types, rules, decoding
 *
 * A bundle of a signer is named after it: "example.com:foo:name" of "example.com/foo".
 */
#include "object/kinds/certificates.h"

#include "base/cleanup.h"
#include "object/json/arena.h"
#include "object/kinds.h"
#include "object/schema/field.h"
#include "object/schema/schemas.h"

#include <string.h>

enum { TRUST_BUNDLE_BYTES_MAX = 1024 * 1024, SIGNER_NAME_BYTES_MAX = 571 };

/* clang-format off */
static const struct schema spec_schema = SCHEMA_OF(SCHEMA_CERTIFICATES, "ClusterTrustBundleSpec",
	"Whom to trust.",
	STRING("signerName", 0, "Whose authorities these are; it cannot change."),
	STRING("trustBundle", REQUIRED, "X.509 authorities in PEM."),
);

const struct schema cluster_trust_bundle_schema = SCHEMA_OF(SCHEMA_CERTIFICATES, "ClusterTrustBundle", NULL,
	SCHEMA_HEAD,
	OBJECT(spec_schema, "spec", REQUIRED, "Whom to trust."),
);
/* clang-format on */

/* ---- rules ---- */

/* "domain/path", each a subdomain. */
static bool check_signer(const struct field *field)
{
	const char *signer = field_text(field), *slash = strchr(signer, '/');
	char domain[SIGNER_NAME_BYTES_MAX + 1];

	if (strlen(signer) > SIGNER_NAME_BYTES_MAX)
		return field_too_long(field, "may not be more than 571 bytes");
	if (!slash || slash == signer || slash[1] == '\0')
		return field_invalid(field, signer,
				     "must be a fully qualified domain and path of the form "
				     "'example.com/signer-name'");
	(void) snprintf(domain, sizeof(domain), "%.*s", (int) (slash - signer), signer);
	return field_check_subdomain_in(field, domain) &&
	       field_check_subdomain_in(field, slash + 1);
}

/* "example.com:foo:NAME" of signer "example.com/foo". */
static bool is_named_after(const char *name, const char *signer)
{
	size_t domain = strcspn(signer, "/"), length = strlen(signer);

	return strncmp(name, signer, domain) == 0 &&
	       (domain == length ||
		(name[domain] == ':' &&
		 strncmp(name + domain + 1, signer + domain + 1, length - domain - 1) == 0)) &&
	       name[length] == ':' && name[length + 1] != '\0';
}

static bool check_name(const struct field *field, const char *signer)
{
	const char *name = field_text(field);

	if (*signer == '\0')
		return !strchr(name, ':') ||
		       field_invalid(field, name,
				     "ClusterTrustBundle without signer name must not have \":\" "
				     "in its name");
	return is_named_after(name, signer) ||
	       field_invalid(field, name,
			     "ClusterTrustBundle for a signer must be named with the signer, ':' "
			     "in place of '/', and ':' as prefix");
}

/* The bytes are not shown again: they would be unreadable in a message. */
static bool check_bundle(const struct field *bundle)
{
	struct certificate_list list = { .certificates = NULL };
	struct failure why = { .error = 0 };
	size_t count;
	int r;

	if (strlen(field_text(bundle)) > TRUST_BUNDLE_BYTES_MAX)
		return field_too_long(bundle, "may not be more than 1048576 bytes");
	r = certificates_add(&list, field_text(bundle), &why);
	for (size_t i = 0; i < list.count && r == 0; i++)
		if (!certificate_is_authority(&list.certificates[i]))
			r = failed_plain(&why, -EINVAL, "entry %zu does not have the CA bit set",
					 i);
	count = list.count;
	certificates_sort(&list);
	if (r == 0 && count == 0)
		r = failed_plain(&why, -EINVAL, "at least one trust anchor must be provided");
	if (r == 0 && list.count < count)
		r = failed_plain(&why, -EINVAL, "duplicate trust anchor");
	certificates_done(&list);
	if (r == -ENOMEM)
		return violations_broken(bundle->found, r);
	return r == 0 || field_invalid(bundle, "<value omitted>", why.text);
}

bool cluster_trust_bundle_validate(const struct field *bundle)
{
	const struct field *signer = FIELD(bundle, "spec.signerName");

	return (*field_text(signer) == '\0' || check_signer(signer)) &&
	       check_name(FIELD(bundle, "metadata.name"), field_text(signer)) &&
	       check_bundle(FIELD(bundle, "spec.trustBundle"));
}

bool cluster_trust_bundle_validate_update(const struct object *old, const struct object *new_object,
					  struct violations *found)
{
	const char *now = new_object->cluster_trust_bundle->signer_name;

	return strcmp(old->cluster_trust_bundle->signer_name, now) == 0 ||
	       field_invalid(FIELD(FIELD_ROOT(NULL, found), "spec.signerName"), now,
			     "field is immutable");
}

/* ---- decoding ---- */

int cluster_trust_bundle_decode(const struct cJSON *tree, struct arena *arena,
				struct object *object, struct failure *reterr)
{
	const struct cJSON *spec = json_get(tree, "spec");
	struct cluster_trust_bundle *bundle = arena_array(arena, 1, sizeof(*bundle));

	if (!bundle)
		return failed(reterr, -ENOMEM, "cannot decode a ClusterTrustBundle");
	*bundle = (struct cluster_trust_bundle){
		.signer_name = arena_text(arena, spec, "signerName"),
		.trust_bundle = arena_text(arena, spec, "trustBundle"),
	};
	object->cluster_trust_bundle = bundle;
	return 0;
}
