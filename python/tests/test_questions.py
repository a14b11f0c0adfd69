# SPDX-License-Identifier: Apache-2.0
"""Help, README, docs, C++ header, Python module and studio ask the same six questions in the same words."""

import os
import subprocess
from pathlib import Path

import pytest

import saltus
from saltus import _program

source = Path(os.environ["SALTUS_SOURCE_DIR"])
questions = {  # and the page of docs/ that answers
    "How does it move?": "simulate.md",
    "How sensitive is the motion?": "sensitivity.md",
    "Do impacts create energy?": "impact.md",
    "Is rest attractive?": "certify.md",
    "Does the controller reach its goal?": "control.md",
    "What does it do in the long run?": "orbit.md",
}


def words(text):
    return " ".join(text.split())


@pytest.mark.parametrize("question", questions)
def test_a_question_has_the_same_words_everywhere(question):
    help_text = subprocess.run([_program.program(), "--help"], capture_output=True, text=True, check=True).stdout
    module = " ".join(vars(saltus.Model)[name].__doc__ or "" for name in vars(saltus.Model)
                      if callable(vars(saltus.Model)[name]))
    studio = "".join((source / "web" / "src" / name).read_text(encoding="utf-8")
                     for name in ("studio.ts", "studio_question.ts"))
    header = (source / "src" / "saltus" / "saltus.hpp").read_text(encoding="utf-8")
    readme = (source / "README.md").read_text(encoding="utf-8")
    for place, text in (("help", help_text), ("README", readme), ("Python", module), ("studio", studio), ("C++", header)):
        assert question in words(text), place
    page = (source / "docs" / questions[question]).read_text(encoding="utf-8")
    assert page.startswith("# " + question)
