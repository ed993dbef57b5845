/* SPDX-License-Identifier: Apache-2.0 */
/*
 * worker - threads that may block or hang; see worker.h
 *
 * One mutex and one condition per pool guard its queue and its counts; no user code runs under
 * them. Finished jobs are pushed onto one list without a lock, and only the push that finds it
 * empty wakes the loop: a burst costs a single write.
 *
 * Closed pools stay in memory until their worker_return goes: a stuck thread still looks at its
 * own, and a job that comes too late goes straight back to the loop without a run.
 */
#include "base/worker.h"

#include "base/cleanup.h"
#include "base/clock.h"

#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>

enum { SHARES_MAX = 10 }; /* of the set-aside time: what takes less than one is not stuck */

struct worker_return {
	sd_event_source *source;
	sd_event *event; /* borrowed through the source */
	int64_t priority;
	int wake_fd;
	_Atomic(struct worker_job *) finished; /* newest first */
	struct worker_pool *pools;             /* loop thread only */
};

/* On the stack of its thread; linked while that thread lives. Guarded by the pool's mutex. */
struct worker_thread {
	struct worker_thread *next;
	uint64_t job_since_usec; /* 0: no job */
	bool set_aside;
};

struct worker_pool {
	struct worker_return *to_loop;
	struct worker_limits limits;
	struct worker_pool *next_pool;
	char name[16];
	int timer_fd; /* looks for stuck jobs; armed only while jobs wait and all threads are busy
		       */
	sd_event_source *timer;

	pthread_mutex_t mutex;
	pthread_cond_t work, ended;
	struct worker_job *first, **last;
	struct worker_thread *threads;
	struct worker_counts counts;
	unsigned int waiting; /* threads in pthread_cond_wait() */
	unsigned int woken;   /* of them, signalled already */
	bool timer_armed, closed;
	worker_pool_hang_fn *on_hang; /* loop thread only, like its data */
	void *on_hang_userdata;
};

/* ---- the way back ---- */

/* From any thread, without a lock: a worker never waits for the loop. */
static void give_back(struct worker_return *to_loop, struct worker_job *job)
{
	struct worker_job *newest = atomic_load_explicit(&to_loop->finished, memory_order_relaxed);

	do
		job->next = newest;
	while (!atomic_compare_exchange_weak_explicit(&to_loop->finished, &newest, job,
						      memory_order_release, memory_order_relaxed));
	/* A push onto a list with something in it is served by an earlier write. The
	 * counter cannot overflow and the descriptor is the pool's: this write does not fail. */
	if (!newest)
		(void) eventfd_write(to_loop->wake_fd, 1);
}

void worker_pool_report(struct worker_pool *pool, struct worker_job *job)
{
	give_back(pool->to_loop, job);
}

/* Turned round: jobs are reported in the order in which they ended. */
static void deliver_finished(struct worker_return *to_loop)
{
	struct worker_job *newest, *oldest = NULL;

	newest = atomic_exchange_explicit(&to_loop->finished, NULL, memory_order_acquire);
	while (newest) {
		struct worker_job *next = newest->next;

		newest->next = oldest;
		oldest = newest;
		newest = next;
	}
	while (oldest) {
		struct worker_job *job = oldest;

		oldest = job->next;
		job->done(job);
	}
}

static int on_finished(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
	eventfd_t count;

	/* Reset before the list is taken: a job pushed in between wakes the loop once too often,
	 * never once too little. */
	(void) eventfd_read(fd, &count);
	deliver_finished(userdata);
	return 0;
}

int worker_return_new(sd_event *event, int64_t priority, struct worker_return **ret)
{
	struct worker_return *to_loop;
	int r;

	assert(event && ret);
	to_loop = calloc(1, sizeof(*to_loop));
	if (!to_loop)
		return -ENOMEM;
	to_loop->event = event;
	to_loop->priority = priority;

	to_loop->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (to_loop->wake_fd < 0) {
		r = -errno;
		free(to_loop);
		return r;
	}
	r = sd_event_add_io(event, &to_loop->source, to_loop->wake_fd, EPOLLIN, on_finished,
			    to_loop);
	if (r >= 0)
		r = sd_event_source_set_priority(to_loop->source, priority);
	if (r < 0) {
		(void) worker_return_free(to_loop);
		return r;
	}
	*ret = to_loop;
	return 0;
}

static void pool_destroy(struct worker_pool *pool)
{
	(void) pthread_cond_destroy(&pool->ended);
	(void) pthread_cond_destroy(&pool->work);
	(void) pthread_mutex_destroy(&pool->mutex);
	free(pool);
}

struct worker_return *worker_return_free(struct worker_return *to_loop)
{
	bool stuck = false;

