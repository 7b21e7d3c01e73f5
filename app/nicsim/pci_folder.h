/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#ifndef NICSIM_PCI_FOLDER_H
#define NICSIM_PCI_FOLDER_H

/**
 * @file
 * What EAL finds a card by: a folder that looks like /sys/bus/pci/devices, and one like
 * /sys/class/uio. Whoever starts the application mounts them there (tools/nicsim-run).
 *
 *   DIR/bar0, config0           BAR 0 and configuration space of port 0
 *   DIR/devices/0000:af:00.0/   the device
 *   DIR/class/uio/uioN/device   a link to it
 *   DIR/fifo0                   a link to /dev/uioN
 *   DIR/control                 socket for commands
 *   DIR/ready                   there when the card is
 */

#include <stdint.h>

/** A port's files, mapped. */
struct pci_port {
	uint8_t *bar, *config;
	int bar_fd;
	int uio_fd;	  /**< FIFO /dev/uioN */
	unsigned uio;	  /**< its N */
	char address[16]; /**< as in 0000:af:00.0 */
};

/**
 * Make the files of a port, and map them. An old BAR is used again: an application may have it.
 *
 * @return 0, or a negative errno after an error was printed
 */
int pci_folder_add(const char *dir, unsigned number, struct pci_port *port);

/** Unmap and close, and remove the FIFO; the folder itself is for whoever made it to remove. */
void pci_folder_remove(struct pci_port *port);

#endif
