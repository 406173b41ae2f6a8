# SPDX-License-Identifier: BSD-3-Clause
"""examples/keyword_spotting: the committed program, its front end, and the script that trains it."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from rushlight import targets
from rushlight.run.api import run as run_case
from rushlight.run.cases import load_case
from support.environments import ROOT
from support.example_scripts import script

pytestmark = pytest.mark.package

EXAMPLE = ROOT / "examples" / "keyword_spotting"


@pytest.fixture(scope="module")
def run() -> ModuleType:
    return script("keyword_spotting", "run")


@pytest.fixture(scope="module")
def train() -> ModuleType:
    pytest.importorskip("torchao", reason="missing: torch and torchao")
    return script("keyword_spotting", "train")


@pytest.mark.parametrize(
    "target",
    ["host", pytest.param("cortex-m4", marks=[pytest.mark.device, pytest.mark.cortex_m4])],
)
def test_the_program_spots_the_words_of_voices_it_was_not_trained_on(
    run: ModuleType, target: str, tmp_path: Path
) -> None:
    if missing := targets.get(target).requirements():
        pytest.skip(f"{target}: missing " + ", ".join(item.name for item in missing))
    measured = run.measure(target, tmp_path)
    assert measured.passed
    assert measured.right >= 8, measured
    if target != "host":
        assert measured.flash < 75_000 and measured.ram < 115_000
        assert measured.instructions < 12_000_000


@pytest.mark.skipif(importlib.util.find_spec("matplotlib") is None, reason="missing: matplotlib")
def test_the_picture_shows_each_clip(run: ModuleType, tmp_path: Path) -> None:
    run.write([run.measure("host", tmp_path)], tmp_path)
    assert (tmp_path / "results.png").read_bytes().startswith(b"\x89PNG")
    [measured] = json.loads((tmp_path / "results.json").read_text())
    assert len(measured["scores"]) == measured["clips"]


def test_no_voice_of_training_is_held_out() -> None:
    speech = script("keyword_spotting", "speech")
    heard = {speaker.voice.split("+")[-1] for speaker in speech.speakers(held_out=False)}
    held_out = {speaker.voice.split("+")[-1] for speaker in speech.speakers(held_out=True)}
    assert held_out and not heard & held_out
    assert set(json.loads((EXAMPLE / "case.json").read_text())["voices"]) <= {
        *(speaker.group for speaker in speech.speakers(held_out=True)),
        "noise",
    }


def log_mel(samples: np.ndarray) -> np.ndarray:
    """The features of one clip by their definition."""
    window = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(256) / 256)
    frames = np.stack([samples[i : i + 256] for i in range(0, 8000 - 255, 160)]) / 32768 * window
    power = np.abs(np.fft.rfft(frames)) ** 2
    edges = np.linspace(*(2595 * np.log10(1 + np.array([80, 3800]) / 700)), 34)
    mel = 2595 * np.log10(1 + np.arange(129) * 31.25 / 700)
    filters = [np.interp(mel, edges[i : i + 3], [0, 1, 0]) for i in range(32)]
    features = np.log(power @ np.transpose(filters) + 1e-7)
    return features - features.mean()


def test_the_front_end_computes_log_mel_features(train: ModuleType) -> None:
    import torch

    samples = np.random.default_rng(0).integers(-9000, 9000, 8000).astype(np.int16)
    features = train.Spotter(10).front(torch.from_numpy(samples[None]))[0, 0]
    np.testing.assert_allclose(features, log_mel(samples.astype(float)), atol=2e-4)


def test_training_learns_and_its_program_spots_as_the_graph_does(train: ModuleType, tmp_path: Path) -> None:
    """Two tones, one after the other, stand for a word: the synthesizers are no part of this test."""
    speech = train.speech
    speaker = speech.Speaker("none", "none", "tones")
    time = np.arange(1500) / speech.RATE
    tones = [np.sin(2 * np.pi * hertz * time) for hertz in (250, 800, 2500)]
    words = [np.concatenate([first, second]).astype(np.float32) for first in tones for second in tones]
    recordings = [
        speech.Recording(word, label, speaker) for label, word in enumerate(words) for _ in range(12)
    ]
    train.torch.set_num_threads(1)
    model = train.fit(recordings, epochs=20, passes=2, size=32)
    held_out = train.sounds(recordings[::2], 7, vary=False)
    graph = train.quantized(model, held_out.clips[::3])
    counts = train.spotted(train.write(graph, held_out, tmp_path), held_out)
    right, clips = (sum(each) for each in zip(*counts.values(), strict=True))
    assert right > 0.5 * clips  # chance is 1 in 9

    assert run_case(tmp_path / "keywords.pte", load_case(tmp_path / "case.json")).passed
