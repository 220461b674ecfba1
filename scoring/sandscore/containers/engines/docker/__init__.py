"""The Docker engine, the only room that speaks to the docker package."""
