/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_single_faults - each scenario again and again, each time with one call failing once
 *
 * First without a fault, to count the calls; then a child process for each call, each of its visits
 * and each error that fits. Once the fault is over everything must become what is wanted, then be
 * taken down, and leave nothing. Prints a table; the exit status says whether all of it is zeros.
 *
 * Options: --seconds=N so many points as fit (0: all), --seed=N which ones, --jobs=N,
 * --stride=N every Nth visit of a call beyond its first hundred, which are much alike (default 1),
 * --slice=K/N every Nth of all these points, from the Kth: N runs, from 0/N on, visit each once,
 * --scenario=TEXT those whose name has it, --point=CALL:NTH:ERRNO this one alone, with its log.
 */
#include "faults.h"
#include "scenarios.h"

#include "base/cleanup.h"
#include "fast_clock.h"

#include <execinfo.h>
#include <fcntl.h>
#include <getopt.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <time.h>

enum {
	JOBS_MAX = 16,
	CALLS_MAX = 128,
	SPEED = 8, /* of the clock: a back-off of half a second costs 63 ms */
	ALIKE_AFTER = 100,
	SIGNALED = 128,     /* an exit status above it, as in a shell, is a signal's */
	LIFE_SECONDS = 120, /* a child that takes longer hangs */
	LOG_TAIL_BYTES = 3000,
	REPORTS_MAX = 40, /* in full; more are counted */
};

/* What a child tells; in shared memory, since it may crash. */
struct life {
	bool ended, fired, converged;
	struct fault_damage damage;
	char step[96];
	unsigned int visits[CALLS_MAX];
};

struct job {
	pid_t pid; /* 0: free */
	int log_fd;
	struct life *life;
	struct fault_point point;
};

struct row {
	unsigned int points, visited, converged, failures;
	struct fault_damage sum;
};

static struct {
	unsigned int seconds, seed, jobs, stride, slice, slices;
	const char *scenario;
	struct fault_point point;
	bool one_point;
} options = { .jobs = 2, .seconds = 8, .stride = 1, .slices = 1 };

static struct job jobs[JOBS_MAX];
static unsigned int reports;

/* ---- one life, in a child ---- */

static const int crashes[] = { SIGSEGV, SIGBUS, SIGABRT, SIGFPE };

/* Says where, then ends as without it. */
static void on_crash(int number)
{
	static const char heading[] = "crashed at:\n";
	void *stack[32];

	(void) signal(number, SIG_DFL);
	(void) !write(STDERR_FILENO, heading, sizeof(heading) - 1);
	backtrace_symbols_fd(stack, backtrace(stack, ARRAY_SIZE(stack)), STDERR_FILENO);
	(void) raise(number);
}

static void live(const struct scenario *scenario, struct life *life)
{
	struct fault_world world;

	world_make(&world, scenario->world);
	fast_clock_set(SPEED);
	for (size_t i = 0; i < SCENARIO_STEPS_MAX && scenario->steps[i].act; i++) {
		const struct scenario_step *step = &scenario->steps[i];

		(void) snprintf(life->step, sizeof(life->step), "step %zu", i);
		if (i == scenario->armed_from)
			faults_arm_at(&jobs[0].point);
		step->act(&world);
		life->converged = world_until(&world, step->wants);
		if (life->converged && step->stays_msec > 0) {
			world_turn(&world, step->stays_msec);
			life->converged = world_until(&world, step->wants);
		}
		if (!life->converged) {
			(void) snprintf(life->step, sizeof(life->step), "step %zu: not '%s'", i,
					world.missing);
			break;
		}
	}
	faults_exempt_thread(false);
	world_stop(&world);
	faults_exempt_thread(true);
	life->fired = faults_disarm();
	for (unsigned int call = 0; call < faults_call_count(); call++)
		life->visits[call] = faults_visits(call);
	if (world.container > 0)
		(void) kill(world.container, SIGKILL);
	if (life->converged && !world_drain(&world)) {
		(void) snprintf(life->step, sizeof(life->step), "the drain");
		life->converged = false;
	}
	life->damage = world_damage(&world);
	life->ended = true;
}

/* The machine's other processes are no part of a scenario, and are searched in vain a thousand
 * times: so it has a process namespace of its own. Return: in the process that is to live. */
