"""scikit-learn's five naive Bayes classifiers by their own names, signatures and attributes, over our tallies.

What they do better than the originals: missing values (GaussianNB, CategoricalNB) and unseen categories are left
out of the product, CategoricalNB takes strings, the floor of the variances does not depend on the batches, and
each can `forget`, `merge` and `explain`.
"""

from __future__ import annotations

from ingenuo.estimators.drop_in.categorical import CategoricalNB
from ingenuo.estimators.drop_in.discrete import BernoulliNB, ComplementNB, MultinomialNB
from ingenuo.estimators.drop_in.gaussian import GaussianNB

__all__ = ["BernoulliNB", "CategoricalNB", "ComplementNB", "GaussianNB", "MultinomialNB"]
