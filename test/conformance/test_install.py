# SPDX-License-Identifier: BSD-3-Clause
"""What is installed: headers that stand alone, a library that links, a pkg-config file."""

import glob
import itertools
import os
import re
import subprocess
import tempfile
import unittest

BUILD = os.path.dirname(os.path.dirname(os.path.dirname(os.environ["PAGEWHEEL_PLUGIN"])))


class Install(unittest.TestCase):
    def test_every_header_compiles_alone_and_the_library_links(self):
        with tempfile.TemporaryDirectory() as root:
            subprocess.run(["meson", "install", "-C", BUILD, "--no-rebuild", "--destdir", root],
                           check=True, capture_output=True)
            pc = glob.glob(f"{root}/**/pagewheel.pc", recursive=True)
            self.assertEqual(len(pc), 1)
            with open(pc[0], encoding="utf-8") as file:
                moved = file.read().replace("prefix=/usr/local", f"prefix={root}/usr/local")
            with open(pc[0], "w", encoding="utf-8") as file:
                file.write(moved)
            flags = subprocess.run(
                ["pkg-config", "--cflags", "--libs", "pagewheel"], check=True,
                capture_output=True, text=True,
                env={**os.environ, "PKG_CONFIG_PATH": os.path.dirname(pc[0])}).stdout.split()
            headers = [os.path.basename(path)
                       for path in glob.glob(f"{root}/usr/local/include/pagewheel/*.h")]
            self.assertIn("pw_mempool.h", headers)
            for header, (compiler, suffix) in itertools.product(
                    headers, (("cc", "c"), ("c++", "cc"))):
                with self.subTest(header=header, compiler=compiler):
                    program = (f"#include <{header}>\n#include <pw_strategy.h>\n"
                               "int main(void) { struct pw_strategy s; "
                               "return pw_strategy_parse(0, &s); }\n")
                    source = os.path.join(root, f"program.{suffix}")
                    with open(source, "w", encoding="utf-8") as file:
                        file.write(program)
                    done = subprocess.run([compiler, "-Wall", "-Werror", source, "-o",
                                           os.path.join(root, "program"), *flags],
                                          capture_output=True, text=True, check=False)
                    self.assertEqual(done.returncode, 0, done.stderr)
            self.check_symbols(root, headers)
            self.check_tools(root)
            libdir = os.path.dirname(glob.glob(f"{root}/**/libpagewheel.so", recursive=True)[0])
            subprocess.run([os.path.join(root, "program")], check=True,
                           env={**os.environ, "LD_LIBRARY_PATH": libdir})

    def check_tools(self, root):
        """pagewheel-bench finds its scripts, and they the ready-made runs and the programs."""
        for arguments, text in ((("run", "--help"), "quick"), (("stream", "--help"), "--strategies"),
                                (("report", "--help"), "DIR"),
                                (("stream", "--on=ff:1f.7"), "no such PCI device")):
            done = subprocess.run(
                [f"{root}/usr/local/bin/pagewheel-bench", *arguments], capture_output=True, text=True,
                env={**os.environ, "PAGEWHEEL_TOOLS": f"{root}/usr/local/libexec/pagewheel"},
                check=False)
            self.assertIn(text, done.stdout + done.stderr)

    def check_symbols(self, root, headers):
        """The library exports what the headers declare, all of it and nothing else."""
        library = glob.glob(f"{root}/**/libpagewheel.so", recursive=True)[0]
        symbols = subprocess.run(["nm", "-D", "--defined-only", library], check=True,
                                 capture_output=True, text=True).stdout
        exported = set(re.findall(r"\b(pw_\w+)$", symbols, re.MULTILINE))
        declared = set()
        for header in headers:
            with open(f"{root}/usr/local/include/pagewheel/{header}", encoding="utf-8") as file:
                code = re.sub(r"/\*.*?\*/|static inline.*?\n}\n", "", file.read(), flags=re.DOTALL)
            declared |= set(re.findall(r"\b(pw_\w+)\([^;{]*\);", code))
            declared |= set(re.findall(r"\bextern [^;(]*\b(pw_\w+)\[\];", code))
        self.assertEqual(exported, declared)


if __name__ == "__main__":
    unittest.main()
