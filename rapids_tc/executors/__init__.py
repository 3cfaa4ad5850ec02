"""Where the tasks of a distributed graph run."""
