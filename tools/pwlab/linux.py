# SPDX-License-Identifier: BSD-3-Clause
"""What Linux's own TCP reaches: iperf3 to iperf3 through a veth pair, frames of MTU 1500.

As a NIC would have it: neither end leaves cutting to the other (GSO and TSO off), GRO is on.
"""

import json
import subprocess
import time

import pwlab

PORT = "5201"
OFFLOADS = ("tso", "off", "gso", "off", "gro", "on", "tx", "on")


class LinuxTcp:
    """Both ends Linux; a context manager."""

    def __init__(self):
        self.lab = pwlab.Lab(name="linux")
        self.server = None

    def __enter__(self):
        self.lab.__enter__()
        try:
            for inside, dev in ((self.lab.in_dut, pwlab.DUT_DEV), (self.lab.in_peer, pwlab.PEER_DEV)):
                subprocess.run(inside("ethtool", "-K", dev, *OFFLOADS), check=True,
                               capture_output=True)
            subprocess.run(["ip", "-n", self.lab.dut, "addr", "add", f"{pwlab.DUT_IP}/24", "dev",
                            pwlab.DUT_DEV], check=True, capture_output=True)
            self.server = subprocess.Popen(self.lab.in_dut("iperf3", "-s", "-p", PORT),
                                           stdout=subprocess.DEVNULL)
        except (OSError, subprocess.CalledProcessError) as error:
            self.__exit__()
            raise pwlab.LabError(f"Linux's own TCP cannot be measured: {error}") from None
        return self

    def __exit__(self, *_):
        if self.server is not None:
            self.server.kill()
            self.server.wait()
        self.lab.__exit__()

    def measure(self, size, timeout):
        """Goodput of one stream of so many bytes, bits a second."""
        for _ in range(50):  # until the server listens
            done = subprocess.run(
                self.lab.in_peer("iperf3", "-c", pwlab.DUT_IP, "-p", PORT, "-n", str(size), "-J"),
                capture_output=True, text=True, timeout=timeout, check=False)
            result = json.loads(done.stdout or "{}")
            if "error" not in result and "end" in result:
                return result["end"]["sum_received"]["bits_per_second"]
            time.sleep(0.1)
        raise pwlab.LabError(f"iperf3: {result.get('error', done.stderr)}")
