"""The dataframe libraries: the only room that knows them."""
