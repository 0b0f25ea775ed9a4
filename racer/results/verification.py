"""The result of `racer.verify`: what speaks against a bundle."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Verification"]


@dataclass(frozen=True)
class Verification:
    """What was found out about a bundle.

    Attributes
    ----------
    sha256 : str
        Of the bundle.
    problems, notes : tuple of str
        What speaks against it; what is to be known besides.
    evaluations, blocks : int
        Recorded outcomes, and verdicts, one after each block of each race, that came out the same
        when replayed (an ablation has none).
    again, agreeing : int
        Cells evaluated anew, and those with the recorded outcome.

    Examples
    --------
    >>> import racer
    >>> print(racer.Verification("9f..", ("its SHA-256 is 9f.., not 8a..",)))
    NOT VERIFIED: its SHA-256 is 9f.., not 8a..
    """

    sha256: str
    problems: tuple[str, ...]
    notes: tuple[str, ...] = ()
    evaluations: int = 0
    blocks: int = 0
    again: int = 0
    agreeing: int = 0

    def __str__(self) -> str:
        lines = [*(f"NOT VERIFIED: {text}" for text in self.problems)]
        if not self.problems:
            anew = f"; {self.agreeing} of {self.again} cells evaluated anew agree"
            same = f"all {self.blocks} verdicts come out the same"
            same = same if self.blocks else "replayed, it comes to the same end"
            anew = anew if self.again else ""
            lines += [
                f"Verified: {self.evaluations} evaluations; {same}{anew}. SHA-256 {self.sha256}"
            ]
        return "\n".join([*lines, *(f"note: {text}" for text in self.notes)])
