#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""An echo client that sends all of a file, but reads nothing for two seconds. Prints a SHA-256."""

import hashlib
import socket
import sys
import threading
import time


def main():
    host, port, path = sys.argv[1:]
    with open(path, "rb") as file:
        data = file.read()
    with socket.create_connection((host, int(port)), timeout=60) as sock:
        sender = threading.Thread(target=lambda: (sock.sendall(data),
                                                  sock.shutdown(socket.SHUT_WR)), daemon=True)
        sender.start()
        time.sleep(2)
        digest = hashlib.sha256()
        while part := sock.recv(1 << 16):
            digest.update(part)
        sender.join()
    print(digest.hexdigest())


if __name__ == "__main__":
    main()
