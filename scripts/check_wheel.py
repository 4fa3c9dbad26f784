"""Build the wheel, install it in an empty environment, and use it there.

Checks that the data files are inside, that the wheel is small enough, that ``import topicvec``
is quick and loads no optional package, and that the main job runs without the source tree.
"""

import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MAX_WHEEL_MB = 30
MAX_IMPORT_SECONDS = 1.0
OPTIONAL = ["plotly", "dask", "distributed", "starlette", "fastapi", "uvicorn", "gensim", "pyarrow"]

IMPORT_CHECK = f"""
import sys, time
start = time.perf_counter()
import topicvec
seconds = time.perf_counter() - start
loaded = [name for name in {OPTIONAL!r} if name in sys.modules]
assert not loaded, f"import topicvec loads {{loaded}}"
assert "src" not in topicvec.__file__, topicvec.__file__
print(f"{{seconds:.3f}}")
"""

USE_CHECK = """
import topicvec
import time
start = time.perf_counter()
vectors = topicvec.load_vectors()
assert time.perf_counter() - start < 1, "loading the default vectors takes too long"
assert len(vectors) >= 60_000, len(vectors)
model = topicvec.TopicVec(n_topics=8, random_state=0).fit([topicvec.datasets.sample_article()])
assert model.topic_vectors_.shape == (8, vectors.matrix.shape[1])
print(len(vectors), "words;", ", ".join(word for word, _ in model.topics_[0].words[:5]))
"""


NEEDED = [
    "topicvec/py.typed",
    "topicvec/embed/data/default.safetensors",
    "topicvec/samples/article.txt",
    "topicvec/samples/corpus.jsonl",
    "topicvec/explore/templates/report.html",
    "topicvec/explore/static/index.html",
    "topicvec/explore/static/shell.js",
]


def run(*command: str | Path, expect: int = 0) -> str:
    done = subprocess.run(command, text=True, capture_output=True, cwd="/")
    output = done.stdout + done.stderr
    assert done.returncode == expect, f"{command} gave {done.returncode}: {output}"
    return output if expect else done.stdout


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        dist = Path(folder) / "dist"
        run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", dist, ROOT)
        wheel = next(dist.glob("*.whl"))
        missing = set(NEEDED) - set(zipfile.ZipFile(wheel).namelist())
        assert not missing, f"the wheel lacks {missing}"
        megabytes = wheel.stat().st_size / 1e6
        assert megabytes < MAX_WHEEL_MB, f"the wheel has {megabytes:.1f} MB"
        run(sys.executable, "-m", "venv", Path(folder) / "venv")
        python = Path(folder) / "venv" / "bin" / "python"
        run(python, "-m", "pip", "install", "--quiet", wheel)
        advice = run(python.with_name("topicvec"), "--version", expect=2)
        assert 'pip install "topicvec[cli]"' in advice, advice
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
