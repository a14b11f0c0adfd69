# SPDX-License-Identifier: Apache-2.0
"""The notebooks of docs/notebooks run from top to bottom. Their assertions are part of them."""

import os
from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat", reason="the package python3-nbformat is missing")
nbclient = pytest.importorskip("nbclient", reason="the package python3-nbclient is missing")
pytest.importorskip("ipykernel", reason="the package python3-ipykernel is missing")

root = Path(os.environ["SALTUS_SOURCE_DIR"])
notebooks = sorted((root / "docs" / "notebooks").glob("*.ipynb"))


def test_there_are_three_notebooks():
    assert len(notebooks) == 3


@pytest.mark.parametrize("path", notebooks, ids=lambda p: p.stem)
def test_a_notebook_runs(path):
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    client = nbclient.NotebookClient(notebook, timeout=200, kernel_name="python3",
                                     resources={"metadata": {"path": str(root)}})
    client.execute()
    assert all(cell.execution_count for cell in notebook.cells if cell.cell_type == "code")
    if out := os.environ.get("SALTUS_KEEP_NOTEBOOKS"):  # to look at what they print
        nbformat.write(notebook, Path(out) / path.name)
