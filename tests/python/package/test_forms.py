# SPDX-License-Identifier: BSD-3-Clause
"""The manifests of source packages, by the rules of the formats' own documentation, and by their tools where
these are installed."""

from __future__ import annotations

import configparser
import json
import re
from pathlib import Path

import pytest
import yaml

from rushlight.package import FORMS, Contents, write_package

CATEGORIES = {
    "Display",
    "Communication",
    "Signal Input/Output",
    "Sensors",
    "Device Control",
    "Timing",
    "Data Storage",
    "Data Processing",
    "Other",
}


@pytest.fixture
def contents() -> Contents:
    return Contents(
        name="Small_1",
        version="1.2.3",
        sentence='The model small, "quoted".',
        header="Small_1.h",
        files={
            "Small_1.h": "#pragma once\n",
            "Small_1.cpp": "",
            "kernels/operators/activation/op_relu.cpp": "",
            "rushlight/settings.h": "#pragma once\n",
        },
        example="static int run_example() { return 0; }\n",
        licence="Licence\n",
    )


@pytest.mark.parametrize("form", FORMS)
def test_every_form_has_the_licence_a_readme_and_all_files(
    form: str, contents: Contents, tmp_path: Path
) -> None:
    write_package(contents, form, tmp_path)
    assert (tmp_path / "LICENSE").read_text() == "Licence\n"
    assert "Small_1" in (tmp_path / "README.md").read_text()
    assert {path.relative_to(tmp_path / "src").as_posix() for path in (tmp_path / "src").rglob("*.*")} == set(
        contents.files
    )


@pytest.mark.parametrize(
    ("form", "file", "prefix"),
    [
        ("cmake", "CMakeLists.txt", ""),
        ("esp-idf", "CMakeLists.txt", ""),
        ("zephyr", "zephyr/CMakeLists.txt", "../"),
    ],
)
def test_lists_of_sources_name_all_sources(
    form: str, file: str, prefix: str, contents: Contents, tmp_path: Path
) -> None:
    write_package(contents, form, tmp_path)
    listed = re.findall(r"\S*src/\S*\.cpp", (tmp_path / file).read_text())
    assert [word.strip('"') for word in listed] == [f"{prefix}src/{path}" for path in contents.sources]


def test_an_arduino_library_follows_the_library_specification(contents: Contents, tmp_path: Path) -> None:
    write_package(contents, "arduino", tmp_path)
    lines = (tmp_path / "library.properties").read_text().splitlines()
    fields = dict(line.split("=", 1) for line in lines)
    required = {"name", "version", "author", "maintainer", "sentence", "paragraph", "category", "url"}
    assert required | {"architectures", "includes"} == set(fields)
    assert all(fields.values())
    assert re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9 _.\-]{0,62}", fields["name"])
    assert re.fullmatch(r"\d+\.\d+\.\d+", fields["version"])
    assert fields["category"] in CATEGORIES
    # Only what applications include lies in src/ itself; the sketch is called like its folder.
    assert [path.name for path in (tmp_path / "src").glob("*.h")] == [fields["includes"]]
    (sketch,) = (tmp_path / "examples").rglob("*.ino")
    assert sketch.stem == sketch.parent.name
    assert f"examples/{sketch.stem}" == sketch.parent.relative_to(tmp_path).as_posix()
    # Nothing that the Arduino builder would not compile, and no name that it cannot take.
    for path in tmp_path.rglob("*"):
        assert re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.\-]*", path.name), path
        assert path.suffix in ("", ".md", ".properties", ".h", ".cpp", ".ino"), path


