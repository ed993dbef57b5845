/* SPDX-License-Identifier: Apache-2.0 */
/*
 * beside - work on a thread of its own while its caller does something else; see beside.h
 *
 * Signals are the loop's: the thread takes none.
 */
#include "base/beside.h"

#include <assert.h>
#include <signal.h>
#include <stddef.h>

static void *thread_main(void *argument)
{
	const struct beside *beside = argument;

	beside->run(beside->userdata);
	return NULL;
}

void beside_start(struct beside *beside, const char *name, void (*run)(void *userdata),
		  void *userdata)
{
	sigset_t all, old;

	assert(beside && name && run);
	*beside = (struct beside){ .run = run, .userdata = userdata };
	(void) sigfillset(&all);
	(void) pthread_sigmask(SIG_SETMASK, &all, &old);
	beside->has_thread = pthread_create(&beside->thread, NULL, thread_main, beside) == 0;
	(void) pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (beside->has_thread)
		(void) pthread_setname_np(beside->thread, name);
}

void beside_wait(struct beside *beside)
{
	assert(beside);
	if (beside->has_thread)
		(void) pthread_join(beside->thread, NULL);
	else if (beside->run)
		beside->run(beside->userdata);
	*beside = (struct beside){ .run = NULL };
}
