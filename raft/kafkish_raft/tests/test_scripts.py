"""The scripts do what is written in them."""

from pathlib import Path

import pytest

from kafkish_raft.tests import script


def test_there_are_scripts() -> None:
    assert len(script.SCRIPTS) >= 8


@pytest.mark.parametrize("path", script.SCRIPTS, ids=lambda path: path.stem)
def test_script_does_what_is_written(path: Path) -> None:
    assert script.play(path.read_text()) == path.read_text()


def test_script_that_says_otherwise_is_noticed() -> None:
    text = "> found 1 voter\n> start\n> show\n        n1   leader of epoch 7\n"
    assert script.play(text) != text


def test_unknown_command_says_which_there_are() -> None:
    with pytest.raises(ValueError, match=r"no such command: dance\. There are: found"):
        script.play("> dance\n")
