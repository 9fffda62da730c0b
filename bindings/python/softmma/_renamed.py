"""Old public names, which this version accepts with a DeprecationWarning."""

import warnings


def warn_of_old_name(old: str, new: str) -> None:
    """Warns the caller of the function that calls this."""
    warnings.warn(f"{old} is now {new}; the next version drops the old name", DeprecationWarning, stacklevel=3)
