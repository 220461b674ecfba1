"""A worker's hands on a Dask cluster."""
