"""Pictures of a small corpus: clouds, maps, classes, time, one document."""

from pathlib import Path
from tempfile import mkdtemp

import topicvec
from topicvec import pictures

documents = topicvec.datasets.sample_corpus()
model = topicvec.TopicVec(n_topics=15, random_state=0).fit(documents)
folder = Path(mkdtemp(prefix="topicvec-pictures-"))

drawn = {
    "cloud": pictures.cloud(model),
    "cloud-music": pictures.cloud(model, documents, label="music"),
    "topics": pictures.topic_map(model),
    "documents": pictures.document_map(model, documents),
    "classes": pictures.by_class(model, documents),
    "time": pictures.over_time(model, documents),
    "document": pictures.tokens(model, documents[0]),
}
for name, picture in drawn.items():
    print(picture.save(folder / f"{name}.svg"))
