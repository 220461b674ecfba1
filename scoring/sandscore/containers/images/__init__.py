"""Images out of archives and registries: their parts, looked at, believed in nothing, and unpacked."""
