# SPDX-License-Identifier: BSD-3-Clause
"""Real models with their real weights, exported and run: outputs equal eager PyTorch's."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.real_models import wheels

torch = pytest.importorskip("torch", reason="torch is not installed")

from support.export.exported import Checked, check_export, export_quietly, run_ours  # noqa: E402
from support.real_models import (  # noqa: E402
    crepe,
    minilm,
    mtcnn,
    resemblyzer,
    silero,
    smollm2,
)

pytestmark = pytest.mark.models

on_both = pytest.mark.parametrize("runtime", ["rushlight", "executorch"])


def weights(name: str) -> list[Path]:
    """The files of a model; skips the test if they are missing."""
    if missing := wheels.missing(name):
        pytest.skip(missing)
    return wheels.paths(name)


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    with torch.no_grad():
        yield
    torch.set_num_threads(before)


def check(runtime: str, *args: object, **kwargs: object) -> Checked:
    """check_export for a runtime; a program for the official runtime must run there."""
    checked = check_export(*args, runtime=runtime, **kwargs)
    assert checked.on_official or runtime == "rushlight"
    return checked


def sound(samples: int, pitch: float) -> torch.Tensor:
    """A tone of `pitch` hertz with overtones at 16 kHz, [samples]."""
    time = torch.arange(samples) / 16000
    return sum(torch.sin(2 * math.pi * pitch * k * time) / k for k in (1, 2, 3)) * 0.2


@on_both
def test_silero_hears_a_stream_as_eager_does(runtime: str) -> None:
    model = silero.load_silero(weights("silero")[0])
    heard = torch.cat([sound(silero.CHUNK * 3, 120.0), 0.01 * torch.randn(silero.CHUNK * 2)])
    chunks = [(chunk[None],) for chunk in heard.split(silero.CHUNK)]
    check(runtime, model, chunks[0], more=chunks[1:])


def test_silero_is_the_original() -> None:
    [path] = weights("silero")
    model, script = silero.load_silero(path), silero.load_script(path)
    for chunk in (0.3 * torch.randn(4, 1, silero.CHUNK)).unbind():
        torch.testing.assert_close(model(chunk), script(chunk, 16000), rtol=1e-4, atol=1e-5)


@on_both
@pytest.mark.parametrize(("net", "size"), [("pnet", (37, 29)), ("rnet", (24, 24)), ("onet", (48, 48))])
def test_the_nets_of_mtcnn_find_what_eager_finds(net: str, size: tuple[int, int], runtime: str) -> None:
    files = dict(zip(("pnet", "rnet", "onet"), weights("mtcnn"), strict=True))
    model = mtcnn.load_mtcnn(net, files[net])
    images = [(torch.rand(1 if net == "pnet" else 2, 3, *size) * 2 - 1,) for _ in range(2)]
    check(runtime, model, images[0], more=images[1:])


@on_both
def test_p_net_takes_images_of_any_size(runtime: str) -> None:
    model = mtcnn.load_mtcnn("pnet", weights("mtcnn")[0])
    height, width = (torch.export.Dim(name, min=7, max=32) for name in ("height", "width"))
    shapes = ({2: 2 * height, 3: 2 * width},)
    images = [(torch.rand(1, 3, *size) * 2 - 1,) for size in [(40, 30), (14, 14), (64, 52)]]
    check(runtime, model, images[0], dynamic_shapes=shapes, more=images[1:])


@on_both
def test_resemblyzer_encodes_a_speaker_as_eager_does(runtime: str) -> None:
    model = resemblyzer.load_resemblyzer(weights("resemblyzer")[0])
    mels = [(torch.rand(1, frames, resemblyzer.CHANNELS) * 0.1,) for frames in (40, 40)]
    check(runtime, model, mels[0], more=mels[1:])


@on_both
def test_crepe_hears_the_pitch_that_eager_hears(runtime: str) -> None:
    model = crepe.load_crepe(weights("crepe")[0])
    frames = torch.stack([sound(crepe.SAMPLES, pitch) for pitch in (220.0, 440.0)])
    frames = (frames - frames.mean(1, keepdim=True)) / frames.std(1, keepdim=True)
    checked = check(runtime, model, (frames,))
    [[pitches]] = run_ours(checked.exported.buffer, [[frames]])
    bins = [1200 * math.log2(pitch / 10) / 20 - 1997.3794084376191 / 20 for pitch in (220.0, 440.0)]
    assert all(abs(row.argmax() - bin) < 2 for row, bin in zip(pitches, bins, strict=True))


@on_both
def test_minilm_says_which_sentences_mean_the_same(runtime: str) -> None:
    path, vocabulary = weights("minilm")
    model = minilm.load_minilm(path)
    sentences = ["a man is eating food", "someone eats a meal", "the rocket flies to space"]
    calls = [minilm.tokens_of(sentence, vocabulary, 12) for sentence in sentences]
    checked = check(runtime, model, calls[0], more=calls[1:])
    first, second, other = (run_ours(checked.exported.buffer, [call])[0][0] for call in calls)
    assert first @ second.T > 0.5 > first @ other.T


@pytest.mark.slow
def test_smollm2_goes_on_with_the_tokens_of_eager() -> None:
    model, texts = smollm2.load_smollm2(weights("smollm2")[0])
    prompt = [texts.index(word) for word in ("The", "Ġcapital", "Ġof", "ĠFrance", "Ġis")]
    inputs = (torch.tensor([[prompt[0]]]), torch.tensor([0]))
    exported = export_quietly(model, inputs, {})

    import rushlight

    method = rushlight.load(exported.buffer).load_method("forward")
    said: dict[str, list[int]] = {}
    for name, step in (("eager", model), ("ours", lambda *call: method.execute(call)[0])):
        token, said[name] = prompt[0], []
        for position in range(len(prompt) + 12):
            scores = torch.as_tensor(step(torch.tensor([[token]]), torch.tensor([position])))
            token = int(scores.argmax())
            if position + 1 < len(prompt):
                token = prompt[position + 1]
            else:
                said[name].append(token)
    assert said["ours"] == said["eager"]
    assert texts[said["ours"][0]] == "ĠParis"
