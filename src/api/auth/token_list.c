/* SPDX-License-Identifier: Apache-2.0 */
/*
 * token_list - named tokens: read, made, compared, written; see token_list.h
 *
 * The file is JSON: {"tokens": [{name, role, sha256, created, expires}]}.
 */
#include "api/auth/token_list.h"

#include "api/auth/authorize.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/gnutls_begin.h"
#include "base/secret_file.h"
#include "base/text.h"
#include "object/json/json.h"
#include "object/timestamp.h"

#include <assert.h>
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <string.h>

#define TOKENS_FILE "tokens.json"

enum { FILE_DEPTH_MAX = 8, RANDOM_BYTES = 32 };

/* ---- digests ---- */

static int read_hex(const char *text, unsigned char *ret, size_t length)
{
	if (strlen(text) != 2 * length || text[strspn(text, "0123456789abcdef")] != '\0')
		return -EINVAL;
	for (size_t i = 0; i < length; i++) {
		const char digits[3] = { text[2 * i], text[2 * i + 1], '\0' };

		ret[i] = (unsigned char) strtoul(digits, NULL, 16);
	}
	return 0;
}

static int digest_of(const char *text, unsigned char ret[TOKEN_DIGEST_BYTES])
{
	return gnutls_begin() < 0 ||
			       gnutls_hash_fast(GNUTLS_DIG_SHA256, text, strlen(text), ret) < 0
		       ? -EIO
		       : 0;
}

/* ---- the file ---- */

static int check_name(const char *name, struct failure *reterr)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyz0123456789-.";

	if (*name && strlen(name) < TOKEN_NAME_BYTES && name[strspn(name, allowed)] == '\0')
		return 0;
	return failed_plain(reterr, -EINVAL,
			    "name: '%.64s' is not 1 to %d lower case letters, digits, '-' and '.'",
			    name, TOKEN_NAME_BYTES - 1);
}

static int read_token(const struct cJSON *item, struct named_token *ret, struct failure *reterr)
{
	const char *name = json_text(item, "name");
	const char *expires = json_text(item, "expires");
	int r = check_name(name, reterr);

	if (r < 0)
		return r;
	(void) snprintf(ret->name, sizeof(ret->name), "%s", name);
	ret->rights = role_rights(json_text(item, "role"));
	ret->created_usec = timestamp_parse(json_text(item, "created"));
	ret->expires_usec = *expires ? timestamp_parse(expires) : 0;
	if (ret->rights == 0 || (*expires && ret->expires_usec == 0) ||
	    read_hex(json_text(item, "sha256"), ret->digest, sizeof(ret->digest)) < 0)
		return failed_plain(reterr, -EINVAL, "role, sha256 or expires of '%s' is bad",
				    name);
	return 0;
}

/* Whatever a certificate can have as its name. */
static bool is_user_name(const char *name)
{
	for (const char *at = name; *at; at++)
		if ((unsigned char) *at < ' ' || *at == 0x7f)
			return false;
	return *name && strlen(name) < TOKEN_NAME_BYTES;
}

static int read_revoked(const struct cJSON *item, struct revoked_certificates *ret,
			struct failure *reterr)
{
	const char *name = json_text(item, "name");

	ret->before_usec = timestamp_parse(json_text(item, "before"));
	if (!is_user_name(name) || ret->before_usec == 0)
		return failed_plain(reterr, -EINVAL,
				    "name or before of a revoked certificate "
				    "is bad");
	(void) snprintf(ret->name, sizeof(ret->name), "%s", name);
	return 0;
}

