# SPDX-License-Identifier: BSD-3-Clause
"""examples/streaming_audio: the committed program, its C++ application, and the script that trains it."""

from __future__ import annotations

import json
import struct
import wave
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from rushlight import process
from rushlight.run.api import run as run_case
from rushlight.run.cases import load_case
from support.cmake_projects import COMMANDS, compile_without_warnings
from support.environments import DIGITS
from support.example_scripts import EXAMPLES, run_example, script, skip_without

pytestmark = pytest.mark.package

EXAMPLE = EXAMPLES / "streaming_audio"
MODEL = EXAMPLE / "detector.pte"
FRAME = 160


@pytest.fixture(scope="module")
def run() -> ModuleType:
    pytest.importorskip("torch", reason="missing: torch")
    return script("streaming_audio", "run")


@pytest.fixture(scope="module")
def ran(run: ModuleType, build_folder: Callable[[str], Path]) -> Path:
    """The folder that the example's command wrote; it fails if any number differs from PyTorch's."""
    folder = build_folder("streaming_audio")
    run_example("streaming_audio", "host", "-o", folder, env=COMMANDS)
    return folder


@pytest.fixture(scope="module")
def application(ran: Path) -> Path:
    return ran / "detect"


def test_its_command_finds_speech_and_agrees_with_pytorch(ran: Path) -> None:
    measured = {each["name"]: each for each in json.loads((ran / "results.json").read_text())}
    assert set(measured) == {"PyTorch", "Python", "C++"}
    for each in measured.values():
        assert each["passed"] and each["frames"] == 1000 and each["difference"] < 1e-5
        assert each["right"] > 0.95
    assert MODEL.stat().st_size < 60_000


def test_it_compiles_without_warnings(ran: Path) -> None:
    assert sorted(compile_without_warnings(ran, EXAMPLE)) == ["main.cpp", "wav_file.cpp"]


