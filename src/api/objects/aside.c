/* SPDX-License-Identifier: Apache-2.0 */
/*
 * aside - see aside.h
 */
#include "api/objects/aside.h"

#include "base/cleanup.h"

#include <assert.h>

struct aside {
	struct worker_job job; /* first: the pool hands it back */
	const struct aside_class *class;
	struct exchange *exchange; /* the request's; NULL: its client left */
	struct target target;      /* names are in the path of @exchange */
	struct exchange own;       /* what the part sees */
	struct target own_target;  /* names are in the path of @own */
	void *work;
};

static void aside_free(struct aside *aside)
{
	aside->class->free(aside->work);
	exchange_done(&aside->own);
	free(aside);
}

static void aside_abandon(void *work)
{
	((struct aside *) work)->exchange = NULL;
}

/* Its reply becomes that of the request. */
static void nothing(struct exchange *exchange)
{
}

/* What the transport lends the request is not there for a thread. */
static void make_own(struct aside *aside)
{
	const struct exchange *exchange = aside->exchange;

	aside->own = (struct exchange){
		.agent = exchange->agent,
		.method = exchange->method,
		.rights = exchange->rights,
		.form = exchange->form,
		.content = exchange->content,
		.body = exchange->body,
		.body_length = exchange->body_length,
		.is_secret = exchange->is_secret,
		.answered = nothing,
	};
	api_path_copy(&exchange->path, &aside->own.path);
	(void) target_find(&aside->own.path, &aside->own_target);
}

static void aside_run(struct worker_job *job)
{
	struct aside *aside = (struct aside *) job;

	aside->class->run(&aside->own, &aside->own_target, aside->work);
}

static void take_reply(struct exchange *exchange, struct exchange *own)
{
	exchange->record.reason = own->record.reason;
	exchange->retry_seconds = own->retry_seconds;
	reply_bytes(exchange, own->status, own->reply_type, TAKE_PTR(own->reply),
		    own->reply_length);
}

static void aside_done(struct worker_job *job)
{
	struct aside *aside = (struct aside *) job;
	struct exchange *exchange = aside->exchange;

	if (exchange) {
		exchange->work = NULL;
		exchange->abandon = NULL;
		exchange->is_secret = aside->own.is_secret;
		exchange->warnings = TAKE_PTR(aside->own.warnings);
		if (aside->own.status != 0)
			take_reply(exchange, &aside->own);
		else
			aside->class->done(exchange, &aside->target, aside->work);
	}
	aside_free(aside);
}

static void run_here(struct exchange *exchange, const struct target *target,
		     const struct aside_class *class, void *work)
{
	class->run(exchange, target, work);
	if (exchange->status == 0)
		class->done(exchange, target, work);
	class->free(work);
}

void aside_begin(struct exchange *exchange, const struct target *target,
		 const struct aside_class *class, size_t bytes, void *work)
{
	struct aside *aside;

	assert(!exchange->work && !exchange->warnings);
	if (work && (!exchange->readers || bytes <= API_READ_HERE_BYTES)) {
		run_here(exchange, target, class, work);
		return;
	}
	aside = work ? calloc(1, sizeof(*aside)) : NULL;
	if (!aside) {
		if (work)
			class->free(work);
		reply_bytes(exchange, 500, NULL, NULL, 0);
		return;
	}
	aside->job.run = aside_run;
	aside->job.done = aside_done;
	aside->class = class;
	aside->exchange = exchange;
	aside->target = *target;
	aside->work = work;
	make_own(aside);
	exchange->body = NULL;
	exchange->body_length = 0;
	exchange_wait(exchange, aside, aside_abandon);
	worker_submit(exchange->readers, &aside->job);
}
