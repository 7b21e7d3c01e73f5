/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef CLI_H
#define CLI_H

/**
 * @file
 * The command line at run time, on librte_cmdline. A family of commands is one file that registers
 * itself with PW_CLI_REGISTER; a command gets the struct pw_app as its last argument.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include <cmdline.h>
#include <cmdline_parse.h>
#include <cmdline_parse_string.h>

#include <rte_common.h>

struct pw_app;
struct pw_cli;
struct pw_port;

struct pw_cli_family {
	cmdline_parse_ctx_t *commands; /**< ends with NULL */
	STAILQ_ENTRY(pw_cli_family) next;
};

void pw_cli_register(struct pw_cli_family *family);

#define PW_CLI_REGISTER(family, array)                              \
	static struct pw_cli_family family = {.commands = (array)}; \
	RTE_INIT(pw_cli_register_##family)                          \
	{                                                           \
		pw_cli_register(&family);                           \
	}

/** A fixed word of a command. */
#define PW_CLI_WORD(name, type, word) \
	static cmdline_parse_token_string_t name = TOKEN_STRING_INITIALIZER(struct type, name, word)

/** @return NULL after an error was printed */
struct pw_cli *pw_cli_create(struct pw_app *app);
void pw_cli_destroy(struct pw_cli *cli);

/** Print one line of help for each command. */
void pw_cli_help(const struct pw_cli *cli);

/** Called by a command that fails: prints the error, and makes a command file fail. */
__rte_format_printf(2, 3) void pw_cli_fail(struct pw_app *app, const char *format, ...);

/**
 * Run the commands of a file, up to the first error or quit.
 *
 * @return 0, or a negative errno after an error with the line's number was printed
 */
int pw_cli_run_file(struct pw_cli *cli, const char *path);

/** Read commands from standard input: with a prompt on a terminal, else line by line. */
int pw_cli_open_stdin(struct pw_cli *cli);

/** Take what standard input has. False at its end. */
bool pw_cli_read_stdin(struct pw_cli *cli);

/**
 * Find the ports that the user means by a number or "all".
 *
 * @param first, last  indices into the program's ports
 * @return false after an error was printed
 */
bool pw_cli_ports(struct pw_app *app, const char *text, uint16_t *first, uint16_t *last);

#endif
