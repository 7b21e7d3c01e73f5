# SPDX-License-Identifier: BSD-3-Clause
"""The services of the mode tcp, with the clients that people use: curl, wrk, nc, iperf3."""

import json
import os
import re
import socket
import struct
import subprocess
import sys
import time
import unittest

import pwlab

BINARY = os.environ["PAGEWHEEL"]
HERE = os.path.dirname(os.path.realpath(__file__))
DUT_IP6 = "2001:db8::2"
PEER_IP6 = "2001:db8::1"


class WithLab(unittest.TestCase):
    def setUp(self):
        self.lab = self.enterContext(pwlab.Lab(name="apps"))

    def start(self, *options, **kwargs):
        return self.enterContext(pwlab.Pagewheel(self.lab, BINARY, *options, **kwargs))

    def run_in_peer(self, *args, timeout=60, **kwargs):
        return subprocess.run(self.lab.in_peer(*args), capture_output=True, check=False,
                              timeout=timeout, **kwargs)

    def in_peer(self, function, *args):
        """Run a function of this module there, which prints what it finds."""
        done = self.run_in_peer(sys.executable, os.path.join(HERE, "test_apps.py"),
                                function.__name__, *map(str, args),
                                env={**os.environ, "PYTHONPATH": os.path.dirname(
                                    os.path.dirname(pwlab.__file__))})
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        return done.stdout.decode().strip()

    def assert_ends_well(self, wheel):
        """No connection is left open, no buffer is missing, the exit code is 0."""
        self.assertIsNotNone(wheel.wait_for("tcp", lambda tcp: tcp["curr_estab"] == 0))
        self.assertIsNotNone(wheel.wait_for("pool", lambda pool: pool["free"] == pool["objects"]))
        self.assertEqual(wheel.stop(), 0, wheel.log)


class Services(WithLab):
    def test_only_those_asked_for_listen(self):
        wheel = self.start("--listen=echo:7007", "--listen=echo:7008")
        for port, answers in ((7007, True), (7008, True), (7, False), (9, False), (80, False)):
            done = self.run_in_peer("nc", "-N", "-w", "5", pwlab.DUT_IP, str(port), input=b"hi")
            self.assertEqual(done.stdout, b"hi" if answers else b"", f"port {port}")
        self.assert_ends_well(wheel)

    def test_chargen(self):
        """The lines of RFC 864's picture, for as long as somebody reads."""
        wheel = self.start()
        done = self.run_in_peer("sh", "-c", f"nc -d {pwlab.DUT_IP} 19 | head -c 20000000")
        self.assertEqual(len(done.stdout), 20_000_000)
        text = "".join(chr(c) for c in range(32, 127))
        lines = [(text + text)[i:i + 72] + "\r\n" for i in range(95)]
        self.assertEqual(done.stdout, ("".join(lines) * 3000).encode()[:20_000_000])
        self.assert_ends_well(wheel)

    def test_connections_are_listed(self):
        wheel = self.start()
        peer = subprocess.Popen(self.lab.in_peer("nc", "-d", pwlab.DUT_IP, "19"),
                                stdout=subprocess.PIPE)
        self.addCleanup(peer.communicate)
        self.addCleanup(peer.kill)
        self.assertIsNotNone(wheel.wait_for("tcp", lambda tcp: tcp["out_bytes"] > 100_000))
        wheel.command("show tcp connections", "1 connection")
        self.assertRegex(wheel.log, rf"{pwlab.DUT_IP}:19 +{pwlab.PEER_IP}:\d+ +ESTABLISHED +chargen")
        ids = wheel.stats("tcp/connections")
        self.assertEqual(len(ids), 1)
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as sock:
            sock.connect(os.path.join(wheel.runtime, "dpdk_telemetry.v2"))
            sock.recv(1024)
            sock.send(f"/pagewheel/tcp/connection,{ids[0]}".encode())
            told = json.loads(sock.recv(65536))["/pagewheel/tcp/connection"]
        self.assertEqual((told["app"], told["state"]), ("chargen", "ESTABLISHED"))
        self.assertGreater(told["out_bytes"], 100_000)
        peer.kill()
        self.assert_ends_well(wheel)


