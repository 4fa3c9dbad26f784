"""Draw the pictures of the README and the gallery from the bundled texts.

Usage: python scripts/make_pictures.py
"""

from pathlib import Path

from topicvec import TopicVec, datasets, pictures

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "pictures"


def main() -> None:
    article, corpus = datasets.sample_article(), datasets.sample_corpus()
    one = TopicVec(random_state=0).fit([article])
    many = TopicVec(random_state=0).fit(corpus)
    one_by_one = [str(1990 + place // 3) for place in range(len(corpus))]  # subject after subject
    drawn = {
        **{name: pictures.draw(name, many, corpus) for name in pictures.KINDS if name != "cloud"},
        "article": pictures.cloud(one, title="Topics of the bundled article"),
        "cloud-corpus": pictures.cloud(many),
        "cloud-document": pictures.cloud(many, [corpus[0]], max_topics=6),
        "cloud-class": pictures.cloud(many, corpus, label="medicine", max_topics=6),
        "over-time-moved": pictures.over_time(many, corpus, times=one_by_one, n_bins=8, width=960),
        "tokens": pictures.tokens(one, article, max_lines=20),
    }
    for name, picture in drawn.items():
        picture.save(FOLDER / f"{name}.svg")


if __name__ == "__main__":
    main()