static void enter_process_namespace(void)
{
	int status = 0;
	pid_t pid;

	if (unshare(CLONE_NEWNS | CLONE_NEWPID) < 0)
		fail_msg("no process namespace: %s", strerror(errno));
	for (int level = 0; level < 2; level++) { /* the first one in it is its init */
		pid = fork();
		assert_return_code(pid, errno);
		if (pid > 0) {
			while (waitpid(pid, &status, 0) != pid)
				;
			_exit(WIFSIGNALED(status) ? SIGNALED + WTERMSIG(status)
						  : WEXITSTATUS(status));
		}
	}
	assert_return_code(mount("proc", "/proc", "proc", 0, NULL), errno);
}

static void run_life(const struct scenario *scenario, struct job *job)
{
	(void) dup2(job->log_fd, STDOUT_FILENO);
	(void) dup2(job->log_fd, STDERR_FILENO);
	enter_process_namespace();
	(void) alarm(LIFE_SECONDS);
	faults_report_place();
	for (size_t i = 0; i < ARRAY_SIZE(crashes); i++)
		(void) signal(crashes[i], on_crash);
	jobs[0].point = job->point;
	live(scenario, job->life);
	(void) fflush(NULL);
	_exit(0);
}

static void start_life(const struct scenario *scenario, struct job *job)
{
	memset(job->life, 0, sizeof(*job->life));
	(void) ftruncate(job->log_fd, 0);
	(void) lseek(job->log_fd, 0, SEEK_SET);
	(void) fflush(NULL);
	job->pid = fork();
	assert_return_code(job->pid, errno);
	if (job->pid == 0)
		run_life(scenario, job);
}

/* ---- what became of it ---- */

static bool is_clean(const struct fault_damage *damage)
{
	static const struct fault_damage none;

	return memcmp(damage, &none, sizeof(none)) == 0;
}

static void print_log(const struct job *job, bool all)
{
	static char text[1024 * 1024];
	ssize_t size = pread(job->log_fd, text, sizeof(text) - 1, 0);
	char *line, *rest = text;

	if (size < 0)
		return;
	text[size] = '\0';
	if (!all && size > LOG_TAIL_BYTES)
		rest = text + size - LOG_TAIL_BYTES;
	while ((line = strsep(&rest, "\n")))
		printf("#     %s\n", line);
}

static void report(const struct scenario *scenario, const struct job *job, int status)
{
	const struct fault_damage *damage = &job->life->damage;

	if (++reports > REPORTS_MAX)
		return;
	printf("# '%s' --point=%s:%u:%d (%s): %s%s, at %s; left: %u mounts, %u descriptors, %u "
	       "rows, "
	       "%u devices, %u directories, %u leaks, %u trees changed\n",
	       scenario->name, job->point.nth ? faults_call_name(job->point.call) : "-",
	       job->point.nth, job->point.error, strerror(job->point.error),
	       WEXITSTATUS(status) > SIGNALED ? strsignal(WEXITSTATUS(status) - SIGNALED) : "ended",
	       job->life->converged ? "" : ", did not converge", job->life->step, damage->mounts,
	       damage->descriptors, damage->ledger_rows, damage->devices, damage->directories,
	       damage->memory, damage->bytes_changed);
	print_log(job, false);
}

static void end_life(const struct scenario *scenario, struct job *job, int status, struct row *row)
{
	const struct life *life = job->life;
	bool good = status == 0 && life->ended && life->converged;

	job->pid = 0;
	row->points++;
	row->visited += life->fired;
	row->converged += good && life->fired;
	row->sum.mounts += life->damage.mounts;
	row->sum.descriptors += life->damage.descriptors;
	row->sum.ledger_rows += life->damage.ledger_rows;
	row->sum.devices += life->damage.devices;
	row->sum.directories += life->damage.directories;
	row->sum.memory += life->damage.memory;
	row->sum.bytes_changed += life->damage.bytes_changed;
	if (options.one_point)
		print_log(job, true);
	if (good && is_clean(&life->damage))
		return;
	row->failures++;
	report(scenario, job, status);
}

/* Waits for a child and gives its job back. */
static struct job *take_ended(const struct scenario *scenario, struct row *row)
{
	int status;
	pid_t pid = wait(&status);

	for (unsigned int i = 0; i < options.jobs; i++)
		if (jobs[i].pid == pid && pid > 0) {
			end_life(scenario, &jobs[i], status, row);
			return &jobs[i];
		}
	return NULL;
}

static struct job *free_job(const struct scenario *scenario, struct row *row)
{
	struct job *job = NULL;

