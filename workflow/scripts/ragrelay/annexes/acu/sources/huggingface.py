"""Read claims from a data set on the Hugging Face hub, using only the Parquet files that the hub provides."""

from pydantic import Field

from ragrelay.annexes.acu.claims import SCHEMA, Records
from ragrelay.annexes.acu.source import ClaimSource
from ragrelay.base.errors import InputError
from ragrelay.base.io.parquet_files import read_parquet
from ragrelay.base.models.hubs import fetch
from ragrelay.base.settings import Text


class Huggingface(ClaimSource):
    """A data set on the Hugging Face hub that has DRUID's columns and is available as Parquet files."""

    id: Text = Field(description="Id of the data set on the hub, e.g. `copenlu/druid`.")
    subset: Text = Field("default", description="Subset of the data set.")
    split: Text = Field("train", description="Split of the data set.")
    revision: Text = Field("refs/convert/parquet", description="Branch or commit that contains the Parquet files.")

    def records(self) -> Records:
        """Yield the rows of the files ``<subset>/<split>/*.parquet``, which the hub derives from the default revision.

        Raises InputError if the hub has no such files or can't be reached.
        """
        pattern = f"{self.subset}/{self.split}/*.parquet"
        place = f"data set {self.id} at {self.revision}"
        folder = fetch(self.id, self.revision, place, repo_type="dataset", allow_patterns=[pattern])
        files = sorted(folder.glob(pattern))
        if not files:
            raise InputError(place, f"no file {pattern}", "a file in the folders given by subset and split")
        number = 0
        for file in files:
            for record in read_parquet(file, "a Parquet file of claims", (), tuple(SCHEMA)).iter_rows(named=True):
                number += 1
                yield f"{place}, row {number}", record

    def origin(self) -> str:
        """Return the data set's id."""
        return self.id
