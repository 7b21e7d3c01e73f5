/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "engine.h"

#include <stdio.h>
#include <string.h>

static STAILQ_HEAD(pw_engines, pw_engine) engines = STAILQ_HEAD_INITIALIZER(engines);

void
pw_engine_register(struct pw_engine *engine)
{
	STAILQ_INSERT_TAIL(&engines, engine, next);
}

const struct pw_engine *
pw_engine_find(const char *name)
{
	const struct pw_engine *engine;

	STAILQ_FOREACH (engine, &engines, next)
		if (strcmp(engine->name, name) == 0)
			return engine;
	return NULL;
}

const struct pw_engine *
pw_engine_next(const struct pw_engine *engine)
{
	return engine == NULL ? STAILQ_FIRST(&engines) : STAILQ_NEXT(engine, next);
}

const char *
pw_engine_names(char *buf, size_t size)
{
	const struct pw_engine *engine;
	size_t used = 0;

	buf[0] = '\0';
	STAILQ_FOREACH (engine, &engines, next)
		if (used < size)
			used += snprintf(buf + used, size - used, "%s%s", used == 0 ? "" : ", ",
				engine->name);
	return buf;
}
