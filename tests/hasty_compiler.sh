#!/bin/sh
# g++ without optimization, for tests of what is kept: a library is the same to the cache.
exec g++ "$@" -O0
