"""Other libraries' own ways in: each is switched on by its user, none by ``import rapids_tc``."""