	for (unsigned int i = 0; i < options.jobs; i++)
		if (jobs[i].pid == 0)
			return &jobs[i];
	while (!job)
		job = take_ended(scenario, row);
	return job;
}

static void wait_for_all(const struct scenario *scenario, struct row *row)
{
	for (unsigned int i = 0; i < options.jobs; i++)
		while (jobs[i].pid > 0)
			(void) take_ended(scenario, row);
}

/* ---- all points of a scenario ---- */

static double now(void)
{
	struct timespec time;

	(void) clock_gettime(CLOCK_BOOTTIME, &time);
	return (double) time.tv_sec + (double) time.tv_nsec / 1e9;
}

static bool is_left_out(const struct scenario *scenario, unsigned int call, unsigned int nth)
{
	for (size_t i = 0; i < SCENARIO_PASSED_OVER_MAX && scenario->passed_over[i]; i++)
		if (strcmp(scenario->passed_over[i], faults_call_name(call)) == 0)
			return true;
	return nth > ALIKE_AFTER && nth % options.stride != options.seed % options.stride;
}

/* How many are to be visited: those that are left out count as visited by none. */
static unsigned int count_points(const struct scenario *scenario, const struct life *life)
{
	unsigned int count = 0;

	for (unsigned int call = 0; call < faults_call_count(); call++)
		for (unsigned int nth = 1; nth <= life->visits[call]; nth++)
			for (const int *error = faults_call_errors(call); *error; error++)
				count += !is_left_out(scenario, call, nth);
	return count;
}

/* Is this point one of this run? */
static bool is_ours(unsigned int number, unsigned int stride)
{
	return number % stride == options.seed % stride && number % options.slices == options.slice;
}

/* Every @stride-th point, as many as come before the time is over, and one at least. */
static void run_points(const struct scenario *scenario, const struct life *calls,
		       unsigned int stride, double until, struct row *row)
{
	unsigned int number = 0;
	bool is_begun = false;

	for (unsigned int call = 0; call < faults_call_count(); call++)
		for (unsigned int nth = 1; nth <= calls->visits[call]; nth++)
			for (const int *error = faults_call_errors(call); *error; error++) {
				struct job *job;

				if (is_left_out(scenario, call, nth) ||
				    !is_ours(number++, stride) ||
				    (is_begun && options.seconds > 0 && now() > until))
					continue;
				is_begun = true;
				job = free_job(scenario, row);
				job->point = (struct fault_point){ call, nth, *error };
				start_life(scenario, job);
			}
	wait_for_all(scenario, row);
}

static void print_row(const char *name, const struct row *row, unsigned int points)
{
	printf("# %-34s | %7u | %7u | %9u | %6u | %11u | %6u | %6u | %7u\n", name, points,
	       row->visited, row->converged, row->sum.mounts + row->sum.devices,
	       row->sum.descriptors, row->sum.memory, row->sum.ledger_rows + row->sum.directories,
	       row->sum.bytes_changed);
}

static void print_head(void)
{
	printf("# %-34s | %7s | %7s | %9s | %6s | %11s | %6s | %6s | %7s\n", "scenario", "points",
	       "visited", "converged", "mounts", "descriptors", "memory", "ledger", "foreign");
	printf("# %-34s | %7s | %7s | %9s | %6s | %11s | %6s | %6s | %7s\n", "", "", "", "", "left",
	       "left", "leaked", "left", "changed");
}

/* Without a fault first: it says which points there are, and how long one takes. */
static bool run_scenario(const struct scenario *scenario, double seconds, struct row *all)
{
	static struct life calls;
	struct row row = { .points = 0 }, ignored = { .points = 0 };
	unsigned int points, stride = 1;
	double begun = now(), life_seconds;

	jobs[0].point = (struct fault_point){ .nth = 0 };
	start_life(scenario, &jobs[0]);
	wait_for_all(scenario, &ignored);
	calls = *jobs[0].life;
	life_seconds = now() - begun;
	points = count_points(scenario, &calls);
	if (ignored.failures > 0) {
		printf("# '%s' fails without a fault\n", scenario->name);
		return false;
	}
	if (seconds > 0)
		stride =
			(unsigned int) ((double) points * life_seconds / (seconds * options.jobs)) +
			1;
	run_points(scenario, &calls, stride, begun + seconds, &row);
	print_row(scenario->name, &row, points);
	all->visited += row.visited;
	all->converged += row.converged;
	all->failures += row.failures;
	all->points += points;
	return row.failures == 0 && (row.visited > 0 || seconds > 0);
}

