/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_token - the token's file and an Authorization header of any origin
 *
 * The input is a header, a NUL and the file's bytes. A token that is taken is one printable word; a
 * header carries it only behind the scheme's name and blanks, whole.
 *
 * Link with -Wl,--wrap=openat
 */
#include "fuzz.h"

#include "api/auth/token_list.h"

#include "base/cleanup.h"
#include "base/secret_file.h"

#include <fcntl.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/stat.h>

int __wrap_openat(int directory_fd, const char *name, int flags, ...);

static const uint8_t *file;
static size_t file_size;

int __wrap_openat(int directory_fd, const char *name, int flags, ...)
{
	int fd = memfd_create("token", MFD_CLOEXEC);

	HOLDS(fd >= 0 && fchmod(fd, 0600) == 0);
	HOLDS(write(fd, file, file_size) == (ssize_t) file_size && lseek(fd, 0, SEEK_SET) == 0);
	return fd;
}

static void check_token(const char *token, const char *header)
{
	const char *given = header + strlen("Bearer");
	char right[TOKEN_LENGTH_MOST + 32];

	HOLDS(strlen(token) >= TOKEN_LENGTH_LEAST && strlen(token) <= TOKEN_LENGTH_MOST);
	for (const char *at = token; *at; at++)
		HOLDS(*at > ' ' && *at < 0x7f);
	if (token_is_given(token, header)) {
		HOLDS(strncasecmp(header, "Bearer ", 7) == 0);
		HOLDS(strcmp(given + strspn(given, " "), token) == 0);
	}
	(void) snprintf(right, sizeof(right), "bearer  %s", token);
	HOLDS(token_is_given(token, right));
	(void) snprintf(right, sizeof(right), "Bearer %sx", token);
	HOLDS(!token_is_given(token, right));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *end = size > 0 ? memchr(data, '\0', size) : NULL;
	struct failure why = { 0 };
	char *token = NULL;
	int r;

	if (!end)
		return 0;
	file = end + 1;
	file_size = size - (size_t) (file - data);
	r = token_load(AT_FDCWD + 200, "/token", &token, &why);
	HOLDS(r == 0 || r == -EINVAL);
	if (r == 0)
		check_token(token, (const char *) data);
	else
		HOLDS(why.text[0] != '\0' && !token);
	(void) secret_text_free(token);
	return 0;
}
