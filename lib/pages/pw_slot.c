/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include <stdbool.h>

#include "pw_slot.h"

unsigned
pw_slot_plain(void)
{
	static unsigned dealt;
	static __thread unsigned mine; /* 0: none yet */

	if (mine == 0)
		mine = RTE_MAX_LCORE +
			__atomic_fetch_add(&dealt, 1, __ATOMIC_RELAXED) % PW_SLOTS_PLAIN;
	return mine;
}
