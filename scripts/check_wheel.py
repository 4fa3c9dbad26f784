"""Build the wheel, install it in an empty environment, and use it there.

Checks that the data files are inside and the laboratory is not, that the wheel is small enough,
that ``import topicvec`` is quick and loads no package that not everybody needs, and that the main
job and the command run without the source tree. The wheel and the list of what it is made of
(CycloneDX) are left in dist/.
"""

import json
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MAX_WHEEL_MB = 30
MAX_IMPORT_SECONDS = 1.0
LATER = ["dask", "distributed", "starlette", "uvicorn", "gensim", "pyarrow", "typer", "rich"]
LABORATORY = ("topicvec_bench/", "topicvec/evaluate/", "bench/")

IMPORT_CHECK = f"""
import sys, time
start = time.perf_counter()
import topicvec
seconds = time.perf_counter() - start
loaded = [name for name in {LATER!r} if name in sys.modules]
assert not loaded, f"import topicvec loads {{loaded}}"
assert "src" not in topicvec.__file__, topicvec.__file__
print(f"{{seconds:.3f}}")
"""

USE_CHECK = """
import topicvec
import time
start = time.process_time()  # not the clock's: other work may be on the machine
vectors = topicvec.load_vectors()
assert time.process_time() - start < 1, "loading the default vectors takes too long"
assert len(vectors) >= 60_000, len(vectors)
model = topicvec.TopicVec(n_topics=7, random_state=0).fit([topicvec.datasets.sample_article()])
assert model.topic_vectors_.shape == (8, vectors.matrix.shape[1])
print(len(vectors), "words;", ", ".join(word for word, _ in model.topics_[0].words[:5]))
"""

ARTICLE = "import topicvec; print(topicvec.datasets.sample_article())"

NEEDED = [
    "topicvec/py.typed",
    "topicvec/embed/data/default.safetensors",
    "topicvec/embed/data/spelling.safetensors",
    "topicvec/samples/article.txt",
    "topicvec/samples/corpus.jsonl",
    "topicvec/explore/templates/report.html",
    "topicvec/explore/static/index.html",
    "topicvec/explore/static/shell.js",
]


def run(*command: str | Path) -> str:
    done = subprocess.run(command, text=True, capture_output=True, cwd="/")
    output = done.stdout + done.stderr
    assert done.returncode == 0, f"{command} gave {done.returncode}: {output}"
    return done.stdout


def check_command(command: Path, article: Path) -> None:
    """Ask the installed command for its version and for the topics of a text."""
    assert run(command, "--version").strip(), "the command has no version"
    text = run(command.with_name("python"), "-c", ARTICLE)
    article.write_text(text, encoding="utf-8")
    topics = json.loads(run(command, "topics", article, "-k", "8", "--json"))
    assert topics, "the command found no topics"


def keep(python: Path, wheel: Path) -> None:
    """Put the wheel into dist/, and beside it what it is made of when it is installed."""
    kept = ROOT / "dist" / wheel.name
    kept.parent.mkdir(exist_ok=True)
    shutil.copy(wheel, kept)
    bom = kept.with_suffix(".cdx.json")
    run(python, ROOT / "scripts" / "sbom.py", bom, kept)
    names = {each["name"] for each in json.loads(bom.read_text(encoding="utf-8"))["components"]}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = {re.split(r"[^\w-]", each)[0] for each in project["dependencies"]}
    assert wanted <= names, f"the list of packages lacks {wanted - names}"


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        dist = Path(folder) / "dist"
        run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", dist, ROOT)
        wheel = next(dist.glob("*.whl"))
        names = zipfile.ZipFile(wheel).namelist()
        missing = set(NEEDED) - set(names)
        assert not missing, f"the wheel lacks {missing}"
        foreign = [name for name in names if name.startswith(LABORATORY)]
        assert not foreign, f"the wheel has parts of the laboratory: {foreign}"
        megabytes = wheel.stat().st_size / 1e6
        assert megabytes < MAX_WHEEL_MB, f"the wheel has {megabytes:.1f} MB"
        run(sys.executable, "-m", "venv", Path(folder) / "venv")
        python = Path(folder) / "venv" / "bin" / "python"
        run(python, "-m", "pip", "install", "--quiet", wheel)
        check_command(python.with_name("topicvec"), Path(folder) / "article.txt")
        keep(python, wheel)
        run(python, "-c", IMPORT_CHECK)  # the first import writes the byte code
        seconds = min(float(run(python, "-c", IMPORT_CHECK)) for _ in range(3))
        assert seconds < MAX_IMPORT_SECONDS, f"import topicvec takes {seconds:.2f} s"
        print(
            f"wheel: {megabytes:.1f} MB, import {seconds:.2f} s;",
            run(python, "-c", USE_CHECK).strip(),
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
