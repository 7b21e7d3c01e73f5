/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include <errno.h>
#include <stdlib.h>

#include "bench.h"
#include "run.h"

static int
run_groups(const struct pw_bench_experiment *experiment, struct pw_bench_run *run)
{
	int n = experiment->open(run);

	if (n < 0)
		return n;
	pw_bench_run_grids(run, n, experiment->run_group, run);
	if (!run->common->json)
		experiment->report(run);
	else if (experiment->print_json(run) < 0)
		return -EIO;
	return run->failed ? -EIO : 0;
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
	rc = run_groups(experiment, run);
	experiment->close(run);
	pw_bench_run_end(run);
	free(run);
	return rc;
}
