/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_csi_sequences - random lives of CSI volumes: the driver is never called out of CSI's order,
 * and nothing that it may have is forgotten
 *
 *   test_csi_sequences [COUNT [SEED]]
 *
 * A sequence is some pods that come and go, calls that end in every way a call can, deaths of
 * podvold between two turns and before any call that changes a file, deaths of the driver, a ledger
 * that cannot be written, volumes to be mounted again. After every event the ledger must know of
 * all that the driver may have. In the end the faults stop: what is wanted must be mounted, then
 * everything must go, and nothing be left. See tests/csi/sequence_world.h for what is real. A
 * failure prints the number of its sequence: "test_csi_sequences 1 NUMBER" replays it.
 */
#include "tests/root/sandbox.h"
#include "tests/csi/sequence_world.h"

#include "base/cleanup.h"
#include "base/clock.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	CHECK_USEC = 10 * USEC_PER_SEC, /* how long it runs when no number is given */
	BATCH = 100,                    /* sequences of one process: kills leave memory behind */
	PROCESSES = 12, /* at the same time: each waits a lot, for the kernel to unmount */
	EVENTS_MAX = 30,
	TURNS_MAX = 5000, /* until all is as it should be, without faults */
	KILL_CALLS_MAX = 12,
};

static unsigned long sequences_wanted; /* 0: as many as the time allows */
static unsigned long first_seed = 1;
static unsigned long sequence;
static bool is_told;

/* ---- a generator of its own: a sequence is its seed ---- */

static uint64_t random_state;

static unsigned int draw(unsigned int below)
{
	random_state += 0x9e3779b97f4a7c15;
	uint64_t z = random_state;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return (unsigned int) ((z ^ (z >> 31)) % below);
}

