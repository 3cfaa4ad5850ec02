"""The conda recipe: rattler-build renders it, and it asks for what pyproject.toml asks for."""

import re
import tomllib
from pathlib import Path

import pytest
from rattler_build import Stage0Recipe, VariantConfig

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


@pytest.fixture(scope="module")
def recipe():
    (variant,) = Stage0Recipe.from_file(str(ROOT / "conda" / "recipe.yaml")).render(VariantConfig())
    return variant.recipe.to_dict()


def versions(lines):
    """Split requirements in names and versions, however the blank and the commas are written."""
    return {re.match(r"[\w-]+", x)[0]: re.sub(r"^[\w-]+\s*", "", x) for x in lines}


def test_it_is_this_version_for_every_platform(recipe):
    assert recipe["package"] == {key: PROJECT[key] for key in ("name", "version")}
    assert recipe["build"]["noarch"] == "python"


def test_it_needs_what_the_wheel_needs(recipe):
    needed = versions(recipe["requirements"]["run"])
    assert needed.pop("python") == PROJECT["requires-python"]
    assert needed == versions(PROJECT["dependencies"])


def test_libraries_of_frames_are_constrained_not_needed(recipe):
    extras = PROJECT["optional-dependencies"]
    constrained = versions(recipe["requirements"]["run_constraints"])
    assert constrained["pyarrow"] == versions(extras["arrow"])["pyarrow"]
    assert constrained["networkx"] == versions(extras["networkx"])["networkx"]
    gpu = {re.sub(r"-cu.*|-cuda.*", "", name): v for name, v in versions(extras["cu13"]).items()}
    assert constrained["cupy"] == gpu["cupy"]
    assert constrained["cudf"] == gpu["cudf"].removeprefix("==")
