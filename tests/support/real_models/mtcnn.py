# SPDX-License-Identifier: BSD-3-Clause
"""The three networks of MTCNN, a detector of faces; examples/face_detection defines them."""

from __future__ import annotations

from support.example_scripts import script

_model = script("face_detection", "model")
FaceNet, load_mtcnn = _model.FaceNet, _model.load