	if (!to_loop)
		return NULL;
	sd_event_source_disable_unref(to_loop->source);
	/* done() of these may hand jobs to closed pools, which give them back at once. */
	while (atomic_load_explicit(&to_loop->finished, memory_order_relaxed))
		deliver_finished(to_loop);

	for (struct worker_pool *pool = to_loop->pools; pool; pool = pool->next_pool) {
		assert(pool->closed);
		(void) pthread_mutex_lock(&pool->mutex);
		stuck |= pool->counts.threads > 0;
		(void) pthread_mutex_unlock(&pool->mutex);
	}
	/* A stuck thread will look at its pool and at the list above when it comes back. */
	if (stuck)
		return NULL;

	while (to_loop->pools) {
		struct worker_pool *pool = to_loop->pools;

		to_loop->pools = pool->next_pool;
		pool_destroy(pool);
	}
	(void) close(to_loop->wake_fd);
	free(to_loop);
	return NULL;
}

/* ---- threads ---- */

/* Under the mutex. */
static struct worker_job *take_job(struct worker_pool *pool)
{
	struct worker_job *job = pool->first;

	if (!job)
		return NULL;
	pool->first = job->next;
	if (!pool->first)
		pool->last = &pool->first;
	job->next = NULL;
	pool->counts.queued--;
	return job;
}

static void run_job(struct worker_return *to_loop, struct worker_job *job, uint64_t now_usec)
{
	static _Thread_local pid_t thread_id; /* asked once: a pod is a dozen jobs */

	if (thread_id == 0)
		thread_id = gettid();
	atomic_store_explicit(&job->started_usec, now_usec, memory_order_relaxed);
	atomic_store_explicit(&job->thread_id, thread_id, memory_order_relaxed);
	job->run(job);
	atomic_store_explicit(&job->thread_id, 0, memory_order_relaxed);
	atomic_store_explicit(&job->started_usec, 0, memory_order_relaxed);
	give_back(to_loop, job);
}

/* Under the mutex: how old a job is that counts as stuck. Where many hang, the next one is given
 * less time, so that what waits behind them comes soon. */
static uint64_t stuck_after_usec(const struct worker_pool *pool)
{
	unsigned int share = 1 + pool->counts.set_aside;

	return pool->limits.set_aside_usec / (share < SHARES_MAX ? share : SHARES_MAX);
}

/* Under the mutex: arm the timer for the first running job that can become stuck. With none (all
 * are set aside already, or threads are only starting) the next to end takes the waiting jobs. */
static void arm_timer(struct worker_pool *pool, uint64_t after_usec)
{
	struct itimerspec when = { 0 };
	uint64_t first_usec = UINT64_MAX;

	for (const struct worker_thread *thread = pool->threads; thread; thread = thread->next)
		if (!thread->set_aside && thread->job_since_usec > 0 &&
		    thread->job_since_usec < first_usec)
			first_usec = thread->job_since_usec;
	/* No thread has taken a job yet: look again one set-aside time from now. */
	if (first_usec == UINT64_MAX)
		first_usec = monotonic_usec();
	first_usec += after_usec;

	when.it_value.tv_sec = (time_t) (first_usec / USEC_PER_SEC);
	when.it_value.tv_nsec = (long) (first_usec % USEC_PER_SEC) * 1000;
	pool->timer_armed = timerfd_settime(pool->timer_fd, TFD_TIMER_ABSTIME, &when, NULL) == 0;
}

/* Under the mutex: sleep until there is a job. NULL: this thread has to end. */
static struct worker_job *wait_for_job(struct worker_pool *pool)
{
	struct worker_job *job;

	while (!(job = take_job(pool)) && !pool->closed) {
		pool->waiting++;
		(void) pthread_cond_wait(&pool->work, &pool->mutex);
		pool->waiting--;
		if (pool->woken > 0)
			pool->woken--;
	}
	return job;
}

/* Under the mutex: a job of this thread is over. False: it was set aside, another thread does its
 * work now, and it is one too many. */
static bool job_over(struct worker_pool *pool, struct worker_thread *self)
{
	self->job_since_usec = 0;
	pool->counts.running--;
	if (!self->set_aside)
		return true;
	self->set_aside = false;
	pool->counts.set_aside--;
	/* The loop reports at once that one has come back. */
	if (pool->counts.all_hang && !pool->timer_armed)
		arm_timer(pool, 0);
	return pool->counts.threads - pool->counts.set_aside <= pool->limits.threads;
}

static void unlink_thread(struct worker_pool *pool, const struct worker_thread *self)
{
	struct worker_thread **at = &pool->threads;

	while (*at != self)
		at = &(*at)->next;
	*at = self->next;
}

