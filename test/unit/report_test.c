/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pw_report.h"
#include "pw_test.h"

static void
assert_near(double value, double expected, double within)
{
	if (fabs(value - expected) > within)
		fail_msg("%.10g, expected %.10g", value, expected);
}

static struct pw_samples
samples_of(unsigned n, const double *values)
{
	struct pw_samples samples = {0};

	for (unsigned i = 0; i < n; i++)
		pw_samples_add(&samples, values[i]);
	return samples;
}

/* As they stand in the tables of any book, to four digits. */
static void
quantiles_of_student(void **state)
{
	static const struct {
		unsigned degrees;
		double t90, t95, t99;
	} table[] = {
		{1, 6.3138, 12.7062, 63.6567},
		{2, 2.9200, 4.3027, 9.9248},
		{3, 2.3534, 3.1824, 5.8409},
		{4, 2.1318, 2.7764, 4.6041},
		{5, 2.0150, 2.5706, 4.0321},
		{9, 1.8331, 2.2622, 3.2498},
		{10, 1.8125, 2.2281, 3.1693},
		{29, 1.6991, 2.0452, 2.7564},
		{30, 1.6973, 2.0423, 2.7500},
		{100, 1.6602, 1.9840, 2.6259},
		{1000, 1.6464, 1.9623, 2.5808},
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(table) / sizeof(*table); i++) {
		assert_near(pw_student_t(90, table[i].degrees), table[i].t90, 5.1e-5);
		assert_near(pw_student_t(95, table[i].degrees), table[i].t95, 5.1e-5);
		assert_near(pw_student_t(99, table[i].degrees), table[i].t99, 5.1e-5);
	}
}

/*
 * 2, 4, 4, 4, 5, 5, 7, 9: the mean is 5, squares of differences sum up to 32, the variance is 32/7,
 * the standard error its root over 8, 0.7559; t of 7 degrees is 3.4995 at 99 %.
 */
static void
an_example_by_hand(void **state)
{
	const double values[] = {2, 4, 4, 4, 5, 5, 7, 9};
	struct pw_samples samples = samples_of(8, values);
	struct pw_estimate estimate = pw_samples_estimate(&samples, 99);
	struct pw_summary summary = pw_samples_summary(&samples);

	(void)state;
	assert_int_equal(estimate.n, 8);
	assert_near(estimate.mean, 5, 1e-12);
	assert_near(estimate.half_width, 3.4995 * 0.755929, 1e-4);
	assert_near(estimate.half_width_percent, 52.907, 1e-2);
	assert_near(summary.median, 4.5, 1e-12);
	assert_near(summary.q1, 4, 1e-12);
	assert_near(summary.q3, 5.5, 1e-12);
	pw_samples_free(&samples);
}

/* A large common part takes nothing from small differences. */
static void
small_differences_of_large_values(void **state)
{
	const double small[] = {1, 2, 3}, large[] = {1e9 + 1, 1e9 + 2, 1e9 + 3};
	struct pw_samples a = samples_of(3, small), b = samples_of(3, large);

	(void)state;
	assert_near(pw_samples_estimate(&b, 95).half_width, pw_samples_estimate(&a, 95).half_width,
		1e-6);
	pw_samples_free(&a);
	pw_samples_free(&b);
}

static void
few_samples_and_equal_ones(void **state)
{
	const double values[] = {0, 0, 0}, around[] = {-1, 1};
	struct pw_samples none = {0}, one = samples_of(1, (double[]){5});
	struct pw_samples zeros = samples_of(3, values), zero_mean = samples_of(2, around);

	(void)state;
	assert_int_equal(pw_samples_estimate(&none, 99).n, 0);
	assert_near(pw_samples_estimate(&one, 99).mean, 5, 0);
	assert_true(isinf(pw_samples_estimate(&one, 99).half_width));
	assert_near(pw_samples_estimate(&zeros, 99).half_width_percent, 0, 0);
	assert_true(isinf(pw_samples_estimate(&zero_mean, 99).half_width_percent));
	pw_samples_free(&one);
	pw_samples_free(&zeros);
	pw_samples_free(&zero_mean);
}

static char *rows[] = {(char *)"64", (char *)"say \"1,500\""};
static char *columns[] = {(char *)"order0", (char *)"reuse"};

/* Two metrics of a number of rows; cells are filled with what is easy to work out. */
static struct pw_report *
make_report(unsigned nb_rows)
{
	const struct pw_report_section spec = {
		.title = (char *)"",
		.rows_are = (char *)"bytes",
		.rows = rows,
		.nb_rows = nb_rows,
		.columns = columns,
		.nb_columns = 2,
		.nb_metrics = 2,
		.metrics = {{"cost", "cost", "cycles/byte", 1, PW_REPORT_LESS},
			{"pages", "pages", "", 0, PW_REPORT_NEITHER}},
	};
	struct pw_report *report = pw_report_create("test", "a test", 99, 2.5);
	struct pw_report_section *section = pw_report_add_section(report, &spec);

	assert_non_null(section);
	for (unsigned r = 0; r < nb_rows; r++)
		for (unsigned c = 0; c < 2; c++)
			for (unsigned i = 0; i < 3; i++) {
				struct pw_report_cell *cell = pw_report_cell(section, r, c);

				pw_samples_add(&cell->metrics[0], c == 0 ? 20 : 9 + i);
				pw_samples_add(&cell->metrics[1], 7);
			}
	return report;
}

