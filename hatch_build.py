"""The build reads README with absolute links and pictures, so that it also works on the page of a package index."""

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

LINK = re.compile(r"\]\((?!\w+:|#)([^)\s]+)\)")


class Readme(MetadataHookInterface):
    """Sets the readme of the package."""

    PLUGIN_NAME = "custom"

    def update(self, metadata: dict[str, Any]) -> None:
        """Read README.md, whose links are relative for those who read it in the repository."""
        text = Path(self.root, "README.md").read_text(encoding="utf-8")
        version = re.search(r'__version__ = "(.+)"', Path(self.root, "src/lopsided/__init__.py").read_text())[1]
        text = LINK.sub(lambda link: f"]({absolute(link[1], metadata['urls'], version)})", text)
        metadata["readme"] = {"content-type": "text/markdown", "text": text}


def absolute(link: str, urls: dict[str, str], version: str) -> str:
    """Pages of docs/ are on the site, whose /page/ leads to its stable version; all else is in the repository."""
    if link.startswith("docs/") and link.endswith(".md"):
        return f"{urls['Documentation']}/page/{link[5:-3]}.html"
    kind = "raw" if link.endswith(".png") else "blob"
    return f"{urls['Repository']}/{kind}/v{version}/{link}"
