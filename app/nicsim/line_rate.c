/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "line_rate.h"

#include "frame.h"

static double
larger(double a, double b)
{
	return a > b ? a : b;
}

void
line_rate_set(struct line_rate *rate, uint64_t bps, uint64_t fps)
{
	rate->bytes.ns_each = bps > 0 ? 8e9 / (double)bps : 0;
	rate->frames.ns_each = fps > 0 ? 1e9 / (double)fps : 0;
	rate->bytes.ahead_ns = rate->frames.ahead_ns = 0;
	rate->has_limit = bps > 0 || fps > 0;
	rate->has_begun = false;
	/* One frame, then their length is known. */
	if (rate->mean_bytes == 0)
		rate->mean_bytes = FRAME_MAX_BYTES;
}

/* Time passes. */
static void
advance(struct line_rate *rate, uint64_t now_ns)
{
	double passed_ns = rate->has_begun ? (double)(now_ns - rate->at_ns) : 0;

	rate->has_begun = true;
	rate->at_ns = now_ns;
	rate->bytes.ahead_ns = larger(rate->bytes.ahead_ns - passed_ns, -LINE_LATE_MAX_NS);
	rate->frames.ahead_ns = larger(rate->frames.ahead_ns - passed_ns, -LINE_LATE_MAX_NS);
}

static unsigned
limit_allows(const struct line_limit *limit, double frame_ns, unsigned n)
{
	if (frame_ns == 0)
		return n;
	if (limit->ahead_ns > 0)
		return 0;
	/* The last one may end after now. */
	if (-limit->ahead_ns >= n * frame_ns)
		return n;
	return (unsigned)(-limit->ahead_ns / frame_ns) + (n > 0);
}

unsigned
line_rate_allows(struct line_rate *rate, uint64_t now_ns, unsigned n)
{
	if (!rate->has_limit)
		return n;
	advance(rate, now_ns);
	n = limit_allows(&rate->bytes, rate->bytes.ns_each * rate->mean_bytes, n);
	return limit_allows(&rate->frames, rate->frames.ns_each, n);
}

void
line_rate_charge(struct line_rate *rate, unsigned n, uint64_t bytes)
{
	if (!rate->has_limit || n == 0)
		return;
	bytes += (uint64_t)n * (FRAME_CRC_BYTES + FRAME_GAP_BYTES);
	rate->mean_bytes = (double)bytes / n;
	rate->bytes.ahead_ns += rate->bytes.ns_each * (double)bytes;
	rate->frames.ahead_ns += rate->frames.ns_each * n;
}

void
line_rate_rest(struct line_rate *rate)
{
	line_rate_idle(rate);
	rate->has_begun = false;
}

void
line_rate_idle(struct line_rate *rate)
{
	rate->bytes.ahead_ns = larger(rate->bytes.ahead_ns, 0);
	rate->frames.ahead_ns = larger(rate->frames.ahead_ns, 0);
}
