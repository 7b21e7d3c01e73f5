/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "tools.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

extern char **environ;

/* The path of this program. */
static void
own_path(char *path, size_t size)
{
	ssize_t n = readlink("/proc/self/exe", path, size - 1);

	path[n < 0 ? 0 : n] = '\0';
}

/* Those of the source where we are run from the build folder, else those installed. */
static void
tool_path(char *path, size_t size, const char *name)
{
	const char *folder = getenv("PAGEWHEEL_TOOLS");
	char self[PATH_MAX];

	own_path(self, sizeof(self));
	if (folder == NULL)
		folder = strncmp(self, PW_BUILD_DIR, strlen(PW_BUILD_DIR)) == 0
			? PW_SOURCE_TOOLS
			: PW_INSTALLED_TOOLS;
	snprintf(path, size, "%s/%s", folder, name);
}

const char *
pw_bench_tools_folder_option(void)
{
	static char option[PATH_MAX + 16] = "--folder=";

	own_path(option + strlen("--folder="), PATH_MAX);
	if (strrchr(option, '/') != NULL)
		*strrchr(option, '/') = '\0';
	return option;
}

static int
check_tool(const char *path)
{
	if (access(path, R_OK) == 0)
		return 0;
	pw_bench_error("%s: %s: PAGEWHEEL_TOOLS names the folder it is in", path, strerror(errno));
	return -ENOENT;
}

static int
spawn(pid_t *pid, const char *path, const char *const *args, int in, int out)
{
	const char *argv[PW_BENCH_TOOL_ARGS_MAX + 3] = {"python3", path};
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	int rc;

	for (unsigned i = 0; i < PW_BENCH_TOOL_ARGS_MAX && args[i] != NULL; i++)
		argv[2 + i] = args[i];
	posix_spawn_file_actions_init(&actions);
	posix_spawnattr_init(&attributes);
	if (in >= 0) {
		posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
		posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
		posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
	}
	rc = posix_spawnp(
		pid, "python3", &actions, &attributes, (char *const *)(uintptr_t)argv, environ);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	if (rc != 0)
		pw_bench_error("python3 does not start: %s", strerror(rc));
	return -rc;
}

int
pw_bench_tool_start(struct pw_bench_tool *tool, const char *name, const char *const *args)
{
	int in[2], out[2], rc;
	char path[PATH_MAX];

	tool_path(path, sizeof(path), name);
	if (check_tool(path) < 0)
		return -ENOENT;
	if (pipe2(in, O_CLOEXEC) < 0 || pipe2(out, O_CLOEXEC) < 0) {
		pw_bench_error("no pipe: %s", strerror(errno));
		return -errno;
	}
	rc = spawn(&tool->pid, path, args, in[0], out[1]);
	close(in[0]);
	close(out[1]);
	tool->to = fdopen(in[1], "w");
	tool->from = fdopen(out[0], "r");
	if (rc < 0)
		tool->pid = 0;
	return tool->to == NULL || tool->from == NULL ? -ENOMEM : rc;
}

/* The exit code of a process that ends. */
static int
wait_for(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return 127;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int
pw_bench_tool_end(struct pw_bench_tool *tool)
{
	int code;

	if (tool->to != NULL)
		fclose(tool->to);
	code = tool->pid > 0 ? wait_for(tool->pid) : 0;
	if (tool->from != NULL)
		fclose(tool->from);
	*tool = (struct pw_bench_tool){0};
	return code;
}

int
pw_bench_tools_run(const char *name, const char *arg)
{
	const char *const args[] = {arg, NULL};
	char path[PATH_MAX];
	pid_t pid;
	int rc;

	tool_path(path, sizeof(path), name);
	rc = check_tool(path);
	if (rc == 0)
		rc = spawn(&pid, path, args, -1, -1);
	if (rc < 0)
		return rc;
	return wait_for(pid) == 0 ? 0 : -EIO;
}

int
pw_bench_tools_become(const char *name, char *const *args)
{
	char *argv[PW_BENCH_TOOL_ARGS_MAX + 3] = {(char *)(uintptr_t) "python3"};
	char path[PATH_MAX], self[PATH_MAX];

	tool_path(path, sizeof(path), name);
	if (check_tool(path) < 0)
		return -ENOENT;
	own_path(self, sizeof(self));
	setenv("PAGEWHEEL_BENCH", self, 1);
	argv[1] = path;
	for (unsigned i = 0; i < PW_BENCH_TOOL_ARGS_MAX && args[i] != NULL; i++)
		argv[2 + i] = args[i];
	execvp(argv[0], argv);
	pw_bench_error("python3 does not start: %s", strerror(errno));
	return -errno;
}
