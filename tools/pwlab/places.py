# SPDX-License-Identifier: BSD-3-Clause
"""Where tools/run measures: on nicsim, on a veth pair, on a bound NIC.

A place starts pagewheel in the mode tcp and lets something send it a stream of a known length.
"""

import contextlib
import os
import re
import subprocess
import time

import pwlab
from pwlab import nicsim

DISCARD_PORT = 9
MIB = 1 << 20
PCI_ADDRESS = r"(?:[0-9a-fA-F]{4}:)?[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.[0-7]"
USER_DRIVERS = ("vfio-pci", "igb_uio", "uio_pci_generic")


class Place:
    """What all places do alike."""

    def __init__(self, args):
        self.args = args

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def follow(self, wheel, title, is_done, progress):
        """Show how far it is until the sender is done."""
        end = time.monotonic() + self.args.timeout
        shown = time.monotonic()
        while not is_done():
            if time.monotonic() > end:
                raise pwlab.LabError(f"{title}: not done within {self.args.timeout} s")
            if time.monotonic() > shown + 0.5:
                shown = time.monotonic()
                got = wheel.stats("tcp")["in_bytes"]
                progress(f"{title}: {got // MIB} of {self.args.bytes // MIB} MiB")
            time.sleep(0.01)


class VethPlace(Place):
    """Linux's TCP sends, over a veth pair that pagewheel polls by net_af_packet."""

    title = "net_af_packet on veth, MTU 1500"

    def __enter__(self):
        self.lab = pwlab.Lab().__enter__()
        return self

    def __exit__(self, *args):
        self.lab.__exit__(*args)

    def wheel(self, *options):
        return pwlab.Pagewheel(self.lab, self.args.pagewheel, *options)

    def send(self, wheel, title, progress):
        """Send the stream; returns its seconds, and what else is known."""
        zeros = subprocess.Popen(["head", "-c", str(self.args.bytes), "/dev/zero"],
                                 stdout=subprocess.PIPE)
        begin = time.monotonic()
        # -N: the peer ends its stream with the input, and waits for us to end ours.
        sender = subprocess.Popen(
            self.lab.in_peer("nc", "-N", pwlab.DUT_IP, str(DISCARD_PORT)), stdin=zeros.stdout)
        zeros.stdout.close()
        try:
            self.follow(wheel, title, lambda: sender.poll() is not None, progress)
            seconds = time.monotonic() - begin
        finally:
            for process in (sender, zeros):
                process.kill()
                process.wait()
        if sender.returncode != 0:
            raise pwlab.LabError(f"{title}: nc ended with exit code {sender.returncode}")
        return seconds, {}


class NicsimPlace(Place):
    """nicsim's closed-loop TCP senders, through DPDK's own ixgbe driver."""

    def __init__(self, args):
        super().__init__(args)
        self.title = f"net_ixgbe on nicsim, line rate {args.rate}, MTU 1500"

    @contextlib.contextmanager
    def wheel(self, *options):
        flows = self.args.flows
        wire = (f"--wire=tcp,flows={flows},bytes={self.args.bytes // flows},"
                f"rate={self.args.rate}")
        with nicsim.Nicsim(self.args.nicsim, "--hold", wire, log=subprocess.DEVNULL) as self.card:
            with nicsim.PagewheelOnCard(self.card, self.args.pagewheel, *options) as wheel:
                yield wheel

    def send(self, wheel, title, progress):
        self.card.command("start")
        begin = time.monotonic()
        self.follow(wheel, title, lambda: self.card.stats()["ports"][0]["wire"]["done"], progress)
        seconds = time.monotonic() - begin
        port = self.card.stats()["ports"][0]
        if port["wire"]["wrong"]:
            raise pwlab.LabError(f"{title}: {port['wire']['wrong']}")
        return seconds, {"nicsim": port}


class PciPlace(Place):
    """A bound NIC; the traffic comes from outside."""

    def __init__(self, args):
        super().__init__(args)
        self.address = args.on if args.on.count(":") == 2 else f"0000:{args.on}"
        self.title = f"{self.address}"

    def __enter__(self):
        device = f"/sys/bus/pci/devices/{self.address}"
        if not os.path.isdir(device):
            raise pwlab.LabError(f"--on={self.args.on}: no such PCI device; dpdk-devbind.py -s "
                                 "lists them")
        driver = os.path.basename(os.path.realpath(f"{device}/driver"))
        if driver not in USER_DRIVERS:
            raise pwlab.LabError(
                f"--on={self.args.on}: bound to {driver}, not to a driver for DPDK: "
                f"dpdk-devbind.py -b vfio-pci {self.address} (its network interface goes away)")
        return self

    def wheel(self, *options):
        return PagewheelOnNic(self.address, self.args.pagewheel, *options)

    def send(self, wheel, title, progress):
        progress(f"{title}: send {self.args.bytes} bytes to {pwlab.DUT_IP} port {DISCARD_PORT}, as "
                 f"by head -c {self.args.bytes} /dev/zero | nc -N {pwlab.DUT_IP} {DISCARD_PORT}")
        before = wheel.stats("tcp")["in_bytes"]
        end = time.monotonic() + self.args.timeout
        while wheel.stats("tcp")["in_bytes"] == before:
            if time.monotonic() > end:
                raise pwlab.LabError(f"{title}: nothing came within {self.args.timeout} s")
            time.sleep(0.001)
        begin = time.monotonic()
        self.follow(wheel, title,
                    lambda: wheel.stats("tcp")["in_bytes"] - before >= self.args.bytes, progress)
        return time.monotonic() - begin, {}


class PagewheelOnNic(pwlab.Pagewheel):
    """A running pagewheel on a bound NIC; a context manager."""

    def __init__(self, address, binary, *options, mode="tcp", stderr=None):
        self.prefix = f"pw-{os.getpid()}-nic"
        cpus = sorted(os.sched_getaffinity(0))
        self.args = self.command_line(
            binary, f"--lcores=0@{cpus[0]},1@{cpus[-1]}", "--in-memory", "-a", address,
            f"--file-prefix={self.prefix}", mode=mode, options=options)
        self._init(stderr)


def make(args):
    """The place that --on names."""
    if args.on == "veth":
        return VethPlace(args)
    if args.on == "nicsim":
        return NicsimPlace(args)
    return PciPlace(args)


def is_place(text):
    return text in ("nicsim", "veth") or re.fullmatch(PCI_ADDRESS, text) is not None
