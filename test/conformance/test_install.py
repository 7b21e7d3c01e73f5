# SPDX-License-Identifier: BSD-3-Clause
"""What is installed: headers that stand alone, a library that links, a pkg-config file."""

import glob
import os
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
            for header in headers:
                with self.subTest(header=header):
                    program = (f"#include <{header}>\n#include <pw_strategy.h>\n"
                               "int main(void) { struct pw_strategy s; "
                               "return pw_strategy_parse(0, &s); }\n")
                    source = os.path.join(root, "program.c")
                    with open(source, "w", encoding="utf-8") as file:
                        file.write(program)
                    done = subprocess.run(["cc", "-Wall", "-Werror", source, "-o",
                                           os.path.join(root, "program"), *flags],
                                          capture_output=True, text=True, check=False)
                    self.assertEqual(done.returncode, 0, done.stderr)
            libdir = os.path.dirname(glob.glob(f"{root}/**/libpagewheel.so", recursive=True)[0])
            subprocess.run([os.path.join(root, "program")], check=True,
                           env={**os.environ, "LD_LIBRARY_PATH": libdir})


if __name__ == "__main__":
    unittest.main()
