/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "wire_spec.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"

#define LIST_BYTES 512 /* all names, for a message */

static const struct param seed_params[] = {
	{"seed", "N", "of all that is random on this wire (1)", PARAM_UINT,
		offsetof(struct wire_spec, seed), 0, 9007199254740992, NULL, NULL},
	{0},
};

static size_t
add_name(char *list, size_t used, const char *name)
{
	int n = used < LIST_BYTES ? snprintf(list + used, LIST_BYTES - used, " %s", name) : 0;

	return used + (size_t)n;
}

static size_t
add_params(char *list, size_t used, const struct param *table)
{
	for (; table != NULL && table->name != NULL; table++)
		used = add_name(list, used, table->name);
	return used;
}

/* Whether it begins with rx- or tx-; the ways that it is for. */
static const char *
split_way(const char *key, unsigned *first, unsigned *last)
{
	*first = LINE_RX;
	*last = LINE_TX;
	if (strncmp(key, "rx-", 3) == 0)
		*last = LINE_RX;
	else if (strncmp(key, "tx-", 3) == 0)
		*first = LINE_TX;
	else
		return key;
	return key + 3;
}

/* 0, a negative errno, or 1 when the line has no such key. */
static int
set_line(struct line_config config[LINE_WAYS], const char *context, const char *key,
	const char *value)
{
	unsigned first, last;
	const struct param *param = param_find(line_params, split_way(key, &first, &last));

	if (param == NULL)
		return 1;
	for (unsigned way = first; way <= last; way++)
		if (param_set(param, &config[way], context, value) < 0)
			return -EINVAL;
	return 0;
}

static int
unknown_key(const struct param *own, const char *context, const char *key)
{
	char owns[LIST_BYTES] = "", lines[LIST_BYTES] = "";

	add_params(owns, add_params(owns, 0, own), seed_params);
	add_params(lines, 0, line_params);
	nicsim_error("%s: there is no \"%s\". There are:%s; and of the line, also with rx- or tx- "
		     "in front:%s",
		context, key, owns, lines);
	return -EINVAL;
}

static int
set_key(struct wire_spec *spec, const char *context, const char *key, const char *value)
{
	const struct param *param = param_find(spec->kind->params, key);
	int rc;

	if (param != NULL)
		return param_set(param, spec->config, context, value);
	param = param_find(seed_params, key);
	if (param != NULL)
		return param_set(param, spec, context, value);
	rc = set_line(spec->line, context, key, value);
	return rc <= 0 ? rc : unknown_key(spec->kind->params, context, key);
}

/* Cut "key=value" in two; NULL after an error was printed. */
static char *
split_value(char *key_value, const char *context)
{
	char *equals = strchr(key_value, '=');

	if (equals == NULL || equals == key_value) {
		nicsim_error("%s: expected key=value, not \"%s\"", context, key_value);
		return NULL;
	}
	*equals = '\0';
	return equals + 1;
}

static int
unknown_kind(const char *name)
{
	char list[LIST_BYTES] = "";
	size_t used = 0;

	for (unsigned i = 0; wire_kind_at(i) != NULL; i++)
		used = add_name(list, used, wire_kind_at(i)->name);
	nicsim_error("--wire=%s: there is no such kind of wire. There are:%s", name, list);
	return -EINVAL;
}

/* KIND[=NAME] */
static int
set_kind(struct wire_spec *spec, char *word)
{
	char *equals = strchr(word, '=');

	if (equals != NULL) {
		*equals = '\0';
		spec->arg = equals + 1;
	}
	spec->kind = wire_kind_find(word);
	if (spec->kind == NULL)
		return unknown_kind(word);
	if (spec->arg == NULL)
		return 0;
	if (spec->kind->arg == NULL) {
		nicsim_error("--wire=%s=%s: %s takes no name: leave out =%s", word, spec->arg, word,
			spec->arg);
		return -EINVAL;
	}
	if (spec->arg[0] == '\0') {
		nicsim_error("--wire=%s=: expected %s behind \"=\"", word, spec->kind->arg);
		return -EINVAL;
	}
	return 0;
}

static int
copy_defaults(struct wire_spec *spec)
{
	if (spec->kind->config_bytes == 0)
		return 0;
	spec->config = malloc(spec->kind->config_bytes);
	if (spec->config == NULL)
		return -ENOMEM;
	memcpy(spec->config, spec->kind->defaults, spec->kind->config_bytes);
	return 0;
}

static int
parse(struct wire_spec *spec)
{
	char context[64], *word, *value, *rest = spec->text;
	int rc = set_kind(spec, strsep(&rest, ","));

	if (rc == 0)
		rc = copy_defaults(spec);
	if (rc < 0)
		return rc;
	snprintf(context, sizeof(context), "--wire=%s", spec->kind->name);
	while ((word = strsep(&rest, ",")) != NULL) {
		value = split_value(word, context);
		if (value == NULL)
			return -EINVAL;
		rc = set_key(spec, context, word, value);
		if (rc < 0)
			return rc;
	}
	return 0;
}

int
wire_spec_parse(struct wire_spec *spec, const char *text)
{
	int rc = -ENOMEM;

	*spec = (struct wire_spec){
		.line = {line_config_default, line_config_default},
		.seed = 1,
		.text = strdup(text),
	};
	if (spec->text != NULL)
		rc = parse(spec);
	if (rc == -ENOMEM)
		nicsim_error("--wire=%s: no memory", text);
	if (rc < 0)
		wire_spec_free(spec);
	return rc;
}

void
wire_spec_free(struct wire_spec *spec)
{
	free(spec->config);
	free(spec->text);
	*spec = (struct wire_spec){0};
}

int
wire_spec_set_line(struct line_config config[LINE_WAYS], const char *key_value, const char *context)
{
	char list[LIST_BYTES] = "", *text = strdup(key_value), *value = NULL;
	int rc = -EINVAL;

	if (text == NULL)
		nicsim_error("%s: no memory", context);
	else
		value = split_value(text, context);
	if (value != NULL)
		rc = set_line(config, context, text, value);
	if (rc > 0) {
		add_params(list, 0, line_params);
		nicsim_error("%s: the line has no \"%s\". It has, also with rx- or tx- in front:%s",
			context, text, list);
		rc = -EINVAL;
	}
	free(text);
	return rc;
}

void
wire_spec_usage(void)
{
	const struct wire_kind *kind;
	char left[64];

	puts("Wires, KIND[=NAME][,key=value]...:");
	for (unsigned i = 0; (kind = wire_kind_at(i)) != NULL; i++) {
		snprintf(left, sizeof(left), "%s%s%s", kind->name, kind->arg != NULL ? "=" : "",
			kind->arg != NULL ? kind->arg : "");
		printf("  %-28s %s\n", left, kind->help);
		param_usage(kind->params, "");
	}
	puts("  on each wire:");
	param_usage(seed_params, "");
	puts("  on the line, both ways, or with rx- (to the port) or tx- in front one way:");
	param_usage(line_params, "");
}
