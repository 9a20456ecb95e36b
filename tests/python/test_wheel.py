"""The build backend of pyproject.toml packs the package as a wheel."""

import base64
import hashlib
import importlib.util
import os
import pathlib
import subprocess
import sys
import zipfile

import pytest

import apart

root = pathlib.Path(__file__).parents[2]


def test_a_wheel_holds_the_package_and_its_record(tmp_path, monkeypatch):
    spec = importlib.util.spec_from_file_location("build_wheel", root / "python" / "build_wheel.py")
    backend = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(backend)
    monkeypatch.setattr(backend, "build_package", lambda build: pathlib.Path(apart.__file__).parent)
    name = backend.build_wheel(tmp_path)
    assert name.startswith(f"apart-{apart.__version__}-cp") and name.endswith(".whl")
    with zipfile.ZipFile(tmp_path / name) as wheel:
        files = set(wheel.namelist())
        info = f"apart-{apart.__version__}.dist-info"
        for line in wheel.read(f"{info}/RECORD").decode().splitlines():
            path, digest, size = line.split(",")
            if digest:
                data = wheel.read(path)
                assert len(data) == int(size)
                assert digest == "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            files.discard(path)
        assert not files
        wheel.extractall(tmp_path / "site")
    out = subprocess.run([sys.executable, "-c", "import apart; print(apart.__file__, apart.mesh.Box().size)"],
                         env={"PYTHONPATH": str(tmp_path / "site")}, capture_output=True, text=True, check=True).stdout
    assert out.startswith(str(tmp_path / "site")) and out.endswith(" 1\n")


@pytest.mark.skipif("APART_WHEEL_BUILD" not in os.environ, reason="builds the library again: make slow-test")
def test_pip_makes_a_wheel_and_installs_it(tmp_path):
    def run(*command, **more):
        done = subprocess.run([sys.executable, *command], capture_output=True, text=True, **more)
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
        return done.stdout

    run("-m", "pip", "wheel", str(root), "--no-deps", "--no-index", "--no-build-isolation", "--disable-pip-version-check",
        "--config-settings", f"build-dir={os.environ['APART_WHEEL_BUILD']}", "-w", str(tmp_path))
    wheel, = tmp_path.glob("apart-*.whl")
    site = tmp_path / "site"
    run("-m", "pip", "install", "--no-deps", "--no-index", "--disable-pip-version-check", "--target", str(site), str(wheel))
    program = ("import apart; print(apart.__file__); "
               "box = apart.body.Volume(name='box', mesh=apart.mesh.Box()); "
               "print(apart.run(apart.Scene(bodies=[box], time={'dt': 0.01, 'steps': 2}), 'run').summary['steps'])")
    out = run("-c", program, cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(site)})
    assert out.splitlines()[0].startswith(str(site)) and out.splitlines()[-1] == "2"
