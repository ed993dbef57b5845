/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_cli_get - what podvolctl get asks and prints: tables, templates, several kinds, sorted
 */
#include "cli_world.h"

#include "base/cleanup.h"
#include "client/handle.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const char pods_table[] =
	"{\"kind\":\"Table\",\"columnDefinitions\":[{\"name\":\"Name\",\"priority\":0},{\"name\":"
	"\"Status\",\"priority\":0},{\"name\":\"Node\",\"priority\":1}],\"rows\":[{\"cells\":["
	"\"web\",\"Running\",\"n1\"],\"object\":{\"metadata\":{\"name\":\"web\",\"namespace\":"
	"\"default\"}}},{\"cells\":[\"d\xc3\xa4tabase\",\"x\\u001b[31m\",\"n2\"],\"object\":{"
	"\"metadata\":{\"name\":\"db\",\"namespace\":\"edge\"}}}]}";
static const char volumes_table[] =
	"{\"kind\":\"Table\",\"columnDefinitions\":[{\"name\":\"Pod\",\"priority\":0},{\"name\":"
	"\"Volume\",\"priority\":0},{\"name\":\"State\",\"priority\":0},{\"name\":\"Path\","
	"\"priority\":0},{\"name\":\"Unique Name\",\"priority\":1},{\"name\":\"Pod UID\","
	"\"priority\":2},{\"name\":\"Next Retry\",\"priority\":2},{\"name\":\"Spec "
	"Name\",\"priority\":2}],\"rows\":[{\"cells\":["
	"\"default/web\",\"data\",\"mounted\",\"/p/data\",\"local/"
	"disk\",\"u-1\",\"-\",\"disk-1\"]}]}";

static void test_get_table(void **state)
{
	const struct answer list[] = { { "GET /api/v1", 0, 200, pods_table } };

	assert_int_equal(RUN(list, "get pods"), EXIT_DONE);
	assert_string_equal(sent, "GET /api/v1/namespaces/default/pods\n");
	assert_string_equal(sent_accept, TYPE_TABLE);
	assert_string_equal(err_text, "");
	assert_string_equal(out_text, "NAME       STATUS\n"
				      "web        Running\n"
				      "d\xc3\xa4tabase   x?[31m\n");
	assert_int_equal(RUN(list, "get po -A -o wide"), EXIT_DONE);
	assert_string_equal(sent, "GET /api/v1/pods\n");
	assert_string_equal(out_text, "NAMESPACE   NAME       STATUS    NODE\n"
				      "default     web        Running   n1\n"
				      "edge        d\xc3\xa4tabase   x?[31m    n2\n");
	assert_int_equal(RUN(list, "-n a/b get pod web -o name"), EXIT_DONE);
	assert_string_equal(sent, "GET /api/v1/namespaces/a%2Fb/pods/web\n");
	assert_string_equal(out_text, "pod/web\npod/db\n");
}

static void test_get_paths(void **state)
{
	static const struct {
		const char *words, *request;
	} rows[] = {
		{ "podvolctl get pv", "GET /api/v1/persistentvolumes\n" },
		{ "podvolctl get PVC c -n x",
		  "GET /api/v1/namespaces/x/persistentvolumeclaims/c\n" },
		{ "podvolctl get sc", "GET /apis/storage.k8s.io/v1/storageclasses\n" },
		{ "podvolctl get volumes", "GET /podvol/v1/volumes\n" },
		{ "podvolctl get volume kubernetes.io/x",
		  "GET /podvol/v1/volumes/kubernetes.io%2Fx\n" },
		{ "podvolctl get manifests", "GET /podvol/v1/manifests\n" },
		{ "podvolctl get drivers", "GET /podvol/v1/drivers\n" },
		{ "podvolctl get stats", "GET /podvol/v1/statistics\n" },
		{ "podvolctl get driver a/b", "GET /podvol/v1/drivers/a%2Fb\n" },
		{ "podvolctl get operations", "GET /podvol/v1/operations\n" },
		{ "podvolctl get events -A", "GET /api/v1/events\n" },
		{ "podvolctl events", "GET /api/v1/events\nGET /api/v1/events\n" },
		{ "podvolctl events -A -n x", "GET /api/v1/events\nGET /api/v1/events\n" },
		{ "podvolctl events -n x",
		  "GET /api/v1/namespaces/x/events\nGET /api/v1/namespaces/x/events\n" },
	};
	const struct answer list[] = { { "GET ", 0, 200, pods_table } };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		assert_int_equal(run_with(list, 1, rows[i].words), EXIT_DONE);
		assert_string_equal(sent, rows[i].request);
	}
}

