# SPDX-License-Identifier: BSD-3-Clause
"""What several folders of tests share is imported from here."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
