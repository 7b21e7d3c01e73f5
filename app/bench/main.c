/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_eal.h>

#include "bench.h"
#include "eal.h"
#include "lab.h"
#include "tools.h"
#include "worker.h"

/* A new experiment is a new line here. */
static const struct pw_bench_experiment *const experiments[] = {
	&pw_bench_stream,
	&pw_bench_udp,
	&pw_bench_forward,
	&pw_bench_rr,
	&pw_bench_throughput,
	&pw_bench_udp_stream,
	&pw_bench_sizes,
	&pw_bench_split,
	&pw_bench_pool,
	&pw_bench_frag,
	&pw_bench_gro,
	&pw_bench_tcp,
};

/* What is no experiment. */
static const struct {
	const char *name, *arg, *tool, *help;
} scripts[] = {
	{"run", "PROFILE", "profile", "the experiments of a file in config/, into one folder"},
	{"report", "DIR", "report", "make plots and a page of what --out=DIR has written"},
};

void
pw_bench_error(const char *format, ...)
{
	va_list args;

	fflush(stdout);
	fputs("pagewheel-bench: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
}

static void
print_usage(void)
{
	printf("Usage: pagewheel-bench EXPERIMENT [options] [-- EAL options]\n\nExperiments:\n");
	for (unsigned i = 0; i < RTE_DIM(experiments); i++)
		printf("  %-20s %s\n", experiments[i]->name, experiments[i]->help);
	printf("\nAll at once, and what becomes of it:\n");
	for (unsigned i = 0; i < RTE_DIM(scripts); i++)
		printf("  %s %-*s %s\n", scripts[i].name, 19 - (int)strlen(scripts[i].name),
			scripts[i].arg, scripts[i].help);
	printf("\npagewheel-bench EXPERIMENT --help lists the options of an experiment.\n");
}

static void
print_experiment_usage(const struct pw_bench_experiment *experiment)
{
	printf("Usage: pagewheel-bench %s [options] [-- EAL options]\n\n%s\n\n", experiment->name,
		experiment->help);
	pw_bench_options_print(experiment->options);
	if (experiment->usage != NULL)
		experiment->usage();
	if (experiment->on != NULL)
		printf("\nWith --on=PLACE (nicsim, veth, or two bound NICs with a cable) pagewheel itself "
		       "does it, from port to port,\nwith options of its own: %s --on=nicsim --help\n",
			experiment->name);
	printf("\nEAL gets %s, and what follows the --; a core list there (-l, -c, --lcores) takes "
	       "the place of ours.\n",
		PW_BENCH_EAL_OPTIONS);
}

static const struct pw_bench_experiment *
find_experiment(const char *name)
{
	for (unsigned i = 0; i < RTE_DIM(experiments); i++)
		if (strcmp(experiments[i]->name, name) == 0)
			return experiments[i];
	return NULL;
}

static void
refuse_experiment(const char *name)
{
	char names[256] = "";
	size_t used = 0;

	for (unsigned i = 0; i < RTE_DIM(experiments) && used < sizeof(names); i++)
		used += snprintf(names + used, sizeof(names) - used, "%s%s", i == 0 ? "" : ", ",
			experiments[i]->name);
	if (name == NULL)
		pw_bench_error("no experiment named: expected one of: %s", names);
	else
		pw_bench_error("no experiment '%s': expected one of: %s", name, names);
}

/* Where our arguments end: at "--", or the end. */
static int
find_eal_arguments(int argc, char **argv)
{
	int i = 1;

	while (i < argc && strcmp(argv[i], "--") != 0)
		i++;
	return i;
}

static int
run_here(const struct pw_bench_experiment *experiment, const struct pw_bench_common *common,
	int eal_argc, char **eal_argv)
{
	int rc = pw_bench_eal_start(eal_argc, eal_argv);

	if (rc < 0)
		return rc;
	if (!experiment->one_lcore)
		rc = pw_bench_worker_start();
	if (rc >= 0)
		rc = pw_bench_experiment_run(experiment, common);
	if (pw_bench_worker_stop() < 0)
		_Exit(EXIT_FAILURE); /* it is still at work in memory that cleanup would unmap */
	rte_eal_cleanup();
	return rc;
}

static int
run_lab(const struct pw_bench_experiment *experiment, int argc, char **argv)
{
	struct pw_bench_common common;
	int rc = pw_bench_lab_options(experiment, argc, argv, &common);

	if (rc < 0)
		return rc;
	if (common.help) {
		printf("Usage: pagewheel-bench %s [options]\n\n%s\n\n", experiment->name,
			experiment->help);
		pw_bench_options_print(NULL);
		return pw_bench_lab_usage(experiment);
	}
	return pw_bench_experiment_run(experiment, &common);
}

/* Is there a place of the laboratory? */
static bool
names_place(int argc, char **argv)
{
	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
		if (strncmp(argv[i], "--on=", 5) == 0 || strcmp(argv[i], "--on") == 0)
			return true;
	return false;
}

/* argv[0] is the experiment's name. */
static int
run(const struct pw_bench_experiment *experiment, int argc, char **argv)
{
	struct pw_bench_common common;
	int own;

	if (experiment->is_lab)
		return run_lab(experiment, argc, argv);
	if (experiment->on != NULL && names_place(argc, argv))
		return run_lab(experiment->on, argc, argv);
	own = find_eal_arguments(argc, argv);
	if (pw_bench_options_parse(experiment->options, experiment->values, &common,
		    experiment->seconds, own, argv) < 0)
		return -EINVAL;
	if (common.help) {
		print_experiment_usage(experiment);
		return 0;
	}
	return run_here(experiment, &common, own < argc ? argc - own - 1 : 0,
		argv + RTE_MIN(own + 1, argc));
}

int
main(int argc, char **argv)
{
	const struct pw_bench_experiment *experiment;
	int rc;

	if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
		print_usage();
		return EXIT_SUCCESS;
	}
	for (unsigned i = 0; argc > 1 && i < RTE_DIM(scripts); i++)
		if (strcmp(argv[1], scripts[i].name) == 0)
			return pw_bench_tools_become(scripts[i].tool, argv + 2) < 0;
	experiment = argc > 1 ? find_experiment(argv[1]) : NULL;
	if (experiment == NULL) {
		refuse_experiment(argc > 1 ? argv[1] : NULL);
		return EXIT_FAILURE;
	}
	rc = run(experiment, argc - 1, argv + 1);
	if (fflush(stdout) != 0 || ferror(stdout)) {
		pw_bench_error("the output could not be written");
		rc = -EIO;
	}
	if (rc == -EINTR)
		return 130;
	return rc < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
