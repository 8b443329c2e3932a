"""``lopsided completion``: a script that completes commands, options and files in a shell."""

import argparse
import sys

from ..parser import COMMANDS, make_parser

BASH = """_lopsided() {{
  local word="${{COMP_WORDS[COMP_CWORD]}}" words
  case "${{COMP_WORDS[1]}}" in
{cases}
    *) words="{commands} --help --version" ;;
  esac
  [ "$COMP_CWORD" -eq 1 ] && words="{commands} --help --version"
  COMPREPLY=($(compgen -W "$words" -- "$word"))
  if [ "$COMP_CWORD" -gt 1 ]; then COMPREPLY+=($(compgen -f -- "$word")); fi
}}
complete -o filenames -F _lopsided lopsided
"""


def run(options: argparse.Namespace) -> None:
    """Print the script."""
    sys.stdout.write({"bash": _bash, "zsh": _zsh, "fish": _fish}[options.shell]())


def _options() -> dict[str, list[str]]:
    """The long options of each command."""
    actions = make_parser()._subparsers._group_actions[0]  # type: ignore[union-attr]
    parsers: dict[str, argparse.ArgumentParser] = actions.choices  # type: ignore[assignment]
    return {
        name: [text for action in parser._actions for text in action.option_strings] for name, parser in parsers.items()
    }


def _bash() -> str:
    cases = "\n".join(f'    {name}) words="{" ".join(found)}" ;;' for name, found in _options().items())
    return BASH.format(cases=cases, commands=" ".join(COMMANDS))


def _zsh() -> str:
    return f"autoload -U +X bashcompinit && bashcompinit\n{_bash()}"


def _fish() -> str:
    lines = [
        f"complete -c lopsided -n __fish_use_subcommand -a {name} -d '{summary}'"
        for name, (summary, *_) in COMMANDS.items()
    ]
    for name, found in _options().items():
        lines += [
            f"complete -c lopsided -n '__fish_seen_subcommand_from {name}' -l {text[2:]}"
            for text in found
            if text.startswith("--")
        ]
    return "\n".join(lines) + "\n"