static char *
written(const struct pw_report *report, int (*write)(const struct pw_report *report, FILE *file))
{
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	assert_non_null(file);
	assert_int_equal(write(report, file), 0);
	fclose(file);
	assert_non_null(text);
	return text;
}

static void
assert_has(const char *text, const char *part)
{
	if (text == NULL || strstr(text, part) == NULL)
		fail_msg("no\n%s\nin\n%s", part, text == NULL ? "" : text);
}

/* 9, 10, 11: mean 10, half-width 9.9248 / sqrt(3) = 5.73, which is 57.3 %. */
static void
text_of_one_row(void **state)
{
	struct pw_report *report = make_report(1);
	char *text = written(report, pw_report_write_text);

	(void)state;
	assert_has(text,
		"64                  order0           reuse \n"
		"cost [cycles/byte]    20.0   10.0  -50.0 %*\n"
		"                    ±0.0 %         ±57.3 % \n"
		"pages                    7       7  +0.0 % \n");
	assert_has(text, "at 99 % confidence");
	assert_has(text, "above 2.5 %; + and -: against order0\n");
	free(text);
	pw_report_free(report);
}

static void
text_of_rows(void **state)
{
	struct pw_report *report = make_report(2);
	char *text;

	(void)state;
	snprintf(pw_report_cell(report->sections, 1, 1)->reason, PW_REPORT_REASON_MAX, "no memory");
	pw_samples_free(&pw_report_cell(report->sections, 1, 1)->metrics[0]);
	report->interrupted = true;
	text = written(report, pw_report_write_text);
	assert_has(text,
		"cost [cycles/byte]\n\n"
		"bytes        order0           reuse \n"
		"64             20.0   10.0  -50.0 %*\n"
		"             ±0.0 %         ±57.3 % \n"
		"say \"1,500\"    20.0               - \n");
	assert_has(text, "- reuse, say \"1,500\": no memory\n");
	assert_has(text, "Interrupted");
	free(text);
	pw_report_free(report);
}

static void
csv_quotes(void **state)
{
	struct pw_report *report = make_report(2);
	char *text = written(report, pw_report_write_csv);

	(void)state;
	assert_has(text,
		"experiment,section,row,column,metric,unit,sample,value\r\n"
		"test,,64,order0,cost,cycles/byte,1,20\r\n");
	assert_has(text, "test,,\"say \"\"1,500\"\"\",reuse,pages,,3,7\r\n");
	free(text);
	pw_report_free(report);
}

static void
json_has_all_and_no_infinity(void **state)
{
	struct pw_report *report = make_report(1);
	struct pw_report_cell *cell = pw_report_cell(report->sections, 0, 1);
	json_t *json, *half, *percent;
	int n;

	(void)state;
	pw_samples_free(&cell->metrics[1]);
	pw_samples_add(&cell->metrics[1], 1);
	json = pw_report_json(report);
	half = json_array_get(
		json_object_get(json_array_get(json_object_get(json, "sections"), 0), "cells"), 1);
	assert_int_equal(json_unpack(half, "{s:{s:{s:i}, s:{s:o, s:o}}}", "metrics", "cost", "n",
				 &n, "pages", "half_width", &half, "percent_of_baseline", &percent),
		0);
	assert_int_equal(n, 3);
	assert_true(json_is_null(half));
	assert_near(json_number_value(percent), 100.0 / 7, 1e-9);
	json_decref(json);
	pw_report_free(report);
}

static void
percents_and_confidence(void **state)
{
	struct pw_report *report = make_report(1);
	struct pw_report_section *section = report->sections;

	(void)state;
	assert_near(pw_report_percent(section, 0, 1, 0), 50, 1e-9);
	assert_true(pw_report_is_confident(report, &pw_report_cell(section, 0, 0)->metrics[0]));
	assert_false(pw_report_is_confident(report, &pw_report_cell(section, 0, 1)->metrics[0]));
	section->baseline = 2;
	assert_true(isnan(pw_report_percent(section, 0, 1, 0)));
	pw_report_free(report);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(quantiles_of_student),
		cmocka_unit_test(an_example_by_hand),
		cmocka_unit_test(small_differences_of_large_values),
		cmocka_unit_test(few_samples_and_equal_ones),
		cmocka_unit_test(text_of_one_row),
		cmocka_unit_test(text_of_rows),
		cmocka_unit_test(csv_quotes),
		cmocka_unit_test(json_has_all_and_no_infinity),
		cmocka_unit_test(percents_and_confidence),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
