/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "control.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "error.h"
#include "report.h"

#define COMMAND_MAX 512
#define ANSWER_MAX (128 << 10)
#define WORDS_MAX 5
#define CLIENTS_WAITING 64
#define CLIENT_TIMEOUT_S 5
#define CLIENT_PATIENCE_NS 100000000 /* a client sends at once */

struct command {
	const char *name, *args, *help;
	unsigned least, most; /* words behind the name */
	/* Returns what to answer beside ok, or NULL after an error was printed. */
	json_t *(*run)(struct sim *sim, char **words, unsigned n);
};

static struct nic *
find_port(struct sim *sim, const char *word)
{
	char *end;
	unsigned long number = strtoul(word, &end, 10);

	if (*end == '\0' && end != word && number < sim->nb_ports)
		return &sim->nics[number];
	nicsim_error("port %s: expected a number below %u", word, sim->nb_ports);
	return NULL;
}

static json_t *
run_attach(struct sim *sim, char **words, unsigned n)
{
	char *end;
	long pid = strtol(words[0], &end, 10);

	(void)n;
	if (*end != '\0' || pid <= 0 || pid > INT_MAX ||
		(kill((pid_t)pid, 0) < 0 && errno == ESRCH)) {
		nicsim_error("attach %s: expected the ID of a process", words[0]);
		return NULL;
	}
	watch_attach(&sim->watch, (pid_t)pid);
	return json_object();
}

static json_t *
run_stats(struct sim *sim, char **words, unsigned n)
{
	(void)words;
	(void)n;
	return report_json(sim);
}

static json_t *
run_start(struct sim *sim, char **words, unsigned n)
{
	(void)words;
	(void)n;
	sim->held = false;
	return json_object();
}

static json_t *
run_hold(struct sim *sim, char **words, unsigned n)
{
	(void)words;
	(void)n;
	sim->held = true;
	return json_object();
}

static json_t *
run_fault(struct sim *sim, char **words, unsigned n)
{
	struct nic *nic = find_port(sim, words[0]);
	const struct fault_kind *kind;
	uint64_t value;

	if (nic == NULL)
		return NULL;
	kind = fault_parse(words[1], n > 2 ? words[2] : NULL, &value);
	if (kind == NULL)
		return NULL;
	kind->inject(nic, value);
	return json_object();
}

static json_t *
run_set(struct sim *sim, char **words, unsigned n)
{
	struct nic *nic = find_port(sim, words[0]);
	struct line_config config[LINE_WAYS];

	(void)n;
	if (nic == NULL)
		return NULL;
	for (unsigned way = 0; way < LINE_WAYS; way++)
		config[way] = *line_get_config(nic->line, way);
	if (wire_spec_set_line(config, words[1], "set") < 0)
		return NULL;
	for (unsigned way = 0; way < LINE_WAYS; way++)
		line_configure(nic->line, way, &config[way]);
	return json_object();
}

static json_t *
run_quit(struct sim *sim, char **words, unsigned n)
{
	(void)words;
	(void)n;
	sim->stop = true;
	return json_object();
}

static const struct command commands[] = {
	{"stats", "", "all counters", 0, 0, run_stats},
	{"start", "", "let the wires send", 0, 0, run_start},
	{"hold", "", "let them send no more", 0, 0, run_hold},
	{"set", "PORT KEY=VALUE", "change the line, as in set 0 rx-loss=5", 2, 2, run_set},
	{"fault", "PORT NAME [ARG]", "a fault, as in fault 0 link-flap 100ms", 2, 3, run_fault},
	{"attach", "PID", "the application, whose readings of statistics clear them", 1, 1,
		run_attach},
	{"quit", "", "end", 0, 0, run_quit},
};

