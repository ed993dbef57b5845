/* SPDX-License-Identifier: Apache-2.0 */
/*
 * progress - see screen.h: one line on the terminal of standard error, gone when it is over
 */
#include "cli/output/screen.h"

#include "base/clock.h"

#include <unistd.h>

bool progress_is_seen(const struct cli *cli)
{
	int fd = fileno(cli->err);

	return fd >= 0 && isatty(fd);
}

void progress_show(struct cli *cli, const char *text)
{
	uint64_t now = monotonic_usec();
	unsigned int width;
	char elapsed[32];
	size_t used;

	if (!progress_is_seen(cli))
		return;
	if (cli->progress_since_usec == 0)
		cli->progress_since_usec = now;
	if (now - cli->progress_since_usec < USEC_PER_SEC)
		return;
	(void) fflush(cli->out);
	width = screen_width(cli->err);
	used = (size_t) snprintf(
		elapsed, sizeof(elapsed), " %llu s ",
		(unsigned long long) ((now - cli->progress_since_usec) / USEC_PER_SEC));
	(void) fprintf(cli->err, "\r%s", elapsed);
	(void) text_print(cli->err, text, width > used + 1 ? width - used - 1 : 0);
	(void) fputs("\033[K", cli->err);
	(void) fflush(cli->err);
	cli->progress_is_shown = true;
}

void progress_end(struct cli *cli)
{
	if (cli->progress_is_shown)
		(void) fputs("\r\033[K", cli->err);
	(void) fflush(cli->err);
	cli->progress_is_shown = false;
	cli->progress_since_usec = 0;
}