def ask(ip, request_bytes, reply_bytes, count):
    """Requests one after the other, then several at once; prints how many replies came."""
    with socket.create_connection((ip, 5000), timeout=20) as sock:
        sock.sendall(struct.pack(">II", request_bytes, reply_bytes))
        for _ in range(count):
            sock.sendall(bytes(request_bytes))
            left = reply_bytes
            while left > 0:
                left -= len(sock.recv(left))
        sock.sendall(bytes(request_bytes) * 3)
        sock.shutdown(socket.SHUT_WR)
        got = 0
        while part := sock.recv(1 << 16):
            got += len(part)
    print(count + got // reply_bytes, got % reply_bytes)


def ask_wrongly(ip):
    """Sizes that are not allowed: reset. Prints how many were."""
    resets = 0
    for sizes in ((0, 1), (1, 0), ((1 << 20) + 1, 1), (1, (1 << 20) + 1), (0xffffffff, 1)):
        with socket.create_connection((ip, 5000), timeout=20) as sock:
            sock.sendall(struct.pack(">II", *sizes) + b"x")
            try:
                sock.recv(1)
            except ConnectionResetError:
                resets += 1
    print(resets)


class RequestResponse(WithLab):
    def test_sizes(self):
        wheel = self.start()
        for request, reply in ((1, 1), (100, 1448), (1 << 20, 1), (1, 1 << 20), (70_000, 70_000)):
            self.assertEqual(self.in_peer(ask, pwlab.DUT_IP, request, reply, 5), "8 0")
        self.assertEqual(self.in_peer(ask_wrongly, pwlab.DUT_IP), "5")
        self.assert_ends_well(wheel)


def talk_http(ip):
    """Requests in one write, the last of which ends the connection; prints the answers."""
    with socket.create_connection((ip, 80), timeout=20) as sock:
        host = b" / HTTP/1.1\r\nHost: a\r\n"
        sock.sendall(b"GET" + host + b"\r\n" + b"HEAD" + host + b"\r\n" + b"PUT" + host +
                     b"Content-Length: 5\r\n\r\nhello" + b"GET" + host +
                     b"Connection: close\r\n\r\n" + b"GET" + host + b"\r\n")
        answers = b""
        while part := sock.recv(1 << 16):
            answers += part
    print(answers.replace(b"\r\n", b"|").decode())


class Http(WithLab):
    def test_curl(self):
        wheel = self.start("--http-bytes=100000")
        url = f"http://{pwlab.DUT_IP}/any/path"
        done = self.run_in_peer("curl", "-s", "-w", "%{num_connects} ", url, url, url)
        self.assertEqual(done.stdout.decode(), "".join(f"{'x' * 100_000}{n} " for n in (1, 0, 0)))
        for arguments, status in ((("-I",), 200), (("-d", "text"), 405),
                                  (("-H", "X: " + "y" * 9000), 431),
                                  (("-H", "Transfer-Encoding: chunked", "-d", "text"), 501),
                                  (("-H", "Host:"), 400), (("--http1.0",), 200)):
            done = self.run_in_peer("curl", "-s", "-o", "/dev/null", "-w", "%{http_code}",
                                    *arguments, url)
            self.assertEqual(done.stdout.decode(), str(status), arguments)
        self.assert_ends_well(wheel)

    def test_pipelined(self):
        wheel = self.start("--http-bytes=4")
        answers = self.in_peer(talk_http, pwlab.DUT_IP)
        self.assertEqual(re.findall(r"HTTP/1.1 (\d+)", answers), ["200", "200", "405", "200"])
        self.assertEqual(answers.count("xxxx"), 2)
        self.assertTrue(answers.endswith("Connection: close||xxxx"))
        self.assert_ends_well(wheel)

    def test_wrk(self):
        wheel = self.start()
        done = self.run_in_peer("wrk", "-t", "1", "-c", "50", "-d", "2s",
                                f"http://{pwlab.DUT_IP}/")
        text = done.stdout.decode()
        self.assertRegex(text, r"[1-9]\d* requests in")
        self.assertNotIn("Non-2xx", text)
        self.assertNotIn("Socket errors", text)
        self.assert_ends_well(wheel)


def hold_iperf3(ip):
    """The server is busy with a client that says nothing; prints what another one hears."""
    with socket.create_connection((ip, 5201), timeout=20) as first:
        first.sendall(b"a" * 36 + b"\0")
        state = first.recv(1)
        with socket.create_connection((ip, 5201), timeout=20) as second:
            second.sendall(b"b" * 36 + b"\0")
            print(state[0], second.recv(10), second.recv(10))


def annoy_iperf3(ip):
    """Wrong parameters of all kinds, and clients that go away; prints how many were refused."""
    refused = 0
    for length, text in ((0, b""), (1 << 31, b""), (65537, b""), (5, b"[[[[["), (2, b"{]"),
                         (60000, b"[" * 60000), (16, b'{"parallel":1e9}'), (4, b"null")):
        with socket.create_connection((ip, 5201), timeout=20) as sock:
            sock.sendall(b"c" * 36 + b"\0")
            assert sock.recv(1) == b"\x09"
            sock.sendall(struct.pack(">I", length) + text)
            refused += sock.recv(1) == b"\xfe"
    for count in (1, 36, 37, 40, 50):
        with socket.create_connection((ip, 5201), timeout=20) as sock:
            sock.sendall((b"d" * 36 + b"\0\0\0\0\x20{\"tcp\":true,")[:count])
            time.sleep(0.05)
    print(refused)


class Iperf3(WithLab):
    def iperf3(self, *arguments, target=pwlab.DUT_IP, seconds=1):
        """A run; returns the end of its JSON. A server that has not quite finished is busy."""
        for _ in range(20):
            done = self.run_in_peer("iperf3", "-J", "-c", target, "-t", str(seconds),
                                    *arguments, text=True)
            result = json.loads(done.stdout)
            if "busy" not in result.get("error", ""):
                break
            time.sleep(0.1)
        self.assertNotIn("error", result)
        self.assertEqual(done.returncode, 0, done.stderr)
        return result["end"]

    def assert_moved(self, end, streams=1):
        self.assertEqual(len(end["streams"]), streams)
        self.assertGreater(end["sum_sent"]["bytes"], 0)
        self.assertGreater(end["sum_received"]["bytes"], 0)
        # What is omitted ends at other times here and there.
        self.assertLess(end["sum_received"]["bytes"], 1.2 * end["sum_sent"]["bytes"])

    def test_tcp(self):
        wheel = self.start()
        self.assert_moved(self.iperf3())
        self.assert_moved(self.iperf3("-P", "8"), 8)
        self.assert_moved(self.iperf3("-R"))
        self.assert_moved(self.iperf3("-R", "-P", "8"), 8)
        self.assert_moved(self.iperf3("-O", "1", "-l", "1000"))
        self.assert_moved(self.iperf3("--get-server-output"))
        self.assert_ends_well(wheel)
        self.assertEqual(len(re.findall(r"iperf3 198.18.0.1: TCP, \d+ streams", wheel.log)), 6)

    def test_both_ways(self):
        wheel = self.start()
        end = self.iperf3("--bidir", "-P", "2")
        self.assertEqual([stream["sender"]["sender"] for stream in end["streams"]],
                         [True, True, False, False])
        for way in ("sum_sent", "sum_received", "sum_sent_bidir_reverse",
                    "sum_received_bidir_reverse"):
            self.assertGreater(end[way]["bytes"], 0)
        self.assert_ends_well(wheel)

    def test_so_many_bytes(self):
        wheel = self.start()
        for arguments in (("-n", "3M"), ("-k", "30", "-l", "100K"), ("-R", "-n", "2M")):
            done = self.run_in_peer("iperf3", "-J", "-c", pwlab.DUT_IP, *arguments, text=True)
            result = json.loads(done.stdout)
            self.assertNotIn("error", result)
            self.assertGreaterEqual(result["end"]["sum_sent"]["bytes"], 2 << 20)
            time.sleep(0.2)
        self.assert_ends_well(wheel)

    def test_a_rate_is_kept(self):
        wheel = self.start()
        end = self.iperf3("-R", "-b", "4M", seconds=2)
        self.assertLess(end["sum_sent"]["bits_per_second"], 6e6)
        self.assertGreater(end["sum_sent"]["bits_per_second"], 1e6)
        self.assert_ends_well(wheel)

    def test_one_at_a_time(self):
        wheel = self.start()
        self.assertEqual(self.in_peer(hold_iperf3, pwlab.DUT_IP), r"9 b'\xff' b''")
        self.assert_moved(self.iperf3())
        self.assert_ends_well(wheel)

    def test_hostile_clients(self):
        wheel = self.start()
        self.assertEqual(self.in_peer(annoy_iperf3, pwlab.DUT_IP), "8")
        self.assert_moved(self.iperf3())
        self.assert_ends_well(wheel)

    def test_a_client_that_is_killed(self):
        """The server is free for the next one."""
        wheel = self.start()
        for arguments in ((), ("-R",), ("--bidir", "-P", "4")):
            client = subprocess.Popen(
                self.lab.in_peer("iperf3", "-c", pwlab.DUT_IP, "-t", "60", *arguments),
                stdout=subprocess.DEVNULL)
            time.sleep(0.5)
            client.kill()
            client.wait()
            time.sleep(0.3)
        self.assert_moved(self.iperf3())
        self.assert_ends_well(wheel)

    def test_several_queues(self):
        """Control connection and streams belong to different lcores."""
        wheel = self.start("--rxq=4", "--txq=4", "--total-num-mbufs=32768",
                           vdev=f"{pwlab.VETH},qpairs=4")
        self.assert_moved(self.iperf3("-P", "8"), 8)
        self.assert_moved(self.iperf3("-R", "-P", "8"), 8)
        self.assertEqual(len(self.iperf3("--bidir", "-P", "4")["streams"]), 8)
        self.assert_ends_well(wheel)

    def test_udp(self):
        wheel = self.start()
        end = self.iperf3("-u", "-b", "10M", "-P", "3")
        self.assertGreater(end["sum"]["packets"], 500)
        self.assertLess(end["sum"]["lost_percent"], 50)
        for arguments in (("-R",), ("-R", "--udp-counters-64bit"), ("-O", "1"), ("-l", "100")):
            end = self.iperf3("-u", "-b", "5M", *arguments)
            self.assertGreater(end["sum"]["packets"], 200)
            self.assertGreater(end["sum"]["bytes"], 0)
            self.assertGreaterEqual(end["sum"]["jitter_ms"], 0)
        self.iperf3("-u", "-b", "5M", "--bidir")
        self.iperf3("-u", "-b", "20M", "-l", "8000", "-R")
        self.assert_ends_well(wheel)

    def test_ipv6(self):
        for args in (("sysctl", "-qw", f"net.ipv6.conf.{pwlab.PEER_DEV}.disable_ipv6=0"),
                     ("ip", "addr", "add", f"{PEER_IP6}/64", "dev", pwlab.PEER_DEV, "nodad")):
            subprocess.run(self.lab.in_peer(*args), check=True)
        wheel = self.start(f"--ip={DUT_IP6}/64")
        self.assert_moved(self.iperf3("-6", target=DUT_IP6))
        self.assert_moved(self.iperf3("-6", "-R", target=DUT_IP6))
        self.assertGreater(
            self.iperf3("-6", "-u", "-b", "5M", target=DUT_IP6)["sum"]["packets"], 200)
        done = self.run_in_peer("curl", "-s", "-g", f"http://[{DUT_IP6}]/")
        self.assertEqual(done.stdout, b"x" * 64)
        self.assert_ends_well(wheel)


class Client(WithLab):
    """The generator, against Linux and against itself."""

    def run_client(self, *options, port, last):
        """Until the last line of the results is there."""
        wheel = self.start(f"--connect={pwlab.PEER_IP}:{port}", "--duration=2", *options)
        wheel.command("", last)
        return wheel

    def serve(self, script):
        server = subprocess.Popen(self.lab.in_peer(sys.executable, "-c", script))
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        time.sleep(0.5)

    SINK = ("import socket, threading\n"
            "server = socket.create_server(('', 9), backlog=100)\n"
            "def take(sock):\n"
            "    try:\n"
            "        while sock.recv(1 << 16):\n"
            "            pass\n"
            "    except OSError:\n"
            "        pass\n"
            "    sock.close()\n"
            "while True:\n"
            "    threading.Thread(target=take, args=(server.accept()[0],)).start()\n")

    REPLIES = ("import socket, struct, threading\n"
               "server = socket.create_server(('', 5000), backlog=100)\n"
               "def answer(sock):\n"
               "    try:\n"
               "        request, reply = struct.unpack('>II', sock.recv(8, socket.MSG_WAITALL))\n"
               "        while len(sock.recv(request, socket.MSG_WAITALL)) == request:\n"
               "            sock.sendall(bytes(reply))\n"
               "    except (OSError, struct.error):\n"
               "        pass\n"
               "    sock.close()\n"
               "while True:\n"
               "    threading.Thread(target=answer, args=(server.accept()[0],)).start()\n")

    def test_stream(self):
        self.serve(self.SINK)
        wheel = self.run_client("--connections=4", port=9, last="out: ")
        client = wheel.stats("tcp/client")
        self.assertEqual((client["opened"], client["failed"], client["broken"]), (4, 0, 0))
        self.assertGreater(client["out_bytes"], 1_000_000)
        self.assert_ends_well(wheel)
        self.assertRegex(wheel.log, r"out: [\d.]+ Gbit/s, in: 0.000 Gbit/s")

    def test_requests(self):
        self.serve(self.REPLIES)
        for kind, request, reply in (("rr", 1, 1), ("rr", 2000, 100_000), ("crr", 64, 64)):
            with self.subTest(kind=kind, reply=reply):
                wheel = self.run_client(f"--connect-app={kind}", "--connections=3",
                                        f"--request-bytes={request}", f"--reply-bytes={reply}",
                                        port=5000, last="latency: ")
                client = wheel.stats("tcp/client")
                self.assertEqual((client["failed"], client["broken"]), (0, 0))
                self.assertGreater(client["transactions"], 20)
                self.assertGreater(client["latency_min_ns"], 0)
                order = [client[f"latency_{name}_ns"] for name in ("min", "p50", "p99", "p999",
                                                                   "max")]
                self.assertEqual(order, sorted(order))
                if kind == "rr":
                    self.assertEqual(client["opened"], 3)
                else:
                    self.assertGreaterEqual(client["opened"], client["transactions"])
                self.assert_ends_well(wheel)
                wheel.__exit__()

    def test_nobody_listens(self):
        wheel = self.run_client("--connections=2", port=9, last="the last failure")
        client = wheel.stats("tcp/client")
        self.assertEqual(client["opened"], 0)
        self.assertGreater(client["failed"], 2)
        self.assert_ends_well(wheel)
        self.assertIn("the last failure: Connection refused", wheel.log)


if __name__ == "__main__":
    functions = {f.__name__: f for f in (ask, ask_wrongly, talk_http, hold_iperf3, annoy_iperf3)}
    if len(sys.argv) > 1 and sys.argv[1] in functions:
        functions[sys.argv[1]](*(int(a) if a.isdigit() else a for a in sys.argv[2:]))
    else:
        unittest.main()
