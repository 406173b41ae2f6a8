# SPDX-License-Identifier: BSD-3-Clause
"""Memory planning: which bytes of which bank each tensor gets. Without torch.

Positions are those of instructions; lifetimes come with the requests.
"""

from rushlight.memory.banks import read_banks
from rushlight.memory.planner import PLANNERS, plan
from rushlight.memory.requests import Bank, BankUse, Placement, Plan, Request
from rushlight.memory.verification import verify

__all__ = ["PLANNERS", "Bank", "BankUse", "Placement", "Plan", "Request", "plan", "read_banks", "verify"]