def test_a_platformio_library_follows_the_manifest_reference(contents: Contents, tmp_path: Path) -> None:
    write_package(contents, "platformio", tmp_path)
    manifest = json.loads((tmp_path / "library.json").read_text())
    assert (manifest["name"], manifest["version"]) == ("Small_1", "1.2.3")
    assert not re.search(r"[:;/,@<>]", manifest["name"])
    assert all((tmp_path / "src" / header).is_file() for header in manifest["headers"])
    assert all(re.fullmatch(r"[a-z\d\-_+. ]{1,50}", word) for word in manifest["keywords"])
    assert (tmp_path / manifest["build"]["srcDir"]).is_dir()
    (example,) = manifest["examples"]
    assert re.fullmatch(r"[a-zA-Z\d\-_/. ]+", example["name"])
    assert all((tmp_path / example["base"] / name).is_file() for name in example["files"])
    project = configparser.ConfigParser()
    project.read(tmp_path / example["base"] / "platformio.ini")
    library = project["env:native"]["lib_deps"].removeprefix("symlink://")
    assert (tmp_path / example["base"] / library / "library.json").is_file()


def test_platformio_itself_takes_the_manifest(
    contents: Contents, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("platformio", reason="missing: platformio (pip install platformio)")
    from platformio.package.manifest.parser import ManifestParserFactory
    from platformio.package.manifest.schema import ManifestSchema

    # It would ask the network for the list of licences.
    known = {"licenses": [{"licenseId": "BSD-3-Clause"}]}
    monkeypatch.setattr(ManifestSchema, "load_spdx_licenses", staticmethod(lambda: known))
    write_package(contents, "platformio", tmp_path)
    parsed = ManifestParserFactory.new_from_file(str(tmp_path / "library.json")).as_dict()
    assert ManifestSchema().load_manifest(parsed)["license"] == "BSD-3-Clause"


def test_an_esp_idf_component_follows_the_manifest_reference(contents: Contents, tmp_path: Path) -> None:
    write_package(contents, "esp-idf", tmp_path)
    manifest = yaml.safe_load((tmp_path / "idf_component.yml").read_text())
    assert set(manifest) == {"version", "description", "license", "dependencies"}
    assert (manifest["version"], manifest["description"]) == ("1.2.3", contents.sentence)
    assert manifest["dependencies"]["idf"]["version"] == ">=5.0"
    main = tmp_path / "examples/Small_1/main"
    (dependency,) = yaml.safe_load((main / "idf_component.yml").read_text())["dependencies"].values()
    # Where the component lies, from the folder of the file that says so.
    assert (main / dependency["override_path"] / "idf_component.yml").is_file()


def test_the_component_manager_itself_takes_the_manifests(contents: Contents, tmp_path: Path) -> None:
    pytest.importorskip("idf_component_tools", reason="missing: idf-component-manager (pip install it)")
    from idf_component_tools.manager import ManifestManager

    write_package(contents, "esp-idf", tmp_path)
    assert str(ManifestManager(tmp_path, "Small_1").load().version) == "1.2.3"
    main = ManifestManager(tmp_path / "examples/Small_1/main", "main").load()
    assert len(main.requirements) == 1


def test_a_zephyr_module_follows_the_module_documentation(contents: Contents, tmp_path: Path) -> None:
    write_package(contents, "zephyr", tmp_path)
    module = yaml.safe_load((tmp_path / "zephyr/module.yml").read_text())
    assert set(module) == {"name", "build", "samples"} and set(module["build"]) == {"cmake", "kconfig"}
    assert (tmp_path / module["build"]["cmake"] / "CMakeLists.txt").is_file()
    kconfig = (tmp_path / module["build"]["kconfig"]).read_text()
    option = "RUSHLIGHT_SMALL_1"
    assert f"config {option}\n" in kconfig
    assert f"if(CONFIG_{option})" in (tmp_path / "zephyr/CMakeLists.txt").read_text()
    (sample,) = [tmp_path / folder / "Small_1" for folder in module["samples"]]
    assert f"CONFIG_{option}=y" in (sample / "prj.conf").read_text().splitlines()
    tests = yaml.safe_load((sample / "sample.yaml").read_text())["tests"]
    assert list(tests) == ["sample.Small_1"]


def test_kconfig_help_and_properties_are_indented_by_tabs(contents: Contents, tmp_path: Path) -> None:
    write_package(contents, "zephyr", tmp_path)
    lines = (tmp_path / "zephyr/Kconfig").read_text().splitlines()[2:]
    assert lines and all(line.startswith("\t") for line in lines)
