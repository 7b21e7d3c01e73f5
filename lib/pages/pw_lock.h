/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef PW_LOCK_H
#define PW_LOCK_H

/** @file A spinlock that is cheap to release. Internal to lib. */

#include <rte_spinlock.h>

/**
 * Unlock. Releasing needs no locked instruction on any CPU; rte_spinlock_unlock() has one on x86,
 * which waits for all stores before it.
 */
static inline void
pw_unlock(rte_spinlock_t *lock)
{
	__atomic_store_n(&lock->locked, 0, __ATOMIC_RELEASE);
}

#endif
