/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_log - one event is one line, whatever its values contain, on stderr and in the journal
 *
 * stderr is a file for the time of a test; sd_journal_sendv(3) is interposed.
 */
#include "base/log.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cmocka.h>

static char output[4 * 8192]; /* what was written last: stderr, or "NAME=value|" of each field */

int __wrap_sd_journal_sendv(const struct iovec *vectors, int count);
int __wrap_sd_journal_sendv(const struct iovec *vectors, int count)
{
	size_t used = 0;

	for (int i = 0; i < count; i++)
		used += (size_t) snprintf(output + used, sizeof(output) - used, "%.*s|",
					  (int) vectors[i].iov_len,
					  (const char *) vectors[i].iov_base);
	errno = EPIPE;
	return -EPIPE;
}

static FILE *file;
static int saved_stderr;

static int capture(void **state)
{
	file = tmpfile();
	saved_stderr = dup(STDERR_FILENO);
	output[0] = '\0';
	(void) unsetenv("JOURNAL_STREAM");
	log_open(LOG_INFO);
	return file && saved_stderr >= 0 && dup2(fileno(file), STDERR_FILENO) >= 0 ? 0 : -1;
}

static int release(void **state)
{
	(void) dup2(saved_stderr, STDERR_FILENO);
	(void) close(saved_stderr);
	(void) unsetenv("JOURNAL_STREAM");
	log_open(LOG_INFO);
	return fclose(file);
}

static const char *written(void)
{
	size_t length;

	rewind(file);
	length = fread(output, 1, sizeof(output) - 1, file);
	output[length] = '\0';
	rewind(file);
	(void) ftruncate(fileno(file), 0);
	return output;
}

static void use_journal(int level)
{
	struct stat status;
	char stream[64];

	assert_return_code(fstat(STDERR_FILENO, &status), errno);
	(void) snprintf(stream, sizeof(stream), "%ju:%ju", (uintmax_t) status.st_dev,
			(uintmax_t) status.st_ino);
	assert_return_code(setenv("JOURNAL_STREAM", stream, 1), errno);
	log_open(level);
}

static void level_is_named_and_bounds_what_is_written(void **state)
{
	log_message(LOG_ERR, "%d", 1);
	assert_string_equal(written(), "error: 1\n");
	log_message(LOG_INFO, "%d", 2);
	assert_string_equal(written(), "info: 2\n");
	log_message(LOG_DEBUG, "%d", 3);
	assert_string_equal(written(), "");
	log_open(LOG_DEBUG);
	log_message(LOG_DEBUG, "%d", 4);
	assert_string_equal(written(), "debug: 4\n");
	log_open(LOG_WARNING);
	log_message(LOG_NOTICE, "5");
	assert_string_equal(written(), "");
	log_message(LOG_WARNING, "6");
	assert_string_equal(written(), "warning: 6\n");
}

/* Its parts, in order, are the text; once. */
static void a_long_text_is_whole_in_parts(void **state)
{
	static char text[2 * 4096 + 100 + 1];
	const char *at;

	for (size_t i = 0; i < sizeof(text) - 1; i++)
		text[i] = (char) ('a' + i % 26);
	log_whole(LOG_NOTICE, "what it said", text);
	at = written();
	for (unsigned int part = 1; part <= 3; part++) {
		size_t length = part < 3 ? 4096 : 100;
		char before[64];

		(void) snprintf(before, sizeof(before), "notice: what it said, part %u%s: ", part,
				part < 3 ? "" : ", the last");
		assert_int_equal(strncmp(at, before, strlen(before)), 0);
		at += strlen(before);
		assert_int_equal(strncmp(at, text + (part - 1) * 4096, length), 0);
		assert_int_equal(at[length], '\n');
		at += length + 1;
	}
	assert_string_equal(at, "");
	log_whole(LOG_NOTICE, "what it said", text);
	assert_string_equal(written(), "");
}

/* New texts all the time do not fill the journal. */
static void so_many_long_texts_a_minute(void **state)
{
	char text[32];
	size_t lines = 0;

	for (int i = 0; i < 1000; i++) {
		(void) snprintf(text, sizeof(text), "text %d", i);
		log_whole(LOG_NOTICE, "it", text);
	}
	for (const char *at = written(); (at = strchr(at, '\n')); at++)
		lines++;
	assert_in_range(lines, 1, 3 * 20); /* a new minute may have begun */
}

