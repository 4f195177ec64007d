"""The curvature of the loss in the logits, row by row, as a square: H_i = B_i B_iᵀ, B_i = √(w_i p_i) (I − √p_i √p_iᵀ).

The intercepts are free, so what counts for the weights is H̃ = H − H1 (1ᵀH1)⁻¹ 1ᵀH = B (I − Q) Bᵀ, with Q the projection
on Bᵀ1.
"""

from __future__ import annotations

import numpy as np

from ingenuo.solve.problem import Floats, of_intercepts, shares


class Curvature:
    """B, and the projection that leaves the intercepts out; probabilities below `least` count as that."""

    def __init__(self, logits: Floats, weights: Floats, least: float) -> None:
        w = weights[:, np.newaxis] if len(weights) else 1.0
        self.single = logits.shape[1] == 1
        if self.single:
            p = np.maximum(0.5 * (1 - np.tanh(np.abs(logits) / 2)), least)  # of the less probable class
            self.root = np.sqrt(w * p * (1 - p))
        else:
            p = np.maximum(shares(logits), least)
            p /= p.sum(axis=1, keepdims=True)
            self.q = np.sqrt(p)
            self.scale = np.sqrt(w) * np.ones((len(p), 1))
            self.root = self.q * self.scale
        self.of_intercepts = np.linalg.pinv(of_intercepts(p, weights), rcond=1e-10, hermitian=True)  # (1ᵀH1)⁻¹
        with np.errstate(divide="ignore"):
            self.inverse = np.where(self.root > 0, 1 / self.root, 0.0)  # B⁻¹ of what sums to 0 over a row's logits

    def forth(self, v: Floats) -> Floats:
        """B v."""
        if self.single:
            return np.asarray(self.root * v)
        return np.asarray(self.root * (v - self.q * np.einsum("ik,ik->i", self.q, v)[:, np.newaxis]))

    def back(self, z: Floats) -> Floats:
        """Bᵀ z."""
        found = self.root * z
        if self.single:
            return np.asarray(found)
        return np.asarray(found - self.q * np.einsum("ik,ik->i", self.q, found)[:, np.newaxis])

    def without_intercepts(self, v: Floats) -> Floats:
        """(I − Q) v."""
        common = self.of_intercepts @ self.forth(v).sum(axis=0)
        return v - self.back(np.broadcast_to(common, v.shape))

    def diagonal(self, of_gram: Floats) -> Floats:
        """The diagonal of Bᵀ K B, from that of K."""
        if self.single:
            return np.asarray(self.root**2 * of_gram)
        # Entry l of column k of B_i is √(w p_l) ([k = l] − √(p_k p_l)).
        p = self.q * self.q
        mean = np.einsum("ik,ik->i", p * p, of_gram)[:, np.newaxis]
        return np.asarray(self.scale**2 * (p * of_gram * (1 - 2 * p) + p * mean))

    def of_rows(self) -> Floats:
        """The diagonal of H."""
        if self.single:
            return np.asarray(self.root**2)
        p = self.q * self.q
        return np.asarray(self.scale**2 * p * (1 - p))
