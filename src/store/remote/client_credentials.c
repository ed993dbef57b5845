/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client_credentials - files of certificates, keys and tokens, read whole or not at all
 *
 * Nothing is kept between two reads. A file is checked by the descriptor that it is read from.
 */
#include "store/remote/client_credentials.h"

#include "base/cleanup.h"
#include "base/secret_file.h"

#include <assert.h>
#include <ctype.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

/* How a file must be protected. */
enum protection {
	PROTECT_WRITE, /* others may read: certificates; tokens, which kubelet projects so */
	PROTECT_READ_AND_WRITE, /* keys */
};

static int check_file(int fd, const char *path, enum protection protection, struct failure *reterr)
{
	mode_t refused = protection == PROTECT_WRITE ? S_IWGRP | S_IWOTH : S_IRWXO | S_IWGRP;
	struct stat status;

	if (fstat(fd, &status) < 0)
		return failed(reterr, -errno, "cannot inspect '%s'", path);
	if (!S_ISREG(status.st_mode) || status.st_size == 0 ||
	    status.st_size > CREDENTIAL_FILE_BYTES)
		return failed_plain(reterr, -EINVAL, "'%s' is not a file of 1 to %d bytes", path,
				    CREDENTIAL_FILE_BYTES);
	if (status.st_mode & refused || (status.st_uid != geteuid() && status.st_uid != 0))
		return failed_plain(reterr, -EPERM,
				    "'%s' can be %s by others (mode %04o, uid %u): chown root and "
				    "chmod %s",
				    path,
				    protection == PROTECT_WRITE ? "written" : "read or written",
				    (unsigned int) status.st_mode & 07777, status.st_uid,
				    protection == PROTECT_WRITE ? "go-w" : "0600");
	return 0;
}

static int read_file(const char *path, enum protection protection, char **ret,
		     struct failure *reterr)
{
	cleanup_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	char *text = NULL;
	size_t length = 0;
	ssize_t n;
	int r;

	if (fd < 0)
		return failed(reterr, -errno, "cannot open '%s'", path);
	r = check_file(fd, path, protection, reterr);
	if (r < 0)
		return r;
	text = calloc(1, CREDENTIAL_FILE_BYTES + 1);
	if (!text)
		return failed(reterr, -ENOMEM, "cannot read '%s'", path);
	while ((n = read(fd, text + length, CREDENTIAL_FILE_BYTES - length)) > 0)
		length += (size_t) n;
	if (n < 0)
		r = failed(reterr, -errno, "cannot read '%s'", path);
	else if (length == 0 || memchr(text, '\0', length))
		r = failed_plain(reterr, -EINVAL, "'%s' is empty or not text", path);
	if (r == 0)
		*ret = strdup(text);
	if (r == 0 && !*ret)
		r = failed(reterr, -ENOMEM, "cannot read '%s'", path);
	explicit_bzero(text, length);
	free(text);
	return r;
}

static int copy_text(const char *text, char **ret, struct failure *reterr)
{
	*ret = strdup(text);
	return *ret ? 0 : failed(reterr, -ENOMEM, "cannot keep credentials");
}

static int read_pem(const struct kubeconfig_pem *pem, enum protection protection, char **ret,
		    struct failure *reterr)
{
	if (pem->data)
		return copy_text(pem->data, ret, reterr);
	return pem->file ? read_file(pem->file, protection, ret, reterr) : 0;
}

int client_credentials_check_token(char *token, struct failure *reterr)
{
	size_t length = strlen(token);

	while (length > 0 && isspace((unsigned char) token[length - 1]))
		token[--length] = '\0';
	for (size_t i = 0; i < length; i++)
		if (!isgraph((unsigned char) token[i]))
			return failed_plain(reterr, -EINVAL,
					    "the token has a blank or an unprintable byte");
	return length > 0 ? 0 : failed_plain(reterr, -EINVAL, "the token is empty");
}

static int read_token(const struct kubeconfig *kubeconfig, char **ret, struct failure *reterr)
{
	int r = 0;

	if (kubeconfig->token_file)
		r = read_file(kubeconfig->token_file, PROTECT_WRITE, ret, reterr);
	else if (kubeconfig->token)
		r = copy_text(kubeconfig->token, ret, reterr);
	if (r < 0 || !*ret)
		return r;
	r = client_credentials_check_token(*ret, reterr);
	if (r < 0)
		(void) failure_prefix(reterr, "%s",
				      kubeconfig->token_file ? kubeconfig->token_file : "token");
	return r;
}

int client_credentials_read(const struct kubeconfig *kubeconfig, struct client_credentials *ret,
			    struct failure *reterr)
{
	int r;

	assert(kubeconfig && ret);
	*ret = (struct client_credentials){ 0 };
	r = read_pem(&kubeconfig->authority, PROTECT_WRITE, &ret->authority, reterr);
	if (r == 0)
		r = read_pem(&kubeconfig->certificate, PROTECT_WRITE, &ret->certificate, reterr);
	if (r == 0)
		r = read_pem(&kubeconfig->key, PROTECT_READ_AND_WRITE, &ret->key, reterr);
	if (r == 0)
		r = read_token(kubeconfig, &ret->token, reterr);
	if (r < 0)
		client_credentials_done(ret);
	return r;
}

static bool same_text(const char *a, const char *b)
{
	size_t length = a ? strlen(a) : 0;
	unsigned char differs = 0;

	if (!a || !b || strlen(b) != length)
		return !a && !b;
	for (size_t i = 0; i < length; i++)
		differs |= (unsigned char) (a[i] ^ b[i]);
	return differs == 0;
}

bool client_credentials_equal(const struct client_credentials *a,
			      const struct client_credentials *b)
{
	assert(a && b);
	return same_text(a->authority, b->authority) && same_text(a->certificate, b->certificate) &&
	       same_text(a->key, b->key) && same_text(a->token, b->token);
}

void client_credentials_done(struct client_credentials *credentials)
{
	assert(credentials);
	credentials->authority = secret_text_free(credentials->authority);
	credentials->certificate = secret_text_free(credentials->certificate);
	credentials->key = secret_text_free(credentials->key);
	credentials->token = secret_text_free(credentials->token);
}
