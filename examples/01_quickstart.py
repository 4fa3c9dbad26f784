"""Topics of one article, with the vectors that come with the package."""

import topicvec

article = topicvec.datasets.sample_article()
model = topicvec.TopicVec(n_topics=11, random_state=0).fit([article])

for topic in model.topics_:
    print(f"{topic.share:6.1%}  {' '.join(word for word, _ in topic.words)}")

sentence = "The orchestra played while the farmers waited for rain."
print(sentence)
for token in model.responsibilities(sentence):
    print(f"  {token.token:10} topic {token.topic}  {token.probability:.2f}")