static const char drivers_table[] =
	"{\"kind\":\"Table\",\"columnDefinitions\":[{\"name\":\"Name\",\"priority\":0},{\"name\":"
	"\"State\",\"priority\":0},{\"name\":\"Socket\",\"priority\":1}],\"rows\":[{\"cells\":["
	"\"d\",\"ready\",\"/r/d-reg.sock\"]},{\"cells\":[\"d\",\"failed\",\"/r/e-reg.sock\"]}]}";

static void test_drivers(void **state)
{
	const struct answer list[] = { { "GET /podvol/v1/drivers", 0, 200, drivers_table } };
	const struct answer none[] = { { "GET /podvol/v1/drivers/e", 0, 404, "no such driver" } };

	assert_int_equal(RUN(list, "drivers"), EXIT_DONE);
	assert_string_equal(sent, "GET /podvol/v1/drivers\n");
	assert_string_equal(out_text, "NAME   STATE\nd      ready\nd      failed\n");
	assert_int_equal(RUN(list, "drivers a/b -o wide"), EXIT_DONE);
	assert_string_equal(sent, "GET /podvol/v1/drivers/a%2Fb\n");
	assert_non_null(strstr(out_text, "/r/e-reg.sock"));
	assert_int_equal(RUN(list, "drivers -o name"), EXIT_DONE);
	assert_string_equal(out_text, "driver/d\ndriver/d\n");
	assert_int_equal(RUN(list, "describe driver d"), EXIT_DONE);
	assert_string_equal(sent, "GET /podvol/v1/drivers/d\n");
	assert_non_null(strstr(out_text, "State:              ready\n"));
	assert_non_null(strstr(out_text, "Socket:             /r/d-reg.sock\n"));
	assert_non_null(
		strstr(out_text, "\n\nName:               d\nState:              failed\n"));
	assert_int_not_equal(RUN(none, "describe driver e"), EXIT_DONE);
	assert_int_equal(RUN(list, "drivers d e"), EXIT_USAGE);
}

/* How far a copy is, of the claim that it is made for and of no other. */
static void test_copy_of_a_claim(void **state)
{
	const struct answer list[] = {
		{ "GET /api/v1/namespaces/default/persistentvolumeclaims/", 0, 200,
		  "{\"metadata\":{\"name\":\"c\",\"namespace\":\"default\"}}" },
		{ "GET /podvol/v1/operations", 0, 200,
		  "{\"kind\":\"Table\",\"columnDefinitions\":[{\"name\":\"Unique "
		  "Name\",\"priority\":0},"
		  "{\"name\":\"Progress\",\"priority\":1},{\"name\":\"About\",\"priority\":2}],"
		  "\"rows\":["
		  "{\"cells\":[\"local/a\",\"5 entries\",\"-\"]},"
		  "{\"cells\":[\"pvc-1\",\"7 entries\",\"PersistentVolumeClaim default/c\"]},"
		  "{\"cells\":[\"pvc-2\",\"8 entries\",\"PersistentVolumeClaim other/c\"]}]}" },
		{ "GET /api/v1/", 0, 200,
		  "{\"kind\":\"Table\",\"columnDefinitions\":[],\"rows\":[]}" },
	};
	const char *copy;

	assert_int_equal(RUN(list, "describe pvc c"), EXIT_DONE);
	copy = strstr(out_text, "\nCopy:               7 entries\n");
	assert_non_null(copy);
	assert_null(strstr(copy + 2, "Copy:"));
}

static void test_other_formats(void **state)
{
	const struct answer list[] = { { "GET /api/v1", 0, 200, "{\"a\":1}" },
				       { "GET /podvol", 0, 200, volumes_table } };
	const struct answer none[] = {
		{ "GET ", 0, 200, "{\"kind\":\"Table\",\"columnDefinitions\":[],\"rows\":[]}" }
	};

	assert_int_equal(RUN(list, "get pods -o json"), EXIT_DONE);
	assert_string_equal(sent_accept, "application/json");
	assert_string_equal(out_text, "{\n    \"a\": 1\n}\n");
	assert_int_equal(RUN(list, "get pods --output=yaml"), EXIT_DONE);
	assert_string_equal(sent_accept, "application/yaml");
	assert_int_equal(RUN(list, "get volumes -oname"), EXIT_DONE);
	assert_string_equal(out_text, "volume/local/disk\n");
	assert_int_equal(RUN(none, "get pods"), EXIT_DONE);
	assert_string_equal(out_text, "");
	assert_string_equal(err_text, "No pods found in namespace 'default'.\n");
	assert_int_equal(RUN(none, "get pods -A"), EXIT_DONE);
	assert_string_equal(err_text, "No pods found.\n");
	assert_int_equal(RUN(none, "get volumes"), EXIT_DONE);
	assert_string_equal(err_text, "No volumes found.\n");
	assert_int_equal(RUN(none, "get volumes -n edge"), EXIT_DONE);
	assert_string_equal(err_text, "No volumes found in namespace 'edge'.\n");
}

