# SPDX-License-Identifier: Apache-2.0
"""Builds the Python module by CMake and puts it, with the program, into one package (docs/python.md).

If the environment variable SALTUS_BUILD_DIR names a build folder of CMake then its module and its program are taken, and
nothing is compiled. Otherwise everything is built in build/pip.
"""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

here = Path(__file__).resolve().parent
version = re.search(r"project\(\s*\w+\s+VERSION\s+([\d.]+)", (here / "CMakeLists.txt").read_text(encoding="utf-8")).group(1)
finished = Path(os.environ["SALTUS_BUILD_DIR"]).resolve() if os.environ.get("SALTUS_BUILD_DIR") else None
work = (finished or here / "build") / "pip"  # for files of setuptools; the folder build/ itself is CMake's


class BuildByCMake(build_ext):
    def build_extension(self, extension):
        build = finished or self.build_all()
        module = build / "python" / "saltus" / ("_core" + sysconfig.get_config_var("EXT_SUFFIX"))
        for file in (module, build / "saltus"):
            if not file.exists():
                raise SystemExit(f"{file} does not exist: the build folder has no Python module for {sys.executable}")
        target = Path(self.get_ext_fullpath(extension.name)).resolve()
        program = target.parent / "bin" / "saltus"
        program.parent.mkdir(parents=True, exist_ok=True)
        self.copy_file(str(module), str(target))
        self.copy_file(str(build / "saltus"), str(program))

    def build_all(self):
        missing = [name for name in ("cmake", "ninja") if not shutil.which(name)]
        if missing:
            raise SystemExit(f"{' and '.join(missing)} not found (Debian: cmake ninja-build)")
        build = work / "cmake"
        subprocess.run(["cmake", "-S", str(here), "-B", str(build), "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
                        "-DSALTUS_UNITY=ON", "-DSALTUS_TESTS=OFF", "-DSALTUS_SHARED=OFF", "-DSALTUS_PYTHON=ON",
                        f"-DPython_EXECUTABLE={sys.executable}"], check=True)
        subprocess.run(["cmake", "--build", str(build), "--target", "saltus_python", "saltus_cli"], check=True)
        return build


work.mkdir(parents=True, exist_ok=True)
setup(version=version, packages=["saltus"], package_dir={"": "python"}, package_data={"saltus": ["py.typed", "*.pyi"]},
      ext_modules=[Extension("saltus._core", [])], cmdclass={"build_ext": BuildByCMake}, zip_safe=False,
      options={"build": {"build_base": str(work)}, "egg_info": {"egg_base": str(work)}})
