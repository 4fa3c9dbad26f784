"""Draw the pictures of the README and the docs from the bundled article.

Usage: python scripts/make_pictures.py
"""

from html import escape
from pathlib import Path

from topicvec import TopicVec, datasets
from topicvec.explore import PageData, prepare

PICTURES = Path(__file__).resolve().parents[1] / "docs" / "pictures"
ROW, BAR, WIDTH = 34, 150, 860


def bars(data: PageData) -> str:
    """Give an SVG with a bar and the words of each topic, the largest first."""
    largest = data.topics[0].share
    rows = []
    for i, topic in enumerate(data.topics):
        y = ROW * i + 12
        length = BAR * topic.share / largest
        words = " ".join(word for word, _ in topic.words)
        rows.append(
            f'<rect x="{BAR - length:.1f}" y="{y}" width="{length:.1f}" height="22" rx="3" '
            f'fill="{topic.colour}"/>'
            f'<text x="{BAR + 8}" y="{y + 16}" class="share">{topic.share:.0%}</text>'
            f'<text x="{BAR + 52}" y="{y + 16}" fill="{topic.colour}">{escape(words)}</text>'
        )
    height = ROW * len(data.topics) + 14
    style = "text{font:15px sans-serif}.share{fill:#444}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" '
        f'aria-label="Topics of one article"><style>{style}</style>'
        f'<rect width="100%" height="100%" fill="#fff"/>{"".join(rows)}</svg>\n'
    )


def main() -> None:
    article = datasets.sample_article()
    model = TopicVec(n_topics=12, random_state=0).fit([article])
    PICTURES.mkdir(parents=True, exist_ok=True)
    (PICTURES / "article.svg").write_text(bars(prepare(model, [article])), encoding="utf-8")


if __name__ == "__main__":
    main()