static int parse(const char *text, struct token_list *ret, struct failure *reterr)
{
	const struct json_limits limits = { .bytes = SECRET_FILE_BYTES, .depth = FILE_DEPTH_MAX };
	cleanup_json struct cJSON *tree = NULL;
	int r = json_parse(text, strlen(text), &limits, &tree, reterr);
	const struct cJSON *list = json_get(tree, "tokens");

	if (r == 0 && (!json_is_array(list) || json_count(list) > NAMED_TOKENS_MAX))
		r = failed_plain(reterr, -EINVAL, "it holds no list of at most %d tokens",
				 NAMED_TOKENS_MAX);
	ret->count = 0;
	for (const struct cJSON *at = json_first(list); at && r == 0; at = json_next(at))
		r = read_token(at, &ret->tokens[ret->count++], reterr);
	ret->revoked_count = 0;
	list = json_get(tree, "revokedCertificates");
	if (r == 0 && json_count(list) > NAMED_TOKENS_MAX)
		r = failed_plain(reterr, -EINVAL, "it holds more than %d revoked certificates",
				 NAMED_TOKENS_MAX);
	for (const struct cJSON *at = json_first(list); at && r == 0; at = json_next(at))
		r = read_revoked(at, &ret->revoked[ret->revoked_count++], reterr);
	return r;
}

int token_list_load(int directory_fd, struct token_list *ret, struct failure *reterr)
{
	char *text = NULL;
	int r = secret_file_read(directory_fd, TOKENS_FILE, &text, reterr);

	if (r == -ENOENT) {
		ret->count = 0;
		ret->revoked_count = 0;
		return 0;
	}
	if (r < 0)
		return r;
	r = parse(text, ret, reterr);
	(void) secret_text_free(text);
	if (r < 0)
		failure_prefix(reterr, TOKENS_FILE);
	return r;
}

static void add_item(struct cJSON *list, const struct named_token *token, bool with_digest)
{
	struct cJSON *item = json_add_object(list, NULL);
	char hex[2 * TOKEN_DIGEST_BYTES + 1], time[TIMESTAMP_BYTES];

	(void) json_set_string(item, "name", token->name);
	(void) json_set_string(item, "role", role_name(token->rights));
	print_hex(token->digest, sizeof(token->digest), hex);
	if (with_digest)
		(void) json_set_string(item, "sha256", hex);
	timestamp_print(token->created_usec, time);
	(void) json_set_string(item, "created", time);
	if (token->expires_usec == 0)
		return;
	timestamp_print(token->expires_usec, time);
	(void) json_set_string(item, "expires", time);
}

int token_list_store(int directory_fd, const struct token_list *list, struct failure *reterr)
{
	cleanup_json struct cJSON *tree = json_new_object();
	struct cJSON *array = json_add_array(tree, "tokens");
	cleanup_free char *text = NULL;

	for (size_t i = 0; i < list->count; i++)
		add_item(array, &list->tokens[i], true);
	array = json_add_array(tree, "revokedCertificates");
	for (size_t i = 0; i < list->revoked_count; i++) {
		struct cJSON *item = json_add_object(array, NULL);
		char time[TIMESTAMP_BYTES];

		timestamp_print(list->revoked[i].before_usec, time);
		(void) json_set_string(item, "name", list->revoked[i].name);
		(void) json_set_string(item, "before", time);
	}
	text = json_print(tree);
	if (!text)
		return failed(reterr, -ENOMEM, "cannot write '%s'", TOKENS_FILE);
	return secret_file_write(directory_fd, TOKENS_FILE, text, reterr);
}

struct cJSON *token_list_view(const struct token_list *list)
{
	struct cJSON *tree = json_new_object(), *items = json_add_array(tree, "items");

	for (size_t i = 0; i < list->count; i++)
		add_item(items, &list->tokens[i], false);
	return tree;
}

/* ---- changes ---- */

static struct named_token *find_name(struct token_list *list, const char *name)
{
	for (size_t i = 0; i < list->count; i++)
		if (strcmp(list->tokens[i].name, name) == 0)
			return &list->tokens[i];
	return NULL;
}

