/* The data tree: JSON is written and read; invalid texts are refused with their position; missing parts are reported.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "datum/datum.h"
#include "support.h"

static const char *written(const smma_datum *d, int layout) {
  static char text[4096];
  FILE *stream = fmemopen(text, sizeof text, "w");
  assert_non_null(stream);
  assert_true(smma_datum_write(d, stream, layout));
  assert_int_equal(fclose(stream), 0);
  return text;
}

static smma_datum *read_text(const char *text) {
  smma_error error;
  smma_datum *d = smma_datum_read("x", text, strlen(text), &error);
  if (!d) fail_msg("%s: %s", text, error.text);
  return d;
}

static void test_layouts(void **state) {
  smma_datum *d = smma_datum_record();
  (void)state;
  smma_datum_put(d, "list", smma_datum_list_of(2, smma_datum_count(-1), smma_datum_null()));
  smma_put_flag(d, "flag", true);
  smma_datum_put(d, "empty", smma_datum_record());
  smma_put_text(d, "text", "a\"\\\n\x01\xc3\xa9");
  assert_true(smma_datum_is_complete(d));
  assert_string_equal(written(d, SMMA_JSON_COMPACT),
                      "{\"list\":[-1,null],\"flag\":true,\"empty\":{},\"text\":\"a\\\"\\\\\\n\\u0001\xc3\xa9\"}");
  assert_string_equal(
      written(d, SMMA_JSON_ONE_LINE),
      "{\"list\": [-1, null], \"flag\": true, \"empty\": {}, \"text\": \"a\\\"\\\\\\n\\u0001\xc3\xa9\"}");
  assert_string_equal(written(d, SMMA_JSON_LINES),
                      "{\n  \"list\": [\n    -1,\n    null\n  ],\n  \"flag\": true,\n  \"empty\": {},\n"
                      "  \"text\": \"a\\\"\\\\\\n\\u0001\xc3\xa9\"\n}");
  smma_datum_free(d);
}

/* Checks the table of a JSON text; a text without a table is refused. */
static void check_csv(const char *json, const char *wanted) {
  char text[4096] = "";
  FILE *stream = fmemopen(text, sizeof text, "w");
  smma_datum *d = read_text(json);
  smma_error error = {.text = ""};
  assert_non_null(stream);
  assert_int_equal(smma_datum_write_csv(d, stream, &error), wanted != NULL);
  assert_int_equal(fclose(stream), 0);
  assert_string_equal(text, wanted ? wanted : "");
  assert_int_equal(*error.text != 0, !wanted);
  smma_datum_free(d);
}

static void test_csv(void **state) {
  (void)state;
  check_csv("[{\"a\": 1, \"b\": \"x,\\\"y\\\"\"}, {\"c\": true, \"a\": null}, {\"b\": \"two\\nlines\"}]",
            "a,b,c\n1,\"x,\"\"y\"\"\",\n,,true\n,\"two\nlines\",\n");
  check_csv(
      "{\"n\": 2, \"list\": [1], \"rows\": [{\"e\": {\"p\": 0.5, \"q\": {\"r\": \"s\"}}, \"of\": [1]}], \"more\": "
      "[{}]}",
      "e.p,e.q.r\n0.5,s\n");
  check_csv("[{\"x,y\": 1}, {}]", "\"x,y\"\n1\n\n");
  check_csv("[{}]", "\n\n");
  check_csv("[]", NULL);
  check_csv("[1, 2]", NULL);
  check_csv("{\"a\": {\"rows\": [{\"b\": 1}]}}", NULL);
  check_csv("1", NULL);
}

/* Each number is written with enough digits to restore its bits. */
static void test_reals(void **state) {
  static const struct {
    double value;
    const char *text;
  } some[] = {{0, "0.0"},
              {-0.0, "-0.0"},
              {1, "1.0"},
              {0.1, "0.10000000000000001"},
              {1e300, "1.0000000000000001e300"},
              {1e22, "1e22"},
              {-1.5e-7, "-1.4999999999999999e-7"},
              {5e-324, "4.9406564584124654e-324"},
              {1e16, "10000000000000000.0"},
              {123456.75, "123456.75"}};
  (void)state;
  for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
    smma_datum *d = smma_datum_real(some[i].value), *back;
    assert_string_equal(written(d, SMMA_JSON_COMPACT), some[i].text);
    back = read_text(some[i].text);
    assert_int_equal(smma_datum_kind_of(back), SMMA_DATUM_REAL);
    assert_true(smma_datum_real_of(back) == some[i].value);
    assert_int_equal(!signbit(smma_datum_real_of(back)), !signbit(some[i].value));
    smma_datum_free(back), smma_datum_free(d);
  }
  for (int sign = -1; sign <= 1; sign++) {
    smma_datum *d = smma_datum_real(sign ? sign * (double)INFINITY : NAN);
    assert_string_equal(smma_datum_text_of(d), sign < 0 ? "-inf" : sign ? "inf" : "nan");
    smma_datum_free(d);
  }
}

