# SPDX-License-Identifier: BSD-3-Clause
"""Pictures are whole XML with a rectangle for each tensor where the plan has it."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import pytest

from rushlight.memory import Bank, Plan, Request, plan
from rushlight.memory.picture import picture
from support.memory_requests import scattered

SVG = "{http://www.w3.org/2000/svg}"


def drawn(**plans: Plan) -> ET.Element:
    return ET.fromstring(picture(plans))


def tensors(svg: ET.Element) -> list[ET.Element]:
    return list(svg.iter(f"{SVG}rect"))


def number(element: ET.Element, key: str) -> float:
    return float(element.attrib[key])


@pytest.mark.parametrize("count", [1, 60, 1000])
def test_every_tensor_has_a_rectangle_that_says_what_it_is(count: int) -> None:
    requests = scattered(count, 1)
    svg = drawn(forward=plan(requests, planner="greedy_by_size"))
    titles = [rectangle.findtext(f"{SVG}title") or "" for rectangle in tensors(svg)]
    assert len(titles) == count
    for request, title in zip(requests, titles, strict=True):
        assert title.startswith(f"{request.name}\n{request.nbytes:,} bytes at ")
        assert f"instructions {request.first} to {request.last}" in title


def test_rectangles_do_not_overlap_and_are_on_the_page() -> None:
    svg = drawn(forward=plan(scattered(60, 2)))
    width, height = (number(svg, key) for key in ("width", "height"))
    boxes = [
        (x, y, x + number(box, "width"), y + number(box, "height"))
        for box in tensors(svg)
        for x, y in [(number(box, "x"), number(box, "y"))]
    ]
    for index, (left, top, right, bottom) in enumerate(boxes):
        assert left >= 0 and top >= 0 and right <= width and bottom <= height
        for other in boxes[:index]:
            apart = right <= other[0] + 0.1 or other[2] <= left + 0.1
            assert apart or bottom <= other[1] + 0.1 or other[3] <= top + 0.1


def test_each_bank_of_each_method_has_a_panel() -> None:
    requests = [Request("a", 64, 0, 3), Request("b", 64, 1, 2)]
    banks = [Bank("fast", 1, 64, 2), Bank("slow", 2), Bank("unused", 3)]
    svg = drawn(encode=plan(requests, banks), decode=plan(requests))
    titles = [text.text or "" for text in svg.iter(f"{SVG}text") if text.get("class") == "title"]
    assert [title.split(":")[0] for title in titles] == ["encode, fast", "encode, slow", "decode, memory 1"]
    assert "lower bound 64" in titles[0]


def test_the_line_of_live_bytes_reaches_the_lower_bound() -> None:
    svg = drawn(forward=plan(scattered(40, 3)))
    paths = {path.get("class"): path.get("d") or "" for path in svg.iter(f"{SVG}path")}
    heights = [float(y) for y in re.findall(r"V([\d.]+)", paths["live"])]
    bound = float(paths["bound"].removeprefix("M").split()[1].split("h")[0])
    assert min(heights) == pytest.approx(bound, abs=0.1)


def test_names_may_hold_anything() -> None:
    name = "a<b>&\"'\x00\n雪"
    svg = drawn(forward=plan([Request(name, 64, 0, 1, note="<lambda>")]))
    (rectangle,) = tensors(svg)
    assert (rectangle.findtext(f"{SVG}title") or "").startswith("a<b>&\"'?\n雪\n64 bytes")


def test_a_plan_of_nothing_is_a_picture_too() -> None:
    assert tensors(drawn(forward=plan([]))) == []


def test_it_fits_light_and_dark_and_needs_nothing_else() -> None:
    text = picture({"forward": plan(scattered(5, 4))})
    assert "prefers-color-scheme: dark" in text
    assert re.findall(r"(?:href|src|url)\W", text) == []
