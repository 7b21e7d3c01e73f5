/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "dma.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "error.h"

#define WINDOW_BYTES (UINT64_C(1) << 40) /* physical addresses up to 1 TiB */
#define SCAN_GAP_NS 1000000

/* A file of hugepages that is mapped, page by page, each where its physical address says. */
struct dma_file {
	struct dma_file *next;
	dev_t device;
	ino_t inode;
	bool seen; /* in the scan that runs */
	unsigned nb_pages;
	uint64_t address[]; /* of each page */
};

int
dma_open(struct dma *dma, const char *dir, const char *prefix)
{
	struct statfs fs;

	*dma = (struct dma){.dir = dir, .prefix = prefix, .bytes = WINDOW_BYTES};
	if (statfs(dir, &fs) < 0) {
		nicsim_error("--huge-dir=%s: %s", dir, strerror(errno));
		return -errno;
	}
	dma->page_bytes = fs.f_bsize;
	dma->base = mmap(
		NULL, WINDOW_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	dma->present = mmap(NULL, WINDOW_BYTES >> DMA_PAGE_SHIFT, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (dma->base == MAP_FAILED || dma->present == MAP_FAILED) {
		nicsim_error(
			"cannot reserve 1 TiB of addresses (%s): raise ulimit -v", strerror(errno));
		return -ENOMEM;
	}
	return 0;
}

static void
set_present(struct dma *dma, uint64_t address, uint8_t value)
{
	memset(dma->present + (address >> DMA_PAGE_SHIFT), value,
		dma->page_bytes >> DMA_PAGE_SHIFT);
}

/* Put another mapping in a page's place in the window. */
static bool
map_over(struct dma *dma, uint64_t address, int protection, int flags, int fd, uint64_t offset)
{
	uint8_t *at = dma->base + address, *page;

	page = mmap(at, dma->page_bytes, protection, flags | MAP_FIXED, fd, offset);
	return page == at; /* cppcheck-suppress memleak */
}

static void
unmap_file(struct dma *dma, struct dma_file *file)
{
	for (unsigned i = 0; i < file->nb_pages; i++) {
		set_present(dma, file->address[i], 0);
		map_over(dma, file->address[i], PROT_NONE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	}
	dma->pages -= file->nb_pages;
	free(file);
}

/* Where a page of a mapping of ours lies (Documentation/admin-guide/mm/pagemap.rst); 0: unknown. */
static uint64_t
physical_address(const void *page)
{
	int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	long small = sysconf(_SC_PAGESIZE);
	uint64_t entry = 0;

	if (fd < 0)
		return 0;
	if (pread(fd, &entry, sizeof(entry), (uintptr_t)page / small * sizeof(entry)) !=
			sizeof(entry) ||
		!(entry >> 63))
		entry = 0;
	close(fd);
	return (entry & ((UINT64_C(1) << 55) - 1)) * small;
}

/* A page of a file; true: it is in the window. */
static bool
map_page(struct dma *dma, int fd, uint64_t offset, uint64_t *address)
{
	void *page = mmap(NULL, dma->page_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE,
		fd, offset);
	bool done;

	if (page == MAP_FAILED)
		return false;
	*address = physical_address(page);
	munmap(page, dma->page_bytes);
	if (*address == 0 || *address + dma->page_bytes > dma->bytes) {
		nicsim_error("a hugepage of %s%s lies at %#" PRIx64
			     ": root is needed to see the address, and 1 TiB is the limit",
			dma->prefix, "map_*", *address);
		return false;
	}
	done = map_over(
		dma, *address, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, offset);
	if (done)
		set_present(dma, *address, 1);
	return done;
}

static void
map_file(struct dma *dma, int fd, const struct stat *stat)
{
	unsigned nb_pages = stat->st_size / dma->page_bytes;
	struct dma_file *file;

	/* A hole must not be filled by looking at it; a file that grows is complete at a later
	 * scan. */
	if (nb_pages == 0 || (uint64_t)stat->st_blocks * 512 < nb_pages * dma->page_bytes)
		return;
	file = calloc(1, sizeof(*file) + nb_pages * sizeof(file->address[0]));
	if (file == NULL)
		return;
	file->device = stat->st_dev;
	file->inode = stat->st_ino;
	file->seen = true;
	while (file->nb_pages < nb_pages &&
		map_page(dma, fd, file->nb_pages * dma->page_bytes, &file->address[file->nb_pages]))
		file->nb_pages++;
	dma->pages += file->nb_pages;
	file->next = dma->files;
	dma->files = file;
}

static void
scan_file(struct dma *dma, const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	struct dma_file *file;
	struct stat stat;

	if (fd < 0)
		return;
	if (fstat(fd, &stat) == 0 && S_ISREG(stat.st_mode)) {
		for (file = dma->files; file != NULL; file = file->next)
			if (file->inode == stat.st_ino && file->device == stat.st_dev)
				break;
		if (file != NULL)
			file->seen = true;
		else
			map_file(dma, fd, &stat);
	}
	close(fd);
}

static void
forget_unseen(struct dma *dma)
{
	struct dma_file **link = &dma->files;

	while (*link != NULL) {
		struct dma_file *file = *link;

		if (file->seen) {
			link = &file->next;
			continue;
		}
		*link = file->next;
		unmap_file(dma, file);
	}
}

void
dma_scan(struct dma *dma)
{
	char pattern[PATH_MAX];
	glob_t found;

	snprintf(pattern, sizeof(pattern), "%s/%smap_*", dma->dir, dma->prefix);
	if (glob(pattern, GLOB_NOSORT, NULL, &found) != 0)
		return;
	for (size_t i = 0; i < found.gl_pathc; i++)
		scan_file(dma, found.gl_pathv[i]);
	globfree(&found);
}

static void
mark_unseen(struct dma *dma)
{
	for (struct dma_file *file = dma->files; file != NULL; file = file->next)
		file->seen = false;
}

void
dma_sweep(struct dma *dma)
{
	mark_unseen(dma);
	dma_scan(dma);
	forget_unseen(dma);
}

void
dma_release(struct dma *dma)
{
	mark_unseen(dma);
	forget_unseen(dma);
}

bool
dma_miss(struct dma *dma, uint64_t now_ns)
{
	if (now_ns < dma->next_scan_ns) {
		dma->misses++;
		return false;
	}
	dma->next_scan_ns = now_ns + SCAN_GAP_NS;
	dma_scan(dma);
	return true;
}

void
dma_close(struct dma *dma)
{
	dma_release(dma);
	munmap(dma->base, dma->bytes);
	munmap(dma->present, dma->bytes >> DMA_PAGE_SHIFT);
}
