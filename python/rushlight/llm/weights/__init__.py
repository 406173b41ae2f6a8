# SPDX-License-Identifier: BSD-3-Clause
"""Readers of files with weights: GGUF, and Hugging Face directories."""
