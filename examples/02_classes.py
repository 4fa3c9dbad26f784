"""Topics of each class of a corpus, and a classifier on the topic proportions."""

from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score

import topicvec

documents = topicvec.datasets.sample_corpus()
train = [document for i, document in enumerate(documents) if i % 3]
test = [document for i, document in enumerate(documents) if i % 3 == 0]
labels = [document.label for document in train]

model = topicvec.TopicVec(n_topics=3, share="class", random_state=0).fit(train, labels)
print(f"{len(model.topic_vectors_)} topics for {len(set(labels))} classes, one of them null")

classifier = LogisticRegression(max_iter=1000)
classifier.fit(model.sqrt_proportions(train, prior=False), labels)
guesses = classifier.predict(model.sqrt_proportions(test, prior=False))
score = accuracy_score([document.label for document in test], guesses)
print(f"{score:.0%} of {len(test)} other documents in the right class")
