# SPDX-License-Identifier: Apache-2.0
"""`pip install --no-build-isolation .`, with the module and the program that are already built."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

import saltus

build = Path(saltus._core.__file__).resolve().parents[2]
source = Path(__file__).resolve().parents[2]
TRY = """
import sys, saltus, saltus._program
folder = sys.argv[1]
assert saltus.__file__.startswith(folder), saltus.__file__
assert saltus._program.program().startswith(folder), saltus._program.program()
m = saltus.load(sys.argv[2])
assert abs(m.simulate(t_end=1).events[0].t - 0.45152364) < 1e-7
assert m.check().coordinates == ["y"]
"""


def test_pip_installs_the_module_and_the_program(tmp_path):
    missing = [name for name in ("pip", "setuptools", "wheel") if importlib.util.find_spec(name) is None]
    if missing:
        pytest.skip(f"there is no {', '.join(missing)} (Debian: python3-pip python3-setuptools python3-wheel)")
    if not (build / "CMakeCache.txt").exists():
        pytest.skip("the module is not in a build folder")
    clean = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "SALTUS_PROGRAM")}
    pip = [sys.executable, "-m", "pip", "install", "--no-build-isolation", "--no-index", "--no-deps", "--quiet",
           "--disable-pip-version-check", "--target", str(tmp_path / "installed"), str(source)]
    subprocess.run(pip, env={**clean, "SALTUS_BUILD_DIR": str(build), "HOME": str(tmp_path)}, check=True)
    installed = {**clean, "PYTHONPATH": str(tmp_path / "installed")}
    ball = str(source / "models" / "bouncing-ball.toml")
    subprocess.run([sys.executable, "-c", TRY, str(tmp_path), ball], env=installed, cwd=tmp_path, check=True)
    command = subprocess.run([str(tmp_path / "installed" / "bin" / "saltus"), "simulate", ball, "--t-end", "1"],
                             env=installed, cwd=tmp_path, check=True, capture_output=True, text=True)
    assert "0.4515236" in command.stdout
