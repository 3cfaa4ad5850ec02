"""From a frame to an oriented CSR."""