static bool run_one_point(const struct scenario *scenario)
{
	struct row row = { .points = 0 };

	jobs[0].point = options.point;
	start_life(scenario, &jobs[0]);
	wait_for_all(scenario, &row);
	print_row(scenario->name, &row, 1);
	return row.failures == 0;
}

/* ---- main ---- */

static bool is_chosen(const struct scenario *scenario)
{
	return !options.scenario || strstr(scenario->name, options.scenario);
}

static int run_all(void)
{
	struct row all = { .points = 0 };
	unsigned int chosen = 0, number = 0, bad = 0;

	for (size_t i = 0; i < scenario_count; i++)
		chosen += is_chosen(&scenarios[i]);
	printf("1..%u\n# seed %u\n", chosen, options.seed);
	print_head();
	for (size_t i = 0; i < scenario_count; i++) {
		bool good;

		if (!is_chosen(&scenarios[i]))
			continue;
		good = options.one_point ? run_one_point(&scenarios[i])
					 : run_scenario(&scenarios[i],
							(double) options.seconds / chosen, &all);
		printf("%sok %u - %s\n", good ? "" : "not ", ++number, scenarios[i].name);
		(void) fflush(stdout);
		bad += !good;
	}
	printf("# %u of %u points, %u converged, %u did not or left something\n", all.visited,
	       all.points, all.converged, all.failures);
	return bad > 0 || (all.visited == 0 && !options.one_point);
}

static void parse_point(const char *text)
{
	char name[64];

	if (sscanf(text, "%63[^:]:%u:%d", name, &options.point.nth, &options.point.error) != 3)
		exit(2);
	for (unsigned int call = 0; call < faults_call_count(); call++)
		if (strcmp(faults_call_name(call), name) == 0)
			options.point.call = call;
	options.one_point = true;
}

/* A slice that is none would visit nothing, and look as if all were well. */
static void parse_slice(const char *text)
{
	if (sscanf(text, "%u/%u", &options.slice, &options.slices) != 2 ||
	    options.slice >= options.slices)
		exit(2);
}

static void parse(int argc, char **argv)
{
	static const struct option words[] = {
		{ "seconds", required_argument, NULL, 's' },
		{ "seed", required_argument, NULL, 'r' },
		{ "jobs", required_argument, NULL, 'j' },
		{ "stride", required_argument, NULL, 'c' },
		{ "slice", required_argument, NULL, 'k' },
		{ "scenario", required_argument, NULL, 'n' },
		{ "point", required_argument, NULL, 'p' },
		{ NULL, 0, NULL, 0 },
	};
	int option;

	options.seed = (unsigned int) time(NULL) % 100000;
	while ((option = getopt_long(argc, argv, "", words, NULL)) >= 0)
		switch (option) {
		case 's':
			options.seconds = (unsigned int) strtoul(optarg, NULL, 10);
			break;
		case 'r':
			options.seed = (unsigned int) strtoul(optarg, NULL, 10);
			break;
		case 'j':
			options.jobs = (unsigned int) strtoul(optarg, NULL, 10);
			break;
		case 'c':
			options.stride = (unsigned int) strtoul(optarg, NULL, 10);
			break;
		case 'k':
			parse_slice(optarg);
			break;
		case 'n':
			options.scenario = optarg;
			break;
		case 'p':
			parse_point(optarg);
			break;
		default:
			exit(2);
		}
	if (options.stride < 1)
		options.stride = 1;
	if (options.jobs < 1 || options.jobs > JOBS_MAX)
		options.jobs = 1;
}

int main(int argc, char **argv)
{
	const char *why_not;
	int result;

	parse(argc, argv);
	why_not = sandbox_enter();
	if (why_not) {
		printf("1..0 # SKIP %s\n", why_not);
		return 0;
	}
	faults_exempt_thread(true);
	faults_hook_libraries();
	(void) signal(SIGPIPE, SIG_IGN); /* as podvold */
	assert_true(faults_call_count() <= CALLS_MAX);
	for (unsigned int i = 0; i < options.jobs; i++) {
		jobs[i].log_fd = memfd_create("log", MFD_CLOEXEC);
		jobs[i].life = mmap(NULL, sizeof(struct life), PROT_READ | PROT_WRITE,
				    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		assert_true(jobs[i].log_fd >= 0 && jobs[i].life != MAP_FAILED);
	}
	result = run_all();
	sandbox_leave();
	return result;
}
