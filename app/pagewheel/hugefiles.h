/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef HUGEFILES_H
#define HUGEFILES_H

/**
 * Remove the files of EAL's hugepages, which EAL leaves behind in the file system; their memory
 * stays mapped. Call it last before rte_eal_cleanup().
 */
void pw_hugefiles_remove(void);

#endif
