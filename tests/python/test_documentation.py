"""The code of docs/python.md and docs/first-hour.md runs, block after block."""

import pathlib
import re
import subprocess
import sys

import pytest

root = pathlib.Path(__file__).parents[2]


@pytest.mark.parametrize("page", ["docs/python.md", "docs/first-hour.md"])
def test_code_of_the_page_runs(page, tmp_path, monkeypatch):
    pytest.importorskip("scipy")
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", (root / page).read_text(encoding="utf-8"), re.S)
    assert blocks
    names = {}
    for block in blocks:
        exec(compile(block, page, "exec"), names)


def test_messages_of_the_page_are_those_of_the_package():
    import apart

    text = (root / "docs/python.md").read_text(encoding="utf-8")
    lines = re.findall(r"^    (apart\.\S+\(.*?\)) {2,}(\S.*)$", text, re.M)
    assert len(lines) == 2
    for expression, message in lines:
        with pytest.raises(apart.InputError) as error:
            eval(expression)
        assert str(error.value) == message


def test_the_first_command_of_the_page_prints_the_version():
    import apart

    text = (root / "docs/python.md").read_text(encoding="utf-8")
    program, = re.findall(r'^    PYTHONPATH=build/python /usr/bin/python3 -c "(.*)"$', text, re.M)
    out = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert out == apart.__version__ + "\n"
