"""Fetches a photograph of the Summer Palace in Beijing.

    python3 data/make/photo.py FOLDER

Writes `china.jpg`. It is by Daniel Büchele, 2011, under the licence CC BY 2.0 (https://creativecommons.org/licenses/by/2.0/), and is in the package scikit-learn.
"""

import pathlib
import shutil
import sys

from store import from_wheel

fetched = from_wheel(
    "scikit-learn==1.9.1",
    "52a0703bbc07ad27f560fa63fa68e4c54dd735bfbbf65b4dd3c225dc7547b6df",
    ["sklearn/datasets/images/china.jpg"],
)
pathlib.Path(sys.argv[1]).mkdir(parents=True, exist_ok=True)
shutil.copy(fetched / "china.jpg", sys.argv[1])
