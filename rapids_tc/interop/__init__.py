"""Entry points of other libraries; the user enables each, and ``import rapids_tc`` none."""
