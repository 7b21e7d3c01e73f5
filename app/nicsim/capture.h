/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef NICSIM_CAPTURE_H
#define NICSIM_CAPTURE_H

/** @file Capture files: one is read into memory, so that it is as fast as any line; one is written.
 */

#include <stddef.h>
#include <stdint.h>

#include "frame.h"

/** A frame of the file. */
struct capture_record {
	uint64_t after_ns; /**< the first one; never less than that of the record before */
	size_t at;	   /**< in bytes */
	uint32_t len_bytes;
};

struct capture {
	struct capture_record *records;
	size_t nb_records, max_records;
	uint8_t *bytes;
	size_t nb_bytes, max_bytes;
	uint64_t first_ns; /**< timestamp of the first record */
};

struct capture_stats {
	uint64_t frames;	/**< that can be played */
	uint64_t skipped_short; /**< less than an Ethernet header */
	uint64_t skipped_long;
	uint64_t padded; /**< to FRAME_MIN_BYTES */
	uint64_t cut;	 /**< ends that were not captured: zeros stand for them */
};

/**
 * Read a file.
 *
 * @return 0, or -1 after an error was printed; capture_free() in both cases
 */
int capture_load(struct capture *capture, const char *file, struct capture_stats *stats);

void capture_free(struct capture *capture);

struct capture_writer;

/** @return NULL after an error was printed */
struct capture_writer *capture_writer_open(const char *file);

/** @return 0, or -1 when the file does not take it */
int capture_write(struct capture_writer *writer, uint64_t now_ns, const struct frame *frame);

/** Print an error if something could not be written. */
void capture_writer_close(struct capture_writer *writer, const char *file);

#endif
