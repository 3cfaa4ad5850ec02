"""Triangles of a PySpark DataFrame: the work is Spark's jobs, the counting this package's.

They need PySpark 4 on the driver, and this package, with PyArrow, for the Python of every executor.
"""

from __future__ import annotations

from rapids_tc._typing import ByteSize, Frame, Labels
from rapids_tc.spark import plan, stages


def count(
    edges: Frame,
    *,
    source: Labels | None = None,
    destination: Labels | None = None,
    memory_limit: ByteSize | None = None,
) -> int:
    """Count the triangles of the edges of a Spark DataFrame.

    Parameters
    ----------
    edges : pyspark.sql.DataFrame
        One row per edge. Direction, repeated rows and self loops do not matter.
    source, destination : str, optional
        The two id columns, of integers or of text; by default as for `rapids_tc.count`.
    memory_limit : int or str, optional
        Bytes that one task may take in Python, or a text such as "2GB"; 1 GiB by default and 4 GiB
        at most. An executor runs as many tasks at once as it has cores.

    Returns
    -------
    int
        The number of triangles, exact.

    Raises
    ------
    IdTypeError
        The ids are not integers or text, or are both.
    NullIdError
        An id is missing.
    ValueError, ColumnNotFoundError
        The id columns are not to be found.
    CapacityError
        No number of blocks keeps a task within `memory_limit`.
    TypeError
        `edges` is no Spark DataFrame.

    See Also
    --------
    annotate : Columns of the edges.
    rapids_tc.count : The same of other frames.

    Notes
    -----
    Edges are directed from lower to higher degree, so that no vertex has many edges to vertices
    above it, and cut in n x n blocks by a hash of the id of each end. Each of n**3 tasks finds the
    triangles of three blocks. Only the sum comes back to the driver.

    Cost: repeated edges are dropped and degrees joined by shuffles of all edges. Then each edge is
    sent to 3 n tasks at most, in 4 bytes, and 16 bytes or its text for each vertex of a block.

    Examples
    --------
    >>> from pyspark.sql import SparkSession
    >>> import rapids_tc as tc
    >>> spark = SparkSession.builder.master("local[1]").getOrCreate()
    >>> df = spark.createDataFrame([(0, 1), (1, 2), (2, 0), (2, 3)], ["src", "dst"])
    >>> tc.spark.count(df)
    1
    """
    checked = stages.open_edges(edges, source, destination)
    partition = plan.choose(checked.sizes, memory_limit, checked.parallelism)
    return stages.total(checked, partition) if checked.sizes.rows else 0


def annotate(
    edges: Frame,
    *columns: str,
    source: Labels | None = None,
    destination: Labels | None = None,
    memory_limit: ByteSize | None = None,
) -> Frame:
    """Add columns to the rows of a Spark DataFrame of edges.

    Parameters
    ----------
    edges : pyspark.sql.DataFrame
        One row per edge.
    *columns : str
        "triangles", or a measure of `rapids_tc.similarity` that is made of triangles and degrees:
        "jaccard", "overlap", "sorensen", "cosine", "forman" or "edge_clustering".
    source, destination, memory_limit
        See `count`.

    Returns
    -------
    pyspark.sql.DataFrame
        The user's rows and columns, followed by the added columns: int64 for "triangles", float64
        for the others. Self loops get 0. The frame is lazy, as all of Spark's, and its rows are in
        no order.

    Raises
    ------
    ValueError
        No column is named, or one that is unknown, named twice or in the frame already.
    TypeError
        A column needs more than triangles and degrees. Other errors: see `count`.

    See Also
    --------
    count : The triangles of the whole graph.
    rapids_tc.annotate : The same of other frames.

    Notes
    -----
    The call runs one job, which counts the rows; the rest runs when the frame is used. Edges are
    read three times: persist a frame that is costly to compute, or may differ the next time.

    Cost: as `count`; then the counts of each task, 4 bytes per edge and 3 n times at most, and a
    join of the rows with the edges by the ids of both ends.

    Examples
    --------
    >>> from pyspark.sql import SparkSession
    >>> import rapids_tc as tc
    >>> spark = SparkSession.builder.master("local[1]").getOrCreate()
    >>> df = spark.createDataFrame([(0, 1), (1, 2), (2, 0), (2, 3)], ["src", "dst"])
    >>> tc.spark.annotate(df, "triangles").orderBy("src", "dst").show()
    +---+---+---------+
    |src|dst|triangles|
    +---+---+---------+
    |  0|  1|        1|
    |  1|  2|        1|
    |  2|  0|        1|
    |  2|  3|        0|
    +---+---+---------+
    <BLANKLINE>
    """
    plan.check_columns(columns)
    checked = stages.open_edges(edges, source, destination)
    checked.require_new(columns)
    partition = plan.choose(checked.sizes, memory_limit, checked.parallelism)
    return stages.with_columns(checked, partition, columns)
