# SPDX-License-Identifier: BSD-3-Clause
"""Memory planning: which bytes of which bank each tensor gets. Without torch.

Positions are those of instructions; lifetimes come with the requests.
"""

from rushlight.export.memory.banks import read_banks
from rushlight.export.memory.planner import PLANNERS, plan
from rushlight.export.memory.requests import Bank, BankUse, Placement, Plan, Request
from rushlight.export.memory.verification import verify

__all__ = ["PLANNERS", "Bank", "BankUse", "Placement", "Plan", "Request", "plan", "read_banks", "verify"]