static void test_reading(void **state) {
  smma_datum *d =
      read_text(" {\"a\": [1, -2.5e1, \"\\u00e9\\ud83d\\ude00\\/\\t\"], \"b\":{\"\":null},\n\"c\" : true } ");
  uint64_t count = 7;
  const smma_datum *list = smma_datum_get(d, "a");
  (void)state;
  assert_int_equal(smma_datum_size(d), 3);
  assert_string_equal(smma_datum_key(d, 1), "b");
  assert_true(smma_datum_count_of(smma_datum_at(list, 0), &count));
  assert_int_equal(count, 1);
  assert_true(smma_datum_real_of(smma_datum_at(list, 1)) == -25);
  assert_false(smma_datum_count_of(smma_datum_at(list, 1), &count));
  assert_string_equal(smma_datum_text_of(smma_datum_at(list, 2)), "\xc3\xa9\xf0\x9f\x98\x80/\t");
  assert_null(smma_datum_at(list, 3));
  assert_null(smma_datum_get(list, "a"));
  assert_null(smma_datum_get(d, "d"));
  assert_non_null(smma_datum_get(smma_datum_get(d, "b"), ""));
  assert_true(smma_datum_flag_of(smma_datum_get(d, "c")));
  smma_datum_free(d);
  d = read_text("[9223372036854775807, -9223372036854775808, 9223372036854775808]");
  assert_true(smma_datum_integer_of(smma_datum_at(d, 0)) == INT64_MAX);
  assert_true(smma_datum_integer_of(smma_datum_at(d, 1)) == INT64_MIN);
  assert_false(smma_datum_count_of(smma_datum_at(d, 1), &count));
  assert_int_equal(smma_datum_kind_of(smma_datum_at(d, 2)), SMMA_DATUM_REAL);
  smma_datum_free(d);
}

static void test_refused(void **state) {
  static const struct {
    const char *text, *complaint;
  } wrong[] = {
      {"", "x:1:1: no value"},
      {"{\"a\": 1,\n  \"a\": 2}", "x:2:3: this key stands here a second time"},
      {"[1 2]", "x:1:4: ',' or ']' expected"},
      {"[1,]", "x:1:4: no value"},
      {"{\"a\" 1}", "x:1:6: ':' expected"},
      {"{a: 1}", "x:1:2: a key in double quotes expected"},
      {"{\"a\": 1", "x:1:8: ',' or '}' expected"},
      {"[] []", "x:1:4: text follows the end"},
      {"\"abc", "x:1:1: the text ends inside a string"},
      {"\"\\\"", "x:1:1: the text ends inside a string"},
      {"\"\\x\"", "x:1:2: no such escape"},
      {"\"\\ud800\"", "x:1:2: no such escape"},
      {"\"\\udc00\"", "x:1:2: no such escape"},
      {"\"\\u0000\"", "x:1:2: no such escape"},
      {"\"\\u12\"", "x:1:2: no such escape"},
      {"\"\n\"", "x:1:2: a string holds a byte"},
      {"\"\xff\"", "x:1:2: a string holds a byte"},
      {"\"\xed\xa0\x80\"", "x:1:2: a string holds a byte"},
      {"01", "x:1:1: no value"},
      {"1.", "x:1:1: no value"},
      {"-", "x:1:1: no value"},
      {"1e", "x:1:1: no value"},
      {"nan", "x:1:1: no value"},
      {"truee", "x:1:5: text follows"},
  };
  char deep[200];
  smma_error error;
  (void)state;
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    assert_null(smma_datum_read("x", wrong[i].text, strlen(wrong[i].text), &error));
    if (strncmp(error.text, wrong[i].complaint, strlen(wrong[i].complaint)) != 0)
      fail_msg("%s: %s, not %s", wrong[i].text, error.text, wrong[i].complaint);
  }
  assert_null(smma_datum_read("x", "[1]\0", 4, &error));
  memset(deep, '[', sizeof deep);
  assert_null(smma_datum_read("x", deep, sizeof deep, &error));
  assert_non_null(strstr(error.text, "more than 64 deep"));
}

/* If memory runs out while a part is added, the whole tree counts as incomplete, at any depth. */
static void test_incomplete(void **state) {
  smma_datum *d = smma_datum_record(), *list = smma_datum_list();
  (void)state;
  smma_datum_append(list, NULL);
  assert_false(smma_datum_is_complete(list));
  smma_datum_put(d, "list", list);
  assert_false(smma_datum_is_complete(d));
  assert_false(smma_datum_is_complete(NULL));
  smma_datum_free(d);
  smma_datum_free(NULL);
  smma_datum_append(NULL, smma_datum_count(1));
}

/* Bytes outside ASCII in a text that is not UTF-8. */
static void test_not_utf8(void **state) {
  smma_datum *d = smma_datum_text("a\xff\xc3\xa9");
  (void)state;
  assert_string_equal(smma_datum_text_of(d), "a???");
  smma_datum_free(d);
}

/* Keys are found whatever their number. */
static void test_many_keys(void **state) {
  smma_datum *d = smma_datum_record();
  char key[16];
  (void)state;
  for (uint64_t i = 0; i < 5000; i++) {
    snprintf(key, sizeof key, "%d", (int)i);
    assert_null(smma_datum_get(d, key));
    smma_put_count(d, key, i);
  }
  for (uint64_t i = 0, count; i < 5000; i++) {
    snprintf(key, sizeof key, "%d", (int)i);
    assert_true(smma_datum_count_of(smma_datum_get(d, key), &count) && count == i);
    assert_string_equal(smma_datum_key(d, i), key);
  }
  smma_datum_free(d);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_layouts),   cmocka_unit_test(test_reals),      cmocka_unit_test(test_reading),
      cmocka_unit_test(test_refused),   cmocka_unit_test(test_incomplete), cmocka_unit_test(test_not_utf8),
      cmocka_unit_test(test_many_keys), cmocka_unit_test(test_csv),
  };
  return cmocka_run_group_tests_name("datum", tests, NULL, NULL);
}