static void *thread_main(void *userdata)
{
	struct worker_pool *pool = userdata;
	struct worker_thread self = { 0 };
	struct worker_job *job;
	bool needed = true;

	(void) pthread_setname_np(pthread_self(), pool->name);
	(void) pthread_mutex_lock(&pool->mutex);
	self.next = pool->threads;
	pool->threads = &self;
	while (needed && (job = wait_for_job(pool))) {
		uint64_t now_usec = monotonic_usec();

		self.job_since_usec = now_usec;
		pool->counts.running++;
		(void) pthread_mutex_unlock(&pool->mutex);
		run_job(pool->to_loop, job, now_usec);
		(void) pthread_mutex_lock(&pool->mutex);
		needed = job_over(pool, &self);
	}
	unlink_thread(pool, &self);
	pool->counts.threads--;
	/* While threads_max was reached no timer watched the waiting jobs. */
	if (pool->first && !pool->timer_armed)
		arm_timer(pool, stuck_after_usec(pool));
	(void) pthread_cond_signal(&pool->ended);
	(void) pthread_mutex_unlock(&pool->mutex);
	return NULL;
}

/* Under the mutex. Detached, because a stuck thread can never be joined; worker_pool_free() waits
 * for the count. Signals belong to the loop thread. */
static bool start_thread(struct worker_pool *pool)
{
	pthread_attr_t attributes;
	sigset_t all, old;
	pthread_t thread;
	int r;

	if (pthread_attr_init(&attributes) != 0)
		return false;
	(void) pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	(void) sigfillset(&all);
	(void) pthread_sigmask(SIG_SETMASK, &all, &old);
	r = pthread_create(&thread, &attributes, thread_main, pool);
	(void) pthread_sigmask(SIG_SETMASK, &old, NULL);
	(void) pthread_attr_destroy(&attributes);
	if (r == 0)
		pool->counts.threads++;
	return r == 0;
}

/* ---- stuck jobs ---- */

static bool may_start_thread(const struct worker_pool *pool)
{
	return pool->counts.threads - pool->counts.set_aside < pool->limits.threads &&
	       pool->counts.threads < pool->limits.threads_max;
}

/* Is there anything to find out? A spare may start, or all of them may hang, which is
 * to be reported. */
static bool may_look_out(const struct worker_pool *pool)
{
	return pool->counts.threads < pool->limits.threads_max || pool->on_hang;
}

/* Under the mutex, on the loop. Return: there is something to tell. */
static bool check_all_hang(struct worker_pool *pool)
{
	bool before = pool->counts.all_hang;

	pool->counts.all_hang =
		pool->counts.set_aside >= pool->limits.threads_max && (pool->first || before);
	return pool->on_hang && pool->counts.all_hang != before;
}

/* Under the mutex: a waiting job is to be taken. True: one of those who wait, and the
 * caller signals it after the mutex is free, so that it does not wake only to wait again. */
static bool find_thread(struct worker_pool *pool)
{
	if (pool->waiting > pool->woken) {
		pool->woken++;
		return true;
	}
	if (may_start_thread(pool) && start_thread(pool))
		return false;
	if (!pool->timer_armed && !pool->counts.all_hang && may_look_out(pool))
		arm_timer(pool, stuck_after_usec(pool));
	return false;
}

/* Under the mutex: who is at one job for too long does not count any more. */
static void set_aside(struct worker_pool *pool, uint64_t now_usec)
{
	uint64_t limit_usec = stuck_after_usec(pool);

	for (struct worker_thread *thread = pool->threads; pool->first && thread;
	     thread = thread->next) {
		if (thread->set_aside || thread->job_since_usec == 0 ||
		    now_usec - thread->job_since_usec < limit_usec)
			continue;
		thread->set_aside = true;
		pool->counts.set_aside++;
	}
}

static int on_timer(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
	struct worker_pool *pool = userdata;
	struct worker_counts counts;
	uint64_t expirations;
	unsigned int jobs;
	bool is_news;

	(void) !read(fd, &expirations, sizeof(expirations));

	(void) pthread_mutex_lock(&pool->mutex);
	pool->timer_armed = false;
	set_aside(pool, monotonic_usec());
	for (jobs = pool->counts.queued; jobs > 0 && may_start_thread(pool); jobs--)
		if (!start_thread(pool))
			break;
	is_news = check_all_hang(pool);
	if (pool->first && !pool->counts.all_hang && may_look_out(pool))
		arm_timer(pool, stuck_after_usec(pool));
	counts = pool->counts;
	(void) pthread_mutex_unlock(&pool->mutex);
	if (is_news)
		pool->on_hang(pool->on_hang_userdata, &counts);
	return 0;
}

/* ---- pools ---- */