int token_list_add(struct token_list *list, const struct named_token *token,
		   char ret_text[static TOKEN_TEXT_BYTES], struct failure *reterr)
{
	unsigned char random[RANDOM_BYTES];
	struct named_token *added;
	int r = check_name(token->name, reterr);

	assert(token->rights != 0);
	if (r < 0)
		return r;
	if (find_name(list, token->name))
		return failed_plain(reterr, -EEXIST, "token '%s' already exists: revoke it first",
				    token->name);
	if (list->count == NAMED_TOKENS_MAX)
		return failed_plain(reterr, -EDQUOT, "there are %d tokens already: revoke some",
				    NAMED_TOKENS_MAX);
	if (gnutls_begin() < 0 || gnutls_rnd(GNUTLS_RND_KEY, random, sizeof(random)) < 0)
		return failed_plain(reterr, -EIO, "cannot make a token");
	print_hex(random, sizeof(random), ret_text);
	explicit_bzero(random, sizeof(random));
	added = &list->tokens[list->count];
	*added = *token;
	r = digest_of(ret_text, added->digest);
	if (r < 0)
		return failed_plain(reterr, r, "cannot make a token");
	list->count++;
	return 0;
}

int token_list_remove(struct token_list *list, const char *name)
{
	struct named_token *token = find_name(list, name);

	if (!token)
		return -ENOENT;
	*token = list->tokens[--list->count];
	return 0;
}

static struct revoked_certificates *find_revoked(const struct token_list *list, const char *name)
{
	for (size_t i = 0; i < list->revoked_count; i++)
		if (strcmp(list->revoked[i].name, name) == 0)
			return (struct revoked_certificates *) &list->revoked[i];
	return NULL;
}

/* Up to the next full second, as times of certificates are full seconds. */
int token_list_revoke(struct token_list *list, const char *name, uint64_t now_usec,
		      struct failure *reterr)
{
	struct revoked_certificates *revoked = find_revoked(list, name);

	if (!is_user_name(name))
		return failed_plain(reterr, -EINVAL,
				    "name: not 1 to %d bytes without control characters",
				    TOKEN_NAME_BYTES - 1);
	if (!revoked && list->revoked_count == NAMED_TOKENS_MAX)
		return failed_plain(reterr, -EDQUOT,
				    "the certificates of %d names were revoked already: replace "
				    "the authority",
				    NAMED_TOKENS_MAX);
	if (!revoked)
		revoked = &list->revoked[list->revoked_count++];
	(void) snprintf(revoked->name, sizeof(revoked->name), "%s", name);
	revoked->before_usec = (now_usec / USEC_PER_SEC + 1) * USEC_PER_SEC;
	return 0;
}

bool token_list_revokes(const struct token_list *list, const char *name, uint64_t begins_usec)
{
	const struct revoked_certificates *revoked = find_revoked(list, name);

	return revoked && begins_usec < revoked->before_usec;
}

/* ---- comparing ---- */

bool named_token_is_valid(const struct named_token *token, uint64_t now_usec)
{
	return token->expires_usec == 0 || now_usec < token->expires_usec;
}

const struct named_token *token_list_find(const struct token_list *list,
					  const unsigned char *digest)
{
	const struct named_token *found = NULL;

	for (size_t i = 0; i < list->count; i++)
		if (gnutls_memcmp(list->tokens[i].digest, digest, TOKEN_DIGEST_BYTES) == 0)
			found = &list->tokens[i];
	return found;
}

int token_digest(const char *authorization, unsigned char ret[static TOKEN_DIGEST_BYTES])
{
	static const char scheme[] = "Bearer ";

	if (strncasecmp(authorization, scheme, strlen(scheme)) != 0)
		return -ENOENT;
	authorization += strlen(scheme);
	return digest_of(authorization + strspn(authorization, " "), ret);
}

bool token_list_holds(const struct token_list *list, const unsigned char *digest, uint64_t now_usec)
{
	const struct named_token *token = token_list_find(list, digest);

	return token && named_token_is_valid(token, now_usec);
}
