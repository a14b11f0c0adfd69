# SPDX-License-Identifier: Apache-2.0
"""The JSON Schema of model files against the reader: it refuses nothing that the reader accepts."""

import copy
import json
import os
import random
import re
import subprocess
import tomllib
from pathlib import Path

import pytest

from saltus import _program

jsonschema = pytest.importorskip("jsonschema")
source = Path(os.environ["SALTUS_SOURCE_DIR"])
shipped = sorted((source / "models").glob("*.toml"))


@pytest.fixture(scope="module")
def validator():
    schema = json.loads(subprocess.run([_program.program(), "schema"], capture_output=True, check=True).stdout)
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def accepted_by_reader(path):
    return subprocess.run([_program.program(), "check", str(path), "--quiet"], capture_output=True).returncode == 0


def test_it_accepts_every_shipped_model(validator):
    assert len(shipped) > 30
    for path in shipped:
        errors = [f"{list(e.path)}: {e.message}" for e in validator.iter_errors(tomllib.loads(path.read_text()))]
        assert not errors, (path.name, errors[:3])


def test_it_accepts_what_the_reader_accepts(validator):
    corpus = sorted((source / "tests" / "fuzz" / "corpus" / "model").iterdir())
    accepted = refused = 0
    for path in corpus:
        try:
            document = tomllib.loads(path.read_text(encoding="utf-8"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError):
            continue
        if validator.is_valid(document):
            accepted += 1
        else:
            refused += 1
            assert not accepted_by_reader(path), (path.name, next(validator.iter_errors(document)).message)
    assert accepted > 0


def models_of_the_tests():
    """The model files in the sources of the C++ tests: raw strings that are TOML and describe a system or mass points."""
    found = set()
    for path in sorted((source / "tests").rglob("*.cpp")):
        for match in re.finditer(r'R"([a-z]*)\((.*?)\)\1"', path.read_text(encoding="utf-8"), re.S):
            try:
                document = tomllib.loads(match.group(2))
            except tomllib.TOMLDecodeError:
                continue
            if "system" in document or "points" in document:
                found.add(match.group(2))
    return sorted(found)


def test_it_accepts_the_models_of_the_tests_that_the_reader_accepts(validator, tmp_path):
    models = models_of_the_tests()
    assert len(models) > 200
    refused = 0
    for text in models:
        error = next(validator.iter_errors(tomllib.loads(text)), None)
        if error is not None:
            refused += 1
            path = tmp_path / "model.toml"
            path.write_text(text)
            assert not accepted_by_reader(path), (text, list(error.path), error.message)
    assert 0 < refused < 50


def places(value, path=()):
    """Paths of all tables in a document."""
    if isinstance(value, dict):
        yield path
        for key, item in value.items():
            yield from places(item, (*path, key))
    elif isinstance(value, list):
        for k, item in enumerate(value):
            yield from places(item, (*path, k))


def at(document, path):
    for step in path:
        document = document[step]
    return document


# Tables whose keys are names of the user's own.
free = {"parameters", "let", "output", "f", "unit", "q", "u", "delta", "eta", "theta", "reference", "feedforward",
        "saturation", "k", "d", "contacts", "D", "D_hat"}


def test_it_refuses_unknown_keys_and_wrong_types(validator):
    unknown = wrong = 0
    rng = random.Random(1)
    for path in shipped:
        document = tomllib.loads(path.read_text())
        for place in places(document):
            if place and place[-1] in free:
                continue
            changed = copy.deepcopy(document)
            at(changed, place)["nonsense"] = 1
            assert not validator.is_valid(changed), (path.name, place)
            unknown += 1
            table = at(document, place)
            if not table:
                continue
            key = rng.choice(sorted(table))
            changed = copy.deepcopy(document)
            at(changed, place)[key] = True  # no key of a model file is true or false
            assert not validator.is_valid(changed), (path.name, place, key)
            wrong += 1
    assert unknown > 100 and wrong > 100


def test_words_are_listed(validator):
    contact = validator.schema["$defs"]["contact"]["properties"]
    assert contact["friction"]["enum"] == ["coulomb", "contensou", "rolling"]
    assert contact["impact"]["enum"] == ["newton", "poisson", "energy"]
    assert validator.schema["$defs"]["contact"]["required"] == ["name", "gN"]
