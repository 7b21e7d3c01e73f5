# SPDX-License-Identifier: BSD-3-Clause
"""dpdk-testpmd as a traffic generator on an interface of Linux's, by net_af_packet."""

import os
import re
import shutil
import subprocess

from . import LabError, _is_alive

MODES = ("txonly", "flowgen")


def sweep():
    """EAL's folders of those that were killed."""
    for name in os.listdir("/var/run/dpdk") if os.path.isdir("/var/run/dpdk") else ():
        found = re.match(r"pw-testpmd-(\d+)-", name)
        if found and not _is_alive(found.group(1)):
            shutil.rmtree(f"/var/run/dpdk/{name}", ignore_errors=True)


class Testpmd:
    """A running one that sends nothing before start(); a context manager."""

    _count = 0

    def __init__(self, inside, iface, mode, frame_bytes, peer_mac="ff:ff:ff:ff:ff:ff"):
        """@param inside  makes of a command line one that runs in a namespace
        @param frame_bytes  with the CRC, which an interface of Linux's does not send
        """
        Testpmd._count += 1
        binary = shutil.which("dpdk-testpmd")
        if binary is None:
            raise LabError("no dpdk-testpmd: apt-get install dpdk-dev")
        self.prefix = f"pw-testpmd-{os.getpid()}-{Testpmd._count}"
        cpu = sorted(os.sched_getaffinity(0))[0]
        self.args = inside(
            "stdbuf", "-oL", binary, f"--lcores=0@{cpu},1@{cpu}", "--in-memory", "--no-pci", "--log-level=4",
            f"--file-prefix={self.prefix}", f"--vdev=net_af_packet0,iface={iface}", "--",
            "--interactive", f"--forward-mode={mode}", "--total-num-mbufs=4096",
            f"--txpkts={frame_bytes - 4}", f"--eth-peer=0,{peer_mac}",
            "--no-lsc-interrupt")
        self.process = None

    def __enter__(self):
        sweep()
        self.process = subprocess.Popen(self.args, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, text=True, start_new_session=True)
        self.ask("show port info 0")
        return self

    def ask(self, line):
        """Give it a command; returns what it says then, up to the answer to one that it does not know."""
        try:
            self.process.stdin.write(f"{line}\nno-such-command\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass
        said = ""
        for text in self.process.stdout:
            said += text
            if "Command not found" in text:
                return said
        raise LabError(f"dpdk-testpmd has ended:\n{said[-2000:]}")

    def start(self):
        said = self.ask("start")
        if "packet forwarding" not in said:
            raise LabError(f"dpdk-testpmd does not start:\n{said[-2000:]}")

    def stop(self):
        """Let it stop; returns how many packets it has sent since the start."""
        return int(re.findall(r"TX-packets: (\d+)", self.ask("stop"))[-1])

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()
        shutil.rmtree(f"/var/run/dpdk/{self.prefix}", ignore_errors=True)
