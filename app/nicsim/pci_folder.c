/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright(c) 2026 the pagewheel authors
 */
#include "pci_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "error.h"
#include "regs.h"

#define CONFIG_BYTES 4096
#define FIRST_BUS 0xaf
#define UIO_FIRST 100 /* real ones count from 0 */
#define UIO_LAST 999

/* An 82599 on a KX4 backplane: no SFP+ module and no PHY that would be asked by I2C and MDIO. */
static const struct {
	const char *name, *text;
} attributes[] = {
	{"vendor", "0x8086\n"},
	{"device", "0x10f7\n"},
	{"subsystem_vendor", "0x8086\n"},
	{"subsystem_device", "0x10f7\n"},
	{"class", "0x020000\n"},
	{"numa_node", "-1\n"},
};

/* Build DIR/... in path; 0, or -ENAMETOOLONG. */
__attribute__((format(printf, 3, 4))) static int
make_path(char *path, size_t size, const char *format, ...)
{
	va_list args;
	int len;

	va_start(args, format);
	len = vsnprintf(path, size, format, args);
	va_end(args);
	return len < 0 || (size_t)len >= size ? -ENAMETOOLONG : 0;
}

static int
make_folder(const char *path)
{
	return mkdir(path, 0755) < 0 && errno != EEXIST ? -errno : 0;
}

static int
write_file(const char *dir, const char *name, const char *text)
{
	char path[256];
	FILE *file;
	int rc = make_path(path, sizeof(path), "%s/%s", dir, name);

	if (rc < 0)
		return rc;
	file = fopen(path, "we");
	if (file == NULL)
		return -errno;
	rc = fputs(text, file) == EOF ? -EIO : 0;
	return fclose(file) == EOF ? -EIO : rc;
}

static int
link_to(const char *dir, const char *name, const char *target)
{
	char path[256];
	int rc = make_path(path, sizeof(path), "%s/%s", dir, name);

	if (rc == 0 && symlink(target, path) < 0 && errno != EEXIST)
		rc = -errno;
	return rc;
}

static uint8_t *
map_file(const char *path, size_t bytes, int *fd)
{
	uint8_t *map;

	*fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (*fd < 0)
		return NULL;
	map = ftruncate(*fd, bytes) < 0
		? MAP_FAILED
		: mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, *fd, 0);
	return map == MAP_FAILED ? NULL : map;
}

static int
open_fifo(struct pci_port *port, const char *path)
{
	/* For both ways, so that it never blocks and never ends. */
	port->uio_fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	return port->uio_fd < 0 ? -errno : 0;
}

/* A number that no UIO device has. */
static int
make_fifo(const char *dir, unsigned number, struct pci_port *port)
{
	char path[32], name[32];
	int rc;

	for (port->uio = UIO_FIRST; port->uio <= UIO_LAST; port->uio++) {
		snprintf(path, sizeof(path), "/dev/uio%u", port->uio);
		if (mkfifo(path, 0600) == 0) {
			snprintf(name, sizeof(name), "fifo%u", number);
			rc = link_to(dir, name, path);
			return rc < 0 ? rc : open_fifo(port, path);
		}
		if (errno != EEXIST)
			return -errno;
	}
	return -ENOSPC;
}

/* The FIFO of one that was killed: an application may hold it. */
static int
find_fifo(const char *dir, unsigned number, struct pci_port *port)
{
	char path[256], fifo[32];
	ssize_t len;

	if (make_path(path, sizeof(path), "%s/fifo%u", dir, number) < 0)
		return -ENAMETOOLONG;
	len = readlink(path, fifo, sizeof(fifo) - 1);
	if (len < 0)
		return -errno;
	fifo[len] = '\0';
	if (sscanf(fifo, "/dev/uio%u", &port->uio) != 1)
		return -EINVAL;
	return open_fifo(port, fifo);
}

/* EAL reads six lines or more: address, end and flags of each BAR (0x200: memory). */
static int
write_resource(const char *device, unsigned number)
{
	char text[512];
	uint64_t begin = 0xfb000000 + ((uint64_t)number << 20);
	size_t used = snprintf(text, sizeof(text), "0x%016lx 0x%016lx 0x%016x\n",
		(unsigned long)begin, (unsigned long)(begin + BAR_BYTES - 1), 0x40200);

	for (unsigned i = 0; i < 6; i++)
		used += snprintf(
			text + used, sizeof(text) - used, "0x%016x 0x%016x 0x%016x\n", 0, 0, 0);
	return write_file(device, "resource", text);
}

