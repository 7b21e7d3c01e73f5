/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "fault_plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "fault.h"

#define CONTEXT "--fault"

static const struct param times[] = {
	{"at", "TIME", "when", PARAM_TIME, offsetof(struct planned_fault, at_ns), 0, 3600000, NULL,
		NULL},
	{"every", "TIME", "how often", PARAM_TIME, offsetof(struct planned_fault, every_ns), 1,
		3600000, NULL, NULL},
};

/* Cut the text at a character; what stands behind it, or NULL. */
static char *
cut(char *text, char at)
{
	char *found = strchr(text, at);

	if (found != NULL)
		*found++ = '\0';
	return found;
}

static bool
is_known(const char *name)
{
	const struct fault_kind *kind;

	for (unsigned i = 0; (kind = fault_kind_at(i)) != NULL; i++)
		if (strcmp(kind->name, name) == 0)
			return true;
	return false;
}

static int
parse(struct planned_fault *fault, char *text, const char *whole)
{
	char *at = cut(text, '@'), *every = at == NULL ? NULL : cut(at, '/');
	char *colon = strchr(text, ':');

	if (colon == text + 1 && text[0] >= '0' && text[0] <= '9') {
		fault->port = text[0] - '0';
		text += 2;
	}
	fault->arg = cut(text, '=');
	fault->name = text;
	if (at != NULL && param_set(&times[0], fault, CONTEXT, at) < 0)
		return -EINVAL;
	if (every != NULL && param_set(&times[1], fault, CONTEXT, every) < 0)
		return -EINVAL;
	if (!is_known(fault->name)) {
		nicsim_error(CONTEXT "=%s: no such fault; --help lists them", whole);
		return -EINVAL;
	}
	return 0;
}

int
fault_plan_add(struct fault_plan *plan, const char *text)
{
	struct planned_fault *fault = &plan->faults[plan->n];

	if (plan->n == FAULT_PLAN_MAX) {
		nicsim_error(CONTEXT "=%s: %u faults are the limit", text, FAULT_PLAN_MAX);
		return -EINVAL;
	}
	*fault = (struct planned_fault){0};
	plan->texts[plan->n] = strdup(text);
	if (plan->texts[plan->n] == NULL) {
		nicsim_error("out of memory");
		return -EINVAL;
	}
	plan->n++;
	return parse(fault, plan->texts[plan->n - 1], text);
}

int
fault_plan_check(const struct fault_plan *plan, unsigned nb_ports)
{
	for (unsigned i = 0; i < plan->n; i++)
		if (plan->faults[i].port >= nb_ports) {
			nicsim_error(CONTEXT ": port %u of %u (each --wire makes one, from 0)",
				plan->faults[i].port, nb_ports);
			return -EINVAL;
		}
	return 0;
}

void
fault_plan_tick(struct fault_plan *plan, struct nic *nics, uint64_t now_ns)
{
	for (unsigned i = 0; i < plan->n; i++) {
		struct planned_fault *fault = &plan->faults[i];
		struct nic *nic = &nics[fault->port];

		if (fault->done || !nic->was_enabled || now_ns < nic->wire_from_ns + fault->at_ns)
			continue;
		fault_inject(nic, fault->name, fault->arg);
		fault->at_ns += fault->every_ns;
		fault->done = fault->every_ns == 0;
	}
}

void
fault_plan_free(struct fault_plan *plan)
{
	for (unsigned i = 0; i < plan->n; i++)
		free(plan->texts[i]);
	plan->n = 0;
}
