/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "fault_plan.h"

#include <errno.h>
#include <stdio.h>
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

static int
parse(struct planned_fault *fault, char *text)
{
	char *at = cut(text, '@'), *every = at == NULL ? NULL : cut(at, '/'), *arg;

	if (text[0] >= '0' && text[0] <= '9' && text[1] == ':') {
		fault->port = text[0] - '0';
		text += 2;
	}
	arg = cut(text, '=');
	fault->kind = fault_parse(text, arg, &fault->arg);
	if (fault->kind == NULL || (at != NULL && param_set(&times[0], fault, CONTEXT, at) < 0) ||
		(every != NULL && param_set(&times[1], fault, CONTEXT, every) < 0))
		return -EINVAL;
	return 0;
}

int
fault_plan_add(struct fault_plan *plan, const char *text)
{
	struct planned_fault *fault = &plan->faults[plan->n];
	char copy[128];

	if (plan->n == FAULT_PLAN_MAX) {
		nicsim_error(CONTEXT "=%s: %u faults are the limit", text, FAULT_PLAN_MAX);
		return -EINVAL;
	}
	if (snprintf(copy, sizeof(copy), "%s", text) >= (int)sizeof(copy)) {
		nicsim_error(CONTEXT "=%s: too long", text);
		return -EINVAL;
	}
	*fault = (struct planned_fault){0};
	plan->n++;
	return parse(fault, copy);
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
		fault->kind->inject(nic, fault->arg);
		fault->at_ns += fault->every_ns;
		fault->done = fault->every_ns == 0;
	}
}