def test_the_picture_is_drawn(ran: Path) -> None:
    pytest.importorskip("matplotlib", reason="missing: matplotlib")
    assert (ran / "results.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.device
@pytest.mark.cortex_m55
def test_a_board_keeps_the_state_between_frames(run: ModuleType, tmp_path: Path) -> None:
    skip_without("cortex-m55")
    measured = run.on_target("cortex-m55", tmp_path)
    assert measured.passed and measured.frames == 60
    assert measured.instructions < 250_000


def test_streaming_equals_offline_for_noise_of_any_level(run: ModuleType) -> None:
    random = np.random.default_rng(0)
    levels = np.repeat([0, 1, 30, 1000, 32767, 0], 10 * FRAME)
    samples = (levels * random.uniform(-1, 1, len(levels))).astype(np.int16)
    streamed, _ = run.stream(samples)
    np.testing.assert_allclose(streamed, run.offline(samples), atol=1e-4)


def test_the_answer_depends_on_earlier_frames_and_on_no_later_one(run: ModuleType) -> None:
    samples = load_case(EXAMPLE / "case.json").calls
    audio = np.concatenate([call.inputs[0][0] for call in samples])
    whole = run.offline(audio)
    np.testing.assert_allclose(run.offline(audio[: 40 * FRAME]), whole[:40], atol=1e-6)
    late, _ = run.stream(audio[30 * FRAME :])  # without what came before
    assert np.abs(late - whole[30:]).max() > 0.01


def test_cpp_gives_the_numbers_of_python(run: ModuleType, application: Path, tmp_path: Path) -> None:
    """A recording that ends within a frame; a chunk of odd size stands before its samples."""
    samples = run.sounds.clip(2.0, 10, "hum", (9, 9), held_out=True).samples
    run.save_wav(np.append(samples, samples[:99]), tmp_path / "a.wav")
    plain = (tmp_path / "a.wav").read_bytes()
    (tmp_path / "a.wav").write_bytes(plain[:36] + b"LIST" + struct.pack("<I", 3) + b"abc\0" + plain[36:])
    done = process.run([application, MODEL, tmp_path / "a.wav", tmp_path / "a.txt"], check=True)
    assert "200 frames, " in done.stdout
    np.testing.assert_allclose(np.loadtxt(tmp_path / "a.txt"), run.stream(samples)[0], atol=1e-6)


def wav(
    *, kind: int = 1, channels: int = 1, rate: int = 16000, bits: int = 16, size: int = 640, held: int = 640
) -> bytes:
    """A WAV file whose header says `size` bytes of samples and which holds `held`."""
    form = struct.pack(
        "<HHIIHH", kind, channels, rate, rate * channels * bits // 8, channels * bits // 8, bits
    )
    body = b"fmt " + struct.pack("<I", 16) + form + b"data" + struct.pack("<I", size) + bytes(held)
    return b"RIFF" + struct.pack("<I", 4 + len(body)) + b"WAVE" + body


BAD = {
    "empty": (b"", "header: expected 12 bytes, got 0"),
    "other": (b"OggS" + bytes(60), "expected RIFF and WAVE, got another format"),
    "avi": (wav().replace(b"WAVE", b"AVI "), "expected RIFF and WAVE, got another format"),
    "header alone": (wav()[:12], "chunk fmt: expected 8 bytes, got 0"),
    "half a format": (wav()[:30], "chunk fmt: expected 16 bytes, got 10"),
    "no data": (wav()[:36], "chunk data: expected 8 bytes, got 0"),
    "short format": (
        wav()[:16] + struct.pack("<I", 8) + wav()[20:],
        "chunk fmt: expected 16 bytes, got 8",
    ),
    "data first": (wav()[:12] + wav()[36:], "expected chunk fmt first, got data"),
    "float": (wav(kind=3), "format: expected 1, got 3"),
    "stereo": (wav(channels=2), "channels: expected 1, got 2"),
    "44 kHz": (wav(rate=44100), "samples a second: expected 16000, got 44100"),
    "8 bits": (wav(bits=8), "bits a sample: expected 16, got 8"),
    "cut": (wav(held=639), "chunk data: expected 640 bytes, got 639"),
    "huge": (wav(size=0xFFFFFFFF), "chunk data: expected 4294967295 bytes, got 640"),
    "odd": (wav(size=639), "chunk data: expected an even size, got 639"),
    "huge chunk": (
        wav()[:36] + b"\x1b[2J" + struct.pack("<I", 0xFFFFFFF0) + wav()[36:],
        "other chunk: expected 4294967280 bytes, got 648",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_a_damaged_recording_is_an_error_that_names_it(name: str, application: Path, tmp_path: Path) -> None:
    content, reason = BAD[name]
    (tmp_path / "bad.wav").write_bytes(content)
    done = process.run([application, MODEL, tmp_path / "bad.wav"])
    assert (done.returncode, done.stdout) == (1, "")
    assert f"error: {tmp_path / 'bad.wav'}: {reason}\n" in done.stderr


def test_every_prefix_of_a_recording_is_refused(application: Path, tmp_path: Path) -> None:
    for count in range(0, 44, 3):
        (tmp_path / "cut.wav").write_bytes(wav()[:count])
        done = process.run([application, MODEL, tmp_path / "cut.wav"])
        assert done.returncode == 1 and ": expected " in done.stderr, count


def test_no_recording_no_folder_and_no_other_program_is_taken(application: Path, tmp_path: Path) -> None:
    (tmp_path / "good.wav").write_bytes(wav())
    for audio in (tmp_path / "none.wav", tmp_path):
        done = process.run([application, MODEL, audio])
        assert done.returncode == 1 and f"error: {audio}: " in done.stderr and "expected " in done.stderr
    done = process.run([application, DIGITS / "digits.pte", tmp_path / "good.wav"])
    assert done.returncode == 1 and "model: expected an int16 input [1, 160]" in done.stderr
    assert process.run([application]).returncode == 2


def test_a_recording_without_a_whole_frame_has_no_speech(application: Path, tmp_path: Path) -> None:
    with wave.open(str(tmp_path / "short.wav"), "wb") as file:
        file.setparams((1, 2, 16000, 0, "NONE", ""))
        file.writeframes(bytes(318))
    done = process.run([application, MODEL, tmp_path / "short.wav"], check=True)
    assert done.stdout.startswith("0 frames")


def test_held_out_voices_have_other_pitches_and_audio_is_reproducible() -> None:
    sounds = script("streaming_audio", "sounds")
    first, again = (sounds.clip(2.0, 10, "pink", (5, 5), held_out=True) for _ in range(2))
    assert first.samples.tobytes() == again.samples.tobytes()
    heard = sounds.clip(2.0, 10, "pink", (5, 5))
    assert heard.samples.tobytes() != first.samples.tobytes()
    assert not set(sounds.HEARD) & set(sounds.UNHEARD)


def test_one_epoch_of_training_writes_a_program_that_runs(run: ModuleType, tmp_path: Path) -> None:
    train = script("streaming_audio", "train")
    train.torch.set_num_threads(1)
    model = train.fit(16, 1, size=4)
    train.write(model, tmp_path)
    assert run_case(tmp_path / "detector.pte", load_case(tmp_path / "case.json")).passed
    assert 0 <= train.accuracy(model, train.held_out("pink", 10, 1)) <= 1
