"""A module of the user's own is read as Python reads it, and one line says where it is none."""

from pathlib import Path

import pytest
from ragrelay.base.errors import InputError
from ragrelay.base.user_code import check_function


def test_a_byte_order_mark_is_python(tmp_path: Path) -> None:
    (tmp_path / "marked_module.py").write_bytes(b"\xef\xbb\xbfdef f(): pass\n")
    check_function("config key 'x'", "marked_module:f", tmp_path)


@pytest.mark.parametrize("content", [b"x = 1\ndef f(:\n", b"a = 'caf\xe9'\n", b"def f(): pass\n\0\n"])
def test_no_python(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "broken_module.py").write_bytes(content)
    with pytest.raises(InputError, match=r"broken_module\.py.*found invalid Python") as error:
        check_function("config key 'x'", "broken_module:f", tmp_path)
    assert "\n" not in str(error.value)
