"""What the packages of a crate are: a bill of materials, and the texts of their licences.

    python3 .ci/packages.py sbom CRATE > crate.cdx.json
    python3 .ci/packages.py licences CRATE > LICENCES.txt

Both are made from the lock file and the sources that Cargo has fetched, so they are the same wherever they are made.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
import uuid
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
TEXTS = ("LICEN[CS]E*", "COPYING*", "NOTICE*", "UNLICENSE*", "license*", "COPYRIGHT*")


def packages(crate: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """A crate, and the packages whose code is in it, by name and version."""
    words = ["cargo", "metadata", "--format-version", "1", "--locked", "--filter-platform", "x86_64-unknown-linux-gnu"]
    about = json.loads(subprocess.run(words, cwd=ROOT, check=True, capture_output=True).stdout)
    known = {package["id"]: package for package in about["packages"]}
    nodes = {node["id"]: node for node in about["resolve"]["nodes"]}
    root = next(package for package in known.values() if package["name"] == crate)
    reached, open_ = set(), [root["id"]]
    while open_:
        node = nodes[open_.pop()]
        for dependency in node["deps"]:
            # Build scripts and procedural macros run on the machine of the build; their code stays there.
            is_in_it = any(kind["kind"] is None for kind in dependency["dep_kinds"])
            is_macro = any("proc-macro" in target["kind"] for target in known[dependency["pkg"]]["targets"])
            if is_in_it and not is_macro and dependency["pkg"] not in reached:
                reached.add(dependency["pkg"])
                open_.append(dependency["pkg"])
    found = sorted((known[id] for id in reached), key=lambda package: (package["name"], package["version"]))
    return root, found


def expression(licence: str | None) -> str:
    """A licence as SPDX writes it; old packages separate alternatives by a slash."""
    return re.sub(r"\s*/\s*", " OR ", licence or "NOASSERTION")


def sbom(crate: str) -> str:
    """A bill of materials as CycloneDX 1.5."""
    root, found = packages(crate)
    lock = tomllib.loads((ROOT / "Cargo.lock").read_text(encoding="utf-8"))
    sums = {(package["name"], package["version"]): package.get("checksum") for package in lock["package"]}

    def component(package: dict[str, Any], kind: str) -> dict[str, Any]:
        name, version = package["name"], package["version"]
        purl = f"pkg:cargo/{name}@{version}"
        made = {
            "type": kind,
            "bom-ref": purl,
            "name": name,
            "version": version,
            "licenses": [{"expression": expression(package["license"])}],
            "purl": purl,
        }
        if sums.get((name, version)):
            made["hashes"] = [{"alg": "SHA-256", "content": sums[name, version]}]
        return made

    components = [component(package, "library") for package in found]
    # The same contents have the same number.
    number = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(components, sort_keys=True))
    bill = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "serialNumber": f"urn:uuid:{number}",
        "version": 1,
        "metadata": {"component": component(root, "application")},
        "components": components,
    }
    return json.dumps(bill, indent=1) + "\n"


def licences(crate: str) -> str:
    """The texts of all licences, each once, with the packages that have it."""
    _, found = packages(crate)
    texts: dict[str, list[str]] = {}
    for package in found:
        if package["source"] is None:
            continue
        folder = Path(package["manifest_path"]).parent
        files = {file for pattern in TEXTS for file in folder.glob(pattern) if file.is_file()}
        name = f"{package['name']} {package['version']} ({expression(package['license'])})"
        for file in sorted(files):
            text = "\n".join(line.rstrip() for line in file.read_text(encoding="utf-8", errors="replace").splitlines())
            texts.setdefault(text.strip(), []).append(name)
        if not files:
            texts.setdefault(f"No text comes with the package; its licence is {expression(package['license'])}.", []).append(name)
    parts = [f"{'=' * 100}\n" + "\n".join(dict.fromkeys(names)) + f"\n\n{text}\n" for text, names in texts.items()]
    return "Texts of the licences of the packages whose code is in this distribution.\n\n" + "\n".join(parts)


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in ("sbom", "licences"):
        sys.exit(__doc__)
    sys.stdout.write({"sbom": sbom, "licences": licences}[sys.argv[1]](sys.argv[2]))
