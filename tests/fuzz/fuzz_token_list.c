/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_token_list - the file of named tokens, of any origin
 *
 * What is taken has names that can be revoked, roles that allow something, and is shown as JSON; a
 * token that no row has is none of them.
 *
 * Link with -Wl,--wrap=openat
 */
#include "fuzz.h"

#include "api/auth/token_list.h"

#include "base/cleanup.h"
#include "object/json/json.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int __wrap_openat(int directory_fd, const char *name, int flags, ...);

static const uint8_t *file;
static size_t file_size;

int __wrap_openat(int directory_fd, const char *name, int flags, ...)
{
	int fd = memfd_create("tokens", MFD_CLOEXEC);

	HOLDS(fd >= 0 && fchmod(fd, 0600) == 0);
	HOLDS(write(fd, file, file_size) == (ssize_t) file_size && lseek(fd, 0, SEEK_SET) == 0);
	return fd;
}

static void check_list(struct token_list *list)
{
	cleanup_json struct cJSON *view = token_list_view(list);
	unsigned char digest[TOKEN_DIGEST_BYTES];

	HOLDS(list->count <= NAMED_TOKENS_MAX);
	HOLDS(json_count(json_get(view, "items")) == list->count);
	for (size_t i = 0; i < list->count; i++) {
		const struct named_token *token = &list->tokens[i];

		HOLDS(*token->name && memchr(token->name, '\0', sizeof(token->name)));
		HOLDS(token->rights != 0);
		HOLDS(token_list_find(list, token->digest) != NULL);
	}
	HOLDS(token_digest("Bearer of nothing", digest) == 0);
	HOLDS(!token_list_holds(list, digest, 0));
	while (list->count > 0)
		HOLDS(token_list_remove(list, list->tokens[0].name) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct token_list list = { .count = 0 };
	struct failure why = { 0 };
	int r;

	file = data;
	file_size = size;
	r = token_list_load(AT_FDCWD + 200, &list, &why);
	HOLDS(r == 0 || ((r == -EINVAL || r == -E2BIG) && why.text[0] != '\0'));
	if (r == 0)
		check_list(&list);
	return 0;
}