static int add_timer(struct worker_pool *pool)
{
	struct worker_return *to_loop = pool->to_loop;
	int r;

	pool->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (pool->timer_fd < 0)
		return -errno;
	r = sd_event_add_io(to_loop->event, &pool->timer, pool->timer_fd, EPOLLIN, on_timer, pool);
	if (r >= 0)
		r = sd_event_source_set_priority(pool->timer, to_loop->priority);
	return r;
}

int worker_pool_new(const char *name, struct worker_return *to_loop,
		    const struct worker_limits *limits, struct worker_pool **ret)
{
	struct worker_pool *pool;
	pthread_condattr_t monotonic;
	int r;

	assert(name && strlen(name) < sizeof(pool->name));
	assert(to_loop && limits && ret);
	assert(limits->threads > 0 && limits->threads_max >= limits->threads);
	assert(limits->set_aside_usec > 0);
	pool = calloc(1, sizeof(*pool));
	if (!pool)
		return -ENOMEM;
	(void) memccpy(pool->name, name, '\0', sizeof(pool->name));
	pool->to_loop = to_loop;
	pool->limits = *limits;
	pool->last = &pool->first;
	pool->counts.name = pool->name;
	pool->counts.threads_max = limits->threads_max;

	/* None of these can fail on Linux for these attributes. */
	(void) pthread_mutex_init(&pool->mutex, NULL);
	(void) pthread_cond_init(&pool->work, NULL);
	(void) pthread_condattr_init(&monotonic);
	(void) pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	(void) pthread_cond_init(&pool->ended, &monotonic);
	(void) pthread_condattr_destroy(&monotonic);

	r = add_timer(pool);
	if (r < 0) {
		sd_event_source_disable_unref(pool->timer);
		(void) close_keep_errno(pool->timer_fd);
		pool_destroy(pool);
		return r;
	}
	pool->next_pool = to_loop->pools;
	to_loop->pools = pool;
	*ret = pool;
	return 0;
}

void worker_pool_on_hang(struct worker_pool *pool, worker_pool_hang_fn *on_hang, void *userdata)
{
	assert(pool && on_hang);
	pool->on_hang = on_hang;
	pool->on_hang_userdata = userdata;
}

struct worker_pool *worker_pool_free(struct worker_pool *pool)
{
	uint64_t until_usec;
	struct timespec until;
	struct worker_job *left;

	if (!pool)
		return NULL;
	until_usec = monotonic_usec() + pool->limits.set_aside_usec;
	until.tv_sec = (time_t) (until_usec / USEC_PER_SEC);
	until.tv_nsec = (long) (until_usec % USEC_PER_SEC) * 1000;

	(void) pthread_mutex_lock(&pool->mutex);
	assert(!pool->closed);
	pool->closed = true;
	left = pool->first;
	pool->first = NULL;
	pool->last = &pool->first;
	pool->counts.queued = 0;
	(void) pthread_cond_broadcast(&pool->work);
	while (pool->counts.threads > 0)
		if (pthread_cond_timedwait(&pool->ended, &pool->mutex, &until) == ETIMEDOUT)
			break;
	(void) pthread_mutex_unlock(&pool->mutex);

	/* Nothing arms a closed pool's timer: submit does not come that far. */
	pool->timer = sd_event_source_disable_unref(pool->timer);
	pool->timer_fd = close_keep_errno(pool->timer_fd);
	while (left) {
		struct worker_job *job = left;

		left = job->next;
		job->done(job);
	}
	return NULL;
}

void worker_submit(struct worker_pool *pool, struct worker_job *job)
{
	bool closed, here, wake = false;

	assert(pool && job && job->run && job->done);
	(void) pthread_mutex_lock(&pool->mutex);
	closed = pool->closed;
	if (!closed) {
		job->next = NULL;
		*pool->last = job;
		pool->last = &job->next;
		pool->counts.queued++;
		wake = find_thread(pool);
	}
	here = !closed && pool->counts.threads == 0;
	if (here)
		job = take_job(pool);
	(void) pthread_mutex_unlock(&pool->mutex);

	if (wake)
		(void) pthread_cond_signal(&pool->work);
	if (closed)
		give_back(pool->to_loop, job);
	else if (here)
		run_job(pool->to_loop, job, monotonic_usec());
}

void worker_submit_or_run(struct worker_pool *pool, struct worker_job *job)
{
	if (pool) {
		worker_submit(pool, job);
		return;
	}
	job->run(job);
	job->done(job);
}

void worker_pool_count(struct worker_pool *pool, struct worker_counts *ret)
{
	assert(pool && ret);
	(void) pthread_mutex_lock(&pool->mutex);
	*ret = pool->counts;
	(void) pthread_mutex_unlock(&pool->mutex);
}
