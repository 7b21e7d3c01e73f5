/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */

/* The command line: one table for parser, help and messages. */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "error.h"
#include "sim.h"

/* The parser of a repeated option is given the field only: the struct is around it. */
static struct sim *
sim_of(void *field, size_t offset)
{
	return (struct sim *)(void *)((char *)field - offset);
}

static int
add_wire(void *field, const char *value)
{
	struct sim *sim = sim_of(field, offsetof(struct sim, specs));

	if (sim->nb_ports == SIM_PORTS_MAX) {
		nicsim_error("--wire=%s: %u ports are the limit", value, SIM_PORTS_MAX);
		return -EINVAL;
	}
	if (wire_spec_parse(&sim->specs[sim->nb_ports], value) < 0)
		return -EINVAL;
	sim->nb_ports++;
	return 0;
}

static int
add_fault(void *field, const char *value)
{
	return fault_plan_add(field, value);
}

#define TEXT(field) PARAM_TEXT, offsetof(struct sim, field), 0, 0, NULL, NULL

static const struct param options[] = {
	{"--wire", "KIND[=NAME][,KEY=VALUE]...", "a port, and what it is plugged into; up to 4",
		PARAM_CUSTOM, offsetof(struct sim, specs), 0, 0, NULL, add_wire},
	{"--fault", "[PORT:]NAME[=ARG][@TIME[/EVERY]]", "a fault, that long after the first frame",
		PARAM_CUSTOM, offsetof(struct sim, plan), 0, 0, NULL, add_fault},
	{"--seed", "N", "of all that is random, unless a wire has its own", PARAM_UINT,
		offsetof(struct sim, seed), 0, 1e15, NULL, NULL},
	{"--wait", "TIME", "from the port's start to the first frame", PARAM_TIME,
		offsetof(struct sim, wire_wait_ns), 0, 60000, NULL, NULL},
	{"--json", "FILE", "write the report there at the end", TEXT(json)},
	{"--dir", "DIR", "folder for the card's files, which exists (nicsim-run makes it)",
		TEXT(dir)},
	{"--huge-dir", "DIR", "hugetlbfs that the application uses (nicsim-run mounts one)",
		TEXT(huge_dir)},
	{"--file-prefix", "NAME", "the application's (nicsim-run chooses one)", TEXT(prefix)},
	{"--cpu", "N", "CPU to run on (nicsim-run chooses the last)", PARAM_UINT,
		offsetof(struct sim, cpu), 0, 4095, NULL, NULL},
	{NULL, NULL, NULL, PARAM_UINT, 0, 0, 0, NULL, NULL},
};

/* Those without a value. */
static bool
parse_flag(struct sim *sim, const char *arg)
{
	if (strcmp(arg, "--hold") == 0)
		sim->held = true;
	else if (strcmp(arg, "--help") == 0 || strcmp(arg, "-h") == 0)
		sim->help = true;
	else
		return false;
	return true;
}

static int
parse_option(struct sim *sim, const char *arg)
{
	const char *value = strchr(arg, '=');
	const struct param *param;
	char name[32];

	if (parse_flag(sim, arg))
		return 0;
	snprintf(name, sizeof(name), "%.*s",
		(int)(value == NULL ? strlen(arg) : (size_t)(value - arg)), arg);
	param = param_find(options, name);
	if (param == NULL || value == NULL) {
		nicsim_error("%s: expected an option as in --name=value; --help lists them", arg);
		return -EINVAL;
	}
	/* A custom parser has said what is wrong. */
	if (param->type == PARAM_CUSTOM)
		return param->parse((char *)sim + param->offset, value + 1);
	return param_set(param, sim, "option", value + 1);
}

static int
check(const struct sim *sim)
{
	if (sim->dir == NULL || sim->huge_dir == NULL || sim->prefix == NULL) {
		nicsim_error(
			"--dir, --huge-dir and --file-prefix are needed: tools/nicsim-run gives "
			"them");
		return -EINVAL;
	}
	if (sim->nb_ports == 0) {
		nicsim_error("no port: give --wire, as in --wire=gen,size=64");
		return -EINVAL;
	}
	return fault_plan_check(&sim->plan, sim->nb_ports);
}

int
sim_options_parse(struct sim *sim, int argc, char **argv)
{
	*sim = (struct sim){.cpu = SIM_ANY_CPU, .seed = 1, .control_fd = -1, .client_fd = -1};
	for (int i = 1; i < argc; i++)
		if (parse_option(sim, argv[i]) < 0)
			return -EINVAL;
	return sim->help ? 0 : check(sim);
}

void
sim_options_free(struct sim *sim)
{
	for (unsigned i = 0; i < sim->nb_ports; i++)
		wire_spec_free(&sim->specs[i]);
}

void
sim_options_usage(void)
{
	const struct fault_kind *kind;
	char left[64];

	printf("nicsim: an Intel 82599 in software, for DPDK's own ixgbe driver.\n"
	       "Usually started by tools/nicsim-run [OPTIONS] -- PROGRAM ARGS...\n\nOptions:\n");
	param_usage(options, "");
	printf("    %-26s %s\n", "--hold", "no frames before the command start");
	printf("    %-26s %s\n", "--help", "this text");
	printf("\nFaults:\n");
	for (unsigned i = 0; (kind = fault_kind_at(i)) != NULL; i++) {
		snprintf(left, sizeof(left), "%s%s%s", kind->name, kind->arg == NULL ? "" : "=",
			kind->arg == NULL ? "" : kind->arg->arg);
		printf("    %-26s %s\n", left, kind->help);
	}
	printf("\n");
	wire_spec_usage();
}
