"""Write what an installed topicvec is made of, as CycloneDX 1.6.

Usage: PYTHON scripts/sbom.py OUTPUT [WHEEL], with the Python of an environment that has topicvec.
The packages are those that it needs there, one by one with their versions and licences.
"""

import hashlib
import json
import re
import sys
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import Any


def purl(found: Distribution) -> str:
    return f"pkg:pypi/{plain(found.name)}@{found.version}"


def plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def needed(found: Distribution) -> list[Distribution]:
    """Give the packages that one needs; those of extras and other systems are not there."""
    names = [each for each in found.requires or [] if "extra ==" not in each]
    packages = []
    for name in sorted({re.split(r"[^\w.-]", each, maxsplit=1)[0] for each in names}):
        try:
            packages.append(distribution(name))
        except PackageNotFoundError:  # of another system or Python
            continue
    return packages


def component(found: Distribution) -> dict[str, Any]:
    about = found.metadata
    licence = about.get("License-Expression") or (about.get("License") or "").split("\n")[0]
    known = {"type": "library", "bom-ref": purl(found), "name": plain(found.name),
             "version": found.version, "purl": purl(found)}  # fmt: skip
    return {**known, "licenses": [{"license": {"name": licence}}]} if licence else known


def describe(wheel: Path | None) -> dict[str, Any]:
    root = distribution("topicvec")
    packages, left = {purl(root): root}, [root]
    while left:
        fresh = [each for each in needed(left.pop()) if purl(each) not in packages]
        packages |= {purl(each): each for each in fresh}
        left += fresh
    main = component(root)
    if wheel is not None:
        digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
        main["hashes"] = [{"alg": "SHA-256", "content": digest}]
    return {
        "bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1,
        "metadata": {"component": main},
        "components": [component(packages[ref]) for ref in sorted(packages) if ref != purl(root)],
        "dependencies": [
            {"ref": ref, "dependsOn": sorted(purl(each) for each in needed(packages[ref]))}
            for ref in sorted(packages)
        ],
    }  # fmt: skip


if __name__ == "__main__":
    given = [Path(each) for each in sys.argv[1:]]
    bom = describe(given[1] if len(given) > 1 else None)
    given[0].write_text(json.dumps(bom, indent=1) + "\n", encoding="utf-8")
    print(f"{given[0]}: {len(bom['components'])} packages")