static void violated(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void violated(const char *format, ...)
{
	char text[512];
	va_list arguments;

	va_start(arguments, format);
	(void) vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	if (is_told)
		return;
	is_told = true;
	print_message("# sequence %lu: %s\n", sequence, text);
	world_print();
}

static void trace(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void trace(const char *format, ...)
{
	va_list arguments;

	if (sequences_wanted != 1)
		return;
	va_start(arguments, format);
	(void) vprintf(format, arguments);
	va_end(arguments);
}

/* ---- events ---- */

static void finish_one(void)
{
	static const enum grpc_code codes[] = {
		GRPC_CANCELLED,  GRPC_INVALID_ARGUMENT,   GRPC_DEADLINE_EXCEEDED,
		GRPC_NOT_FOUND,  GRPC_RESOURCE_EXHAUSTED, GRPC_FAILED_PRECONDITION,
		GRPC_ABORTED,    GRPC_UNIMPLEMENTED,      GRPC_INTERNAL,
		GRPC_UNAVAILABLE
	};
	unsigned int count = model_count_calls();
	struct model_call *call = count > 0 ? model_call_at(draw(count)) : NULL;
	enum model_outcome outcome = draw(2) == 0 ? MODEL_WORKS : draw(MODEL_OUTCOME_COUNT);
	enum grpc_code code = outcome == MODEL_WORKS ? GRPC_OK : codes[draw(ARRAY_SIZE(codes))];

	if (!call)
		return;
	trace("# %s '%s' '%s': outcome %d code %d\n", csi_method_row(call->request.method)->name,
	      call->volume, call->path, (int) outcome, (int) code);
	model_finish(call, outcome, code);
}

/* Calls that change nothing come before each that does, and would be most of what fails. */
static void answer_questions(void)
{
	for (unsigned int i = 0; i < model_count_calls();) {
		struct model_call *call = model_call_at(i);

		if (csi_method_row(call->request.method)->is_read_only_call)
			model_finish(call, MODEL_WORKS, GRPC_OK);
		else
			i++;
	}
	world_turn();
}

static void change_want(unsigned int volumes)
{
	unsigned int pod = draw(WORLD_PODS), volume = draw(WORLD_VOLUMES);

	if (!(volumes & world.volumes & 1U << volume))
		return;
	/* One pod alone may have it, and they do not wait for each other here. */
	if (volume == VOLUME_SINGLE)
		pod = 0;
	trace("# pod %u %s volume %u\n", pod, world.wants[pod][volume] ? "leaves" : "wants",
	      volume);
	world_want(pod, volume, !world.wants[pod][volume]);
}

static void happen(unsigned int volumes)
{
	unsigned int what = draw(100);

	if (what < 40) {
		if (draw(4) > 0)
			answer_questions();
		finish_one();
	} else if (what < 70) {
		change_want(volumes);
	} else if (what < 75) {
		trace("# killed\n");
		siglongjmp(world.killed, 1);
	} else if (what < 81) {
		world.calls_left = 1 + draw(KILL_CALLS_MAX);
		trace("# to be killed before call %u\n", world.calls_left);
	} else if (what < 84) {
		trace("# driver dies\n");
		model_died();
	} else if (what < 92) {
		trace("# driver is there\n");
		if (!model.is_there)
			world_driver_returns();
	} else if (what < 96) {
		world_remount(draw(WORLD_PODS), VOLUME_REPUBLISHED);
	} else {
		trace("# commits %s\n", world.fail_commits ? "work" : "fail");
		world.fail_commits = !world.fail_commits;
	}
}

/* One event and what comes of it; a kill ends both. */
static void step(unsigned int volumes)
{
	if (sigsetjmp(world.killed, 0) == 0) {
		happen(volumes);
		world_turn();
	} else {
		world.calls_left = 0;
		world_kill();
		world_start();
	}
	world_check_ledger();
}

/* Without faults, all calls work. */
static void settle(const char *what)
{
	world.fail_commits = false;
	world.calls_left = 0;
	if (!model.is_there)
		world_driver_returns();
	for (unsigned int i = 0; i < TURNS_MAX && !is_told; i++) {
		world_turn();
		if (world_is_settled())
			return;
		while (model_count_calls() > 0)
			model_finish(model_call_at(0), MODEL_WORKS, GRPC_OK);
		world_check_ledger();
	}
	violated("%s never comes to rest", what);
}

/* Half of the lives begin with volumes that are mounted: what breaks then is taking them away. */
static void begin_mounted(unsigned int volumes)
{
	for (unsigned int i = 0; i < 2 * WORLD_PODS; i++)
		change_want(volumes);
	settle("what is wanted at first");
}

static bool run_sequence(void)
{
	unsigned int events, volumes;

	random_state = sequence * 0x2545f4914f6cdd1d;
	is_told = false;
	world_begin();
	model.capabilities = draw(8) > 0 ? 1U << 1 : 0;
	volumes = 1 + draw((1U << WORLD_VOLUMES) - 1);
	events = 4 + draw(EVENTS_MAX - 4);
	if (draw(2) == 0)
		begin_mounted(volumes);
	for (unsigned int i = 0; i < events && !is_told; i++)
		step(volumes);
	settle("what is wanted");
	if (!is_told && !world_shows_all())
		violated("a wanted volume is not where its pod looks");
	if (!is_told && draw(4) == 0) {
		world_kill();
		world_start();
		settle("what is wanted, after a kill,");
	}
	for (unsigned int pod = 0; pod < WORLD_PODS; pod++)
		for (unsigned int i = 0; i < WORLD_VOLUMES; i++)
			world_want(pod, i, false);
	settle("what nobody wants");
	world_check_end();
	return !is_told;
}

/* ---- processes ---- */

static int run_batch(unsigned long count)
{
	unsigned long bad = 0;

	if (unshare(CLONE_NEWNS) < 0 || sandbox_setup(NULL) < 0)
		return 2;
	world_open();
	model.violated = violated;
	for (unsigned long i = 0; i < count; i++, sequence++)
		bad += !run_sequence();
	return bad > 0;
}

static void begin_child(unsigned long count)
{
	pid_t child;

	(void) fflush(stdout);
	child = fork();
	assert_return_code(child, errno);
	if (child == 0) {
		int r = run_batch(count);

		(void) fflush(stdout);
		_exit(r);
	}
}

/* True: all of its sequences went well. */
static bool end_child(void)
{
	int status;

	assert_return_code(wait(&status), errno);
	if (!WIFEXITED(status))
		print_message("# a batch ended by signal %d\n", WTERMSIG(status));
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static bool is_time_left(uint64_t begun, unsigned long begun_sequences)
{
	return sequences_wanted > 0 ? begun_sequences < sequences_wanted
				    : monotonic_usec() - begun < CHECK_USEC;
}

static void test_order_is_kept_and_nothing_forgotten(void **state)
{
	uint64_t begun = monotonic_usec(), took;
	unsigned long done = 0, bad = 0;
	unsigned int running = 0;

	sequence = first_seed;
	while (is_time_left(begun, done) || running > 0) {
		unsigned long count = sequences_wanted > 0 && sequences_wanted - done < BATCH
					      ? sequences_wanted - done
					      : BATCH;

		if (running < PROCESSES && is_time_left(begun, done)) {
			begin_child(count);
			sequence += count;
			done += count;
			running++;
			if (done % (100UL * BATCH) == 0)
				print_message("# %lu sequences begun, %lu batches bad\n", done,
					      bad);
		} else {
			bad += !end_child();
			running--;
		}
	}
	took = monotonic_usec() - begun;
	print_message("# %lu sequences in %.1f s, %.0f a second\n", done, (double) took / 1e6,
		      (double) done * 1e6 / (double) (took + 1));
	assert_int_equal(bad, 0);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order_is_kept_and_nothing_forgotten),
	};

	if (argc > 1)
		sequences_wanted = strtoul(argv[1], NULL, 10);
	if (argc > 2)
		first_seed = strtoul(argv[2], NULL, 10);
	return sandbox_run("csi_sequences", tests, ARRAY_SIZE(tests));
}