static int
fill_device(const char *dir, const char *device, unsigned number, const struct pci_port *port)
{
	char path[256], uio[64];
	int rc = 0;

	for (unsigned i = 0; i < sizeof(attributes) / sizeof(attributes[0]) && rc == 0; i++)
		rc = write_file(device, attributes[i].name, attributes[i].text);
	if (rc == 0)
		rc = write_resource(device, number);
	if (rc == 0 && (rc = make_path(path, sizeof(path), "%s/bar%u", dir, number)) == 0)
		rc = link_to(device, "resource0", path);
	if (rc == 0 && (rc = make_path(path, sizeof(path), "%s/config%u", dir, number)) == 0)
		rc = link_to(device, "config", path);
	/* Only the last part of the link counts. */
	if (rc == 0)
		rc = link_to(device, "driver", "../../drivers/uio_pci_generic");
	if (rc == 0 && (rc = make_path(path, sizeof(path), "%s/uio", device)) == 0)
		rc = make_folder(path);
	snprintf(uio, sizeof(uio), "/uio%u", port->uio);
	if (rc == 0 && (rc = make_path(path, sizeof(path), "%s/uio%s", device, uio)) == 0)
		rc = make_folder(path);
	return rc;
}

static int
make_class(const char *dir, const char *device, const struct pci_port *port)
{
	static const char *const folders[] = {"class", "class/uio"};
	char path[256];
	int rc = 0;

	for (unsigned i = 0; i < 2 && rc == 0; i++)
		if ((rc = make_path(path, sizeof(path), "%s/%s", dir, folders[i])) == 0)
			rc = make_folder(path);
	if (rc == 0)
		rc = make_path(path, sizeof(path), "%s/class/uio/uio%u", dir, port->uio);
	if (rc == 0)
		rc = make_folder(path);
	return rc < 0 ? rc : link_to(path, "device", device);
}

static int
map_port(const char *dir, unsigned number, struct pci_port *port)
{
	char path[256];
	int rc, config_fd;

	if ((rc = make_path(path, sizeof(path), "%s/bar%u", dir, number)) < 0)
		return rc;
	port->bar = map_file(path, BAR_BYTES, &port->bar_fd);
	if (port->bar == NULL)
		return -errno;
	if ((rc = make_path(path, sizeof(path), "%s/config%u", dir, number)) < 0)
		return rc;
	port->config = map_file(path, CONFIG_BYTES, &config_fd);
	rc = port->config == NULL ? -errno : 0;
	if (config_fd >= 0)
		close(config_fd);
	return rc;
}

int
pci_folder_add(const char *dir, unsigned number, struct pci_port *port)
{
	char device[224];
	int rc;

	*port = (struct pci_port){.bar_fd = -1, .uio_fd = -1};
	snprintf(port->address, sizeof(port->address), "0000:%02x:00.0", FIRST_BUS + number);
	rc = make_path(device, sizeof(device), "%s/devices", dir);
	if (rc == 0)
		rc = make_folder(device);
	if (rc == 0)
		rc = make_path(device, sizeof(device), "%s/devices/%s", dir, port->address);
	if (rc == 0)
		rc = make_folder(device);
	if (rc == 0)
		rc = map_port(dir, number, port);
	if (rc == 0 && find_fifo(dir, number, port) < 0)
		rc = make_fifo(dir, number, port);
	if (rc == 0)
		rc = fill_device(dir, device, number, port);
	if (rc == 0)
		rc = make_class(dir, device, port);
	if (rc < 0) {
		nicsim_error("cannot make the card's files in %s and its FIFO in /dev: %s", dir,
			strerror(-rc));
		pci_folder_remove(port);
	}
	return rc;
}

void
pci_folder_remove(struct pci_port *port)
{
	char path[32];

	if (port->uio_fd >= 0) {
		close(port->uio_fd);
		snprintf(path, sizeof(path), "/dev/uio%u", port->uio);
		unlink(path);
	}
	if (port->bar != NULL)
		munmap(port->bar, BAR_BYTES);
	if (port->config != NULL)
		munmap(port->config, CONFIG_BYTES);
	if (port->bar_fd >= 0)
		close(port->bar_fd);
	*port = (struct pci_port){.bar_fd = -1, .uio_fd = -1};
}
