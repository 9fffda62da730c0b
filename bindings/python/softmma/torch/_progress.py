"""Reports the progress of a long run."""

from __future__ import annotations

import sys
import time


class Progress:
    """Writes a line to stderr every few seconds, with the time left if the total of multiplications is known."""

    EVERY = 5.0

    def __init__(self, total: int | None):
        self.total = total
        self.products = self.multiplications = 0
        self._start = self._shown = time.monotonic()

    def add(self, layer: str, multiplications: int) -> None:
        self.products += 1
        self.multiplications += multiplications
        now = time.monotonic()
        if now - self._shown >= self.EVERY:
            self._shown = now
            print(self.text(layer, now - self._start), file=sys.stderr, flush=True)

    def text(self, layer: str, seconds: float) -> str:
        text = f"softmma: {self.products} products, {self.multiplications:.2e} multiplications in {seconds:.0f} s"
        if self.total:
            left = seconds * max(self.total - self.multiplications, 0) / max(self.multiplications, 1)
            text += f", {min(100 * self.multiplications // self.total, 100)} %, {left:.0f} s left"
        return f"{text}; layer {layer}"