static void subject_follows_the_sentence(void **state)
{
	const struct log_subject both = { .pod = "ns/a", .pod_uid = "u", .volume = "v" };
	const struct log_subject pod = { .pod = "ns/a" }, volume = { .volume = "v" };

	log_about(LOG_INFO, &both, "mounted");
	assert_string_equal(written(), "info: mounted (pod 'ns/a', volume 'v')\n");
	log_about(LOG_INFO, &pod, "mounted");
	assert_string_equal(written(), "info: mounted (pod 'ns/a')\n");
	log_about(LOG_INFO, &volume, "mounted");
	assert_string_equal(written(), "info: mounted (volume 'v')\n");
}

static void journal_gets_a_field_for_each_part(void **state)
{
	const struct log_subject all = {
		.pod = "ns/a", .pod_uid = "u", .volume = "v", .plugin = "p"
	};

	use_journal(LOG_INFO);
	errno = ENOENT;
	log_about(LOG_NOTICE, &all, "mounted");
	assert_int_equal(errno, ENOENT);
	assert_string_equal(output, "POD=ns/a|POD_UID=u|VOLUME=v|PLUGIN=p|PRIORITY=5|"
				    "MESSAGE=mounted (pod 'ns/a', volume 'v')|");
	log_message(LOG_ERR, "x");
	assert_string_equal(output, "PRIORITY=3|MESSAGE=x|");
}

static void fields_of_its_own_are_for_the_journal(void **state)
{
	const struct log_field fields[] = { { "API_USER", "a\nb" }, { "API_OBJECT", NULL } };

	log_fields(LOG_INFO, fields, 2, "get %d", 1);
	assert_string_equal(written(), "info: get 1\n");
	use_journal(LOG_INFO);
	log_fields(LOG_INFO, fields, 2, "get %d", 1);
	assert_string_equal(output, "API_USER=a\\nb|PRIORITY=6|MESSAGE=get 1|");
}

/* Else who chooses a file name could write lines of podvold's, or paint on an operator's terminal.
 */
static void control_characters_are_escaped(void **state)
{
	const struct log_subject subject = { .pod = "ns/\r", .volume = "v\nerror: no" };

	log_about(LOG_INFO, &subject, "'%s'", "a\nb\t\x1b[31m\x7f\\ \xc3\xa4");
	assert_string_equal(written(), "info: 'a\\nb\\t\\x1b[31m\\x7f\\ \xc3\xa4' "
				       "(pod 'ns/\\r', volume 'v\\nerror: no')\n");
	use_journal(LOG_INFO);
	log_about(LOG_INFO, &subject, "'%s'", "a\nb\x01");
	assert_string_equal(output, "POD=ns/\\r|VOLUME=v\\nerror: no|PRIORITY=6|"
				    "MESSAGE='a\\nb\\x01' (pod 'ns/\\r', volume "
				    "'v\\nerror: no')|");
}

static void long_lines_are_cut_between_escapes(void **state)
{
	static const char begin[] = "info: ";
	char text[3 * 8192];
	size_t length;

	memset(text, 'a', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	log_message(LOG_INFO, "%s", text);
	length = strlen(written());
	assert_in_range(length, 8192 - 64, sizeof(begin) - 1 + 8191 + 1);
	assert_non_null(strstr(output, " bytes cut ...] aaa"));
	assert_int_equal(output[length - 1], '\n');

	/* Each becomes four: the room ends before they do, with 3 bytes left. */
	memset(text, '\x1b', sizeof(text) - 1);
	log_message(LOG_INFO, "%s", text);
	length = strlen(written());
	assert_int_equal(length, sizeof(begin) - 1 + 8188 + 1);
	assert_string_equal(output + length - 5, "\\x1b\n");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, capture, release)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(level_is_named_and_bounds_what_is_written),
		TEST(subject_follows_the_sentence),
		TEST(journal_gets_a_field_for_each_part),
		TEST(fields_of_its_own_are_for_the_journal),
		TEST(control_characters_are_escaped),
		TEST(long_lines_are_cut_between_escapes),
		TEST(a_long_text_is_whole_in_parts),
		TEST(so_many_long_texts_a_minute),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
