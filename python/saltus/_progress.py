# SPDX-License-Identifier: Apache-2.0
"""Progress bars in terminals and notebooks."""

import contextlib
import sys
import time

_delay = 2.0  # seconds before a bar appears: short computations show none
_interval = 0.25  # seconds between two changes of a bar
_width = 40  # characters of a bar


def _in_notebook():
    """Whether a notebook runs this code: IPython is there, with a kernel."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return shell is not None and hasattr(shell, "kernel")


class _Terminal:
    def __init__(self, file):
        self._file = file

    def draw(self, share, left):
        filled = round(_width * share)
        self._file.write(f"\r[{'#' * filled}{'.' * (_width - filled)}] {100 * share:3.0f} %, {left:.0f} s left ")
        self._file.flush()

    def close(self):
        self._file.write("\r\033[K")
        self._file.flush()


class _Notebook:
    def __init__(self):
        from IPython.display import HTML, display

        self._html, self._handle = HTML, display(HTML(""), display_id=True)

    def draw(self, share, left):
        self._handle.update(self._html(f'<progress max="1" value="{share:.4f}"></progress> {left:.0f} s left'))

    def close(self):
        self._handle.update(self._html(""))


@contextlib.contextmanager
def bar(wanted=None):
    """A function show(done, of) that draws a bar, or None if there is none to draw. `wanted`: True: at once, False: never, None: after two seconds, in a
    notebook and on a terminal. A bar disappears at the end."""
    begin = time.monotonic()
    state = {"bar": None, "next": begin + (0.0 if wanted else _delay)}
    shown = wanted if wanted is not None else _in_notebook() or sys.stderr.isatty()

    def show(done, of):
        now = time.monotonic()
        if now < state["next"] or not done > 0 or not of > 0:
            return
        state["next"] = now + _interval
        if state["bar"] is None:
            state["bar"] = _Notebook() if _in_notebook() else _Terminal(sys.stderr)
        share = min(done / of, 1.0)
        state["bar"].draw(share, (now - begin) * (1.0 - share) / share)

    try:
        yield show if shown else None
    finally:
        if state["bar"] is not None:
            state["bar"].close()
