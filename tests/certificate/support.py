# SPDX-License-Identifier: Apache-2.0
"""Loads tools/check_certificate, which has no ending .py, as the module `checker`."""
import importlib.machinery
import importlib.util
import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.dont_write_bytecode = True


def load():
    path = os.path.join(ROOT, "tools", "check_certificate")
    loader = importlib.machinery.SourceFileLoader("check_certificate", path)
    spec = importlib.util.spec_from_loader("check_certificate", loader)
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


checker = load()
