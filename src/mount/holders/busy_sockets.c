/* SPDX-License-Identifier: Apache-2.0 */
/*
 * busy_sockets - unix sockets that are bound to a name in a volume; see busy_holders.h
 *
 *   Num       RefCount Protocol Flags    Type St Inode Path
 *   0000...0: 00000002 00000000 00010000 0001 01 31747 /run/volume/socket
 */
#include "mount/holders/busy_holders.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "mount/holders/process.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

enum { LINE_BYTES = 512 };

static int add(struct busy_sockets *sockets, const struct busy_socket *socket, const char *path)
{
	int r = ARRAY_ROOM(sockets->list, sockets->count, sockets->capacity, 16);

	if (r < 0)
		return r;
	sockets->list[sockets->count] = *socket;
	sockets->list[sockets->count].path = strdup(path);
	return sockets->list[sockets->count++].path ? 0 : -ENOMEM;
}

static int compare(const void *left, const void *right)
{
	uint64_t a = ((const struct busy_socket *) left)->inode;
	uint64_t b = ((const struct busy_socket *) right)->inode;

	return (a > b) - (a < b);
}

int busy_sockets_read(const struct busy_mounts *mounts, struct busy_sockets *ret)
{
	cleanup_fclose FILE *file = fopen("/proc/net/unix", "re");
	char line[LINE_BYTES];
	int r = 0;

	assert(mounts && ret);
	*ret = (struct busy_sockets){ .count = 0 };
	while (r >= 0 && file && fgets(line, sizeof(line), file)) {
		struct busy_socket socket = { 0 };
		int at = 0;

		line[strcspn(line, "\n")] = '\0';
		if (sscanf(line, "%*s %*s %*s %*s %*s %*s %" SCNu64 " %n", &socket.inode, &at) !=
			    1 ||
		    at == 0)
			continue;
		socket.mount = busy_mounts_around(mounts, line + at);
		if (socket.mount)
			r = add(ret, &socket, line + at);
	}
	if (r < 0)
		busy_sockets_free(ret);
	else if (ret->count > 0)
		qsort(ret->list, ret->count, sizeof(*ret->list), compare);
	return r;
}

void busy_sockets_free(struct busy_sockets *sockets)
{
	assert(sockets);
	for (size_t i = 0; i < sockets->count; i++)
		free(sockets->list[i].path);
	free(sockets->list);
	*sockets = (struct busy_sockets){ .count = 0 };
}

const struct busy_socket *busy_sockets_find(const struct busy_sockets *sockets, const char *link)
{
	struct busy_socket wanted;

	if (sockets->count == 0 || sscanf(link, "socket:[%" SCNu64 "]", &wanted.inode) != 1)
		return NULL;
	return bsearch(&wanted, sockets->list, sockets->count, sizeof(wanted), compare);
}
