# SPDX-License-Identifier: Apache-2.0
"""Report pages inside notebooks."""

import html
import subprocess
import tempfile
from pathlib import Path

from ._program import program


def page(make_words):
    """The page of a command as HTML text. `make_words` gives the words of the command line, given a folder for the
    model file."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "report.html"
        words = make_words(folder)
        if "--output" not in words:  # `saltus report` writes a page and nothing else
            words = [*words, "--report", str(file)]
        subprocess.run([program(), *words, "--quiet"], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                       check=False)
        return file.read_text(encoding="utf-8") if file.exists() else ""


def frame(make_words, height=640):
    """The page in a frame of its own, so that it does not mix with the notebook."""
    text = page(make_words)
    if not text:
        return "<p>There is no page of this result.</p>"
    return (f'<iframe srcdoc="{html.escape(text, quote=True)}" width="100%" height="{height}" '
            'style="border:0" sandbox="allow-scripts allow-downloads"></iframe>')
