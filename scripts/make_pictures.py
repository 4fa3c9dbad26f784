"""Draw the pictures of the README and the gallery from the bundled texts.

Usage: python scripts/make_pictures.py
"""

import warnings
from pathlib import Path

from topicvec import TopicVec, datasets, pictures

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "pictures"


def main() -> None:
    article, corpus = datasets.sample_article(), datasets.sample_corpus()
    one = TopicVec(random_state=0).fit([article])
    many = TopicVec(random_state=0).fit(corpus)
    with warnings.catch_warnings():  # the paper's solver stops after its 100 iterations
        warnings.simplefilter("ignore")
        paper = TopicVec(19, "general", alpha=0.1, solver="paper", tol=0.0, random_state=0)
        paper.fit([article])
    as_many = TopicVec(19, random_state=0).fit([article])
    half = {"width": 480, "height": 420, "max_topics": 6}
    one_by_one = [str(1990 + place // 3) for place in range(len(corpus))]  # subject after subject
    drawn = {
        **{name: pictures.draw(name, many, corpus) for name in pictures.KINDS if name != "cloud"},
        "article": pictures.cloud(one, title="Topics of the bundled article"),
        "cloud-corpus": pictures.cloud(many),
        "cloud-document": pictures.cloud(many, [corpus[0]], max_topics=6),
        "cloud-class": pictures.cloud(many, corpus, label="medicine", max_topics=6),
        "over-time-moved": pictures.over_time(many, corpus, times=one_by_one, n_bins=8, width=960),
        "paper-solver": pictures.cloud(paper, title="Topics with the paper's solver", **half),
        "paper-ours": pictures.cloud(as_many, title="Topics with the default solver", **half),
        "tokens": pictures.tokens(one, article, max_lines=20),
    }
    for name, picture in drawn.items():
        picture.save(FOLDER / f"{name}.svg")


if __name__ == "__main__":
    main()
