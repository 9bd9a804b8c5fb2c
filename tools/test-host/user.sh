#!/bin/sh
# The ordinary user of the tests: a system user with a home and ranges of subordinate ids.
set -eu
name=litterbox-test
base=/var/lib/litterbox-test
home=$base/home
count=65536

has_range() { grep -q "^$name:" "$1" 2>/dev/null; }

# The first id behind every range that is taken, so that no two users share ids.
next_id() { cat /etc/subuid /etc/subgid 2>/dev/null | awk -F: 'BEGIN { n = 100000 } $2 + $3 > n { n = $2 + $3 } END { printf "%d", n }'; }

case ${1:-status} in
  up)
    if ! id "$name" >/dev/null 2>&1; then
      install -d -m 0755 "$base"
      useradd --system --user-group --home-dir "$home" --no-create-home --shell /bin/sh "$name"
    fi
    # An SSH server without PAM lets nobody in whose password is locked; this is one that nothing matches.
    usermod --password '*' "$name"
    [ -d "$home" ] || install -d -m 0750 -o "$name" -g "$name" "$home"
    if ! has_range /etc/subuid || ! has_range /etc/subgid; then
      first=$(next_id)
      last=$((first + count - 1))
      has_range /etc/subuid || usermod --add-subuids "$first-$last" "$name"
      has_range /etc/subgid || usermod --add-subgids "$first-$last" "$name"
    fi
    ;;
  down)
    if id "$name" >/dev/null 2>&1; then
      # A test that was killed may have left programs of this user, who is the tests' alone.
      pkill -KILL -u "$name" || true
      tries=0
      until userdel "$name"; do
        tries=$((tries + 1))
        [ $tries -lt 20 ] || exit 1
        sleep 0.2
      done
    fi
    for file in /etc/subuid /etc/subgid; do
      if has_range "$file"; then sed -i "/^$name:/d" "$file"; fi
    done
    rm -rf "$home"
    rmdir "$base" 2>/dev/null || true
    ;;
  status)
    if id "$name" >/dev/null 2>&1 && [ -d "$home" ] && has_range /etc/subuid && has_range /etc/subgid; then
      printf 'user: %s uid %s subuid %s\n' "$name" "$(id -u "$name")" "$(sed -n "s/^$name://p" /etc/subuid | head -n 1)"
    else
      echo "user: $name absent or incomplete"
      exit 1
    fi
    ;;
  *)
    echo "usage: $0 up|down|status" >&2
    exit 2
    ;;
esac