static const char pods_list[] =
	"{\"kind\":\"PodList\",\"metadata\":{},\"items\":["
	"{\"metadata\":{\"name\":\"web\",\"namespace\":\"default\"},\"spec\":{\"n\":10}},"
	"{\"metadata\":{\"name\":\"db\",\"namespace\":\"edge\"},\"spec\":{\"n\":9}}]}";

static void test_templates(void **state)
{
	const struct answer list[] = { { "GET /api/v1", 0, 200, pods_list } };

	assert_int_equal(RUN(list, "get pods -o jsonpath={range.items[*]}{.metadata.name};{end}"),
			 EXIT_USAGE);
	assert_int_equal(RUN(list, "get pods -o jsonpath={.items[*].metadata.name}"), EXIT_DONE);
	assert_string_equal(out_text, "web db");
	assert_int_equal(RUN(list, "get pods,pv -o jsonpath={.kind}:{.items[*].spec.n}"),
			 EXIT_DONE);
	assert_string_equal(sent, "GET /api/v1/namespaces/default/pods\n"
				  "GET /api/v1/persistentvolumes\n");
	assert_string_equal(out_text, "List:10 9 10 9");
	assert_int_equal(RUN(list, "get pods -o custom-columns=NAME:.metadata.name,X:{.none}"),
			 EXIT_DONE);
	assert_string_equal(out_text, "NAME   X\nweb    <none>\ndb     <none>\n");
	assert_int_equal(RUN(list, "get pods -o json --sort-by=.spec.n"), EXIT_DONE);
	assert_true(strstr(out_text, "\"n\": 9\n") < strstr(out_text, "\"n\": 10\n"));
}

static void test_sorted_table(void **state)
{
	const struct answer list[] = { { "GET /api/v1", 0, 200, pods_list } };
	const struct answer none[] = { { "GET ", 0, 200, "{\"kind\":\"Table\"}" } };

	assert_int_equal(RUN(none, "get pods --sort-by .spec.n"), EXIT_DONE);
	assert_string_equal(err_text, "No pods found in namespace 'default'.\n");
	/* One body for both questions: a list that is no Table. */
	assert_int_equal(RUN(list, "get pods --sort-by .spec.n"), EXIT_FAILED);
	assert_string_equal(sent, "GET /api/v1/namespaces/default/pods\n"
				  "GET /api/v1/namespaces/default/pods\n");
}

static void test_get_several(void **state)
{
	const struct answer list[] = { { "GET /api/v1/namespaces/default/pods", 0, 200,
					 pods_table },
				       { "GET /api/v1/persistentvolumes/", 0, 200, pods_table } };

	assert_int_equal(RUN(list, "get pods web db"), EXIT_DONE);
	assert_string_equal(sent, "GET /api/v1/namespaces/default/pods/web\n"
				  "GET /api/v1/namespaces/default/pods/db\n");
	assert_int_equal(RUN(list, "get pod/web pvc/c pv/v"), EXIT_NOT_FOUND);
	assert_string_equal(err_text,
			    "podvolctl: persistentvolumeclaim 'default/c': nothing is there\n");
	assert_string_equal(out_text, "NAME           STATUS\n"
				      "pod/web        Running\n"
				      "pod/d\xc3\xa4tabase   x?[31m\n"
				      "\n"
				      "NAME                        STATUS\n"
				      "persistentvolume/web        Running\n"
				      "persistentvolume/d\xc3\xa4tabase   x?[31m\n");
	assert_int_equal(RUN(list, "get pods -l a=b,c!=d --field-selector spec.nodeName=n"),
			 EXIT_DONE);
	assert_string_equal(sent, "GET /api/v1/namespaces/default/pods?labelSelector=a%3Db%2Cc%21"
				  "%3Dd&fieldSelector=spec.nodeName%3Dn\n");
}

