/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_service_token - tokens, requests for them in protocol buffers, and certificates, of any
 * origin
 *
 * The first byte of the input says which. No foreign token is accepted by podvold's keys; what
 * a request says can be written as JSON; certificates that were sorted and written are read again
 * as the same.
 */
#include "fuzz.h"

#include "api/auth/service_tokens.h"
#include "base/cleanup.h"
#include "object/kinds/certificates.h"
#include "token/jwt.h"
#include "token/token_claims.h"

#include <errno.h>
#include <string.h>

static void check_token(const char *text)
{
	static struct signing_key *key;
	struct claims_times times;
	struct failure why = { 0 };
	struct jwt jwt;
	int r;

	if (!key)
		HOLDS(signing_key_generate(&key, NULL) == 0);
	r = jwt_parse(text, &jwt, &why);
	HOLDS(r == 0 || (r == -EINVAL && why.text[0] != '\0'));
	if (r < 0)
		return;
	HOLDS(!jwt_verify(&jwt, key));
	HOLDS(strlen(jwt.key_id) < KEY_ID_BYTES && jwt.signed_length < strlen(text));
	if (claims_read_times(jwt.claims, &times) == 0)
		HOLDS(times.expires > times.issued &&
		      times.refresh_usec <= (uint64_t) times.expires * 1000000);
	jwt_done(&jwt);
}

static void check_request(const uint8_t *bytes, size_t size)
{
	cleanup_json struct cJSON *tree = NULL;
	cleanup_free char *text = NULL;
	int r = token_request_parse(bytes, size, &tree);

	HOLDS((r == 0) == (tree != NULL) && (r == 0 || r == -EINVAL));
	if (r < 0)
		return;
	text = json_print(tree);
	HOLDS(text && size >= 4 && memcmp(bytes, "k8s", 4) == 0);
}

static void check_certificates(const char *text)
{
	struct certificate_list list = { .certificates = NULL }, again = { .certificates = NULL };
	cleanup_free char *first = NULL, *second = NULL;
	struct failure why = { 0 };
	int r = certificates_add(&list, text, &why);

	HOLDS(r == 0 || why.text[0] != '\0');
	certificates_sort(&list);
	first = certificates_print(&list);
	HOLDS(first && certificates_add(&again, first, NULL) == 0 && again.count == list.count);
	certificates_sort(&again);
	second = certificates_print(&again);
	HOLDS(second && strcmp(first, second) == 0);
	for (size_t i = 0; i < list.count; i++)
		(void) certificate_is_authority(&list.certificates[i]);
	certificates_done(&list);
	certificates_done(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_free char *text = size > 0 ? strndup((const char *) data + 1, size - 1) : NULL;

	if (!text)
		return 0;
	if (data[0] % 3 == 0)
		check_token(text);
	else if (data[0] % 3 == 1)
		check_request(data + 1, size - 1);
	else
		check_certificates(text);
	return 0;
}
