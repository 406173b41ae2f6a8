# SPDX-License-Identifier: BSD-3-Clause
"""Methods as instructions over storages, before memory planning. The exporter creates them from graphs, the
converter from program files. Does not import torch."""
