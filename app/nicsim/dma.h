/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef NICSIM_DMA_H
#define NICSIM_DMA_H

/**
 * @file
 * The window through which the model sees the driver's memory: hugepages of a hugetlbfs folder,
 * mapped at base + physical address, so that a translation is an addition.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DMA_PAGE_SHIFT 21 /* smallest hugepage: 2 MiB */

struct dma_file;

struct dma {
	uint8_t *base;
	uint64_t bytes;	  /**< of the window */
	uint8_t *present; /**< for each 2 MiB of it, whether memory is there */
	const char *dir;  /**< the hugetlbfs folder */
	const char *prefix;
	struct dma_file *files;
	uint64_t page_bytes;
	uint64_t next_scan_ns;
	uint64_t misses; /**< addresses that the driver gave and that are no memory */
	uint64_t pages;	 /**< mapped now */
};

/**
 * Reserve the window.
 *
 * @param dir     hugetlbfs folder; must outlive it
 * @param prefix  EAL's --file-prefix: files PREFIXmap_* count; must outlive it
 * @return 0, or -errno after an error was printed
 */
int dma_open(struct dma *dma, const char *dir, const char *prefix);

void dma_close(struct dma *dma);

/** Map what is new in the folder. Pointers into the window stay valid. */
void dma_scan(struct dma *dma);

/** Let go what has vanished from the folder. Pointers must be translated again: nic_remap(). */
void dma_sweep(struct dma *dma);

/** Let all go: the application is gone, and its memory can go. Translate again, as above. */
void dma_release(struct dma *dma);

/** What to do when dma_at() found nothing: scan, at most once a millisecond. True: try again. */
bool dma_miss(struct dma *dma, uint64_t now_ns);

/**
 * Memory at a physical address, len > 0 bytes; NULL where there is none. Valid until dma_sweep()
 * or dma_release().
 */
static inline void *
dma_at(const struct dma *dma, uint64_t address, uint32_t len)
{
	uint64_t last = address + len - 1;

	if (last >= dma->bytes || last < address || !dma->present[address >> DMA_PAGE_SHIFT] ||
		!dma->present[last >> DMA_PAGE_SHIFT])
		return NULL;
	return dma->base + address;
}

/** The same, after a scan if it is not known yet. */
static inline void *
dma_find(struct dma *dma, uint64_t address, uint32_t len, uint64_t now_ns)
{
	void *memory = dma_at(dma, address, len);

	if (memory == NULL && dma_miss(dma, now_ns))
		memory = dma_at(dma, address, len);
	return memory;
}

#endif
