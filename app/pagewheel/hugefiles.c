/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "hugefiles.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <rte_memory.h>

static int
remove_file(const struct rte_memseg_list *list, const struct rte_memseg *seg, void *arg)
{
	char link[64], path[PATH_MAX];
	int fd = rte_memseg_get_fd_thread_unsafe(seg);
	ssize_t len;

	(void)arg;
	if (fd < 0 || list->external)
		return 0;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	len = readlink(link, path, sizeof(path) - 1);
	if (len <= 0)
		return 0;
	path[len] = '\0';
	/* With --in-memory there is no file; with --single-file-segments it is met again. */
	if (path[0] == '/' && strstr(strrchr(path, '/'), "map_") != NULL &&
		strstr(path, " (deleted)") == NULL)
		unlink(path);
	return 0;
}

void
pw_hugefiles_remove(void)
{
	rte_memseg_walk(remove_file, NULL);
}
