/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "profile.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define ATTACH_US 300000 /* until perf looks */
#define LEAST_PERCENT "2"

extern char **environ;

/* Its clock, as virtual machines seldom have counters. 0 or a negative errno. */
static int
start_perf(pid_t *perf, const char *data)
{
	char pid[16];
	const char *const args[] = {"perf", "record", "-q", "-e", "cpu-clock", "-F", "4000", "-o",
		data, "-p", pid, NULL};
	posix_spawn_file_actions_t actions;
	int rc;

	snprintf(pid, sizeof(pid), "%d", getpid());
	posix_spawn_file_actions_init(&actions);
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_RDWR, 0);
	rc = posix_spawnp(perf, "perf", &actions, NULL, (char *const *)(uintptr_t)args, environ);
	posix_spawn_file_actions_destroy(&actions);
	return -rc;
}

/* Whether it had been looking: it writes its file, and ends well. */
static bool
stop_perf(pid_t perf)
{
	int status;

	kill(perf, SIGINT);
	while (waitpid(perf, &status, 0) < 0)
		if (errno != EINTR)
			return false;
	return (WIFEXITED(status) && WEXITSTATUS(status) == 0) ||
		(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT);
}

/* "    11.13%  [.] symbol" */
static void
add_line(json_t *lines, const char *text)
{
	char symbol[128], line[160];
	double percent;

	if (sscanf(text, " %lf%% [%*c] %127[^\n]", &percent, symbol) != 2)
		return;
	for (size_t n = strlen(symbol); n > 0 && symbol[n - 1] == ' '; n--)
		symbol[n - 1] = '\0';
	snprintf(line, sizeof(line), "%5.1f %%  %s", percent, symbol);
	json_array_append_new(lines, json_string(line));
}

static int
read_report(json_t *lines, const char *data)
{
	char command[256], text[512];
	size_t before = json_array_size(lines);
	FILE *report;

	snprintf(command, sizeof(command),
		"perf report -i %s --stdio --no-children --percent-limit " LEAST_PERCENT
		" -F overhead,symbol 2>/dev/null",
		data);
	report = popen(command, "r");
	if (report == NULL)
		return -ENOTSUP;
	while (fgets(text, sizeof(text), report) != NULL)
		add_line(lines, text);
	pclose(report);
	return json_array_size(lines) > before ? 0 : -ENOTSUP;
}

int
pw_bench_profile(json_t *lines, pw_bench_profile_work_t work, void *ctx)
{
	char data[] = "/tmp/pagewheel-bench-perf-XXXXXX";
	int fd = mkstemp(data), rc;
	pid_t perf;

	if (fd < 0)
		return -ENOTSUP;
	close(fd);
	rc = start_perf(&perf, data);
	if (rc == 0) {
		usleep(ATTACH_US);
		work(ctx);
		rc = stop_perf(perf) ? read_report(lines, data) : -ENOTSUP;
	}
	unlink(data);
	return rc < 0 ? -ENOTSUP : 0;
}