static const struct command *
find_command(const char *name)
{
	for (unsigned i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (strcmp(commands[i].name, name) == 0)
			return &commands[i];
	return NULL;
}

static unsigned
split(char *line, char **words)
{
	unsigned n = 0;
	char *save;

	for (char *word = strtok_r(line, " \t\n", &save); word != NULL && n < WORDS_MAX;
		word = strtok_r(NULL, " \t\n", &save))
		words[n++] = word;
	return n;
}

static json_t *
run_line(struct sim *sim, char *line)
{
	const struct command *command;
	char *words[WORDS_MAX];
	unsigned n = split(line, words);

	command = n == 0 ? NULL : find_command(words[0]);
	if (command == NULL) {
		nicsim_error("%s: no such command; nicsim ctl --help lists them",
			n == 0 ? "" : words[0]);
		return NULL;
	}
	if (n - 1 < command->least || n - 1 > command->most) {
		nicsim_error("expected %s %s", command->name, command->args);
		return NULL;
	}
	return command->run(sim, words + 1, n - 1);
}

static void
answer(int fd, json_t *json)
{
	char *text;

	if (json == NULL)
		json = json_pack("{s:b, s:s}", "ok", 0, "error", nicsim_last_error());
	else
		json_object_set_new(json, "ok", json_true());
	text = json_dumps(json, JSON_COMPACT | JSON_REAL_PRECISION(6));
	json_decref(json);
	/* Who does not read is none of our business. */
	if (text != NULL)
		send(fd, text, strlen(text), MSG_NOSIGNAL | MSG_DONTWAIT);
	free(text);
}

static void
close_client(struct sim *sim)
{
	close(sim->client_fd);
	sim->client_fd = -1;
}

static void
accept_client(struct sim *sim, uint64_t now_ns)
{
	int size = ANSWER_MAX;

	/* cppcheck-suppress nullPointer */
	sim->client_fd = accept4(sim->control_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	sim->client_until_ns = now_ns + CLIENT_PATIENCE_NS;
	if (sim->client_fd >= 0)
		setsockopt(sim->client_fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
}

/* Whole, and one line. */
static void
serve(struct sim *sim, char *line, ssize_t len)
{
	json_t *json = NULL;

	nicsim_hush(true);
	if (len > COMMAND_MAX || memchr(line, '\0', len) != NULL) {
		nicsim_error("a command is a line of %u bytes at most", COMMAND_MAX);
	} else {
		line[len] = '\0';
		json = run_line(sim, line);
	}
	answer(sim->client_fd, json);
	nicsim_hush(false);
}

/* One client at a time, and the card never waits for it. */
void
control_poll(struct sim *sim, uint64_t now_ns)
{
	char line[COMMAND_MAX + 1];
	ssize_t len;

	if (sim->client_fd < 0)
		accept_client(sim, now_ns);
	if (sim->client_fd < 0)
		return;
	len = recv(sim->client_fd, line, COMMAND_MAX, MSG_DONTWAIT | MSG_TRUNC);
	if (len < 0 && errno == EAGAIN && now_ns < sim->client_until_ns)
		return;
	if (len >= 0)
		serve(sim, line, len);
	close_client(sim);
}

static int
fill_address(struct sockaddr_un *address, const char *dir)
{
	*address = (struct sockaddr_un){.sun_family = AF_UNIX};
	if (snprintf(address->sun_path, sizeof(address->sun_path), "%s/control", dir) >=
		(int)sizeof(address->sun_path)) {
		nicsim_error("%s: the folder's name is too long for a socket", dir);
		return -ENAMETOOLONG;
	}
	return 0;
}

int
control_open(struct sim *sim)
{
	struct sockaddr_un address;
	int rc = fill_address(&address, sim->dir);

	if (rc < 0)
		return rc;
	unlink(address.sun_path);
	sim->control_fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (sim->control_fd < 0 ||
		bind(sim->control_fd, (struct sockaddr *)&address, sizeof(address)) < 0 ||
		listen(sim->control_fd, CLIENTS_WAITING) < 0) {
		rc = -errno;
		nicsim_error("%s: %s", address.sun_path, strerror(-rc));
		control_close(sim);
	}
	return rc;
}

void
control_close(struct sim *sim)
{
	if (sim->client_fd >= 0)
		close_client(sim);
	if (sim->control_fd >= 0)
		close(sim->control_fd);
	sim->control_fd = -1;
}

void
control_usage(void)
{
	char left[64];

	printf("nicsim ctl DIR COMMAND...: tell a running nicsim, whose folder is DIR.\n\n");
	for (unsigned i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		snprintf(left, sizeof(left), "%s %s", commands[i].name, commands[i].args);
		printf("    %-26s %s\n", left, commands[i].help);
	}
}

/* The words in one line. */
static int
join(char *line, size_t size, int argc, char **argv)
{
	size_t used = 0;

	line[0] = '\0';
	for (int i = 0; i < argc; i++) {
		used += snprintf(line + used, size - used, "%s%s", i == 0 ? "" : " ", argv[i]);
		if (used >= size) {
			nicsim_error("the command is too long");
			return -E2BIG;
		}
	}
	return 0;
}

static int
ask(const char *dir, const char *line, char *answer_text, size_t size)
{
	struct timeval timeout = {.tv_sec = CLIENT_TIMEOUT_S};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	struct sockaddr_un address;
	ssize_t len = -1;

	if (fd < 0 || fill_address(&address, dir) < 0)
		return -EINVAL;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0 &&
		send(fd, line, strlen(line), MSG_NOSIGNAL) >= 0)
		len = recv(fd, answer_text, size - 1, 0);
	if (len <= 0)
		nicsim_error("%s: no answer (%s): does nicsim run?", address.sun_path,
			len == 0 ? "closed" : strerror(errno));
	close(fd);
	if (len <= 0)
		return -EIO;
	answer_text[len] = '\0';
	return 0;
}

int
control_client(int argc, char **argv)
{
	static char answer_text[ANSWER_MAX];
	char line[COMMAND_MAX];

	if (argc < 2 || strcmp(argv[0], "--help") == 0) {
		control_usage();
		return argc == 1 && strcmp(argv[0], "--help") == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
	}
	if (join(line, sizeof(line), argc - 1, argv + 1) < 0 ||
		ask(argv[0], line, answer_text, sizeof(answer_text)) < 0)
		return EXIT_FAILURE;
	printf("%s\n", answer_text);
	return strstr(answer_text, "\"ok\":true") != NULL ? EXIT_SUCCESS : EXIT_FAILURE;
}
