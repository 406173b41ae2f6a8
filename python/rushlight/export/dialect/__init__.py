# SPDX-License-Identifier: BSD-3-Clause
"""The exporter's own operators, an intermediate level between PyTorch's and the runtime's."""
