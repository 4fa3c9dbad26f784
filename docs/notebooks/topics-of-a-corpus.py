# ---
# jupyter:
#   jupytext:
#     formats: py:percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Topics of a corpus
#
# From texts to topics, tables and pictures. Open this file in Jupyter with
# [jupytext](https://jupytext.readthedocs.io), or run it as a script. It needs
# `pip install "topicvec[pandas]"`.

# %%
import topicvec
from topicvec import pictures
from topicvec.represent import topics_over_time, topics_per_class

documents = topicvec.datasets.sample_corpus()  # 96 short documents with a class and a date
documents[0]

# %% [markdown]
# As many topics as the documents support. `verbose=1` shows a bar while they are learned. The
# fitted model shows itself as a table.

# %%
model = topicvec.TopicVec(random_state=0, verbose=1).fit(documents)
model

# %% [markdown]
# The same as a DataFrame, and a row for each document.

# %%
topics = model.topic_table()
topics[["topic", "label", "share", "words"]].head()

# %%
table = model.document_table(documents)
table[["document", "topic", "label", "share"]].head()

# %% [markdown]
# Which topic is about a word, or a few?

# %%
model.find_topics("bread and salt", n=3)

# %% [markdown]
# Any text is a mixture of the topics, and each of its words has one.

# %%
model.document_table(["The comet can be seen with a small telescope in June."]).T.tail(8)

# %%
tokens, shares = model.token_proportions("The comet can be seen with a small telescope.")
list(zip(tokens, shares.argmax(axis=1), strict=True))

# %% [markdown]
# ## Classes and time
#
# The documents have both. The tables are those behind the pictures.

# %%
classes = topics_per_class(model, documents).table()
classes.pivot(index="label", columns="class", values="share").round(2)

# %%
courses = topics_over_time(model, documents, n_bins=3)
courses.table()[["label", "time", "share", "words"]].head(6)

# %% [markdown]
# ## Pictures
#
# Each is an SVG, which a notebook shows; `.save("cloud.png")` writes it.

# %%
pictures.cloud(model)

# %%
pictures.by_class(model, documents)

# %% [markdown]
# ## Change it, keep it
#
# Each operation gives a new model. A file has no pickle, and gives the same bits.

# %%
import tempfile
from pathlib import Path

named = model.reduce(6).relabel({1: "my topic"})
path = Path(tempfile.mkdtemp(), "corpus.topicvec")
named.save(path)
again = topicvec.TopicVec.load(path)
assert (again.transform(documents) == named.transform(documents)).all()
assert again.topic_table()["label"].tolist() == named.topic_table()["label"].tolist()
