"""The command `softmma` of the Python package: starts the program in the package's folder.

It is a package of its own so that the command need not wait for NumPy, which `import softmma` loads.
"""

import os
import sys
from pathlib import Path
from typing import NoReturn

PROGRAM = Path(__file__).parent.parent / "softmma" / "softmma"


def main() -> NoReturn:
    """Replaces this process by the program, with the same arguments; ends with status 2 if there is no program."""
    if not PROGRAM.exists():
        print(
            "softmma: this installation has the Python package only: popt was missing when it was built. Install popt "
            "(Debian, Ubuntu: libpopt-dev and pkg-config), then pip install --force-reinstall softmma-VERSION.tar.gz",
            file=sys.stderr,
        )
        sys.exit(2)
    os.execv(PROGRAM, ["softmma", *sys.argv[1:]])
