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

#include <assert.h>
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
static int check_signer(const char *signer, const struct field *field, struct violations *found)
{
	const char *slash = strchr(signer, '/');
	cleanup_free char *domain = NULL;
	int r;

	if (strlen(signer) > SIGNER_NAME_BYTES_MAX)
		return field_too_long(field, "may not be more than 571 bytes", found);
	if (!slash || slash == signer || slash[1] == '\0')
		return field_invalid(field, signer,
				     "must be a fully qualified domain and path of the form "
				     "'example.com/signer-name'",
				     found);
	domain = strndup(signer, (size_t) (slash - signer));
	if (!domain)
		return -ENOMEM;
	r = field_check_subdomain(field, domain, found);
	return r < 0 ? r : field_check_subdomain(field, slash + 1, found);
}

static int check_name(const char *name, const char *signer, struct violations *found)
{
	const struct field *field = FIELD(FIELD(NULL, "metadata"), "name");
	cleanup_free char *prefix = strdup(signer);
	size_t length = strlen(signer);

	if (!prefix)
		return -ENOMEM;
	if (length == 0)
		return strchr(name, ':') ? field_invalid(field, name,
							 "ClusterTrustBundle without signer name "
							 "must not have \":\" in its name",
							 found)
					 : 0;
	prefix[strcspn(prefix, "/")] = ':';
	if (strncmp(name, prefix, length) != 0 || name[length] != ':' || name[length + 1] == '\0')
		return field_invalid(field, name,
				     "ClusterTrustBundle for a signer must be named with the "
				     "signer, ':' in place of '/', and ':' as prefix",
				     found);
	return 0;
}

/* The bytes are not shown again: they would be unreadable in a message. */
static int check_bundle(const char *pem, const struct field *field, struct violations *found)
{
	struct certificate_list list = { .certificates = NULL };
	struct failure why = { .error = 0 };
	size_t count;
	int r;

	if (strlen(pem) > TRUST_BUNDLE_BYTES_MAX)
		return field_too_long(field, "may not be more than 1048576 bytes", found);
	r = certificates_add(&list, pem, &why);
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
		return r;
	return r < 0 ? field_invalid(field, "<value omitted>", why.text, found) : 0;
}

int cluster_trust_bundle_validate(const struct cJSON *tree, struct violations *found)
{
	const struct cJSON *spec = json_get(tree, "spec");
	const struct field *field = FIELD(NULL, "spec");
	const char *signer = json_text(spec, "signerName");
	int r = 0;

	assert(tree);
	if (*signer)
		r = check_signer(signer, FIELD(field, "signerName"), found);
	if (r == 0)
		r = check_name(json_text_at(tree, "metadata.name"), signer, found);
	if (r == 0)
		r = check_bundle(json_text(spec, "trustBundle"), FIELD(field, "trustBundle"),
				 found);
	return r;
}

int cluster_trust_bundle_validate_update(const struct object *old, const struct object *new_object,
					 struct violations *found)
{
	const char *now = new_object->cluster_trust_bundle->signer_name;

	if (strcmp(old->cluster_trust_bundle->signer_name, now) == 0)
		return 0;
	return field_invalid(FIELD(FIELD(NULL, "spec"), "signerName"), now, "field is immutable",
			     found);
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
