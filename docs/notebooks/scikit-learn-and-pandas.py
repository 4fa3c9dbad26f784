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
# # With scikit-learn and pandas
#
# Topics as a step of pipelines, searches and tables. It needs `pip install "topicvec[pandas]"`.

# %%
import pandas as pd
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline

import topicvec

documents = topicvec.datasets.sample_corpus()
frame = pd.DataFrame(
    {"text": [each.text for each in documents], "subject": [each.label for each in documents]},
    index=[each.id for each in documents],
)
frame.head()

# %% [markdown]
# ## A transformer
#
# A column of texts goes in. `set_output` makes a table of what comes out: its columns have the
# topics' names and its rows those of the column.

# %%
topics = topicvec.TopicVec(8, random_state=0).set_output(transform="pandas")
shares = topics.fit_transform(frame["text"])
assert shares.index.equals(frame.index)
shares.head().round(2)

# %% [markdown]
# ## Counts of your own
#
# After a vectorizer the words of the columns are taken along.

# %%
counted = make_pipeline(
    CountVectorizer(stop_words="english", min_df=2), topicvec.TopicVec(8, random_state=0)
).fit(frame["text"])
assert "telescope" in counted["countvectorizer"].get_feature_names_out()
counted["topicvec"].topic_table()[["label", "share", "words"]].head()

# %% [markdown]
# ## A classifier
#
# `TopicClassifier` learns topics for each class. Labels may be texts, numbers or truth values.

# %%
few = frame[frame["subject"].isin(["astronomy", "cooking", "music"])]
classifier = topicvec.TopicClassifier()
scores = cross_val_score(classifier, few["text"].tolist(), few["subject"], cv=3)
assert scores.mean() > 0.8
scores

# %%
search = GridSearchCV(
    topicvec.TopicClassifier(topicvec.TopicVec(random_state=0)),
    {"model__n_topics": [1, 2]}, cv=2, scoring="f1_macro",
)  # fmt: skip
search.fit(few["text"].tolist(), few["subject"])
search.best_params_, round(search.best_score_, 2)

# %% [markdown]
# ## Features for another classifier
#
# Topics of all documents, whatever their classes; `share="class"` asks for topics of each class.

# %%
features = topicvec.TopicFeatures(topicvec.TopicVec(3, share="class", random_state=0))
pipeline = make_pipeline(features, LogisticRegression(max_iter=1000))
cross_val_score(pipeline, few["text"].tolist(), few["subject"], cv=3)
