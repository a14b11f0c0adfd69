# SPDX-License-Identifier: Apache-2.0
"""Runs the program `saltus` and reads its documents."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path

from ._error import Error, Failure
from ._progress import bar

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


def main():
    """Runs the program with the words of the command line. `pip install` makes it the command `saltus`."""
    os.execv(program(), ["saltus", *sys.argv[1:]])


def option_name(key):
    """The option of a keyword: t_end becomes --t-end, and_ becomes --and."""
    return "--" + key.rstrip("_").replace("_", "-")


def option_words(options):
    """Options of the program from keywords: t_end=3 becomes --t-end 3, to_rest=True becomes --to-rest, a list
    repeats its option, and a dictionary becomes NAME=VALUE,NAME=VALUE."""
    words = []
    for key, value in options.items():
        option = option_name(key)
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


def run(words, folder=None, progress=None):
    """Runs a command and returns its JSON document and its exit code. Bad input becomes an Error. Ctrl-C ends the
    command, which keeps what it has: its document then says that it is partial. `progress`: see _progress.bar."""
    command = [program(), *words, "--json", "--quiet", "--progress"]
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               start_new_session=True)
    complaints, pieces = [], []
    with process, bar(progress) as show:
        def listen():
            for line in process.stderr:
                if not line.startswith(b"progress "):
                    complaints.append(line)
                elif show:
                    show(float(line.split()[1]), 1.0)

        listeners = [threading.Thread(target=listen),
                     threading.Thread(target=lambda: pieces.append(process.stdout.read()))]
        for listener in listeners:
            listener.start()
        while True:
            try:
                process.wait()
                for listener in listeners:
                    listener.join()
                break
            except KeyboardInterrupt:
                process.send_signal(signal.SIGINT)
    out, said = b"".join(pieces), b"".join(complaints).decode(errors="replace")
    if process.returncode == bad_input:
        raise parse_error(said)
    if not out.strip():
        if process.returncode == interrupted:
            raise KeyboardInterrupt
        raise Failure(said.strip() or f"the program ended with exit code {process.returncode}")
    return json.loads(out), process.returncode
