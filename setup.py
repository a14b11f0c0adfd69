# SPDX-License-Identifier: Apache-2.0
"""Builds the Python module by CMake and puts it, with the program, into one package."""

import re
import subprocess
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

here = Path(__file__).resolve().parent
version = re.search(r"project\(\s*\w+\s+VERSION\s+([\d.]+)", (here / "CMakeLists.txt").read_text()).group(1)


class BuildByCMake(build_ext):
    def build_extension(self, extension):
        build = Path(self.build_temp).resolve() / "cmake"
        build.mkdir(parents=True, exist_ok=True)
        subprocess.run(["cmake", "-S", str(here), "-B", str(build), "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
                        "-DSALTUS_TESTS=OFF", "-DSALTUS_PYTHON=ON"], check=True)
        subprocess.run(["cmake", "--build", str(build), "--target", "saltus_python", "saltus_cli"], check=True)
        target = Path(self.get_ext_fullpath(extension.name)).resolve()
        target.parent.mkdir(parents=True, exist_ok=True)
        self.copy_file(str(next((build / "python" / "saltus").glob("_core*.so"))), str(target))
        program = target.parent / "bin" / "saltus"
        program.parent.mkdir(exist_ok=True)
        self.copy_file(str(build / "saltus"), str(program))


setup(version=version, packages=["saltus"], package_dir={"": "python"}, package_data={"saltus": ["py.typed", "*.pyi"]},
      ext_modules=[Extension("saltus._core", [])], cmdclass={"build_ext": BuildByCMake}, zip_safe=False)