/* What would have to be ignored is refused before anything is asked; the rest is the daemon's. */
static void test_filters_of_views(void **state)
{
	static const struct {
		const char *words, *complaint;
	} refused[] = {
		{ "podvolctl get volumes -l a=b",
		  "podvolctl: volumes have no labels: leave out --selector\n" },
		{ "podvolctl get volumes --show-labels",
		  "podvolctl: volumes have no labels: leave out --show-labels\n" },
		{ "podvolctl get drivers -n x",
		  "podvolctl: drivers are in no namespace: leave out --namespace\n" },
		{ "podvolctl get operations x",
		  "podvolctl: operations have no names: use --field-selector\n" },
		{ "podvolctl get pods,drivers -w",
		  "podvolctl: drivers cannot be watched: podvold keeps no versions of them; "
		  "volumes and all stored objects can be\n" },
	};
	const struct answer list[] = { { "GET /podvol", 0, 200, volumes_table },
				       { "GET /api/v1", 0, 200, pods_table } };
	const struct answer bad[] = { { "GET ", -EBADMSG, 400, "fieldSelector: no" } };

	for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
		assert_int_equal(run_with(list, ARRAY_SIZE(list), refused[i].words), EXIT_USAGE);
		assert_string_equal(err_text, refused[i].complaint);
		assert_string_equal(sent, "");
	}
	assert_int_equal(RUN(list, "get volumes -n x --field-selector state!=mounted --sort-by "
				   "{.state}"),
			 EXIT_DONE);
	assert_string_equal(sent, "GET /podvol/v1/volumes?fieldSelector=state%21%3Dmounted&"
				  "namespace=x&sortBy=state\n");
	assert_int_equal(RUN(list, "get stats -n x -A"), EXIT_DONE);
	assert_string_equal(sent, "GET /podvol/v1/statistics\n");
	assert_int_equal(RUN(bad, "get volumes --field-selector a=b"), EXIT_USAGE);
	assert_int_equal(RUN(bad, "get pods --field-selector a=b"), EXIT_USAGE);
}

static void test_headers_and_labels(void **state)
{
	static const char table[] =
		"{\"kind\":\"Table\",\"columnDefinitions\":[{\"name\":\"Name\",\"priority\":0}],"
		"\"rows\":[{\"cells\":[\"web\"],\"object\":{\"metadata\":{\"name\":\"web\","
		"\"labels\":{"
		"\"app\":\"web\",\"tier\":\"db\"}}}},{\"cells\":[\"db\"]}]}";
	const struct answer list[] = { { "GET /api/v1", 0, 200, table } };

	assert_int_equal(RUN(list, "get pods --show-labels"), EXIT_DONE);
	assert_string_equal(out_text, "NAME   LABELS\nweb    app=web,tier=db\ndb     <none>\n");
	assert_int_equal(RUN(list, "get pods --no-headers"), EXIT_DONE);
	assert_string_equal(out_text, "web\ndb\n");
}

static void test_indented_json(void **state)
{
	static const struct {
		const char *body, *shown;
	} rows[] = {
		{ "{}", "{}\n" },
		{ "{\"a\":[],\"b\":{}}", "{\n    \"a\": [],\n    \"b\": {}\n}\n" },
		{ "[1,2.50]", "[\n    1,\n    2.50\n]\n" },
		{ "{\"a\": \"x{\\\"]: ,\"}\n", "{\n    \"a\": \"x{\\\"]: ,\"\n}\n" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct answer list[] = { { "GET /api/v1", 0, 200, rows[i].body } };

		assert_int_equal(RUN(list, "get pods -o json"), EXIT_DONE);
		assert_string_equal(out_text, rows[i].shown);
	}
}

static void test_kinds(void **state)
{
	assert_int_equal(RUN_ALONE("kinds"), EXIT_DONE);
	assert_non_null(strstr(out_text, "persistentvolumeclaims   pvc           true         "
					 "PersistentVolumeClaim\n"));
	assert_non_null(strstr(out_text, "storageclasses           sc            false        "
					 "StorageClass\n"));
	assert_non_null(strstr(out_text, "\nmanifests "));
}

static void test_no_discovery(void **state)
{
	const struct answer list[] = { { "GET /api", -ECONNREFUSED, 0, "no answer" },
				       { "GET /podvol", 0, 200, volumes_table } };

	no_discovery = true;
	assert_int_equal(RUN(list, "get pods"), EXIT_UNREACHABLE);
	assert_string_equal(err_text, "podvolctl: no answer\n");
	assert_int_equal(RUN(list, "get volumes"), EXIT_DONE);
	no_discovery = false;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_get_table),
		cmocka_unit_test(test_get_paths),
		cmocka_unit_test(test_drivers),
		cmocka_unit_test(test_copy_of_a_claim),
		cmocka_unit_test(test_other_formats),
		cmocka_unit_test(test_templates),
		cmocka_unit_test(test_sorted_table),
		cmocka_unit_test(test_get_several),
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_filters_of_views),
		cmocka_unit_test(test_headers_and_labels),
		cmocka_unit_test(test_indented_json),
		cmocka_unit_test(test_no_discovery),
	};
	int result = cmocka_run_group_tests(tests, NULL, NULL);

	free(out_text);
	free(err_text);
	return result;
}
