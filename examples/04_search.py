"""Search a corpus, find similar documents, and sum one up."""

import tempfile
from pathlib import Path

import topicvec

documents = topicvec.datasets.sample_corpus()
model = topicvec.TopicVec(n_topics=15, random_state=0).fit(documents)

index = topicvec.DocumentIndex.build(model, documents)
for query in ("the night sky", "how to bake bread", "computer memory"):
    print(query)
    for hit in index.search(query, n=3):
        print(f"  {hit.score:.2f}  {hit.id}")

first = documents[0]
print(f"like {first.id}:", *(hit.id for hit in index.similar(0, n=3)))
for sentence in topicvec.summarize(model, first, n_sentences=2):
    print(f"  {sentence.text}")

path = Path(tempfile.mkdtemp(), "corpus.index")
index.save(path)
again = topicvec.DocumentIndex.load(path, model)
assert again.search("the night sky") == index.search("the night sky")
