/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "tripwire.h"

#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define RING_PAGES 1

static size_t
ring_bytes(void)
{
	return (1 + RING_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
}

int
tripwire_set(struct tripwire *wire, pid_t thread, uint64_t address)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_BREAKPOINT,
		.size = sizeof(attr),
		.bp_type = HW_BREAKPOINT_RW, /* x86 has none for reading alone */
		.bp_addr = address,
		.bp_len = HW_BREAKPOINT_LEN_4,
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_TIME,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	int error;

	*wire = (struct tripwire){.fd = -1};
	wire->fd = (int)syscall(SYS_perf_event_open, &attr, thread, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (wire->fd < 0)
		return -errno;
	wire->ring = mmap(NULL, ring_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, wire->fd, 0);
	if (wire->ring == MAP_FAILED) {
		error = errno;
		close(wire->fd);
		return -error;
	}
	return 0;
}

/* Records may wrap round the end: of the header the type is enough, and 8 bytes never wrap. */
unsigned
tripwire_count(struct tripwire *wire)
{
	struct perf_event_mmap_page *page = wire->ring;
	uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
	unsigned count = 0;

	while (wire->tail != head) {
		const char *data = (const char *)wire->ring + page->data_offset;
		struct perf_event_header header;

		memcpy(&header, data + wire->tail % page->data_size, sizeof(header));
		count += header.type == PERF_RECORD_SAMPLE;
		wire->tail += header.size;
	}
	if (count > 0)
		__atomic_store_n(&page->data_tail, wire->tail, __ATOMIC_RELEASE);
	return count;
}

void
tripwire_clear(struct tripwire *wire)
{
	munmap(wire->ring, ring_bytes());
	close(wire->fd);
}
