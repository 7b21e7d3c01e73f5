/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "watch.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "error.h"
#include "parts.h"
#include "tripwire.h"

#define LOOK_GAP_NS 100000000
#define MAPPING_NS 10000000000 /* that a program takes to map all ports, at most */
#define DEBUG_REGISTERS 4      /* of an x86 core */
#define TREE_MAX 256	       /* processes that are looked at below the first one */

/* A thread of the application, and its tripwires for each port. */
struct watch_thread {
	struct watch_thread *next;
	pid_t tid;
	bool seen;
	bool has_first[WATCH_PORTS_MAX], has_last[WATCH_PORTS_MAX];
	struct tripwire first[WATCH_PORTS_MAX], last[WATCH_PORTS_MAX];
};

struct watch_process {
	struct watch_process *next;
	pid_t pid;
	int pidfd;
	uint64_t found_ns;
	uint64_t bar[WATCH_PORTS_MAX]; /* where it has them mapped; 0: not */
	struct watch_thread *threads;
};

void
watch_init(struct watch *watch, struct nic *nics, unsigned nb_nics, const int bar_fds[])
{
	struct stat stat;

	*watch = (struct watch){.nics = nics, .nb_nics = nb_nics};
	for (unsigned i = 0; i < nb_nics; i++)
		if (fstat(bar_fds[i], &stat) == 0) {
			watch->bar_device[i] = stat.st_dev;
			watch->bar_inode[i] = stat.st_ino;
		}
}

void
watch_attach(struct watch *watch, pid_t pid)
{
	watch->root = pid;
	watch->next_look_ns = 0;
}

static void
set_tripwires(struct watch *watch, const struct watch_process *process, struct watch_thread *thread)
{
	/* With more than two ports the first register goes unwatched: torn readings are rare. */
	bool both = watch->nb_nics * 2 <= DEBUG_REGISTERS;
	int rc = 0;

	for (unsigned i = 0; i < watch->nb_nics && rc == 0; i++) {
		if (process->bar[i] == 0)
			continue;
		if (both && !thread->has_first[i])
			rc = tripwire_set(
				&thread->first[i], thread->tid, process->bar[i] + REG_CRCERRS);
		thread->has_first[i] = both && rc == 0;
		if (rc == 0 && !thread->has_last[i]) {
			rc = tripwire_set(
				&thread->last[i], thread->tid, process->bar[i] + REG_LSECRXNUSA);
			thread->has_last[i] = rc == 0;
		}
	}
	if (rc < 0 && rc != -ESRCH && !watch->blind) {
		watch->blind = true;
		nicsim_error("no hardware breakpoint (%s): the application's hardware counters "
			     "stay inexact; be root, and look at "
			     "/proc/sys/kernel/perf_event_paranoid",
			strerror(-rc));
	}
}

static void
clear_tripwires(struct watch_thread *thread)
{
	for (unsigned i = 0; i < WATCH_PORTS_MAX; i++) {
		if (thread->has_first[i])
			tripwire_clear(&thread->first[i]);
		if (thread->has_last[i])
			tripwire_clear(&thread->last[i]);
	}
}

static struct watch_thread *
find_thread(struct watch_process *process, pid_t tid)
{
	struct watch_thread *thread = process->threads;

	while (thread != NULL && thread->tid != tid)
		thread = thread->next;
	if (thread != NULL)
		return thread;
	thread = calloc(1, sizeof(*thread));
	if (thread == NULL)
		return NULL;
	thread->tid = tid;
	thread->next = process->threads;
	process->threads = thread;
	return thread;
}

static void
forget_ended_threads(struct watch_process *process)
{
	struct watch_thread **link = &process->threads;

	while (*link != NULL) {
		struct watch_thread *thread = *link;

		if (thread->seen) {
			link = &thread->next;
			continue;
		}
		*link = thread->next;
		clear_tripwires(thread);
		free(thread);
	}
}

static void
look_at_threads(struct watch *watch, struct watch_process *process)
{
	struct watch_thread *thread;
	struct dirent *entry;
	char path[64];
	DIR *dir;

	for (thread = process->threads; thread != NULL; thread = thread->next)
		thread->seen = false;
	snprintf(path, sizeof(path), "/proc/%d/task", process->pid);
	dir = opendir(path);
	/* cppcheck-suppress readdirCalled */
	while (dir != NULL && (entry = readdir(dir)) != NULL) {
		pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);

		thread = tid > 0 ? find_thread(process, tid) : NULL;
		if (thread == NULL)
			continue;
		thread->seen = true;
		set_tripwires(watch, process, thread);
	}
	if (dir != NULL)
		closedir(dir);
	forget_ended_threads(process);
}

/* Where a process has our BARs, from /proc/PID/maps. True: somewhere. */
static bool
find_bars(const struct watch *watch, pid_t pid, uint64_t bar[WATCH_PORTS_MAX])
{
	unsigned major_number, minor_number;
	uint64_t begin, offset, inode;
	char line[512], path[64];
	bool found = false;
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	maps = fopen(path, "re");
	while (maps != NULL && fgets(line, sizeof(line), maps) != NULL) {
		if (sscanf(line, "%" SCNx64 "-%*x %*s %" SCNx64 " %x:%x %" SCNu64, &begin, &offset,
			    &major_number, &minor_number, &inode) != 5)
			continue;
		for (unsigned i = 0; i < watch->nb_nics; i++)
			if (inode == watch->bar_inode[i] && offset == 0 &&
				makedev(major_number, minor_number) == watch->bar_device[i]) {
				bar[i] = begin;
				found = true;
			}
	}
	if (maps != NULL)
		fclose(maps);
	return found;
}

