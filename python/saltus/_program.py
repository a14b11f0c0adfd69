# SPDX-License-Identifier: Apache-2.0
"""Runs the program `saltus` and reads its documents."""

import json
import os
import re
import shutil
import signal
import subprocess
from pathlib import Path

from ._error import Error, Failure

done, bad_input, failed, interrupted = 0, 2, 3, 130  # exit codes of the program


def program():
    """Path of the program: SALTUS_PROGRAM, beside the module (build folder or wheel), or on the path."""
    given = os.environ.get("SALTUS_PROGRAM")
    here = Path(__file__).resolve().parent
    # In the build folder the Python files are links into the source folder; the compiled part is not.
    from . import _core

    beside = Path(_core.__file__).resolve().parent
    for candidate in (given, beside / "bin" / "saltus", beside.parent.parent / "saltus", here / "bin" / "saltus"):
        if candidate and os.access(candidate, os.X_OK) and not Path(candidate).is_dir():
            return str(candidate)
    found = shutil.which("saltus")
    if found:
        return found
    raise Error("the program `saltus` was not found", "", 0, 0, "install it, or name it in SALTUS_PROGRAM")


def option_words(options):
    """Options of the program from keywords: t_end=3 becomes --t-end 3, to_rest=True becomes --to-rest, a list
    repeats its option, and a dictionary becomes NAME=VALUE,NAME=VALUE."""
    words = []
    for key, value in options.items():
        option = "--" + key.rstrip("_").replace("_", "-")
        if value is None or value is False:
            continue
        if value is True:
            words.append(option)
            continue
        for item in value if isinstance(value, (list, tuple)) else [value]:
            if isinstance(item, dict):
                item = ",".join(f"{name}={_text(x)}" for name, x in item.items())
            words += [option, _text(item)]
    return words


def _text(value):
    if isinstance(value, (tuple, list)):
        return ",".join(_text(x) for x in value)
    if hasattr(value, "item"):  # a number of numpy
        value = value.item()
    return repr(value) if isinstance(value, float) else str(value)


_place = re.compile(r"^(?P<file>[^:]+?)(?::(?P<line>\d+))?(?::(?P<column>\d+))?: (?P<rest>.*)$", re.S)


def parse_error(text):
    """The Error in the program's words on standard error."""
    lines = [line for line in text.splitlines() if line.startswith("saltus: ")]
    if not lines:
        return Error(text.strip() or "the program ended without a message")
    message = lines[-1].removeprefix("saltus: ").removeprefix("error: ")
    found = _place.match(message)
    place = {"file": "", "line": None, "column": None, "rest": message}
    if found and (found["line"] or "." in found["file"] or found["file"].startswith("-")):
        place = found.groupdict()
    message, _, remedy = place["rest"].partition("; ")
    return Error(message, place["file"], int(place["line"] or 0), int(place["column"] or 0), remedy)


def run(words, folder=None, show_progress=False):
    """Runs a command and returns its JSON document and its exit code. Bad input becomes an Error. Ctrl-C ends the
    command, which keeps what it has: its document then says that it is partial."""
    command = [program(), *words, "--json"]
    if not show_progress:
        command.append("--quiet")
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE,
                               stderr=None if show_progress else subprocess.PIPE, start_new_session=True)
    while True:
        try:
            out, complaints = process.communicate()
            break
        except KeyboardInterrupt:
            process.send_signal(signal.SIGINT)
    complaints = (complaints or b"").decode(errors="replace")
    if process.returncode == bad_input:
        raise parse_error(complaints)
    if not out.strip():
        if process.returncode == interrupted:
            raise KeyboardInterrupt
        raise Failure(complaints.strip() or f"the program ended with exit code {process.returncode}")
    return json.loads(out), process.returncode
