/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "cli.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmdline_socket.h>

#include "app.h"
#include "signals.h"

#define LINE_BYTES 1024

static STAILQ_HEAD(pw_cli_families, pw_cli_family) families = STAILQ_HEAD_INITIALIZER(families);

/* Commands come from a file or from standard input, whose lines are counted for error messages. */
struct source {
	const char *name;
	unsigned line_number;
	size_t used;
	bool overlong; /* the rest of the line is skipped */
	char line[LINE_BYTES];
};

struct pw_cli {
	struct pw_app *app;
	cmdline_parse_ctx_t *commands; /* of all families */
	struct cmdline *batch;	       /* parses, but neither reads nor prints */
	struct cmdline *terminal;      /* NULL: standard input is none */
	struct source input;
	const struct source *source; /* of the command that runs; NULL: the terminal */
	bool command_failed;
};

void
pw_cli_register(struct pw_cli_family *family)
{
	STAILQ_INSERT_TAIL(&families, family, next);
}

static unsigned
count_commands(const cmdline_parse_ctx_t *commands)
{
	unsigned count = 0;

	while (commands[count] != NULL)
		count++;
	return count;
}

/* librte_cmdline wants one array of all commands. */
static int
gather_commands(struct pw_cli *cli)
{
	struct pw_cli_family *family;
	unsigned count = 0;

	STAILQ_FOREACH (family, &families, next)
		count += count_commands(family->commands);
	cli->commands = calloc(count + 1, sizeof(*cli->commands));
	if (cli->commands == NULL)
		return -ENOMEM;
	count = 0;
	STAILQ_FOREACH (family, &families, next)
		for (unsigned i = 0; family->commands[i] != NULL; i++) {
			family->commands[i]->data = cli->app;
			cli->commands[count++] = family->commands[i];
		}
	return 0;
}

struct pw_cli *
pw_cli_create(struct pw_app *app)
{
	struct pw_cli *cli = calloc(1, sizeof(*cli));

	if (cli != NULL) {
		cli->app = app;
		if (gather_commands(cli) == 0)
			cli->batch = cmdline_new(cli->commands, "", -1, -1);
	}
	if (cli == NULL || cli->batch == NULL) {
		pw_error("out of memory");
		pw_cli_destroy(cli);
		return NULL;
	}
	return cli;
}

void
pw_cli_destroy(struct pw_cli *cli)
{
	if (cli == NULL)
		return;
	cmdline_stdin_exit(cli->terminal);
	cmdline_free(cli->batch);
	free(cli->commands);
	free(cli);
}

void
pw_cli_help(const struct pw_cli *cli)
{
	for (unsigned i = 0; cli->commands[i] != NULL; i++) {
		const char *text = cli->commands[i]->help_str;
		int command = strcspn(text, ":");

		printf("  %-44.*s %s\n", command, text, text + command + 1);
	}
}

void
pw_cli_fail(struct pw_app *app, const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (app->cli->source != NULL)
		pw_error("%s line %u: %s", app->cli->source->name, app->cli->source->line_number,
			text);
	else
		pw_error("%s", text);
	app->cli->command_failed = true;
}

static bool
is_blank(const char *line)
{
	line += strspn(line, " \t\r\n");
	return *line == '\0' || *line == '#';
}

static int
run_line(struct pw_cli *cli, const struct source *source)
{
	char line[LINE_BYTES + 1];
	int rc;

	if (is_blank(source->line))
		return 0;
	cli->command_failed = false;
	cli->source = source;
	snprintf(line, sizeof(line), "%s\n", source->line);
	rc = cmdline_parse(cli->batch, line);
	if (rc < 0)
		pw_cli_fail(cli->app, "%s: %s; \"help\" lists the commands",
			rc == CMDLINE_PARSE_NOMATCH ? "unknown command" : "wrong arguments",
			source->line);
	cli->source = NULL;
	fflush(stdout);
	if (!cli->command_failed)
		return 0;
	return -EINVAL;
}

/* After quit or a signal no more commands are run. */
static bool
is_over(const struct pw_cli *cli)
{
	return cli->app->quit || pw_signals_came();
}

/* Cut input into lines and run them, up to quit. Errors end it when a file is run. */
static int
run_text(struct pw_cli *cli, struct source *source, const char *text, size_t len)
{
	int rc = 0;

	for (size_t i = 0; i < len && rc == 0 && !is_over(cli); i++) {
		if (text[i] != '\n' && source->used + 1 < sizeof(source->line)) {
			/* A NUL would hide the rest of the line. */
			source->line[source->used++] = text[i] == '\0' ? '?' : text[i];
			continue;
		}
		if (text[i] != '\n') {
			source->overlong = true;
			continue;
		}
		source->line[source->used] = '\0';
		source->line_number++;
		if (source->overlong) {
			pw_error("%s line %u: longer than %d characters", source->name,
				source->line_number, LINE_BYTES - 1);
			rc = -E2BIG;
		} else {
			rc = run_line(cli, source);
		}
		source->used = 0;
		source->overlong = false;
	}
	return rc;
}

int
pw_cli_run_file(struct pw_cli *cli, const char *path)
{
	struct source source = {.name = path};
	char text[4096];
	size_t len;
	FILE *file = fopen(path, "r");
	int rc = 0;

	if (file == NULL) {
		rc = -errno;
		pw_error("--cmdline-file=%s: %s", path, strerror(-rc));
		return rc;
	}
	while (rc == 0 && !is_over(cli) && (len = fread(text, 1, sizeof(text), file)) > 0)
		rc = run_text(cli, &source, text, len);
	if (rc == 0 && ferror(file) && !is_over(cli)) {
		pw_error("--cmdline-file=%s: cannot be read", path);
		rc = -EIO;
	}
	if (rc == 0) /* a last line without an end */
		rc = run_text(cli, &source, "\n", 1);
	fclose(file);
	return rc;
}

int
pw_cli_open_stdin(struct pw_cli *cli)
{
	cli->input.name = "standard input";
	if (!isatty(STDIN_FILENO))
		return 0;
	cli->terminal = cmdline_stdin_new(cli->commands, "pagewheel> ");
	if (cli->terminal == NULL) {
		pw_error("no prompt: out of memory");
		return -ENOMEM;
	}
	return 0;
}

bool
pw_cli_read_stdin(struct pw_cli *cli)
{
	char text[1024];
	ssize_t len = read(STDIN_FILENO, text, sizeof(text));
	bool more;

	if (len < 0)
		return errno == EINTR || errno == EAGAIN;
	if (cli->terminal != NULL) {
		more = len > 0 && cmdline_in(cli->terminal, text, len) >= 0;

		fflush(stdout);
		return more;
	}
	/* The last line may lack its end. */
	more = len > 0;
	if (!more)
		text[len++] = '\n';
	/* As in a command file, an error ends the program, and it shows in the exit code. */
	if (run_text(cli, &cli->input, text, len) < 0) {
		cli->app->failed = true;
		return false;
	}
	return more;
}

bool
pw_cli_ports(struct pw_app *app, const char *text, uint16_t *first, uint16_t *last)
{
	unsigned long id;
	char *end;

	if (strcmp(text, "all") == 0) {
		*first = 0;
		*last = app->nb_ports - 1;
		return true;
	}
	errno = 0;
	id = strtoul(text, &end, 10);
	if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 || id >= app->nb_ports) {
		pw_cli_fail(app, "no port %s: expected 0 to %u, or all", text, app->nb_ports - 1);
		return false;
	}
	*first = *last = id;
	return true;
}
