"""A classifier on topics, and topic features in a pipeline of scikit-learn."""

import tempfile
from pathlib import Path

from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import topicvec

documents = topicvec.datasets.sample_corpus()
train, test = documents[::2], documents[1::2]
labels = [document.label for document in train]
topics = topicvec.TopicVec(n_topics=3, share="class", random_state=0)

classifier = topicvec.TopicClassifier(topics).fit(train, labels)
score = classifier.score(test, [document.label for document in test])
print(f"{score:.0%} of {len(test)} other documents in the right class")

path = Path(tempfile.mkdtemp(), "corpus.classifier")
classifier.save(path)
print(topicvec.TopicClassifier.load(path).classify(["Salt the dough."])[0])

pipeline = make_pipeline(topicvec.TopicFeatures(topics), LogisticRegression(max_iter=1000))
print(pipeline.fit(train, labels).predict(["The comet has a tail of dust and ice."])[0])