static struct watch_process *
find_process(const struct watch *watch, pid_t pid)
{
	struct watch_process *process = watch->processes;

	while (process != NULL && process->pid != pid)
		process = process->next;
	return process;
}

static struct watch_process *
add_process(struct watch *watch, pid_t pid, uint64_t now_ns)
{
	struct watch_process *process = calloc(1, sizeof(*process));

	if (process == NULL)
		return NULL;
	process->pid = pid;
	process->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	process->found_ns = now_ns;
	process->next = watch->processes;
	watch->processes = process;
	return process;
}

/* The children of a process that are not in the list yet. */
static unsigned
list_children(pid_t pid, pid_t *list, unsigned n)
{
	char path[96];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", pid, pid);
	file = fopen(path, "re");
	while (file != NULL && n < TREE_MAX && fscanf(file, "%d", &list[n]) == 1)
		n++;
	if (file != NULL)
		fclose(file);
	return n;
}

/* A program maps its ports one after the other, soon after the first. */
static bool
may_map_more(const struct watch *watch, const struct watch_process *process, uint64_t now_ns)
{
	for (unsigned i = 0; i < watch->nb_nics; i++)
		if (process->bar[i] == 0)
			return now_ns < process->found_ns + MAPPING_NS;
	return false;
}

/* The maps of a DPDK program are long: they are not read again while frames wait. */
static void
look_at_process(struct watch *watch, pid_t pid, uint64_t now_ns)
{
	struct watch_process *process = find_process(watch, pid);
	uint64_t bar[WATCH_PORTS_MAX] = {0};

	if (process != NULL && !may_map_more(watch, process, now_ns))
		return;
	if (!find_bars(watch, pid, bar))
		return;
	if (process == NULL)
		process = add_process(watch, pid, now_ns);
	if (process != NULL)
		memcpy(process->bar, bar, sizeof(process->bar));
}

static void
look_for_processes(struct watch *watch, uint64_t now_ns)
{
	pid_t list[TREE_MAX] = {watch->root};
	unsigned n = 1;

	for (unsigned i = 0; i < n; i++) {
		look_at_process(watch, list[i], now_ns);
		n = list_children(list[i], list, n);
	}
}

static bool
has_ended(const struct watch_process *process)
{
	struct pollfd poll_fd = {.fd = process->pidfd, .events = POLLIN};

	return process->pidfd < 0 || (poll(&poll_fd, 1, 0) == 1 && (poll_fd.revents & POLLIN));
}

static void
free_process(struct watch_process *process)
{
	for (struct watch_thread *thread = process->threads; thread != NULL; thread = thread->next)
		thread->seen = false;
	forget_ended_threads(process);
	if (process->pidfd >= 0)
		close(process->pidfd);
	free(process);
}

static void
remap(struct watch *watch)
{
	for (unsigned i = 0; i < watch->nb_nics; i++)
		nic_remap(&watch->nics[i]);
}

/* While no queue runs, hugepages that the application gave back can go. */
static void
sweep_memory(struct watch *watch)
{
	unsigned running = 0;

	for (unsigned i = 0; i < watch->nb_nics; i++)
		running += watch->nics[i].nb_rx_running + watch->nics[i].nb_tx_running;
	if (running == 0 && !watch->swept) {
		dma_sweep(watch->nics[0].dma);
		remap(watch);
	}
	watch->swept = running == 0;
}

/* After the last one nobody owns the memory that we would write to. */
static void
forget_ended_processes(struct watch *watch)
{
	struct watch_process **link = &watch->processes;
	unsigned ended = 0;

	while (*link != NULL) {
		struct watch_process *process = *link;

		if (!has_ended(process)) {
			link = &process->next;
			continue;
		}
		*link = process->next;
		free_process(process);
		ended++;
	}
	if (ended == 0 || watch->processes != NULL)
		return;
	/* Else the rings of the dead would be taken up again in the memory of the next. */
	for (unsigned i = 0; i < watch->nb_nics; i++)
		reset_all(&watch->nics[i]);
	dma_release(watch->nics[0].dma);
}

void
watch_look(struct watch *watch, uint64_t now_ns)
{
	if (watch->root == 0 || now_ns < watch->next_look_ns)
		return;
	watch->next_look_ns = now_ns + LOOK_GAP_NS;
	forget_ended_processes(watch);
	look_for_processes(watch, now_ns);
	for (struct watch_process *p = watch->processes; p != NULL; p = p->next)
		look_at_threads(watch, p);
	sweep_memory(watch);
}

static void
poll_thread(struct watch *watch, struct watch_thread *thread)
{
	for (unsigned i = 0; i < watch->nb_nics; i++) {
		unsigned times;

		if (thread->has_first[i] && tripwire_count(&thread->first[i]) > 0)
			stats_reading_began(&watch->nics[i]);
		times = thread->has_last[i] ? tripwire_count(&thread->last[i]) : 0;
		if (times > 0)
			stats_was_read(&watch->nics[i], times);
	}
}

void
watch_poll(struct watch *watch)
{
	for (struct watch_process *p = watch->processes; p != NULL; p = p->next)
		for (struct watch_thread *t = p->threads; t != NULL; t = t->next)
			poll_thread(watch, t);
}

bool
watch_has_application(const struct watch *watch)
{
	return watch_is_used(watch) || (watch->root != 0 && kill(watch->root, 0) == 0);
}

void
watch_fini(struct watch *watch)
{
	while (watch->processes != NULL) {
		struct watch_process *process = watch->processes;

		watch->processes = process->next;
		free_process(process);
	}
}
