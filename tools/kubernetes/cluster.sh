#!/bin/sh
# One real Kubernetes on this machine, in network, mount and process namespaces of its own. As root; all ends with one process.
#
# cluster.sh up|down|status
# cluster.sh run -- COMMAND...          where the API server can be reached, with KUBECONFIG set
# cluster.sh with -- COMMAND...         the same on a cluster that is brought up first
# cluster.sh where-built -- COMMAND...  the same where its programs were built; elsewhere without KUBECONFIG, so that tests skip visibly
#
# LITTERBOX_KUBERNETES_CONFIG=FILE      `with` and `where-built` take the cluster of this kubeconfig instead
# LITTERBOX_KUBERNETES_POLICIES=off  NetworkPolicy objects are accepted and do nothing, as on a cluster without a plugin for them
set -eu
here=$(cd "$(dirname "$0")" && pwd -P)
base=/var/lib/litterbox-test/kubernetes
run=$base/run

pid() {
  read -r first 2>/dev/null <"$run/pid" || return 1
  [ -d "/proc/$first/ns" ] && grep -q litterbox-kubernetes "/proc/$first/cmdline" 2>/dev/null || return 1
  echo "$first"
}
# The first process inside: it has the namespaces.
inner() { cat "/proc/$1/task/$1/children" 2>/dev/null | tr -d ' '; }
enter() {
  first=$(pid)
  exec_in=$(inner "$first")
  shift
  KUBECONFIG=$run/admin.kubeconfig exec nsenter --net -t "$exec_in" -- "$@"
}
ready() { (enter -- "$run/curl" /readyz) >/dev/null 2>&1; }

groups() { # VERB
  for top in /sys/fs/cgroup/*/; do
    case $1 in
      make)
        case $top in */unified/) continue ;; esac # its runtime makes that one
        mkdir -p "${top}litterbox-kubernetes" 2>/dev/null || continue
        for file in cpuset.cpus cpuset.mems; do
          [ ! -f "$top$file" ] || cat "$top$file" >"${top}litterbox-kubernetes/$file"
        done
        ;;
      remove) find "${top}litterbox-kubernetes" -depth -type d -exec rmdir {} \; 2>/dev/null || : ;;
    esac
  done
}

keys() {
  openssl genrsa -out service-account.key 2048 2>/dev/null
  openssl req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.crt -days 30 -subj /CN=litterbox-test 2>/dev/null
  openssl req -newkey rsa:2048 -nodes -keyout kubelet-client.key -subj /O=system:masters/CN=api -out client.csr 2>/dev/null
  openssl x509 -req -in client.csr -CA ca.crt -CAkey ca.key -CAcreateserial -days 30 -out kubelet-client.crt 2>/dev/null
  openssl req -newkey rsa:2048 -nodes -keyout api.key -subj /CN=api -out api.csr 2>/dev/null
  printf 'subjectAltName=IP:10.77.0.1\n' >api.ext
  openssl x509 -req -in api.csr -CA ca.crt -CAkey ca.key -CAcreateserial -days 30 -extfile api.ext -out api.crt 2>/dev/null
}

kubeconfig() { # FILE TOKEN
  cat >"$1" <<CONFIG
apiVersion: v1
kind: Config
current-context: litterbox-test
clusters: [{name: test, cluster: {server: 'https://10.77.0.1:6443', certificate-authority: $run/ca.crt}}]
users: [{name: test, user: {token: $2}}]
contexts: [{name: litterbox-test, context: {cluster: test, user: test, namespace: litterbox}}]
CONFIG
  chmod 600 "$1"
}

up() {
  [ "$(id -u)" = 0 ] || { echo 'kubernetes: needs root' >&2 && exit 1; }
  sh "$here/build.sh" up
  sh "$here/../test-host/images.sh" up gate
  programs=$(sh "$here/build.sh" path)
  down
  mkdir -p "$run"
  cd "$run"
  umask 077
  keys
  admin=$(openssl rand -hex 16) plain=$(openssl rand -hex 16)
  printf '%s,admin,admin,system:masters\n%s,plain,plain,litterbox-users\n' "$admin" "$plain" >tokens.csv
  kubeconfig "$run/admin.kubeconfig" "$admin"
  kubeconfig "$run/plain.kubeconfig" "$plain"
  printf '#!/bin/sh\nexec curl -sSf --max-time 10 --cacert %s/ca.crt -H "Authorization: Bearer %s" "https://10.77.0.1:6443$@"\n' "$run" "$admin" >curl
  chmod 700 curl
  groups make
  setsid unshare --net --mount --pid --fork --kill-child --mount-proc \
    sh "$here/inside.sh" litterbox-kubernetes "$programs" "$run" >"$run/log" 2>&1 </dev/null &
  echo $! >pid
  tries=0
  until ready && (enter -- "$run/curl" /api/v1/nodes/node1) 2>/dev/null | grep -q '"KubeletReady"' &&
    (enter -- "$run/curl" /api/v1/namespaces/litterbox/serviceaccounts/default) >/dev/null 2>&1; do
    tries=$((tries + 1))
    [ $tries -lt 240 ] && pid >/dev/null || {
      echo 'kubernetes: the cluster did not come up; what it said:' >&2
      tail -n 20 "$run"/*.log "$run/log" >&2
      exit 1
    }
    sleep 0.5
  done
}

down() {
  if first=$(pid); then
    kill -KILL "$first" # it blocks SIGTERM; what is inside ends with it
    # One that nobody has waited for yet has no command line any more.
    while pid >/dev/null; do sleep 0.2; done
  fi
  # What was killed may be leaving its groups still.
  tries=0
  while groups remove && ls -d /sys/fs/cgroup/*/litterbox-kubernetes >/dev/null 2>&1 && [ $tries -lt 25 ]; do
    tries=$((tries + 1))
    sleep 0.2
  done
  rm -rf "$run"
}

case ${1:-status} in
  up) if pid >/dev/null && ready; then :; else up; fi ;;
  down) down ;;
  status) if pid >/dev/null && ready; then echo 'kubernetes: runs'; else echo 'kubernetes: does not run' && exit 1; fi ;;
  run | with | where-built)
    how=$1
    [ "${2:-}" = -- ] || { echo "usage: $0 $1 -- COMMAND..." >&2 && exit 2; }
    shift 2
    if [ "$how" != run ] && [ -n "${LITTERBOX_KUBERNETES_CONFIG:-}" ]; then
      KUBECONFIG=$LITTERBOX_KUBERNETES_CONFIG exec "$@"
    fi
    if [ "$how" = where-built ] && ! { [ "$(id -u)" = 0 ] && sh "$here/build.sh" status >/dev/null; }; then
      unset KUBECONFIG
      exec "$@"
    fi
    [ "$how" = run ] || sh "$0" up
    enter -- "$@"
    ;;
  *)
    echo "usage: $0 up|down|status or run|with|where-built -- COMMAND..." >&2
    exit 2
    ;;
esac
