#!/bin/sh
# Runs a program that ends with its parent, however the parent ends.
#
#   sh lifeline.sh <directory> <program> [argument...]
#
# The parent holds the other end of descriptor 3 and writes a line once it knows that the program has ended.
# Where that closes without a line the parent is gone: the program is killed and its directory (where one is named) removed.
# The program keeps the process id of this script, so that a signal to it needs no go-between.
directory=$1
shift
(
  # Ctrl-C reaches the whole process group; the watcher must outlive a program that ignores or cannot see it.
  trap '' HUP INT TERM
  # An open copy of the program's channels would keep the parent from seeing them close.
  exec 4>&- >/dev/null 2>&1
  if ! read -r _ <&3; then
    kill -KILL "$$"
    [ -z "$directory" ] || rm -rf -- "$directory"
  fi
) &
exec "$@" 3<&-
