# SPDX-License-Identifier: BSD-3-Clause
"""A small laboratory: pagewheel on one end of a veth pair, Linux on the other.

Two network namespaces are made for each Lab and removed with it. pagewheel polls its end through
net_af_packet; the peer's end is an ordinary interface of Linux. Nothing outside is touched.
"""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import time

PEER_IP = "198.18.0.1"
DUT_IP = "198.18.0.2"
PEER_IP6 = "2001:db8::1"
DUT_IP6 = "2001:db8::2"
DUT_DEV = "pw0"
PEER_DEV = "pw1"
VETH = f"net_af_packet0,iface={DUT_DEV},framecnt=4096"


class LabError(Exception):
    """Something the laboratory needs is not there; the text says what and what to do."""


def _check(*args):
    done = subprocess.run(args, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise LabError(f"{' '.join(args)}: {(done.stderr or done.stdout).strip()}")
    return done.stdout


def _is_alive(pid):
    """A zombie has no command line any more."""
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return file.read() != b""
    except OSError:
        return False


def _sweep():
    """Remove the namespaces of laboratories that were killed."""
    for line in _check("ip", "netns", "list").splitlines():
        found = re.match(r"pw-(?:dut|peer)-\w+-(\d+)\b", line)
        if found and not _is_alive(found.group(1)):
            subprocess.run(["ip", "netns", "del", found.group(0)], check=False,
                           capture_output=True)


def lcores(cpus, options):
    """One polls, and with --split two, of which one receives; where there are few CPUs they share."""
    if "--split" in options:
        return f"--lcores=0@{cpus[0]},1@{cpus[-2 if len(cpus) > 2 else 0]},2@{cpus[-1]}"
    return f"--lcores=0@{cpus[0]},1@{cpus[-1]}"


class Lab:
    """The two namespaces and the wire between them; a context manager."""

    vdev = VETH

    def __init__(self, mtu=1500, name="lab", ipv6=False):
        self.mtu = mtu
        self.ipv6 = ipv6
        self.dut = f"pw-dut-{name}-{os.getpid()}"
        self.peer = f"pw-peer-{name}-{os.getpid()}"

    def __enter__(self):
        _sweep()
        try:
            for name in (self.dut, self.peer):
                _check("ip", "netns", "add", name)
                # No neighbour discovery or router solicitation among the packets counted.
                _check("ip", "netns", "exec", name, "sysctl", "-qw",
                       "net.ipv6.conf.default.disable_ipv6=1")
            _check("ip", "-n", self.dut, "link", "add", DUT_DEV, "mtu", str(self.mtu), "type",
                   "veth", "peer", "name", PEER_DEV, "mtu", str(self.mtu), "netns", self.peer)
            # A veth leaves checksums and segmentation to hardware that is not there.
            _check(*self.in_peer("ethtool", "-K", PEER_DEV, "tx", "off", "tso", "off", "gso",
                                 "off"))
            self._add_addresses()
            for name, dev in ((self.dut, DUT_DEV), (self.peer, PEER_DEV)):
                _check("ip", "-n", name, "link", "set", "lo", "up")
                _check("ip", "-n", name, "link", "set", dev, "up")
        except BaseException:
            self.__exit__()
            raise
        return self

    def _add_addresses(self):
        """To the peer only: pagewheel is the host at its end."""
        _check("ip", "-n", self.peer, "addr", "add", f"{PEER_IP}/24", "dev", PEER_DEV)
        if not self.ipv6:
            return
        for name in ("lo", PEER_DEV):
            _check(*self.in_peer("sysctl", "-qw", f"net.ipv6.conf.{name}.disable_ipv6=0"))
        _check("ip", "-n", self.peer, "addr", "add", f"{PEER_IP6}/64", "dev", PEER_DEV, "nodad")

    def make_peer(self):
        """The namespace of the peer alone, for interfaces that others make."""
        _sweep()
        _check("ip", "netns", "add", self.peer)
        _check(*self.in_peer("sysctl", "-qw", "net.ipv6.conf.default.disable_ipv6=1"))
        _check("ip", "-n", self.peer, "link", "set", "lo", "up")

    def peer_up(self):
        _check("ip", "-n", self.peer, "link", "set", PEER_DEV, "up")

    def plug(self):
        """To be called when a pagewheel has started."""

    def __exit__(self, *_):
        for name in (self.dut, self.peer):
            subprocess.run(["ip", "netns", "del", name], capture_output=True, check=False)

    def in_dut(self, *args):
        """The command line that runs args in pagewheel's namespace."""
        return ["ip", "netns", "exec", self.dut, *args]

    def in_peer(self, *args):
        """The command line that runs args in the peer's namespace."""
        return ["ip", "netns", "exec", self.peer, *args]


class TapLab(Lab):
    """One namespace: pagewheel makes a TAP interface in it, with offloads; Linux is behind it."""

    vdev = f"net_tap0,iface={PEER_DEV}"

    def __init__(self, name="tap", ipv6=False):
        super().__init__(name=name, ipv6=ipv6)
        self.dut = self.peer

    def __enter__(self):
        self.make_peer()
        return self

    def plug(self):
        self._add_addresses()
        self.peer_up()


class NoLab:
    """Where no network is needed: the same commands, as they are."""

    @staticmethod
    def in_dut(*args):
        return list(args)


class Pagewheel:
    """A running pagewheel in a Lab; a context manager. It reads commands from a pipe.

    vdev is that of its port, or a tuple of those of several; ip is its first port's address.
    """

    _count = 0

    def __init__(self, lab, binary, *options, mode="tcp", vdev=VETH, stderr=None,
                 ip=DUT_IP):
        Pagewheel._count += 1
        self.prefix = f"pw-{os.getpid()}-{Pagewheel._count}"
        cpus = sorted(os.sched_getaffinity(0))
        self.args = lab.in_dut(*self.command_line(
            binary, lcores(cpus, options), "--in-memory", "--no-pci",
            f"--file-prefix={self.prefix}",
            *(f"--vdev={one}" for one in ((vdev,) if isinstance(vdev, str) else vdev)),
            mode=mode, options=options, ip=ip))
        self._init(stderr)

    def _init(self, stderr):
        self.runtime = os.path.join("/var/run/dpdk", self.prefix)
        self.log = ""
        self.stderr = stderr
        self.process = None

    @staticmethod
    def command_line(binary, *eal, mode, options, ip=DUT_IP):
        return [binary, *eal, "--log-level=4", "--", "--interactive", "--auto-start",
                f"--forward-mode={mode}", f"--ip={ip}/24", *options]

    def _spawn(self, **kwargs):
        return subprocess.Popen(self.args, **kwargs)

    def __enter__(self):
        # A session of its own: Ctrl-C is for us, and we stop it in order.
        self.process = self._spawn(
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.stderr,
            text=True, start_new_session=True)
        try:
            if self._read_until("packet forwarding") is None:
                code = self.process.wait(timeout=10)
                raise LabError(
                    f"pagewheel does not start (exit code {code})\n{self.log}".strip())
        except BaseException:
            self.__exit__()
            raise
        return self

    def _read_until(self, text):
        for line in self.process.stdout:
            self.log += line
            if text in line:
                return line
        return None

    def command(self, line, answer=None):
        """Give it a command; wait for a text in what it prints then."""
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        if answer is not None and self._read_until(answer) is None:
            raise LabError(f"no \"{answer}\" after {line}\n{self.log}")

    def wait_said(self, text):
        """Wait until it says something, which it will, or end."""
        if self._read_until(text) is None:
            raise LabError(f"pagewheel ended without \"{text}\"\n{self.log}")

    def stop(self, timeout=10):
        """Let it quit; returns its exit code and leaves its output in self.log."""
        if self.process.poll() is None:
            try:
                self.command("quit")
            except BrokenPipeError:
                pass
        return self._wait(timeout)

    def signal(self, number=signal.SIGINT, timeout=10):
        """End it by a signal; returns its exit code."""
        self.process.send_signal(number)
        return self._wait(timeout)

    def _wait(self, timeout):
        try:
            out, _ = self.process.communicate(timeout=timeout)
            self.log += out
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.communicate()
            raise LabError(f"pagewheel did not quit within {timeout} s") from None
        except ValueError:  # already closed
            self.process.wait(timeout)
        return self.process.returncode

    def _clean(self):
        shutil.rmtree(self.runtime, ignore_errors=True)

    def __exit__(self, *_):
        try:
            if self.process.poll() is None:
                self.process.kill()
                self.process.wait()
        finally:
            self._clean()

    def stats(self, group):
        """A group of counters ("pool", "gro", "gso", "inet", "tcp", "lcores") by telemetry."""
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as sock:
                sock.settimeout(5)
                sock.connect(os.path.join(self.runtime, "dpdk_telemetry.v2"))
                sock.recv(1024)  # a greeting
                sock.send(f"/pagewheel/{group}".encode())
                answer = json.loads(sock.recv(65536))
        except (OSError, ValueError) as error:
            raise LabError(f"pagewheel does not answer, it may have died: {error}") from None
        values = answer[f"/pagewheel/{group}"]
        if values is None:
            raise LabError(f"no counters of {group}")
        return values

    def wait_for(self, group, condition, timeout=5.0):
        """Read a group until condition(values) holds; returns the values, or None."""
        end = time.monotonic() + timeout
        while True:
            values = self.stats(group)
            if condition(values):
                return values
            if time.monotonic() > end:
                return None
            time.sleep(0.02)


def knows(binary, option):
    """Whether a pagewheel has an option: its help names it."""
    said = subprocess.run([binary, "--no-huge", "--no-pci", "-m", "16", "--", "--help"],
                          capture_output=True, text=True, check=False)
    return option in said.stdout
