# SPDX-License-Identifier: Apache-2.0
"""Bad input, with its place and a remedy."""


class Error(ValueError):
    """Bad input: what is wrong, where, and how to correct it.

    Attributes: `message`, `file` (a file or an option; may be empty), `line` and `column` (counted from 1; 0 if
    unknown), and `remedy` (may be empty).
    """

    def __init__(self, message, file="", line=0, column=0, remedy=""):
        self.message, self.file, self.line, self.column, self.remedy = message, file, line, column, remedy
        place = file
        if line:
            place += f":{line}"
            if column:
                place += f":{column}"
        text = f"{place}: {message}" if place else message
        super().__init__(f"{text}; {remedy}" if remedy else text)

    def __reduce__(self):
        return Error, (self.message, self.file, self.line, self.column, self.remedy)


def not_finite(name, value):
    """The Error about a number that is infinite or not a number."""
    return Error(f"{name or 'a value'} is {value}, it must be finite")


class Failure(RuntimeError):
    """A numerical outcome that is not a success, from `raise_if_failed()`. `result` is what was computed."""

    def __init__(self, reason, result=None):
        super().__init__(reason)
        self.result = result
