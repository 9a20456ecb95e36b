"""The commands `make …` and the programs for measuring and fuzzing that the documentation names, run in the source tree.

Each runs on as little as it can be given: one scene, one step, a few seconds. It is a slow test: some build programs
that the other tests do not need.
"""

import os
import pathlib
import re
import shutil
import subprocess

import pytest

root = pathlib.Path(__file__).parents[2]
build = pathlib.Path(os.environ.get("APART_PROGRAM", root / "build" / "apart")).parent
pages = [*root.glob("docs/*.md"), root / "README.md", root / "CONTRIBUTING.md"]

# What is run for `make TARGET`; {0} is an empty folder.
commands = {
    "help": "make help",
    "build": "make build",
    "run": "make run SCENE=five-cubes OUT={0}/run",
    "python": "make python",
    "install-python": "DESTDIR={0} make install-python",
    "install": "make install PREFIX={0}",
    "package": "make package",
    "docs": "make docs",
    "check-format": "make check-format",
    "bench-compare": "make bench-compare BASE=build/apart LIST=five-cubes:2 TRIES=1",
    "scenes": "make scenes STEPS=1 BUDGET=20 ONLY=codim/clothOverMovingSphere",
    "fuzz": "make fuzz SECONDS=60",
    "gallery": "cp -r docs {0}/docs && scripts/make-gallery build/apart {0}/work {0}/docs five-cubes",
    "bench": "make -n bench && ninja -C build apart_bench apart_bench_scenes apart_bench_reference apart_bench_rigid "
             "apart_bench_orders && build/apart_bench --benchmark_filter=psd --benchmark_min_time=0.01",
    "ccd-campaign": "ninja -C build test_queries && build/test_queries --gtest_list_tests | grep CcdCampaign",
    "stress": "ninja -C build test_stress && build/test_stress --gtest_list_tests | grep -i stress",
    "format": "make -n format",
}
# What others run, or what takes too long even here.
elsewhere = {
    "test": "this is one of its tests",
    "slow-test": "this is one of its tests",
    "cluster": "tests/cluster runs what it builds",
    "sanitize": "takes hours",
    "sanitize-threads": "takes hours",
}
# Programs that pages name with arguments, as they are run here.
programs = [
    "ninja -C build apart_fuzz && mkdir {0}/new && build/apart_fuzz --target=gmsh -merge=1 {0}/new tests/fuzz/corpus/gmsh",
    "build/apart_fuzz --target=gmsh $(ls -d tests/fuzz/corpus/gmsh/* | head -1)",
    "cmake --install build --component cluster --prefix {0} && mpirun --allow-run-as-root --oversubscribe -n 2 "
    "{0}/bin/apart-mpi run five-cubes --steps 2 -o {0}/run",
]


def named():
    """Every target that a page tells its reader to make."""
    return {target for page in pages
            for target in re.findall(r"(?:^ {4}|`)make ([a-z-]+)", page.read_text(encoding="utf-8"), re.M)}


def test_every_make_command_of_the_pages_is_run():
    assert named() <= set(commands) | set(elsewhere)


@pytest.mark.parametrize("command", [*commands.values(), *programs])
def test_it_runs(command, tmp_path):
    if build.resolve() != (root / "build").resolve():
        pytest.skip("make builds in build/, and this is another build")
    if "package" in command and not shutil.which("dpkg-shlibdeps"):
        pytest.skip("dpkg-dev was not found: install dpkg-dev")
    if "cluster" in command and not (build / "apart-mpi").exists():
        pytest.skip("apart-mpi was not built: make cluster")
    if command == "make docs" and not shutil.which("mkdocs"):
        pytest.skip("mkdocs was not found: install mkdocs")
    result = subprocess.run(["bash", "-e", "-o", "pipefail", "-c", command.format(tmp_path)], cwd=root, capture_output=True, text=True,
                            env=dict(os.environ, DEPENDENCIES="no"), timeout=3000, stdin=subprocess.DEVNULL)
    assert result.returncode == 0, f"{command}:\n{result.stdout[-2000:]}{result.stderr[-2000:]}"
