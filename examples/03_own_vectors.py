"""Learn word vectors from your own text, and topics on them."""

import topicvec

texts = [document.text for document in topicvec.datasets.sample_corpus()]

psdvec = topicvec.PSDVec(n_dims=30, n_core=1500, n_words=2000, min_count=2).fit(texts)
print(psdvec.vectors_, psdvec.vectors_.nearest("telescope", 4))

model = topicvec.TopicVec(n_topics=8, vectors=psdvec.vectors_, random_state=0).fit(texts)
for topic in model.topics_[:8]:
    print(f"{topic.share:6.1%}  {' '.join(word for word, _ in topic.words[:8])}")
