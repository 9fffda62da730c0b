"""Runs the sessions in the documentation pages, and the examples."""

import doctest
import json
import re
import subprocess
import sys

import numpy as np
import pytest

from conftest import REPOSITORY

TIER = "check"
EXAMPLES = REPOSITORY / "examples" / "python"


@pytest.mark.parametrize(
    "page",
    [
        "README.md",
        "docs/checkpoints.md",
        "docs/infer.md",
        "docs/python.md",
        "docs/recipes.md",
        "docs/sparse.md",
        "docs/tolerance.md",
        "docs/trees.md",
        "docs/tutorial-numerics.md",
    ],
)
def test_sessions(monkeypatch, page):
    monkeypatch.chdir(REPOSITORY)
    result = doctest.testfile(str(REPOSITORY / page), module_relative=False, optionflags=doctest.ELLIPSIS)
    assert result.attempted and not result.failed


def test_section_without_pytorch():
    """The last section of the tutorial, alone, needs only NumPy."""
    section = (REPOSITORY / "docs" / "tutorial-ml.md").read_text().partition("\n## Without PyTorch\n")[2]
    test = doctest.DocTestParser().get_doctest(section, {}, "tutorial-ml.md", None, 0)
    result = doctest.DocTestRunner().run(test)
    assert result.attempted and not result.failed


def test_vector_files(monkeypatch, tmp_path, command):
    """The page reads a file that the command writes."""
    monkeypatch.chdir(tmp_path)
    page = REPOSITORY / "docs" / "vector-files.md"
    line = re.search(r"^    softmma (vectors gen .*--kind normal .*-o rows\.bin)$", page.read_text(), re.MULTILINE)
    command(*line.group(1).split())
    result = doctest.testfile(str(page), module_relative=False)
    assert result.attempted and not result.failed


def crc32c(data):
    """Computes the checksum bit by bit, as docs/vector-files.md defines it."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def test_vector_file_checksums(tmp_path, command):
    """Reads the binary file as the page describes it. Its test vectors must equal the test vectors of the text file."""
    asked = ["vectors", "gen", "--on", "B200", "--instr", "tcgen05.m128n256k64.block16.f32.e2m1.e2m1.ue4m3", "--rows", "1500"]
    command(*asked, "--format", "binary", "-o", tmp_path / "rows.bin")
    text = [line.split() for line in command(*asked).splitlines() if not line.startswith("#")]
    data = (tmp_path / "rows.bin").read_bytes()
    rows, stride, first, block = (
        int.from_bytes(data[at : at + n], "little") for at, n in [(16, 8), (24, 4), (28, 4), (32, 4)]
    )
    assert (rows, block) == (1500, 1024)
    assert int.from_bytes(data[40:44], "little") == crc32c(data[:40] + bytes(4) + data[44:first])
    behind = first + rows * stride
    for at, start in enumerate(range(first, behind, block * stride)):
        stored = data[behind + 4 * at : behind + 4 * at + 4]
        assert int.from_bytes(stored, "little") == crc32c(data[start : min(start + block * stride, behind)])
    row = np.dtype(
        [("a", "u1", 64), ("b", "u1", 64), ("c", "<u4"), ("scale_a", "u1", 4), ("scale_b", "u1", 4), ("d", "<u4")],
        align=True,
    )
    assert row.itemsize == stride
    for found, words in zip(np.frombuffer(data, row, rows, first), text, strict=True):
        assert [int(x) for part in found.tolist() for x in np.ravel(part)] == [int(word, 16) for word in words]


def run(name, *arguments):
    done = subprocess.run(
        [sys.executable, EXAMPLES / name, *map(str, arguments)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_digits(tmp_path):
    """Runs two epochs: every unit learns, and the files written can be read."""
    output = run("digits_mlp.py", "--epochs", 2, "--picture", tmp_path / "d.svg", "--save", tmp_path / "d.safetensors")
    rows = [line.split() for line in output.splitlines()[1:]]
    assert len(rows) == 4 and all(float(row[-2]) > 60 for row in rows)
    assert len({row[-3] for row in rows}) > 1
    assert (tmp_path / "d.svg").read_text().rstrip().endswith("</svg>")
    assert "MI250X" in run("compare_layer.py", tmp_path / "d.safetensors", "layers.0.weight")


def test_subnormals():
    """CDNA 2 flushes subnormal gradients to zero, unless the loss is scaled."""
    zeros = {tuple(line.split()[:2]): line.split()[2] for line in run("subnormals.py").splitlines()[1:]}
    assert zeros["MI250X", "1"] == "100.0%"
    assert {share for (gpu, scale), share in zeros.items() if (gpu, scale) != ("MI250X", "1")} == {"0.0%"}


@pytest.mark.all
def test_blocks():
    """A product in blocks by two workers of Dask has the same bits as a single product."""
    pytest.importorskip("dask.distributed", reason="dask is not installed: the example of blocks is NOT run")
    assert run("blocks.py") == "300 x 400, K = 1000, by 2 workers: 0 elements differ in a bit\n"


def outputs(notebook):
    """Yields the output of each cell of a notebook as text, without pictures."""
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            yield output.get("text") or data.get("text/html") or "".join(data.get("text/plain", ""))


@pytest.mark.all
@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.ipynb")), ids=lambda path: path.stem)
def test_notebooks(path):
    """A notebook that is executed again prints the stored outputs."""
    nbformat = pytest.importorskip("nbformat", reason="nbconvert is not installed: notebooks are NOT executed")
    nbclient = pytest.importorskip("nbclient", reason="nbconvert is not installed: notebooks are NOT executed")
    stored, executed = (nbformat.read(path, as_version=4) for _ in range(2))
    for needed in stored.metadata.get("softmma", {}).get("needs", []):
        pytest.importorskip(needed, reason=f"{needed} is not installed: {path.name} is NOT executed")
    nbclient.NotebookClient(executed, coalesce_streams=True, resources={"metadata": {"path": path.parent}}).execute()
    assert list(outputs(executed)) == list(outputs(stored))


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.ipynb")), ids=lambda path: path.stem)
def test_pages_of_notebooks(path):
    """The page of a notebook shows all its cells."""
    page = (REPOSITORY / "docs" / f"python-{path.stem}.md").read_text()
    for cell in json.loads(path.read_text())["cells"]:
        assert "".join(cell["source"]) in page


def test_cells_of_the_tour(monkeypatch, capsys):
    """The cells of the tour's notebook run as plain Python, and print the stored text."""
    monkeypatch.chdir(EXAMPLES)
    names = {}
    for cell in json.loads((EXAMPLES / "tour.ipynb").read_text())["cells"]:
        if cell["cell_type"] == "code":
            exec("".join(cell["source"]), names)
            stored = (output["text"] for output in cell["outputs"] if output.get("name") == "stdout")
            assert capsys.readouterr().out == "".join("".join(text) for text in stored)


@pytest.mark.parametrize("name", ["digits-labels.npy", "digits.npy"])
def test_data(name):
    data = np.load(REPOSITORY / "examples" / "data" / name)
    assert len(data) == 1797


def test_layer():
    assert "V100" in run("compare_layer.py")
