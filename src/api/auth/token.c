/* SPDX-License-Identifier: Apache-2.0 */
/*
 * token - the bearer token: read, made, compared; see cli.h
 */
#include "api/auth/token_list.h"

#include "base/cleanup.h"
#include "base/secret_file.h"
#include "base/text.h"

#include <assert.h>
#include <fcntl.h>
#include <string.h>
#include <sys/random.h>

#define TOKEN_FILE "token"

enum { TOKEN_RANDOM_BYTES = 32 };

/* Printable ASCII without blanks: what RFC 6750 allows and more, and nothing that ends a header. */
static int check_token(char *text, const char *name, struct failure *reterr)
{
	size_t length = strcspn(text, "\r\n");
	bool is_line = text[length + strspn(text + length, "\r\n")] == '\0';

	text[length] = '\0';
	for (size_t i = 0; i < length; i++)
		is_line = is_line && text[i] > ' ' && text[i] < 0x7f;
	if (!is_line || length < TOKEN_LENGTH_LEAST || length > TOKEN_LENGTH_MOST)
		return failed_plain(reterr, -EINVAL,
				    "'%s' does not hold one line of %d to %d printable characters",
				    name, TOKEN_LENGTH_LEAST, TOKEN_LENGTH_MOST);
	return 0;
}

static int read_token(int directory_fd, const char *name, char **ret, struct failure *reterr)
{
	char *text = NULL;
	int r = secret_file_read(directory_fd, name, &text, reterr);

	if (r < 0)
		return r;
	r = check_token(text, name, reterr);
	if (r < 0)
		(void) secret_text_free(text);
	else
		*ret = text;
	return r;
}

static int make_token(int directory_fd, struct failure *reterr)
{
	unsigned char random[TOKEN_RANDOM_BYTES];
	char text[2 * TOKEN_RANDOM_BYTES + 2];
	int r;

	if (getrandom(random, sizeof(random), 0) != (ssize_t) sizeof(random))
		return failed(reterr, -errno, "cannot make a token");
	print_hex(random, sizeof(random), text);
	memcpy(text + 2 * sizeof(random), "\n", 2);
	r = secret_file_write(directory_fd, TOKEN_FILE, text, reterr);
	explicit_bzero(text, sizeof(text));
	explicit_bzero(random, sizeof(random));
	return r;
}

int token_load(int directory_fd, const char *file, char **ret, struct failure *reterr)
{
	int r;

	assert(directory_fd >= 0 && file && ret);
	if (*file)
		return read_token(AT_FDCWD, file, ret, reterr);
	r = read_token(directory_fd, TOKEN_FILE, ret, reterr);
	if (r != -ENOENT)
		return r;
	r = make_token(directory_fd, reterr);
	return r < 0 ? r : read_token(directory_fd, TOKEN_FILE, ret, reterr);
}

/* Looks at every character of what was given, equal so far or not. */
static bool is_same(const char *token, const char *given)
{
	size_t length = strlen(token), given_length = strlen(given);
	unsigned char difference = length != given_length;

	for (size_t i = 0; i < given_length; i++)
		difference |= (unsigned char) (given[i] ^ token[i % length]);
	return difference == 0;
}

bool token_is_given(const char *token, const char *authorization)
{
	static const char scheme[] = "Bearer ";

	assert(token && *token);
	if (!authorization || strncasecmp(authorization, scheme, strlen(scheme)) != 0)
		return false;
	authorization += strlen(scheme);
	return is_same(token, authorization + strspn(authorization, " "));
}
