"""How words get into a unit and out of one, held against systemd's own reading."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curator.errors import ConfigError
from curator.units.quoting import checked, command_line, glob_path, quoted, settings_of, words_of
from tests.units.systems import ODD, read_by_systemd

NAMES = st.text(st.characters(exclude_categories=["Cc", "Cs", "Cn"]), min_size=1).filter(
    lambda name: "\ufeff" not in name
)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("/home/me/.pi/agent", "/home/me/.pi/agent"),
        ("A=/usr/bin:/bin", "A=/usr/bin:/bin"),
        ("/home/me/My Files", '"/home/me/My Files"'),
        ("/50%", '"/50%%"'),
        ('/a"b', '"/a\\"b"'),
        ("/a'b", '"/a\'b"'),
        ("/a\\b", '"/a\\\\b"'),
        ("/$HOME", '"/$HOME"'),
        ("/é", '"/é"'),
        ("", '""'),
    ],
)
def test_a_word_is_written_as_systemd_reads_it(text: str, written: str) -> None:
    assert quoted(text) == written


@pytest.mark.parametrize(
    ("program", "arguments", "line"),
    [
        ("/bin/x", ("--agent-dir", "/a"), "/bin/x --agent-dir /a"),
        ("/my bin/x", ("/$a/100%",), '"/my bin/x" "/$$a/100%%"'),
        ("/it's/x", ("/a",), '/bin/sh -c "exec \\"$$0\\" \\"$$@\\"" "/it\'s/x" /a'),
        ("/$x", (), '/bin/sh -c "exec \\"$$0\\" \\"$$@\\"" "/$$x"'),
    ],
)
def test_a_command_is_written_as_systemd_reads_it(program: str, arguments: tuple[str, ...], line: str) -> None:
    assert command_line(program, *arguments) == line


@given(st.lists(NAMES, min_size=1))
def test_what_is_written_is_read_back(arguments: list[str]) -> None:
    words = words_of(command_line("/bin/x", *arguments))

    assert [word.replace("%%", "%").replace("$$", "$") for word in words] == ["/bin/x", *arguments]


@pytest.mark.parametrize("text", ["/a\nb", "/a\x00", "/a\x7f", "/\udcff", "/\ufffe", "/\ufdd0"])
def test_a_name_that_no_unit_can_spell_is_refused_without_showing_raw_bytes(text: str) -> None:
    with pytest.raises(ConfigError, match="fits into no unit") as refused:
        checked(text)

    assert refused.value.fact.isascii()
    assert "\n" not in refused.value.fact


@pytest.mark.parametrize(
    "name",
    [
        ODD,
        "plain",
        "a b",
        "50%",
        "$HOME",
        "${A}$$B",
        "a;b",
        "~",
        "a\\",
        "'",
        '"',
        "a=b",
        "#x",
        " lead",
        "tab-é",
        "\\x41",
    ],
)
def test_systemd_itself_reads_exactly_what_was_meant(tmp_path: Path, name: str) -> None:
    odd = f"/some/{name}/agent"
    text = (
        f"[Service]\nType=oneshot\nExecStart={command_line('/bin/sh', odd)}\nEnvironment={quoted(f'A={odd}')}\n"
        f"EnvironmentFile=-{glob_path(f'{odd}/x.env')}\nReadWritePaths={quoted(odd)}\n"
    )
    (tmp_path / "odd.service").write_text(text, "utf-8")

    told = read_by_systemd(tmp_path, "odd.service")

    fields = dict(
        re.findall(r"^\t+(Environment|ReadWritePaths|EnvironmentFile|Command Line): (.*)$", told, re.MULTILINE)
    )
    assert fields["Environment"] == f"A={odd}"
    assert fields["ReadWritePaths"] == odd
    assert re.sub(r"\\([\\*?\[\]])", r"\1", fields["EnvironmentFile"]) == f"-{odd}/x.env"
    # It tells a command as a shell would write it, before variables are put in.
    words = words_of(re.sub(r"\\([$`])", r"\1", fields["Command Line"]))
    assert tuple(word.replace("$$", "$") for word in words) == ("/bin/sh", odd)


def test_settings_are_read_across_sections_comments_and_broken_lines() -> None:
    text = "[Unit]\nExecStart=/no\n[Service]\n# ExecStart=/no\nExecStart=/a \\\n  b\n; no\n ExecStart = /c\n[Install]\nExecStart=/no\n"

    assert [words_of(line) for line in settings_of(text, "Service", "ExecStart")] == [("/a", "b"), ("/c",)]


def test_an_empty_setting_takes_back_what_stood_before_as_a_drop_in_does() -> None:
    assert settings_of("[Service]\nExecStart=/a\n[Service]\nExecStart=\nExecStart=/b\n", "Service", "ExecStart") == (
        "/b",
    )


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("a  b\tc", ("a", "b", "c")),
        ("'a b' \"c d\"", ("a b", "c d")),
        ("a\\x20b \\u00e9 \\s.", ("a b", "é", " .")),
        ('"open', ("open",)),
        ("odd\\", ("odd\\",)),
        ("\\xzz", ("xzz",)),
        ("", ()),
    ],
)
def test_words_are_split_as_systemd_splits_them(line: str, words: tuple[str, ...]) -> None:
    assert words_of(line) == words
