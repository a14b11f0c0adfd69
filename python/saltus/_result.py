# SPDX-License-Identifier: Apache-2.0
"""Results with the names and values of the program's JSON documents."""

import reprlib
from collections.abc import Mapping

from ._error import Failure


_short = reprlib.Repr()
_short.maxlevel, _short.maxdict, _short.maxlist, _short.maxstring = 3, 24, 4, 120
_longest = 1000  # characters of a text that is shown as a whole


class Record(Mapping):
    """A JSON object: `r["verdict"]` and `r.verdict` are the same."""

    def __init__(self, document):
        self._document = document

    def __getitem__(self, key):
        return wrap(self._document[key])

    def __iter__(self):
        return iter(self._document)

    def __len__(self):
        return len(self._document)

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)  # also before the document is there, while a pickle is read
        if name in self._document:
            return wrap(self._document[name])
        raise AttributeError(f"there is no '{name}' here; there are {', '.join(map(str, self._document))}")

    def __dir__(self):
        return [*super().__dir__(), *(key for key in self._document if str(key).isidentifier())]

    def __repr__(self):
        text = repr(self._document)  # a whole document has many pages: `to_dict()` gives it
        return f"{type(self).__name__}({text if len(text) <= _longest else _short.repr(self._document)})"

    def to_dict(self):
        """The plain dictionary."""
        return self._document


def wrap(value):
    """Objects become Records, lists of objects lists of Records; everything else stays."""
    if isinstance(value, dict):
        return Record(value)
    if isinstance(value, list):
        return [wrap(x) for x in value]
    return value


class Result(Record):
    """The answer to a question. `exit_code` is that of the program: 0, 3 (numerical failure) or 130 (interrupted)."""

    def __init__(self, document, exit_code=0, command=None):
        super().__init__(document)
        self.exit_code = exit_code
        self._command = command  # words of the command line, for the page

    def raise_if_failed(self):
        """Raises Failure if the computation failed or was interrupted; returns the result otherwise."""
        if self.exit_code:
            reason = self._document.get("reason") or "; ".join(self._document.get("warnings", [])[:1])
            raise Failure(reason or f"status {self._document.get('status', 'failed')}", self)
        return self

    def _repr_html_(self):
        from ._page import frame

        return frame(self._command) if self._command else None
