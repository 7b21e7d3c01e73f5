/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include <errno.h>
#include <stdlib.h>

#include "bench.h"
#include "interrupt.h"
#include "json.h"
#include "result.h"
#include "run.h"

static int
print(const struct pw_bench_experiment *experiment, const struct pw_bench_run *run,
	const struct pw_report *report)
{
	if (run->common->json)
		return experiment->print_json != NULL ? experiment->print_json(run)
						      : pw_bench_json_print(pw_report_json(report));
	if (experiment->report != NULL)
		experiment->report(run);
	else
		pw_bench_result_print(report, stdout);
	if (experiment->print_more != NULL)
		experiment->print_more(run);
	return 0;
}

/* Also what an interrupted run has. */
static int
tell(const struct pw_bench_experiment *experiment, const struct pw_bench_run *run)
{
	struct pw_report *report = pw_bench_result(experiment, run);
	int rc;

	if (report == NULL) {
		pw_bench_error("no memory for the report");
		return -ENOMEM;
	}
	rc = print(experiment, run, report);
	if (rc == 0 && run->common->out != NULL)
		rc = pw_bench_result_write(report, run->common->out);
	pw_report_free(report);
	return rc;
}

static int
run_groups(const struct pw_bench_experiment *experiment, struct pw_bench_run *run)
{
	int rc = experiment->open(run);

	if (rc < 0)
		return rc;
	pw_bench_run_grids(run, rc, experiment->run_group, run);
	rc = tell(experiment, run);
	if (pw_bench_interrupted()) {
		pw_bench_error("interrupted: what was measured is above");
		return -EINTR;
	}
	return rc < 0 || run->failed ? -EIO : 0;
}

int
pw_bench_experiment_run(
	const struct pw_bench_experiment *experiment, const struct pw_bench_common *common)
{
	struct pw_bench_run *run = calloc(1, experiment->bench_bytes);
	int rc;

	if (run == NULL) {
		pw_bench_error("no memory");
		return -ENOMEM;
	}
	run->common = common;
	pw_bench_interrupt_catch();
	rc = run_groups(experiment, run);
	experiment->close(run);
	pw_bench_run_end(run);
	free(run);
	return rc;
}
