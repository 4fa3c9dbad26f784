"""The methods that TopicVec is compared with, each a scikit-learn transformer.

Each learns from the training documents alone, given as lists of words, and turns new documents
into rows of numbers.
"""

from topicvec.evaluate.baselines.bertopic import BERTopic
from topicvec.evaluate.baselines.etm import ETM
from topicvec.evaluate.baselines.fastopic import FASTopic
from topicvec.evaluate.baselines.gaussian_lda import GaussianLDA
from topicvec.evaluate.baselines.lftm import LFTM
from topicvec.evaluate.baselines.slda import SLDA
from topicvec.evaluate.baselines.twe import TWE

__all__ = ["ETM", "LFTM", "SLDA", "TWE", "BERTopic", "FASTopic", "GaussianLDA"]
